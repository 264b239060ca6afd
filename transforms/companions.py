"""Companion bools: what eager mode's value was, where a tensor in the graph stands for several.

`best = None`, set to a tensor later: the graph holds a tensor and, beside it, `best_is_none`. `y = 0.0`, perhaps set to
a tensor: a function that returns y gives back whether it is a float, for its Python shell.
"""

from __future__ import annotations

import ast
import copy
from itertools import product

from .facts.definitions import Tag
from .facts.environment import FunctionFacts
from .facts.kinds import (
    NONE,
    UNKNOWN,
    Dict,
    Kind,
    Maybe,
    Python,
    Sequence,
    Tensor,
)
from .facts.profile import FunctionNode
from .facts.staging import is_strong, is_tensor
from .facts.syntax import (
    bound_names,
    is_named,
    is_none,
    own_nodes,
    own_start,
    target_names,
)
from .findings import Refusal
from .making import assigned, placed
from .rebuilding import rebuilt, with_origin
from .source import Names

NUMBER_OR_TENSOR = "it returns a Python number or a tensor, as a tensor decides"
WITH_A_TENSOR = "start with a tensor, `tf.constant(...)` in the place of the number"


def with_companions(
    facts: FunctionFacts, names: Names
) -> tuple[FunctionNode, list[Tag]] | None:
    """The function with its companions, and what it gives back beside its result; None where it needs none.

    Raises:
        Refusal: what a value was in eager mode cannot be followed.
    """
    made = _Companions(facts, names)
    tests = [n for n in own_nodes(facts.definition.node) if _tested(n, facts)]
    definition = facts.definition
    told = definition.tags or definition.is_inner
    paths = [] if told else _unclear(facts.result, ())
    if not tests and not paths:
        return None
    body = copy.copy(facts.definition.node)
    tags = [made.tag(path, kind) for path, kind in paths]
    replaced = {test: _flag_test(test, made) for test in tests}
    body.body = made.block([_with_tests(s, replaced) for s in body.body])
    start = own_start(body)
    body.body[start:start] = made.parameters()
    return body, tags


def _tested(node: ast.AST, facts: FunctionFacts) -> bool:
    match node:
        case ast.Compare(
            left=ast.Name() as left,
            ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()],
            comparators=[ast.Constant(value=None)],
        ):
            return isinstance(facts.kind(left), Maybe)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name() as value, _]):
            kind = facts.kind(value)
            return isinstance(kind, Tensor) and kind.mixed and not kind.weak
    return False


def is_unclear(kind: Kind) -> bool:
    """Whether a graph gives one tensor for several Python values."""
    return bool(_unclear(kind, ()))


def _unclear(kind: Kind, path: tuple[int, ...]) -> list[tuple[tuple[int, ...], Kind]]:
    """The parts of a result that a graph gives as one tensor for several Python values."""
    if isinstance(kind, Maybe):
        return [(path, kind), *_unclear(kind.kind, path)]
    if isinstance(kind, Sequence):
        return [
            found
            for i, item in enumerate(kind.items)
            for found in _unclear(item, (*path, i))
        ]
    if isinstance(kind, Dict):
        return [
            found
            for i, (_, item) in enumerate(kind.items)
            for found in _unclear(item, (*path, i))
        ]
    return [(path, kind)] if isinstance(kind, Tensor) and kind.mixed else []


class _Companions:
    """Follows names through their assignments, for one question each: is it None, is it a Python float, ..."""

    def __init__(self, facts: FunctionFacts, names: Names) -> None:
        self.facts = facts
        self.names = names
        self.flags: dict[tuple[str, str], str] = {}
        self.flag_names: dict[str, str] = {}
        self.tags: list[Tag] = []

    # ---- what is asked

    def tag(self, path: tuple[int, ...], kind: Kind) -> Tag:
        """The companion of a part of the result."""
        failing = self.facts.definition.failure is not None
        if isinstance(kind, Maybe):
            question = "none"
            if failing and path:
                raise Refusal(
                    "it raises or returns None as a tensor decides", code="GL108"
                )
        else:
            question = self._python_type(path, kind)
        parts = [
            self.part(node.value, path)
            for node, _ in self.facts.returns
            if node is not None
        ]
        shown = [p for p in parts if not (failing and is_none(p))]
        shared = {p.id for p in shown if isinstance(p, ast.Name)}
        base = (
            shared.pop()
            if len(shared) == 1 and len(set(map(ast.dump, shown))) == 1
            else "result"
        )
        if failing and question == "none":
            name = self.names.fresh("failed")
        elif base != "result":
            name = self.flag(base, question)
        else:
            taken = {tag.name for tag in self.tags}
            name = self.flag_name("result", question)
            if name in taken:
                place = "_".join(str(i + 1) for i in path)
                name = self.flag_name(f"result_{place}", question)
        found = Tag(path, question, name)
        for part in parts:
            self.answer(part, question)
        self.tags.append(found)
        return found

    def _python_type(self, path: tuple[int, ...], kind: Kind) -> str:
        """The one Python type that a part of the result may be of, beside the other way."""
        types: set[str] = set()
        for node, _ in self.facts.returns:
            part = self.part(node.value, path) if node is not None else None
            if part is not None and not is_none(part):
                types |= self._types(part, set())
        if isinstance(kind, Tensor) and kind.weak:
            if types <= {"int", "float"}:
                return "int"
        elif len(types) == 1 and getattr(kind, "dtype", "") not in (
            "float16",
            "bfloat16",
        ):
            return types.pop()
        raise Refusal(NUMBER_OR_TENSOR, way_out=WITH_A_TENSOR)

    def _types(self, node: ast.expr, seen: set[str]) -> set[str]:
        """The Python types that a value may be of in the place of a tensor."""
        known = _type(self.facts.kind(node))
        if known is not None:
            return known
        match node:
            case ast.Name() | ast.Subscript() if (
                name := _followed(node)
            ) and name not in seen:
                seen.add(name)
                given = _type(self.facts.parameters.get(name, UNKNOWN)) or set()
                return given.union(*(self._types(v, seen) for v in self._values(name)))
            case ast.BinOp(left=left, op=op, right=right):
                pairs = product(self._types(left, seen), self._types(right, seen))
                return {_arithmetic(op, *pair) for pair in pairs}
            case ast.UnaryOp(operand=operand):
                return self._types(operand, seen)
            case ast.IfExp(body=body, orelse=orelse):
                return self._types(body, seen) | self._types(orelse, seen)
        return set()

    def _values(self, name: str) -> list[ast.expr]:
        found: list[ast.expr] = []
        for node in own_nodes(self.facts.definition.node):
            for target, value in self._assigned(node):
                if target == name:
                    found.append(value)
        return found

    def _assigned(self, node: ast.AST) -> list[tuple[str, ast.expr]]:
        """The names a statement sets, and the parts of them that are written out, each with its new value."""
        pairs = _assigned(node)
        return pairs + [inner for pair in pairs for inner in self._parts(*pair)]

    def _parts(self, name: str, value: ast.expr) -> list[tuple[str, ast.expr]]:
        count = len(self.facts.kind(value).parts)
        if not isinstance(value, ast.Tuple | ast.List | ast.Dict | ast.Name):
            return []
        pairs = [(f"{name}[{i}]", self.part(value, (i,))) for i in range(count)]
        return pairs + [inner for pair in pairs for inner in self._parts(*pair)]

    def part(self, value: ast.expr | None, path: tuple[int, ...]) -> ast.expr:
        """The expression of a part of a value.

        Raises:
            Refusal: the value is not written out.
        """
        if value is None:
            return ast.Constant(None)
        for index in path:
            if is_none(value):
                break
            if isinstance(value, ast.Tuple | ast.List):
                value = value.elts[index]
            elif isinstance(value, ast.Dict) and None not in value.keys:
                value = value.values[index]
            elif _followed(value):
                part = ast.Subscript(value, ast.Constant(index), ast.Load())
                parts = self.facts.kind(value).parts
                self.facts.kinds[part] = parts[index] if parts else UNKNOWN
                part.followed = f"{_followed(value)}[{index}]"  # type: ignore[attr-defined]
                value = part
            else:
                raise Refusal(NUMBER_OR_TENSOR, value, way_out=WITH_A_TENSOR)
        return value

    # ---- answers

    def flag(self, name: str, question: str) -> str:
        key = (name, question)
        if key not in self.flags:
            self.flags[key] = self.flag_name(name, question)
        return self.flags[key]

    def flag_name(self, name: str, question: str) -> str:
        """What a companion is called: the same for a result and for a variable `result`."""
        text = f"{name.replace('[', '_').replace(']', '')}_is_{question}"
        if text not in self.flag_names:
            self.flag_names[text] = self.names.fresh(text)
        return self.flag_names[text]

    def answer(self, node: ast.expr, question: str) -> ast.expr:
        """The expression that tells whether an expression's value is such.

        Raises:
            Refusal: that cannot be followed.
        """
        kind = self.facts.kind(node)
        known = _known(kind, question)
        if known is not None:
            return ast.Constant(known)
        match node:
            case ast.Name() | ast.Subscript() if name := _followed(node):
                return ast.Name(self.flag(name, question), ast.Load())
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._chosen(
                    test, self.answer(body, question), self.answer(orelse, question)
                )
            case ast.BoolOp(op=op, values=[first, *rest]):
                later = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                self.facts.kinds.setdefault(later, kind)
                answers = [self.answer(later, question), self.answer(first, question)]
                if isinstance(op, ast.Or):
                    answers.reverse()
                return self._chosen(first, *answers)
            case ast.BinOp() if isinstance(kind, Tensor) and kind.weak:
                return self._are_ints(node)
            case ast.BinOp(left=left, right=right):
                return _all([self.is_number(left), self.is_number(right)])
            case ast.UnaryOp(operand=operand):
                return self.answer(operand, question)
        raise Refusal(
            f"whether `{ast.unparse(node)}` is {question} cannot be followed", node
        )

    def _chosen(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> ast.expr:
        if ast.dump(body) == ast.dump(orelse):
            return body
        match body, orelse:
            case ast.Constant(value=True), ast.Constant(value=False) if (
                getattr(self.facts.kind(test), "dtype", None) == "bool"
            ):
                return test
        return ast.IfExp(test, body, orelse)

    def is_number(self, node: ast.expr) -> ast.expr:
        """The expression that tells whether a value is a Python number.

        Raises:
            Refusal: that cannot be followed.
        """
        kind = self.facts.kind(node)
        if isinstance(kind, Tensor) and kind.weak:
            return ast.Constant(True)
        types = self._types(node, set())
        if not types and _type(kind) is not None:
            return ast.Constant(False)
        if len(types) == 1:
            return self.answer(node, types.pop())
        raise Refusal(
            f"whether `{ast.unparse(node)}` is a Python number cannot be followed", node
        )

    def is_instance(self, node: ast.expr, classes: ast.expr) -> ast.expr:
        """The expression that `isinstance` of a number that may be a tensor becomes."""
        parts = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        asked = {p.id for p in parts if isinstance(p, ast.Name)}
        if self._types(node, set()) <= asked:
            return self.is_number(node)
        raise Refusal("the type of what a tensor chose is not known", node)

    def _are_ints(self, node: ast.BinOp) -> ast.expr:
        """The expression that tells whether Python's arithmetic gives an int."""
        if isinstance(node.op, ast.Div):
            return ast.Constant(False)
        return _all([self.answer(side, "int") for side in (node.left, node.right)])

    # ---- the body with companions

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block with the companions set where their names are."""
        while True:
            count = len(self.flags)
            result = [s for node in body for s in self._statement(node)]
            if len(self.flags) == count:
                return result

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            return [self._return(node)]
        made = self._inner(node)
        if isinstance(made, ast.For):
            starts = [
                assigned(flag, ast.Constant(False))
                for (name, _), flag in self.flags.items()
                if _base(name) in target_names(made.target)
            ]
            if starts:
                made = copy.copy(made)
                made.body = [*starts, *made.body]
            return [made]
        stores = self._stores(node)
        if any(isinstance(n, ast.IfExp) for store in stores for n in ast.walk(store)):
            return [self._at_once(made, stores)]
        return [made, *stores]

    def _at_once(self, node: ast.stmt, stores: list[ast.stmt]) -> ast.stmt:
        """An assignment and its companions', whose tests read what was there before."""
        target: ast.expr
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                value = ast.BinOp(ast.Name(name, ast.Load()), op, value)
            case _:
                raise Refusal("what it is set to cannot be followed", node)
        targets, values = [target], [value]
        for store in stores:
            assert isinstance(store, ast.Assign)
            targets += store.targets
            values.append(store.value)
        made = ast.Assign(
            [ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load())
        )
        return with_origin(made, node)

    def _inner(self, node: ast.stmt) -> ast.stmt:
        return rebuilt(
            node, lambda block: [s for n in block for s in self._statement(n)]
        )

    def _stores(self, node: ast.stmt) -> list[ast.stmt]:
        pairs = self._assigned(node)
        names = [name for name, _ in pairs]
        bound = set(bound_names(node))
        found: list[tuple[str, ast.expr]] = []
        for (name, question), flag in list(self.flags.items()):
            if name in names:
                value = next(v for n, v in pairs if n == name)
                answer = self.answer(value, question)
                if not is_named(answer, flag):
                    found.append((flag, answer))
            elif _base(name) in bound:
                raise Refusal(
                    f"whether `{name}` is {question} cannot be followed", node
                )
        if len(found) > 1 and any(isinstance(answer, ast.Name) for _, answer in found):
            targets = ast.Tuple(
                [ast.Name(flag, ast.Store()) for flag, _ in found], ast.Store()
            )
            return [
                ast.Assign(
                    [targets], ast.Tuple([answer for _, answer in found], ast.Load())
                )
            ]
        return [assigned(flag, answer) for flag, answer in found]

    def _return(self, node: ast.Return) -> ast.Return:
        if not self.tags:
            return node
        value = node.value or ast.Constant(None)
        told = {tag.name: tag for tag in self.tags}.values()
        answers = [self.answer(self.part(value, tag.path), tag.type) for tag in told]
        values = [value]
        if beside := self.facts.definition.beside:
            values = [self.part(value, (i,)) for i in range(1 + beside)]
        return ast.Return(ast.Tuple([*values, *answers], ast.Load()))

    def parameters(self) -> list[ast.stmt]:
        """The companions of parameters, as they come in."""
        found: list[ast.stmt] = []
        for (name, question), flag in self.flags.items():
            kind = self.facts.parameters.get(_base(name))
            if kind is not None:
                known = _known(kind if name == _base(name) else UNKNOWN, question)
                if known is None:
                    raise Refusal(f"whether `{name}` is {question} is not known")
                found.append(assigned(flag, ast.Constant(known)))
        return found


def _all(answers: list[ast.expr]) -> ast.expr:
    """Whether all the answers are yes."""
    if any(isinstance(a, ast.Constant) and a.value is False for a in answers):
        return ast.Constant(False)
    asked = [a for a in answers if not isinstance(a, ast.Constant)]
    if not asked:
        return ast.Constant(True)
    return asked[0] if len(asked) == 1 else ast.BoolOp(ast.And(), asked)


def _type(kind: Kind) -> set[str] | None:
    """The Python type of what is surely a Python value, none for what is surely a tensor; None where that is not known."""
    if isinstance(kind, Python):
        return {kind.type}
    if isinstance(kind, Tensor) and kind.weak and not kind.mixed:
        return {kind.weak}
    return set() if is_strong(kind) and not getattr(kind, "mixed", False) else None


def _arithmetic(op: ast.operator, left: str, right: str) -> str:
    """The type that Python's arithmetic gives."""
    return "float" if isinstance(op, ast.Div) or "float" in (left, right) else "int"


def _known(kind: Kind, question: str) -> bool | None:
    """The answer, where the kind tells it."""
    if question == "none":
        return True if kind == NONE else None if isinstance(kind, Maybe) else False
    if isinstance(kind, Python):
        return kind.type == question
    if isinstance(kind, Tensor) and kind.mixed:
        return None
    if isinstance(kind, Tensor) and kind.weak:
        return kind.weak == question
    return False if is_strong(kind) or is_tensor(kind) else None


def _assigned(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """The names a statement sets, each with the expression of its new value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return [(name, value)]
        case ast.Assign(
            targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
        ) if len(names) == len(values):
            return [
                (n.id, v)
                for n, v in zip(names, values, strict=True)
                if isinstance(n, ast.Name)
            ]
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            load = getattr(target, "as_load", None) or ast.Name(name, ast.Load())
            return [(name, ast.BinOp(load, op, value))]
    return []


def _followed(node: ast.expr) -> str | None:
    """What tells a name, or a part of what a name holds, from others."""
    if isinstance(node, ast.Name):
        return node.id
    return getattr(node, "followed", None)


def _base(name: str) -> str:
    """The name of which something is a part."""
    return name.partition("[")[0]


def _flag_test(node: ast.AST, made: _Companions) -> ast.expr:
    if isinstance(node, ast.Call):
        return made.is_instance(*node.args)
    assert isinstance(node, ast.Compare) and isinstance(node.left, ast.Name)
    flag = ast.Name(made.flag(node.left.id, "none"), ast.Load())
    flag.tells_none = node.left.id  # type: ignore[attr-defined]
    flag = placed(flag, node)
    if isinstance(node.ops[0], ast.Is | ast.Eq):
        return flag
    result = ast.UnaryOp(ast.Not(), flag)
    ast.copy_location(result, node)
    return result


class _Replace(ast.NodeTransformer):
    def __init__(self, replaced: dict[ast.AST, ast.expr]) -> None:
        self.replaced = replaced

    def visit(self, node: ast.AST) -> ast.AST:
        if node in self.replaced:
            return self.replaced[node]
        return self.generic_visit(node)


def _with_tests(node: ast.stmt, replaced: dict[ast.AST, ast.expr]) -> ast.stmt:
    if not any(inner in replaced for inner in ast.walk(node)):
        return node
    made = _Replace(replaced).visit(node)
    assert isinstance(made, ast.stmt)
    return made
