"""Plans the new body of a function: walks its statements and lets each construct's module say what it becomes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from . import add_chains, conditionals, loops, negations, numpy_calls, printing
from .control_dependencies import PrintOrder, in_order
from .core_returns import Returns
from .expressions import Writer
from .facts.environment import Environment, FunctionFacts
from .facts.kinds import (
    NONE,
    UNKNOWN,
    Array,
    Dict,
    Kind,
    Maybe,
    Python,
    Sequence,
    Tensor,
)
from .facts.liveness import Liveness, liveness, reads
from .facts.profile import FunctionNode
from .facts.staging import is_numpy, is_strong, is_tensor, is_weak
from .facts.syntax import blocks, bound_names, is_named, item_owners, own_body
from .findings import Refusal
from .operands import SIGNS, as_operand
from .options import Options
from .promotion import literal
from .rebuilding import replaced
from .shell import Shell
from .source import Names, Source, is_placed
from .steps import Code, Compound, Keep, Step, changes, without_dead_stores


class Planner:
    """Plans one function.

    Args:
        source: the file.
        facts: of the function, whose exits are already values.
        tf: how the file calls TensorFlow.
        cores: what lifted callers call, by qualified name, where it is not the function itself.
        names: gives new names.
        shell: what the function's results become in Python.
        sunk: the statements that stay Python's, after the graph.
        adding: the functions of the module that add something up.
        signed: a signature says what the sizes are; else those not known here may be known when it is traced.
        print_order: what of the module's functions would print in no certain order.
    """

    def __init__(
        self,
        source: Source,
        facts: FunctionFacts,
        tf: str,
        cores: dict[str, str],
        names: Names,
        options: Options,
        shell: Shell,
        sunk: list[ast.stmt],
        adding: frozenset[str],
        signed: bool,
        print_order: PrintOrder,
    ) -> None:
        self.source = source
        self.facts = facts
        self.tf = tf
        self.names = names
        self.options = options
        self.adding = adding
        self.shell = shell
        self.sunk = sunk
        self.signed = signed
        self.print_order = print_order
        self.imports: set[str] = set()
        self.in_loop = False
        self.writer = Writer(source, facts, tf, cores, names)
        self.promotion = self.writer.promotion
        self.returns = Returns(self.writer, shell)
        if options.enabled("GL504"):
            self.writer.barriers = add_chains.barriers(facts, shell.keeps, adding)
        self.writer.comparisons = negations.comparisons(facts, signed)
        self.live: Liveness = liveness(facts.definition.node, facts.runs)

    # ---- blocks

    def body(self) -> list[Step]:
        """The steps of the whole function; its docstring is not among them."""
        node = self.facts.definition.node
        body = own_body(node)
        steps = self.block(body)
        if self.shell.extra and not self.always_returns(body):
            steps.append(Code(f"return {', '.join(self.shell.extra)}"))
        return without_dead_stores(steps, self.source)

    def block(self, body: Iterable[ast.stmt]) -> list[Step]:
        made: list[tuple[ast.stmt, list[Step]]] = []
        for node in body:
            made.append((node, self.statement(node)))
            if self._answer(node) and self.facts.after.get(node) is None:
                break
        return in_order(self, made)

    def loop_body(self, node: ast.While | ast.For) -> tuple[str, list[Step]]:
        """The name of the function that the body of a loop becomes, and its steps."""
        name = self.names.fresh("inner_body" if self.in_loop else "body")
        around, self.in_loop = self.in_loop, True
        steps = self.block(node.body)
        self.in_loop = around
        return name, steps

    def _answer(self, node: ast.stmt) -> str | None:
        """What eager mode always answers to a test that a graph would answer otherwise."""
        if (
            not isinstance(node, ast.If)
            or node not in self.facts.before
            or node in self.facts.staged
        ):
            return None
        answer = self.writer.changed(node.test)
        return answer if answer in ("True", "False") else None

    def statement(self, node: ast.stmt) -> list[Step]:
        if node not in self.facts.before:
            return [Keep(node)]
        match node:
            case ast.If() if node in self.facts.staged:
                return conditionals.lower_if(self, node)
            case ast.If() if answer := self._answer(node):
                return self.block(node.body if answer == "True" else node.orelse)
            case ast.Delete():
                return []
            case ast.While() if node in self.facts.staged:
                return loops.lower_while(self, node)
            case ast.For() if node in self.facts.staged:
                return loops.lower_for(self, node)
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.Try():
                return self._compound(node)
            case ast.Return():
                return self._return(node)
            case (
                ast.Assign(targets=[ast.Subscript() as target])
                | ast.AugAssign(target=ast.Subscript() as target)
            ) if self._is_array(target.value):
                return [self._filled(node, target)]
            case ast.AugAssign():
                return self._augmented(node)
            case ast.Assign(targets=[ast.Tuple()], value=value) if is_tensor(
                self.facts.kind(value)
            ):
                return [self._unstacked(node)]
            case ast.Expr() if printing.is_print(self.facts, node):
                return printing.lower_print(self, node)
            case ast.FunctionDef():
                return self._nested_function(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                not is_placed(node) and self.writer.text(value) == name
            ):
                return []
        return [self._simple(node)]

    def _simple(self, node: ast.stmt) -> Step:
        edits = self.writer.edits(node)
        if edits or not is_placed(node):
            return Code(self.source.spliced(node, edits), getattr(node, "origin", node))
        return Keep(node)

    def _nested_function(self, node: ast.FunctionDef) -> list[Step]:
        facts = self.facts.nested_facts(node)
        if facts is None:
            return [Keep(node)]
        shell = Shell(facts.result, self.tf, keeps=True)
        inner = Planner(
            self.source,
            facts,
            self.tf,
            self.writer.cores,
            self.names,
            self.options,
            shell,
            [],
            self.adding,
            self.signed,
            self.print_order,
        )
        body = facts.definition.node.body
        kept = body[: len(body) - len(own_body(facts.definition.node))]
        steps = [*map(Keep, kept), *inner.body()]
        self.imports |= inner.imports
        if not changes(steps, node.body):
            return [Keep(node)]
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        decorators = [f"@{ast.unparse(d)}\n" for d in node.decorator_list]
        header = f"def {node.name}({ast.unparse(node.args)}){result}:"
        header = "".join([*decorators, header])
        return [Compound((header,), (steps,), node)]

    def _unstacked(self, node: ast.Assign) -> Step:
        (target,) = node.targets
        if not isinstance(target, ast.Tuple) or not all(
            isinstance(e, ast.Name) for e in target.elts
        ):
            raise Refusal("how this tensor unpacks is not known", node)
        return Code(self.unpacking(target, self.writer.text(node.value)), node)

    def unpacking(self, target: ast.Tuple, text: str) -> str:
        """The statement that binds names to the rows of a tensor, as many as it has to have."""
        shape = getattr(self.facts.kind(target), "shape", None)
        unknown = not shape or shape[0] is None
        count = f", num={len(target.elts)}" if unknown else ""
        return f"{self.source.segment(target)} = {self.tf}.unstack({text}{count})"

    def _augmented(self, node: ast.AugAssign) -> list[Step]:
        plain, text = self.augmented(node)
        if plain:
            return [self._simple(node)]
        return [Code(f"{self.source.segment(node.target)} = {text}", node)]

    def _is_array(self, node: ast.expr) -> bool:
        kind = self.facts.kind(node)
        return isinstance(kind, Array) or is_numpy(kind)

    def _filled(self, node: ast.Assign | ast.AugAssign, target: ast.Subscript) -> Step:
        """An array of which an item is set becomes another tensor."""
        dtype = getattr(self.facts.kind(target.value), "dtype", None)
        text, kind = self.writer.text(node.value), self.facts.kind(node.value)
        if isinstance(node, ast.AugAssign):
            _, text = self.augmented(node)
            kind = self.facts.kind(target)
        name = self.source.segment(target.value)
        made = numpy_calls.with_item(self.writer, target, (text, kind), str(dtype))
        return Code(f"{name} = {made}", node)

    def augmented(self, node: ast.AugAssign) -> tuple[bool, str]:
        """Whether `target op= value` may stay, and the text of the value it gives."""
        load: ast.expr = node.target.as_load  # type: ignore[union-attr]
        left = (self.source.segment(node.target), self.facts.kind(load), node.target)
        right = (self.writer.text(node.value), self.facts.kind(node.value), node.value)
        a, b = self.promotion.operands(left, right, isinstance(node.op, ast.Div))
        if load in self.writer.barriers:
            a = add_chains.with_barrier(self.writer, load, a)
        plain = a == left[0] and b == right[0]
        return plain, f"{a} {SIGNS[type(node.op)]} {as_operand(b, node.op, True)}"

    def _return(self, node: ast.Return) -> list[Step]:
        if node.value is None:
            return [Keep(node)]
        apart = self.returns.taken_apart(node.value)
        if apart is not None:
            return self._returned_apart(node, node.value, apart)
        text = self.returned(node)
        if text == self.source.segment(node.value) and hasattr(node, "lineno"):
            return [Keep(node)]
        return [Code(f"return {text}", getattr(node, "origin", node))]

    def _returned_apart(
        self, node: ast.Return, value: ast.expr, part: ast.expr
    ) -> list[Step]:
        """A return of the members of a value, which is worked out once before it."""
        held = ast.Name(self.names.fresh("result"), ast.Load())
        self.facts.kinds[held] = self.facts.kind(part)
        whole = replaced(value, {part: held})
        assert isinstance(whole, ast.expr)
        self.facts.kinds.setdefault(whole, self.facts.kind(value))
        text = self.returns.text(whole)
        origin = getattr(node, "origin", node)
        first = Code(f"{held.id} = {self.writer.text(part)}", origin)
        return [first, Code(f"return {text}")]

    def returned(self, node: ast.Return) -> str:
        """The text of what a return gives, as the function's callers in the graph get it."""
        if node.value is None:
            return "None"
        return self.returns.text(node.value)

    # ---- Python's own compound statements

    def _compound(self, node: ast.stmt) -> list[Step]:
        inner = [self.block(block) for block in blocks(node)]
        entering = self._settled(node, self.facts.before.get(node))
        if isinstance(node, ast.If):
            inner = self._settled_arms(node, inner)
        elif isinstance(node, ast.For | ast.While):
            inner[0] += self._settled_end(node)
        headers = self._headers(node)
        if len(headers) < len(inner):
            headers.append("else:")
        edited = any(self.writer.edits(part) for part in _header_parts(node))
        if not (
            edited
            or entering
            or any(map(changes, inner, blocks(node)))
            or not hasattr(node, "lineno")
        ):
            return [Keep(node)]
        if isinstance(node, ast.If) and len(headers) > len(inner):
            inner.append([])
        return [
            *entering,
            Compound(tuple(headers), tuple(inner), getattr(node, "origin", node)),
        ]

    def _headers(self, node: ast.stmt) -> list[str]:
        text = self.writer.text
        match node:
            case ast.If(test=test, orelse=orelse):
                return [f"if {text(test)}:", *(["else:"] if orelse else [])]
            case ast.While(test=test, orelse=orelse):
                return [f"while {text(test)}:", *(["else:"] if orelse else [])]
            case ast.For(target=target, iter=iterable, orelse=orelse):
                head = f"for {self.source.segment(target)} in {text(iterable)}:"
                return [head, *(["else:"] if orelse else [])]
            case ast.With(items=items):
                return [f"with {', '.join(map(self._item, items))}:"]
            case ast.Try(finalbody=finalbody, handlers=[], orelse=[]) if finalbody:
                return ["try:", "finally:"]
        raise Refusal("this statement is not lifted", node)

    def _item(self, item: ast.withitem) -> str:
        target = (
            f" as {self.source.segment(item.optional_vars)}"
            if item.optional_vars
            else ""
        )
        return self.writer.text(item.context_expr) + target

    def _settled_arms(self, node: ast.If, inner: list[list[Step]]) -> list[list[Step]]:
        """Python arms after which a number is held in a tensor either way hold it so in both."""
        after = self.facts.after.get(node)
        result = list(inner)
        for i, arm in enumerate((node.body, node.orelse)):
            if self.always_exits(arm):
                continue
            end = self.end_of(node, arm)
            casts = self._casts(end, after, node)
            if len(casts) == 1 and arm and (last := self._as_set(arm[-1], casts[0])):
                result[i] = [*result[i][:-1], last]
                casts = []
            settled = [*casts, *self._stand_ins(node, end)]
            if settled and i == len(result):
                result.append(settled)
            elif settled:
                result[i] = [*result[i], *settled]
        return result

    def _as_set(self, node: ast.stmt, cast: Code) -> Step | None:
        """A statement that sets a name to a constant, setting it to the tensor that holds it; None for any other."""
        name, _, text = cast.text.partition(" = ")
        constant = _constant_for(node, name)
        if constant is None:
            return None
        origin: ast.stmt = getattr(node, "origin", node)
        edits = {**self.writer.edits(node), constant: text}
        return Code(self.source.spliced(node, edits), origin)

    def _stand_ins(self, node: ast.If, end: Environment) -> list[Step]:
        """The names of the lift that an arm which Python chooses leaves unbound."""
        after = self.facts.after.get(node)
        live = self.live.after.get(node, frozenset())
        return [
            Code(f"{name} = {self.zero(name, kind, node)}")
            for name, kind in (after.kinds if after else {}).items()
            if name in live - end.kinds.keys() - self.source.names
        ]

    def _settled(self, node: ast.stmt, before: Environment | None) -> list[Code]:
        """What a Python loop holds in tensors later is held in tensors before it, too."""
        head = self.facts.heads.get(node)
        return self._casts(before, head, node) if head and before else []

    def _settled_end(self, node: ast.stmt) -> list[Code]:
        return self._casts(self.facts.ends.get(node), self.facts.heads.get(node), node)

    def _casts(
        self, have: Environment | None, want: Environment | None, node: ast.stmt
    ) -> list[Code]:
        steps: list[Code] = []
        if have is None or want is None:
            return steps
        live = self.live.after.get(node, frozenset()) | self.live.head.get(
            node, frozenset()
        )
        for name, kind in want.kinds.items():
            held = have.kinds.get(name)
            settles = is_weak(kind) or (held == NONE and isinstance(kind, Maybe))
            if name in live and held is not None and settles and held != kind:
                text = self.promotion.coerced(
                    self.constant_text(name, held), held, kind, node
                )
                if text != name:
                    steps.append(Code(f"{name} = {text}"))
        return steps

    # ---- what the constructs ask

    def outs(self, node: ast.stmt) -> list[str]:
        """The names that a statement sets and that are read after it, in the order of their first setting."""
        after = self.facts.after.get(node)
        live = self.live.after.get(node, frozenset())
        bound = after.kinds if after else {}
        return [
            name for name in self.assigned([node]) if name in live and name in bound
        ]

    def assigned(self, body: Iterable[ast.stmt]) -> list[str]:
        """The names that statements bind, or change an item of, in order."""
        found: dict[str, None] = {}
        for node in body:
            for name in [*bound_names(node), *item_owners(node)]:
                found.setdefault(name)
            if not isinstance(node, FunctionNode | ast.ClassDef):
                for block in blocks(node):
                    for name in self.assigned(block):
                        found.setdefault(name)
        return list(found)

    def read_and_assigned(self, body: list[ast.stmt], outs: Iterable[str]) -> list[str]:
        """The names of the function that a block reads the earlier value of, and sets."""
        assigned = self.assigned(body)
        surely = surely_assigned(body)
        early = read_before(body)
        before = self.facts.before.get(body[0]) if body else None
        bound = before.kinds if before else {}
        needed = [n for n in assigned if n in early or (n in outs and n not in surely)]
        return [n for n in needed if n in bound]

    def end_of(self, node: ast.If, arm: list[ast.stmt]) -> Environment:
        """What is known at the end of an arm."""
        ends = self.facts.arms.get(node, (None, None))
        end = ends[0] if arm is node.body else ends[1]
        return end or self.facts.before[node]

    def stored_kind(self, node: ast.stmt, name: str) -> Kind:
        after = self.facts.after.get(node)
        return after.kinds.get(name, UNKNOWN) if after else UNKNOWN

    def check_bound(self, name: str, known: Environment, node: ast.stmt) -> None:
        """Refuse a name that the graph takes, and that Python may have left unbound."""
        if name in known.missing and name in self.source.names:
            raise Refusal(f"`{name}` is set on one way of Python's only", node)

    def zero(self, name: str, kind: Kind, node: ast.stmt) -> str:
        """A stand-in for a name that is not bound yet; its dtype may be that of a name that is.

        Raises:
            Refusal: no dtype is known.
        """
        if isinstance(kind, Tensor) and kind.dtype is None:
            witness = self._witness(name, self.facts.before[node])
            if witness is not None:
                return f"{self.tf}.zeros([], {witness}.dtype)"
        return self.promotion.zero(kind, node)

    def _witness(self, name: str, bound: Environment) -> str | None:
        """A bound name whose dtype a name's values have: an operand of the arithmetic that gives one."""
        for node in ast.walk(self.facts.definition.node):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if (
                    target == name
                ):
                    for operand in _operands(value):
                        if operand.id in bound.kinds and is_strong(
                            bound.kinds[operand.id]
                        ):
                            return operand.id
        return None

    def constant_text(self, name: str, kind: Kind) -> str:
        """A name's text, or its value's where that is a known Python constant."""
        return (
            literal(kind.value)
            if isinstance(kind, Python) and kind.known and _prints(kind.value)
            else name
        )

    def copies(self, arm: list[ast.stmt], names: Iterable[str]) -> list[Step]:
        """Steps that give an arm containers of its own, where it changes some in place."""
        changed = {owner for node in self._own(arm) for owner in item_owners(node)}
        steps: list[Step] = []
        for name in names:
            kind = self.facts.before[arm[0]].kinds.get(name)
            if name in changed and isinstance(kind, Sequence | Dict):
                steps.append(
                    Code(
                        f"{name} = {'dict' if isinstance(kind, Dict) else 'list'}({name})"
                    )
                )
        return steps

    def _own(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, without those in arms and bodies that have containers of their own."""
        found: list[ast.stmt] = []
        for node in body:
            found.append(node)
            if node not in self.facts.staged:
                found += [s for block in blocks(node) for s in self._own(block)]
        return found

    def reads(self, node: ast.stmt) -> frozenset[str]:
        inner = frozenset[str]()
        for block in blocks(node):
            for statement in block:
                inner |= self.reads(statement)
        return reads(node) | inner

    def always_returns(self, body: list[ast.stmt]) -> bool:
        if not body:
            return False
        match body[-1]:
            case ast.Return():
                return True
            case ast.If(body=then, orelse=other):
                return self.always_returns(then) and self.always_returns(other)
            case ast.With(body=inner):
                return self.always_returns(inner)
        return False

    def always_exits(self, body: list[ast.stmt]) -> bool:
        return (
            bool(body)
            and body[-1] in self.facts.after
            and self.facts.after[body[-1]] is None
        )

    def has_effects(self, node: ast.AST) -> bool:
        return self.has_effects_in([node])

    def has_effects_in(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether statements do more than set names."""
        effectful = {
            id(n)
            for name, found in self.facts.effects.items()
            if name != "write"
            for n in found
        }
        return any(id(inner) in effectful for node in nodes for inner in ast.walk(node))


def _operands(node: ast.expr) -> list[ast.Name]:
    match node:
        case ast.Name():
            return [node]
        case ast.BinOp(left=left, right=right):
            return [*_operands(left), *_operands(right)]
        case ast.UnaryOp(operand=operand):
            return _operands(operand)
    return []


def _prints(value: object) -> bool:
    return isinstance(value, int | float | bool | str) and repr(value) not in (
        "inf",
        "-inf",
        "nan",
    )


def _header_parts(node: ast.stmt) -> list[ast.AST]:
    match node:
        case ast.If(test=test) | ast.While(test=test):
            return [ast.Expr(test)]
        case ast.For(iter=iterable):
            return [ast.Expr(iterable)]
        case ast.With(items=items):
            return list(items)
    return []


def surely_assigned(body: list[ast.stmt]) -> frozenset[str]:
    """The names that every way through a block sets."""
    found: frozenset[str] = frozenset()
    for node in body:
        if isinstance(node, ast.If):
            found |= surely_assigned(node.body) & surely_assigned(node.orelse)
        elif isinstance(node, ast.With | ast.Try):
            found |= surely_assigned(node.body) | frozenset(bound_names(node))
        elif not isinstance(node, ast.For | ast.While):
            found |= frozenset(bound_names(node))
    return found


def read_before(body: list[ast.stmt]) -> frozenset[str]:
    """The names that a block may read before it sets them."""
    found: frozenset[str] = frozenset()
    set_already: frozenset[str] = frozenset()
    for node in body:
        found |= (_first_reads(node)) - set_already
        set_already |= surely_assigned([node])
    return found


def _first_reads(node: ast.stmt) -> frozenset[str]:
    own = reads(node) | frozenset(item_owners(node))
    for block in blocks(node):
        own |= read_before(block) - frozenset(
            bound_names(node) if isinstance(node, ast.For | ast.With) else ()
        )
    return own


def _constant_for(node: ast.stmt, name: str) -> ast.expr | None:
    """The constant that a statement sets a name to."""
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
        ):
            pairs = list(zip(targets, values, strict=False))
        case ast.Assign(targets=[target], value=value):
            pairs = [(target, value)]
        case _:
            return None
    for target, value in pairs:
        if is_named(target, name):
            return value if isinstance(value, ast.Constant) else None
    return None
