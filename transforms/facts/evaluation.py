"""What expressions give, and what evaluating them does, as the interpreter walks a function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..findings import Refusal
from . import (
    arrays,
    callbacks,
    draws,
    math_functions,
    methods,
    operators,
    tensorflow_api,
    texts,
)
from .agreement import agrees
from .calls import Arguments, call_builtin, is_instance
from .environment import Environment, FunctionFacts
from .kinds import (
    BOOL,
    NONE,
    SIZE,
    STR,
    UNKNOWN,
    Dataset,
    Dict,
    Elements,
    Function,
    Iterator,
    Kind,
    Mapping,
    Maybe,
    Module,
    Object,
    Python,
    Ragged,
    Record,
    Rows,
    Scalar,
    Sequence,
    Shaped,
    Tensor,
    Type,
    Union,
    Variable,
    forget,
    is_mutable,
    join_all,
    members,
    python,
    weak,
)
from .lists import mutated
from .mixing import asks_for_number, may_be_number, remixed, unmixed
from .modules import blocks, bound_names
from .numbers import ZERO_DIVISION, divisor, exact_numbers, is_known_nonzero
from .outcome import Outcome
from .profile import Recorded
from .signs import is_nonzero, is_size, tells_nonzero
from .staging import (
    choose,
    hold,
    holds_size,
    holds_tensor,
    host_join,
    is_list,
    is_numpy,
    is_optimizer,
    is_strong,
    is_tensor,
    is_weak,
    list_of,
    released,
)

if TYPE_CHECKING:
    from .session import Session

Truth = Literal[True, False, "tensor"] | None
"""Whether a test holds: known, decided by a tensor, or (None) known to Python only while tracing."""

KERAS_ATTRIBUTES: dict[str, Kind] = {
    "trainable_variables": Elements("list", Variable()),
    "trainable_weights": Elements("list", Variable()),
    "non_trainable_variables": Elements("list", Variable()),
    "variables": Elements("list", Variable()),
    "weights": Elements("list", Variable()),
    "losses": Elements("list", Tensor()),
}
OVER_TENSORS = frozenset(
    f"builtins.{name}"
    for name in [
        "max",
        "min",
        "sum",
        "any",
        "all",
        "sorted",
        "map",
        "filter",
        "divmod",
        "pow",
    ]
)
PACKAGES = ("tensorflow.", "numpy.")
MOST_ITEMS = 64
"""How many items of a comprehension are told apart."""
KEYED = frozenset({"get", "pop", "setdefault"})
KEYED_BY_TENSOR = (
    "a dict finds its items by hash, and a tensor in a graph has none: "
    "count with `tf.unique_with_counts` or `tf.math.bincount`, or keep one tensor with a place for each key"
)
SLICE_WRITES = frozenset({"assign", "assign_add", "assign_sub"})
ALLOWED_EFFECTS = frozenset({"assign", "assert", "exhausts", "stdout", "write"})


@dataclass(frozen=True)
class _Control:
    node: ast.AST
    staged: bool
    loop: bool


class Evaluation:
    """Evaluates expressions to kinds; `facts` is the function at hand, `session` all that is known of its project."""

    def __init__(self, session: Session, recorded: Recorded | None) -> None:
        self.session = session
        self.recorded = recorded
        self.facts: FunctionFacts
        self.shown: set[ast.expr] = set()
        self.outer: Environment | None = None
        self._controls: list[_Control] = []
        self._sites: dict[
            ast.Lambda, dict[tuple[ast.Call, str], dict[ast.expr, Kind]]
        ] = {}
        self.raised = False
        """Whether what was evaluated last surely raised."""

    def enter(self, facts: FunctionFacts, outer: Environment | None) -> None:
        self.facts = facts
        self.outer = outer
        self._controls = []
        self._sites = {}

    # ---- problems, effects, control

    def problem(self, reason: str, node: ast.AST, code: str = "GL401") -> None:
        self.facts.problems.append(Refusal(reason, node, code))

    def effect(self, name: str, node: ast.AST) -> None:
        self.facts.effects.setdefault(name, []).append(node)

    def operation(self) -> None:
        self.facts.operations += 1

    def marks(self) -> tuple[int, int, dict[str, int], int]:
        """How much has been found so far; `rewind` forgets what a later, discarded round found."""
        effects = {name: len(nodes) for name, nodes in self.facts.effects.items()}
        return (
            len(self.facts.problems),
            len(self.facts.returns),
            effects,
            self.facts.operations,
        )

    def rewind(self, marks: tuple[int, int, dict[str, int], int]) -> None:
        problems, returns, effects, operations = marks
        del self.facts.problems[problems:]
        del self.facts.returns[returns:]
        for name, nodes in self.facts.effects.items():
            del nodes[effects.get(name, 0) :]
        self.facts.operations = operations

    @contextmanager
    def control(
        self, node: ast.AST, staged: bool, loop: bool | None = None
    ) -> Generator[None]:
        is_loop = isinstance(node, ast.For | ast.While) if loop is None else loop
        self._controls.append(_Control(node, staged, is_loop))
        try:
            yield
        finally:
            self._controls.pop()

    def is_staged(self) -> bool:
        return any(control.staged for control in self._controls)

    def innermost_loop(self) -> ast.AST | None:
        return next((c.node for c in reversed(self._controls) if c.loop), None)

    def exit_to(self, target: ast.AST | None, continues: bool = False) -> None:
        """Note which loops (and function) an exit leaves by a tensor's word; `target` None is the function."""
        staged = False
        for control in reversed(self._controls):
            staged = staged or control.staged
            if control.loop and staged and not (continues and control.node is target):
                self.facts.exits.add(control.node)
            if control.node is target:
                return
        if staged:
            self.facts.exits.add(self.facts.definition.node)

    def leaves(self, body: list[ast.stmt]) -> bool:
        return any(isinstance(n, ast.Return) for s in body for n in ast.walk(s))

    def assigned_in(self, node: ast.stmt) -> set[str]:
        """The names a statement and its blocks bind or change an item of."""
        names = set(bound_names(node))
        match node:
            case ast.Assign(targets=targets):
                names |= {n for t in targets for n in _item_owners(t)}
            case ast.AugAssign(target=target):
                names |= set(_item_owners(target))
        for block in blocks(node):
            for inner in block:
                names |= self.assigned_in(inner)
        return names

    # ---- what the profile saw

    def observed(self, target: ast.Name, kind: Kind) -> Kind:
        """The kind with a dtype or, where nothing is known, all else the profile knows of this assignment."""
        if self.recorded is None or not hasattr(target, "lineno"):
            return kind
        node = self.facts.definition.node
        seen = self.recorded.names.get(
            f"{target.lineno - node.lineno}:{target.col_offset - node.col_offset}:{target.id}"
        )
        if kind == UNKNOWN and seen is not None:
            return seen
        if seen is not None and not agrees(kind, seen):
            self.problem(
                f"`{target.id}` was seen to be {seen}, where {kind} was to be expected",
                target,
            )
        if isinstance(kind, Tensor) and isinstance(seen, Tensor) and not kind.weak:
            kind = replace(kind, dtype=kind.dtype or seen.dtype)
        return kind

    # ---- names

    def imported(self, name: str) -> Kind:
        dotted = self.session.module.imports.get(name)
        return UNKNOWN if dotted is None else self.session.external(dotted)

    def _name(self, node: ast.Name, environment: Environment) -> Kind:
        told = environment.kinds.get(getattr(node, "tells_none", ""), UNKNOWN)
        if told == NONE or is_tensor(told):
            return python(told == NONE)
        self.facts.nonzero.discard(node)
        if node.id in environment.nonzero:
            self.facts.nonzero.add(node)
        if node.id in environment.kinds:
            kind = environment.kinds[node.id]
            parts = members(kind)
            if any(map(is_weak, parts)) and any(map(is_strong, parts)):
                reason = (
                    f"`{node.id}` may be a Python number held in a tensor, or a tensor"
                )
                self.problem(reason, node)
            return kind
        if self.outer is not None and node.id in self.outer.kinds:
            kind = self.outer.kinds[node.id]
            if self._may_change_around(node.id, kind):
                reason = f"what `{node.id}` holds may change between calls"
                self.problem(reason, node, "GL302")
            return kind
        found = self._global_name(node)
        if found is not None:
            return found
        if hasattr(builtins, node.id):
            return Function(f"builtins.{node.id}")
        self.problem(f"what `{node.id}` is here is not known", node)
        return UNKNOWN

    def _global_name(self, node: ast.Name) -> Kind | None:
        settled = self.facts.definition.settled
        if node.id in settled:
            return settled[node.id]
        kind = self.session.global_kind(node.id, self.recorded)
        if kind is None:
            return None
        if self._may_change(node.id, kind):
            self.problem(
                f"the global `{node.id}` may change between calls", node, "GL302"
            )
            seen = self.recorded.globals.get(node.id) if self.recorded else None
            grown = kind == Sequence("list", ()) and seen is not None
            return seen if grown else forget(kind)
        return kind

    def _may_change(self, name: str, kind: Kind) -> bool:
        """Whether a global may hold something else at the next call."""
        if name in self.session.changes.globals:
            return True
        module = self.session.module
        if isinstance(kind, Function | Type):
            return name in module.rebound or name in module.elsewhere.rebound
        if isinstance(kind, Module):
            return False
        fixed = isinstance(kind, Object | Variable | Python | Tensor)
        return name in module.rebound or (self._is_changed(name) and not fixed)

    def _may_change_around(self, name: str, kind: Kind) -> bool:
        """Whether a variable of the function that made this one may hold something else at the next call."""
        definition = self.facts.definition
        if not definition.outlasts:
            return False
        return name in definition.reset_around or (
            is_mutable(kind)
            and (definition.is_shared(name) or name in self.session.module.changed)
        )

    def _is_changed(self, name: str) -> bool:
        """Whether some code changes what a global holds in place."""
        module = self.session.module
        dotted = module.imports.get(name)
        home, own = self.session.home(dotted) if dotted else (self.session, name)
        return name in module.changed or own in home.module.changed

    # ---- expressions

    def evaluate(self, node: ast.expr, environment: Environment) -> Kind:
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        kind: Kind = getattr(node, "drawn", UNKNOWN)
        if kind != UNKNOWN:
            self.problem("a graph draws once, while it is traced", node, "GL207")
        elif handler is None:
            self.problem(f"`{ast.unparse(node)[:40]}` is not lifted", node)
        else:
            kind = handler(node, environment)
        self.facts.kinds[node] = kind
        return kind

    def settle(self, found: Outcome | None, what: str, node: ast.AST) -> Kind:
        """The kind of an outcome; notes its effects, and a problem where it is not known or an error."""
        if found is None:
            self.problem(f"what {what} gives is not known", node)
            return UNKNOWN
        if found.error:
            self.problem(f"{what} raises: {found.error}", node)
            self.raised = True
            return UNKNOWN
        for name in sorted(found.effects):
            self.effect(name, node)
            if name not in ALLOWED_EFFECTS:
                self.problem(*_blocker(name, what, node, found.kind))
        return found.kind

    # ---- code that runs several times, each time with other kinds

    def called_lambda(
        self, node: ast.Lambda, call: ast.Call, made: str, environment: Environment
    ) -> Kind:
        """What a lambda, `made` by this name, gives at one call; its nodes hold what they hold at all of its calls."""
        kind = self.evaluate(node.body, environment)
        sites = self._sites.setdefault(node, {})
        sites[call, made] = self._kinds_in(node.body)
        self._hold_all(list(sites.values()))
        return kind

    def _kinds_in(self, *nodes: ast.expr) -> dict[ast.expr, Kind]:
        return {
            inner: self.facts.kinds[inner]
            for node in nodes
            for inner in ast.walk(node)
            if isinstance(inner, ast.expr) and inner in self.facts.kinds
        }

    def _hold_all(self, times: list[dict[ast.expr, Kind]]) -> None:
        for node in {node: None for held in times for node in held}:
            kind = join_all(held[node] for held in times if node in held)
            self.facts.kinds[node] = kind
            if (
                node in self.facts.tests
                and isinstance(kind, Union)
                and holds_tensor(kind)
            ):
                self.problem("this test may be a Python value or a tensor", node)

    def _constant(self, node: ast.Constant, environment: Environment) -> Kind:
        return python(node.value)

    def _namedexpr(self, node: ast.NamedExpr, environment: Environment) -> Kind:
        kind = self.evaluate(node.value, environment)
        environment.bind(node.target.id, kind)
        self.facts.kinds[node.target] = kind
        return kind

    def _tuple(self, node: ast.Tuple, environment: Environment) -> Kind:
        return self._display("tuple", node.elts, environment)

    def _list(self, node: ast.List, environment: Environment) -> Kind:
        return self._display("list", node.elts, environment)

    def _display(
        self, name: str, elts: list[ast.expr], environment: Environment
    ) -> Kind:
        items: list[Kind] = []
        several: list[Kind] = []
        for element in elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value, environment)
                if isinstance(inner, Elements):
                    several.append(inner.element)
                    continue
                if not isinstance(inner, Sequence):
                    self.problem("how many items `*` gives is not known", element)
                    return UNKNOWN
                items += inner.items
            else:
                items.append(self.evaluate(element, environment))
        if several:
            return Elements(name, join_all([*several, *map(forget, items)]))
        return Sequence(name, tuple(items))

    def _dict(self, node: ast.Dict, environment: Environment) -> Kind:
        values = [self.evaluate(v, environment) for v in node.values]
        keys = [self.evaluate(k, environment) if k else UNKNOWN for k in node.keys]
        if all(isinstance(k, Python) and k.known and k.type == "str" for k in keys):
            names = [str(k.value) for k in keys if isinstance(k, Python)]
            return Dict(tuple(dict(zip(names, values, strict=True)).items()))
        return Mapping(join_all(map(forget, keys)), join_all(map(forget, values)))

    def _joinedstr(self, node: ast.JoinedStr, environment: Environment) -> Kind:
        formatted = [v for v in node.values if isinstance(v, ast.FormattedValue)]
        kinds = [self.evaluate(v.value, environment) for v in formatted]
        made = texts.kind_of(self, node)
        if made is not None:
            return made
        if any(holds_tensor(k) or k == SIZE for k in kinds):
            self.problem("it formats a tensor as text", node, "GL210")
        return STR

    def _attribute(self, node: ast.Attribute, environment: Environment) -> Kind:
        settled = self.facts.definition.settled
        if settled and (text := ast.unparse(node)) in settled:
            self.evaluate(node.value, environment)
            return settled[text]
        value = self.evaluate(node.value, environment)
        if is_numpy(value):
            return arrays.attribute(self, node, value)
        if isinstance(value, Module):
            return self._of_module(node, f"{value.name}.{node.attr}")
        if isinstance(value, Object | Type | Record):
            found = self.session.attribute(self, node, value)
            if found is not None:
                return found
        if isinstance(value, Object | Type):
            if value.name.startswith(("keras.", "tensorflow.keras.")):
                found = KERAS_ATTRIBUTES.get(node.attr)
            if found is not None:
                return found
        if isinstance(value, Union) and all(
            isinstance(m, Object) for m in value.members
        ):
            parts = [self.session.attribute(self, node, m) for m in value.members]  # type: ignore[arg-type]
            if not any(p is None or isinstance(p, Function) for p in parts):
                return join_all(forget(p) for p in parts if p is not None)
        if isinstance(value, Union) and NONE not in value.members:
            known = [methods.attribute(m, node.attr) for m in value.members]
            if all(o is not None and not o.error for o in known):
                return join_all(o.kind for o in known if o)
        found_outcome = methods.attribute(value, node.attr)
        if found_outcome is not None:
            return self.settle(found_outcome, f"`.{node.attr}`", node)
        if isinstance(value, Function) and (
            value.name.startswith(PACKAGES) or draws.code(value.name)
        ):
            return self.session.external(f"{value.name}.{node.attr}")
        return Function(f"method.{node.attr}", value)

    def _of_module(self, node: ast.Attribute, dotted: str) -> Kind:
        kind = self.session.external(dotted)
        home, name = self.session.home(dotted)
        changes = name in home.module.rebound or name in home.module.changed
        if home is self.session or not changes:
            return kind
        self.problem(f"`{ast.unparse(node)}` may change between calls", node, "GL302")
        return forget(kind)

    def _subscript(self, node: ast.Subscript, environment: Environment) -> Kind:
        value = self.evaluate(node.value, environment)
        index = self.evaluate(node.slice, environment)
        if is_numpy(value):
            return arrays.item(self, node, value, index)
        index = arrays.all_released(index)
        parts = [operators.subscript(member, index) for member in members(value)]
        kind = join_all(
            self.settle(found, f"`{ast.unparse(node)}`", node) for found in parts
        )
        if is_tensor(value) or is_tensor(index):
            self.operation()
        if is_tensor(value) and hasattr(node, "holds"):
            return weak(node.holds)
        if kind == SIZE and not self.session.is_graph_function(self.facts.definition):
            return weak("int")
        if is_tensor(index) and not is_tensor(value):
            self.problem("a Python container is indexed by a tensor", node, "GL111")
        return kind

    def _slice(self, node: ast.Slice, environment: Environment) -> Kind:
        bounds = [
            self.evaluate(e, environment) if e else NONE
            for e in (node.lower, node.upper, node.step)
        ]
        return Sequence("slice", tuple(bounds))

    def _starred(self, node: ast.Starred, environment: Environment) -> Kind:
        return self.evaluate(node.value, environment)

    # ---- operators

    def _binop(self, node: ast.BinOp, environment: Environment) -> Kind:
        left = self.evaluate(node.left, environment)
        right = self.evaluate(node.right, environment)
        text = texts.kind_of(self, node)
        return text or self.binary(node.op, left, right, node)

    def binary(
        self, operator: ast.operator, left: Kind, right: Kind, node: ast.AST
    ) -> Kind:
        name = type(operator).__name__.lower()
        kinds = []
        for a in members(left):
            for b in members(right):
                own = self.session.operator(self, name, a, b, node)
                kinds.append(own if own is not None else self._binary(name, a, b, node))
        kind = join_all(kinds)
        if holds_tensor(kind):
            self.operation()
        return kind

    def _binary(self, name: str, left: Kind, right: Kind, node: ast.AST) -> Kind:
        if is_numpy(left) or is_numpy(right):
            return arrays.binary(self, name, left, right, node)
        if name == "mult" and is_list(left) and is_weak(right):
            self.problem("a list is as long as a tensor says", node, "GL203")
            return list_of(operators.iterate(left) or UNKNOWN)
        plain = [unmixed(left), unmixed(right)]
        kind = self.settle(
            operators.binary(name, *plain),
            f"{operators.SIGNS.get(name, name)} of {left} and {right}",
            node,
        )
        self._check_number(name, left, right, kind, node)
        made = remixed(kind, name, left, right)
        if isinstance(made, Tensor) and (made.mixed or made.weak):
            made = replace(made, numbers=exact_numbers(name, left, right, made.dtype))
        return made

    def _check_number(
        self, name: str, left: Kind, right: Kind, kind: Kind, node: ast.AST
    ) -> None:
        """Refuse where Python's arithmetic and a tensor's part: division by zero, large powers, rounding."""
        numbers, by = is_weak(kind) or may_be_number(left, right), divisor(node)
        if (
            numbers
            and name in ("div", "floordiv", "mod")
            and not (is_known_nonzero(right) or _fails_alike(kind, right))
            and not (by is not None and is_nonzero(by, self.facts))
            and not hasattr(node, "checked")
            and not (by is not None and self._is_seen_size(by))
        ):
            self.problem(ZERO_DIVISION, node)
        if is_weak(kind) and name in ("pow", "lshift", "rshift"):
            self.problem(
                "a power of Python numbers that a tensor decides is not lifted", node
            )
        counts = self.innermost_loop() is not None and self.is_staged()
        exact = exact_numbers(name, left, right, getattr(kind, "dtype", None))
        if counts and may_be_number(left, right) and exact is None:
            self.problem("it counts with what may be a Python number or a tensor", node)

    def _is_seen_size(self, node: ast.expr) -> bool:
        """Whether this is a size of a tensor, and no recorded call has divided by zero."""
        recorded = self.recorded
        seen = recorded is not None and "ZeroDivisionError" not in recorded.raises
        return seen and is_size(node, self.facts)

    def _unaryop(self, node: ast.UnaryOp, environment: Environment) -> Kind:
        if isinstance(node.op, ast.Not):
            truth = self.test(node.operand, environment)
            if truth == "tensor":
                self.facts.staged.add(node)
                return weak("bool")
            return BOOL if truth is None else python(not truth)
        operand = self.evaluate(node.operand, environment)
        if isinstance(operand, Tensor) and operand.weak == "bool":
            self.problem(
                "arithmetic of a Python bool that a tensor decides is not lifted", node
            )
        name = type(node.op).__name__.lower()
        kinds = [
            self.settle(
                operators.unary(name, released(m) if is_numpy(m) else unmixed(m)),
                f"`{ast.unparse(node)}`",
                node,
            )
            for m in members(operand)
        ]
        kind = join_all(kinds)
        if is_numpy(operand):
            kind = hold(kind)
        if holds_tensor(kind):
            self.operation()
        return (
            replace(kind, mixed=True)
            if isinstance(kind, Tensor) and getattr(operand, "mixed", False)
            else kind
        )

    def _boolop(self, node: ast.BoolOp, environment: Environment) -> Kind:
        stops_at = isinstance(node.op, ast.Or)
        inner = environment
        kinds: list[Kind] = []
        staged = False
        for i, value in enumerate(node.values):
            if node in self.facts.tests:
                truth = self.test(value, inner)
                kind = self.facts.kind(value)
            else:
                kind = self.evaluate(value, inner)
                truth = self.truth(kind)
            staged = staged or (
                truth == "tensor" and (i < len(node.values) - 1 or bool(kinds))
            )
            if (
                truth is not stops_at
                and truth in (True, False)
                and i < len(node.values) - 1
            ):
                continue
            kinds.append(kind)
            if truth is stops_at:
                break
            inner = self.narrowed(value, not stops_at, inner)
        if staged:
            self.facts.staged.add(node)
        if staged and node in self.facts.tests:
            kinds = [weak("bool") if _is_answer(k) else k for k in kinds]
        result = kinds[0]
        for kind in kinds[1:]:
            result = choose(result, kind) if staged else host_join(result, kind)
        if staged and result == UNKNOWN:
            self.problem("`and`/`or` of these values is not lifted", node, "GL103")
        return result

    def _compare(self, node: ast.Compare, environment: Environment) -> Kind:
        left = self.evaluate(node.left, environment)
        kinds: list[Kind] = []
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator, environment)
            kinds.append(
                self._comparison(type(operator).__name__.lower(), left, right, node)
            )
            left = right
        if len(kinds) > 1 and any(map(is_tensor, kinds)):
            self.facts.staged.add(node)
        if len(kinds) > 1:
            kinds = [weak("bool") if _is_answer(k) else k for k in kinds]
        result = kinds[0]
        for kind in kinds[1:]:
            result = (
                choose(result, kind)
                if holds_tensor(result) or holds_tensor(kind)
                else host_join(result, kind)
            )
        return result

    def _comparison(
        self, name: str, left: Kind, right: Kind, node: ast.Compare
    ) -> Kind:
        kinds = []
        for a in members(left):
            for b in members(right):
                kinds.append(self._compared(name, a, b, node))
        kind = join_all(kinds)
        if holds_tensor(kind):
            self.operation()
        if isinstance(kind, Union) and holds_tensor(kind):
            self.problem("this comparison may give a Python bool or a tensor", node)
        return kind

    def _compared(self, name: str, left: Kind, right: Kind, node: ast.Compare) -> Kind:
        if (
            (
                name in ("is", "isnot")
                and isinstance(left, Tensor)
                and left.weak == "bool"
                and not left.mixed
            )
            and isinstance(right, Python)
            and right.type == "bool"
            and right.known
        ):
            return weak("bool")
        if (
            isinstance(left, Maybe)
            and right == NONE
            and name in ("is", "isnot", "eq", "noteq")
        ):
            return weak("bool")
        if name in ("in", "notin") and is_tensor(right):
            self.problem("`in` a tensor is not lifted yet", node, "GL103")
            return UNKNOWN
        if (
            name in ("is", "isnot")
            and any(isinstance(k, Tensor) and k.mixed for k in (left, right))
            and NONE not in (left, right)
        ):
            self.problem(
                "the identity of a value that a tensor chose is not known",
                node,
                "GL103",
            )
        if name in ("is", "isnot") and all(map(_is_made_anew, (left, right))):
            reason = "a graph makes tuples, dicts and dataclasses anew: compare what they hold"
            self.problem(reason, node, "GL103")
        if name in ("eq", "noteq") and all(map(self.session.is_enum, (left, right))):
            return BOOL
        if is_numpy(left) or is_numpy(right):
            found = operators.compare(name, released(left), released(right))
            return hold(self.settle(found, f"comparing {left} with {right}", node))
        found = operators.compare(name, unmixed(left), unmixed(right))
        return self.settle(found, f"comparing {left} with {right}", node)

    def _ifexp(self, node: ast.IfExp, environment: Environment) -> Kind:
        truth = self.test(node.test, environment)
        if truth is True or truth is False:
            return self.evaluate(node.body if truth else node.orelse, environment)
        if truth == "tensor":
            self.facts.staged.add(node)
        with self.control(node, truth == "tensor"):
            then = self.evaluate(node.body, self.narrowed(node.test, True, environment))
            other = self.evaluate(
                node.orelse, self.narrowed(node.test, False, environment)
            )
        kind = choose(then, other) if truth == "tensor" else host_join(then, other)
        if any(map(is_optimizer, members(kind))):
            self.problem(
                "a graph makes the variables of one optimizer only", node, "GL305"
            )
        if kind == UNKNOWN:
            self.problem(f"one value cannot hold {then} or {other}", node, "GL102")
        return kind

    # ---- tests

    def test(self, node: ast.expr, environment: Environment) -> Truth:
        self.facts.tests.add(node)
        kind = self.evaluate(node, environment)
        truth = self.truth(kind)
        if truth == "tensor" and self.facts.eager:
            return None
        if truth == "tensor" and isinstance(kind, Union):
            self.problem("this test may be a Python value or a tensor", node)
        shape = kind.shape if isinstance(kind, Shaped) else ()
        several = shape is not None and any(size != 1 for size in shape)
        if truth == "tensor" and several:
            self.problem(f"the truth of {kind} is not lifted", node, "GL103")
        return truth

    def truth(self, kind: Kind) -> Truth:
        if isinstance(kind, Python):
            if kind == NONE:
                return False
            return (
                bool(kind.value)
                if kind.known and kind.type not in ("dtype", "ellipsis")
                else None
            )
        if is_tensor(kind) or (isinstance(kind, Union) and holds_tensor(kind)):
            return "tensor"
        if isinstance(kind, Sequence):
            return bool(kind.items)
        if isinstance(kind, Dict):
            return bool(kind.items)
        if isinstance(kind, Function | Type | Module):
            return True
        return None

    def narrowed(
        self, test: ast.expr, holds: bool, environment: Environment
    ) -> Environment:
        """What is known where the test came out so: `x is None` and `x is not None` split a union, `n > 0` is not 0."""
        result = environment.copy()
        if nonzero := tells_nonzero(test, holds):
            result.nonzero |= {nonzero}
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.narrowed(operand, not holds, environment)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == holds:
                for value in values:
                    result = self.narrowed(value, holds, result)
                return result
            case ast.Compare(
                left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]
            ):
                is_none = isinstance(op, ast.Is | ast.Eq) == holds
            case ast.Name() if hasattr(test, "tells_none"):
                name, is_none = test.tells_none, holds
            case _:
                return result
        kind = result.kinds.get(name)
        if isinstance(kind, Union) and NONE in kind.members:
            rest = [m for m in kind.members if m != NONE]
            result.kinds[name] = NONE if is_none else join_all(rest)
        if isinstance(kind, Maybe):
            result.kinds[name] = NONE if is_none else kind.kind
        return result

    # ---- loops

    def iterates_in_graph(self, node: ast.expr, iterable: Kind) -> bool:
        """Whether a loop over this can only be a loop of the graph."""
        if self.facts.eager:
            return False
        if is_tensor(iterable) or isinstance(iterable, Dataset | Iterator | Ragged):
            return True
        if not isinstance(iterable, Elements):
            return False
        if iterable.rows:
            return True
        if iterable.type in ("range", "enumerate") and _has_weak_index(iterable):
            return True
        sources = node.args if isinstance(node, ast.Call) else []
        return iterable.type in ("zip", "reversed") and any(
            is_tensor(kind) or isinstance(kind, Ragged)
            for kind in map(self.facts.kind, sources)
        )

    def observed_element(self, node: ast.For, iterable: Kind) -> Kind | None:
        return (
            join_all(operators.iterate(m) or UNKNOWN for m in members(iterable))
            if iterable != UNKNOWN
            else None
        )

    def runs_at_least_once(self, node: ast.expr, iterable: Kind) -> bool:
        if isinstance(iterable, Tensor | Variable) and iterable.shape:
            return bool(iterable.shape[0])
        match node:
            case ast.Call(args=args) if (
                isinstance(iterable, Elements) and iterable.type == "range"
            ):
                kinds = [self.facts.kind(a) for a in args]
                known = [
                    k.value
                    for k in kinds
                    if isinstance(k, Python) and isinstance(k.value, int)
                ]
                whole = len(known) == len(kinds) and known[2:] != [0]
                return whole and len(range(*known)) > 0
        return False

    # ---- calls

    def _lambda(self, node: ast.Lambda, environment: Environment) -> Kind:
        args = node.args
        given = [a.arg for a in (*args.posonlyargs, *args.args)]
        last = given[len(given) - len(args.defaults) :]
        defaults = {
            name: self.evaluate(value, environment)
            for name, value in zip(last, args.defaults, strict=True)
        }
        return Function(self.session.local_function(node, environment, defaults))

    def arguments(self, node: ast.Call, environment: Environment) -> Arguments:
        positional: list[Kind] = []
        spread = False
        for argument in node.args:
            kind = self.evaluate(argument, environment)
            if isinstance(argument, ast.Starred):
                if isinstance(kind, Sequence):
                    positional += kind.items
                else:
                    spread = True
            else:
                positional.append(kind)
        keywords: dict[str, Kind] = {}
        for keyword in node.keywords:
            kind = self.evaluate(keyword.value, environment)
            if keyword.arg is not None:
                keywords[keyword.arg] = kind
            elif isinstance(kind, Dict):
                keywords |= dict(kind.items)
            else:
                spread = True
        return Arguments(positional, keywords, spread)

    def _call(self, node: ast.Call, environment: Environment) -> Kind:
        special = self._special_call(node, environment)
        if special is not None:
            return special
        function = self.evaluate(node.func, environment)
        arguments = self.arguments(node, environment)
        text = texts.kind_of(self, node)
        if text is not None:
            return text
        kind = self.called(node, function, arguments, environment)
        if isinstance(kind, Rows) and hasattr(node, "items_type"):
            kind = Rows(weak(node.items_type))
        acts = kind == NONE and any(map(holds_tensor, arguments.all))
        if (
            (holds_tensor(kind) or (acts and _is_of_tensorflow(function)))
            and node not in self.facts.calls
            and _computes(function, arguments)
        ):
            self.operation()
        return kind

    def called(
        self,
        node: ast.Call,
        function: Kind,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        """What calling a value gives."""
        return join_all(
            self._called(node, member, arguments, environment)
            for member in members(function)
        )

    def _special_call(self, node: ast.Call, environment: Environment) -> Kind | None:
        """Calls whose arguments are not just values: slices of Variables, isinstance, print."""
        if (
            isinstance(node.func, ast.Name)
            and node.func.id
            in (
                "isinstance",
                "hasattr",
                "print",
                "super",
            )
            and self.evaluate(node.func, environment)
            != Function(f"builtins.{node.func.id}")
        ):
            return None
        match node.func:
            case ast.Attribute(value=ast.Subscript(value=owner) as part, attr=name) if (
                name in SLICE_WRITES
            ):
                if isinstance(self.evaluate(owner, environment), Variable):
                    self.evaluate(part, environment)
                    self.arguments(node, environment)
                    self.effect("assign", node)
                    self.operation()
                    return self.facts.kind(owner)
            case ast.Attribute(
                value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name
            ):
                return self.session.call_super(
                    self, node, name, self.arguments(node, environment)
                )
            case ast.Name(id="isinstance") if len(node.args) == 2:
                kind = self.evaluate(node.args[0], environment)
                self.evaluate(node.args[1], environment)
                names = self._class_names(node.args[1])
                answer = is_instance(kind, names)
                if answer is None and asks_for_number(kind, node.args[0], names):
                    return weak("bool")
                if answer is None and holds_tensor(kind):
                    self.problem("the type of what a tensor chose is not known", node)
                return BOOL if answer is None else python(answer)
            case ast.Name(id="hasattr") if len(node.args) == 2:
                kind = self.evaluate(node.args[0], environment)
                name_kind = self.evaluate(node.args[1], environment)
                if (
                    isinstance(kind, Tensor)
                    and is_strong(kind)
                    and not kind.mixed
                    and name_kind == python("numpy")
                ):
                    return python(True)
                if holds_tensor(kind):
                    self.problem(
                        "what attributes a tensor has differs in a graph", node
                    )
                return BOOL
            case ast.Name(id="print"):
                self.shown.update(node.args)
                self.arguments(node, environment)
                self.effect("stdout", node)
                return NONE
        return None

    def _class_names(self, node: ast.expr) -> list[str]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        names = []
        for part in parts:
            kind = self.facts.kind(part)
            name = getattr(kind, "name", "")
            names.append(name.removeprefix("builtins."))
        return names

    def _called(
        self,
        node: ast.Call,
        function: Kind,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        text = ast.unparse(node.func)
        if isinstance(function, Type) and function.name.startswith("numpy."):
            return arrays.call(self, node, function.name, arguments)
        if isinstance(function, Object | Type):
            return self.session.call_object(self, node, function, arguments)
        if not isinstance(function, Function):
            self.problem(f"what `{text}` is here is not known", node)
            return UNKNOWN
        name = function.name
        if name.startswith("method."):
            return self._method(node, function, arguments, environment)
        if draws.code(name) is not None:
            return self.session.call_function(
                self, node, function, arguments, environment
            )
        if name.startswith("builtins."):
            found = call_builtin(name.removeprefix("builtins."), arguments)
            if found is not None and callbacks.compares_tensors(
                self, node, arguments, environment
            ):
                found = None
            if found is None and name in OVER_TENSORS:
                self.problem(f"`{text}` goes over tensors", node, "GL109")
                self.operation()
                return UNKNOWN
            return self.settle(found, f"`{text}(...)`", node)
        if name == "tensorflow.executing_eagerly" and self.session.is_eager:
            return python(True)
        if name.startswith("tensorflow."):
            kind = callbacks.call(self, node, name, arguments, environment)
            return self._tensorflow(node, name, arguments) if kind is None else kind
        if name.startswith("numpy."):
            return arrays.call(self, node, name, arguments)
        if name.startswith("math.") and any(map(is_tensor, arguments.all)):
            return math_functions.call(
                self, node, name.removeprefix("math."), arguments
            )
        return self.session.call_function(self, node, function, arguments, environment)

    def _tensorflow(self, node: ast.Call, name: str, arguments: Arguments) -> Kind:
        if arguments.spread:
            self.problem(
                f"what `{ast.unparse(node.func)}` is called with is not known", node
            )
            return UNKNOWN
        if any(map(holds_size, arguments.all)):
            self.problem("a size that is not static is passed here", node, "GL406")
        if name.startswith("tensorflow.image.") and any(
            is_tensor(k) and getattr(k, "shape", ()) is None for k in arguments.all
        ):
            self.problem(
                f"`{ast.unparse(node.func)}` needs a known rank in a graph", node
            )
        plain = Arguments(
            [arrays.all_released(unmixed(k)) for k in arguments.positional],
            {k: arrays.all_released(unmixed(v)) for k, v in arguments.keywords.items()},
        )
        found = tensorflow_api.call(name, plain.positional, plain.keywords)
        return self.settle(found, f"`{ast.unparse(node.func)}`", node)

    def _method(
        self,
        node: ast.Call,
        function: Function,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        receiver = function.receiver or UNKNOWN
        name = function.name.removeprefix("method.")
        if is_numpy(receiver):
            return arrays.method(self, node, receiver, name, arguments)
        if receiver == UNKNOWN and name == "append" and self.is_staged():
            self.problem("a list is changed where a tensor says so", node, "GL203")
        if isinstance(receiver, Object) and receiver.name in draws.LOGGERS:
            self.problem(f"`.{name}()` writes to a log", node, "GL202")
            return NONE
        if isinstance(receiver, Object) and receiver.name in draws.GENERATORS:
            self.problem(f"`.{name}()` draws another stream in a graph", node, "GL207")
            return draws.drawn(
                f"{receiver.name}.{name}", arguments.positional, arguments.keywords
            )
        if isinstance(receiver, Dataset):
            kind = callbacks.method(self, node, receiver, name, arguments, environment)
            if kind is not None:
                return kind
        keyed = isinstance(receiver, Dict | Mapping) and name in KEYED
        if keyed and arguments.positional and is_tensor(arguments.positional[0]):
            self.problem(KEYED_BY_TENSOR, node, "GL111")
            return UNKNOWN
        found = methods.method(receiver, name, arguments.positional, arguments.keywords)
        if name == "numpy" and is_strong(receiver) and not arguments.all and found:
            held = hold(found.kind)
            if is_numpy(held) and arrays.may_hold(held):
                return held
        if name == "sort" and isinstance(receiver, Sequence | Elements):
            sorts = Arguments([receiver], arguments.keywords)
            if holds_tensor(receiver) or callbacks.compares_tensors(
                self, node, sorts, environment
            ):
                self.problem("`.sort()` compares tensors", node, "GL109")
                self.operation()
        if found is not None and "mutates" in found.effects:
            return self._mutation(node, receiver, name, arguments, found, environment)
        return self.settle(found, f"`.{name}()` of {receiver}", node)

    def _mutation(
        self,
        node: ast.Call,
        receiver: Kind,
        name: str,
        arguments: Arguments,
        found: Outcome,
        environment: Environment,
    ) -> Kind:
        """A list or dict of this function's own, changed while tracing; others are refused."""
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not (isinstance(owner, ast.Name) and owner.id in environment.kinds):
            self.problem(
                "something outside this function is changed in place", node, "GL204"
            )
            return found.kind
        if owner.id in self.facts.parameters and not self.is_fresh(owner.id):
            self.problem(
                f"the caller's `{owner.id}` is changed in place", node, "GL204"
            )
        if self.is_staged():
            self.problem(
                "a list or dict is changed where a tensor says so", node, "GL203"
            )
        if self.is_fresh(owner.id):
            self.effect("mutates", node)
        changed = mutated(receiver, name, arguments, self.is_staged())
        environment.bind(owner.id, changed)
        return found.kind

    def is_fresh(self, name: str) -> bool:
        kind = self.facts.parameters.get(name)
        return isinstance(kind, Object) and kind.fresh

    def assign_attribute(
        self, node: ast.expr, owner: Kind, name: str, kind: Kind
    ) -> None:
        if not (isinstance(owner, Object) and owner.fresh):
            self.problem(f"it writes the attribute `{name}`", node, "GL303")
        elif self.is_staged():
            self.problem(
                f"the attribute `{name}` is written where a tensor says so",
                node,
                "GL303",
            )
        self.effect("mutates", node)
        if isinstance(owner, Object):
            self.session.write_attribute(owner.name, name, kind)

    # ---- comprehensions

    def _listcomp(self, node: ast.ListComp, environment: Environment) -> Kind:
        return self._comprehension("list", node, [node.elt], environment)

    def _setcomp(self, node: ast.SetComp, environment: Environment) -> Kind:
        return self._comprehension("set", node, [node.elt], environment)

    def _generatorexp(self, node: ast.GeneratorExp, environment: Environment) -> Kind:
        return self._comprehension("tuple", node, [node.elt], environment)

    def _dictcomp(self, node: ast.DictComp, environment: Environment) -> Kind:
        times: list[dict[ast.expr, Kind]] = []
        results = [node.key, node.value]
        found, exact = self._gathered(
            node, results, node.generators, environment, times
        )
        self._hold_all(times)
        keys = [key for key, _ in found]
        if any(map(is_tensor, keys)):
            self.problem("a tensor is a key here", node, "GL109")
        named = all(isinstance(k, Python) and k.known and k.type == "str" for k in keys)
        if exact and named:
            entries = {str(k.value): v for k, v in found if isinstance(k, Python)}
            return Dict(tuple(entries.items()))
        values = [forget(value) for _, value in found]
        return Mapping(join_all(map(forget, keys)), join_all(values))

    def _gathered(
        self,
        node: ast.expr,
        results: list[ast.expr],
        generators: list[ast.comprehension],
        environment: Environment,
        times: list[dict[ast.expr, Kind]],
    ) -> tuple[list[tuple[Kind, ...]], bool]:
        """What a comprehension works out for each of its items, and whether it does so for all of these."""
        if not generators:
            kinds = tuple(self.evaluate(e, environment) for e in results)
            times.append(self._kinds_in(*results))
            return [kinds], True
        generator, *rest = generators
        source = self.evaluate(generator.iter, environment)
        times.append(self._kinds_in(generator.iter))
        if self.iterates_in_graph(generator.iter, source):
            self.problem("a comprehension over a tensor is not lifted", node, "GL109")
            self.operation()
            return [(UNKNOWN,) * len(results)], False
        exact = isinstance(source, Sequence) and len(source.items) <= MOST_ITEMS
        elements = source.items if isinstance(source, Sequence) and exact else ()
        if not exact:
            element = operators.iterate(source)
            if element is None:
                reason = f"what a loop over {source} gives is not known"
                self.problem(reason, generator.iter)
            elements = (element or UNKNOWN,)
        found: list[tuple[Kind, ...]] = []
        for item in elements:
            inner = environment.copy()
            self._bind_target(generator.target, item, inner)
            for condition in generator.ifs:
                truth = self.test(condition, inner)
                if truth == "tensor":
                    self.problem("a comprehension filters by a tensor", node, "GL109")
                exact = exact and truth is True
            times.append(self._kinds_in(generator.target, *generator.ifs))
            more, same = self._gathered(node, results, rest, inner, times)
            exact = exact and same
            found += more
        return found, exact

    def _comprehension(
        self,
        name: str,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        results: list[ast.expr],
        environment: Environment,
    ) -> Kind:
        if len(node.generators) != 1:
            times: list[dict[ast.expr, Kind]] = []
            found, exact = self._gathered(
                node, results, node.generators, environment, times
            )
            self._hold_all(times)
            kinds = [kind for (kind,) in found]
            if exact and name != "set":
                return Sequence(name, tuple(kinds))
            return Elements(name, join_all(kinds))
        (generator,) = node.generators
        source = self.evaluate(generator.iter, environment)
        if self.iterates_in_graph(generator.iter, source):
            self.problem(
                "a comprehension over a tensor is lifted as a list, or in `sum`, `any`, `all`",
                node,
                "GL109",
            )
            self.operation()
            return UNKNOWN
        if (
            isinstance(source, Sequence)
            and not generator.ifs
            and len(source.items) <= MOST_ITEMS
        ):
            items, times = [], []
            for item in source.items:
                items.append(
                    self._comprehended(node, node.elt, generator, item, environment)
                )
                times.append(self._kinds_in(generator.target, node.elt))
            self._hold_all(times)
            return (
                Sequence(name, tuple(items))
                if name != "set"
                else Elements("set", join_all(items))
            )
        element = operators.iterate(source)
        if element is None:
            self.problem(
                f"what a loop over {source} gives is not known", generator.iter
            )
            return UNKNOWN
        return Elements(
            name, self._comprehended(node, node.elt, generator, element, environment)
        )

    def _comprehended(
        self,
        owner: ast.expr,
        result: ast.expr,
        generator: ast.comprehension,
        element: Kind,
        environment: Environment,
    ) -> Kind:
        inner = environment.copy()
        self._bind_target(generator.target, element, inner)
        for condition in generator.ifs:
            if self.test(condition, inner) == "tensor":
                self.problem("a comprehension filters by a tensor", owner, "GL109")
        return self.evaluate(result, inner)

    def _bind_target(
        self, target: ast.expr, kind: Kind, environment: Environment
    ) -> None:
        if isinstance(target, ast.Name):
            environment.bind(target.id, kind)
            self.facts.kinds[target] = kind
            return
        items = kind.items if isinstance(kind, Sequence) else None
        if (
            not isinstance(target, ast.Tuple)
            or items is None
            or len(items) != len(target.elts)
        ):
            self.problem("how this unpacks is not known", target)
            return
        for inner, item in zip(target.elts, items, strict=True):
            self._bind_target(inner, item, environment)


def _blocker(
    effect: str, what: str, node: ast.AST, kind: Kind
) -> tuple[str, ast.AST, str]:
    reasons = {
        "random": (f"{what} draws another stream in a graph", "GL207"),
        "variable": (
            f"{what} makes variables on every call",
            "GL304" if isinstance(kind, Variable) else "GL305",
        ),
        "io": (
            (f"{what} does not seed the draws of a graph", "GL207")
            if "seed" in what
            else (f"{what} reads or writes outside the program", "GL208")
        ),
        "host": (f"{what} needs the value while Python runs", "GL205"),
        "callback": (f"{what} calls Python functions", "GL401"),
        "mutates": (f"{what} changes an object in place", "GL204"),
    }
    reason, code = reasons.get(effect, (f"{what} does more than compute", "GL401"))
    return reason, node, code


def _is_of_tensorflow(function: Kind) -> bool:
    return isinstance(function, Function) and function.name.startswith("tensorflow.")


def _computes(function: Kind, arguments: Arguments) -> bool:
    """Whether calling this starts a TensorFlow operation, in a graph."""
    name = function.name if isinstance(function, Function) else ""
    if name in ("tensorflow.constant", "tensorflow.convert_to_tensor"):
        made = [k for k in arguments.all if not is_numpy(k)]
        return any(map(holds_tensor, made))
    return name != "method.numpy" and not name.startswith("builtins.")


def _is_made_anew(kind: Kind) -> bool:
    """Whether a graph may give back another object of the same."""
    return isinstance(kind, Sequence | Dict) and holds_tensor(kind)


def _is_answer(kind: Kind) -> bool:
    """Whether this is a bool of NumPy, of which only the truth matters."""
    return is_numpy(kind) and kind == hold(Scalar("bool"))


def _fails_alike(kind: Kind, divisor: Kind) -> bool:
    """Whether a graph raises too where the divisor is 0: ints by a Python int that is known while tracing."""
    whole = isinstance(kind, Tensor) and kind.weak == "int"
    return whole and isinstance(divisor, Python) and divisor.type == "int"


def _has_weak_index(iterable: Elements) -> bool:
    element = iterable.element
    first = (
        element.items[0] if isinstance(element, Sequence) and element.items else element
    )
    return is_weak(first)


def _item_owners(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return [target.value.id]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in _item_owners(element)]
    return []
