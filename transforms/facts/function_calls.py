"""What calls of functions give: those of the project, lambdas, and other packages'."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import draws, methods, passed, ranks
from .calls import Arguments, bind
from .definitions import FunctionDefinition
from .environment import Environment, ForeignCall, FunctionFacts
from .evaluation import Evaluation
from .kind_joins import forget, join_all
from .kind_parts import is_mutable, of_any_size
from .kinds import (
    FLOAT,
    INT,
    UNKNOWN,
    Dataset,
    Dict,
    Function,
    Kind,
    Maybe,
    Object,
    Python,
    Record,
    Sequence,
    Tensor,
)
from .last_sizes import gives_unsized
from .parameters import of_any_call
from .passed import Frame
from .records import records_in
from .staging import is_strong, result_of
from .syntax import bound_names

if TYPE_CHECKING:
    from .session import Session

INTEGERS_OF_MATH = frozenset(
    {"floor", "ceil", "trunc", "comb", "perm", "gcd", "lcm", "factorial", "isqrt"}
)
INSTEAD = {
    "bisect": "find the place with `tf.searchsorted`",
    "collections": "use a list, or take items in statements of their own, `item = queue.popleft()`",
    "heapq": "keep the items in a list and take the least with `min`, or order them all with `tf.sort` or `tf.math.top_k`",
    "itertools": "write it as loops over ranges",
}
"""What does the work of a module of Python's in a graph."""
COPIES = frozenset({"dataclasses.asdict", "dataclasses.astuple", "dataclasses.replace"})


@dataclass(frozen=True)
class _Local:
    """A lambda, and what was bound around it where it was made."""

    node: ast.Lambda
    environment: Environment
    defaults: dict[str, Kind]


class FunctionCalls:
    """What calls of functions give: those of the project, lambdas, and other packages'."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.module = session.module
        self._lambdas: dict[str, _Local] = {}

    def local_function(
        self, node: ast.Lambda, environment: Environment, defaults: Mapping[str, Kind]
    ) -> str:
        """The name of a lambda as it is made here, with these defaults."""
        name = f"<lambda>:{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', id(node))}"
        name += "".join(f":{key}={kind!r}" for key, kind in defaults.items())
        self._lambdas[name] = _Local(node, environment, dict(defaults))
        return name

    def call_function(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        function: Function,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        """What calling a function of this module, a lambda, or another package's function gives."""
        if function.name in self._lambdas:
            return self._call_lambda(
                evaluation, node, function.name, arguments, environment
            )
        home, qualname = self.session.home(function.name)
        definition = home.module.functions.get(qualname)
        if definition is not None:
            return home.calls.call_definition(
                evaluation, node, definition, function.receiver, arguments, environment
            )
        return self.call_external(evaluation, node, function.name, arguments)

    def call_external(
        self, evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
    ) -> Kind:
        if name.startswith("math.") and all(
            isinstance(k, Python) for k in arguments.all
        ):
            return INT if name.removeprefix("math.") in INTEGERS_OF_MATH else FLOAT
        code = "GL206" if name.startswith("numpy.") else "GL401"
        if name.startswith("math."):
            code = "GL205"
        if name in COPIES and len(arguments.positional) == 1:
            return self._copied(evaluation, node, name, arguments)
        drawing = draws.code(name)
        if drawing is not None:
            evaluation.problem(
                f"a graph runs `{name}` once, while it is traced", node, drawing
            )
            return draws.drawn(name, arguments.positional, arguments.keywords)
        way_out = INSTEAD.get(name.partition(".")[0], "")
        if name.endswith(".lambda_"):
            name = ast.unparse(node.func)
            way_out = "pass a function that a `def` of the module makes once"
        evaluation.problem(
            f"what `{name}` does in a graph is not known", node, code, way_out
        )
        return UNKNOWN

    def _copied(
        self, evaluation: Evaluation, node: ast.Call, name: str, arguments: Arguments
    ) -> Kind:
        """What a function of `dataclasses` gives that copies an object."""
        (copied,) = arguments.positional
        if name == "dataclasses.replace" and isinstance(copied, Record):
            made = methods.method(copied, "_replace", [], arguments.keywords)
            return evaluation.settle(made, "`replace`", node)
        evaluation.problem(
            f"`{name.rpartition('.')[2]}` copies what a graph cannot copy: write the fields out",
            node,
        )
        held = self.session.instances.fields(copied)
        if held is None or not all(
            isinstance(k, Tensor | Python) for k in held.values()
        ):
            return UNKNOWN
        if name == "dataclasses.asdict":
            return Dict(tuple(held.items()))
        if name == "dataclasses.astuple":
            return Sequence("tuple", tuple(held.values()))
        return (
            Object(copied.name, fresh=True) if isinstance(copied, Object) else UNKNOWN
        )

    def _call_lambda(
        self,
        evaluation: Evaluation,
        node: ast.Call,
        made: str,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        local = self._lambdas[made]
        names = [a.arg for a in local.node.args.args]
        simple = not (
            local.node.args.vararg
            or local.node.args.kwarg
            or local.node.args.kwonlyargs
        )
        given = dict(zip(names, arguments.positional, strict=False))
        bound = {**local.defaults, **given, **arguments.keywords}
        many = len(arguments.positional) > len(names)
        if not simple or arguments.spread or many or bound.keys() != set(names):
            evaluation.problem("what this lambda is called with is not known", node)
            evaluation.operation()
            return UNKNOWN
        own = any(n is local.node for n in ast.walk(evaluation.facts.definition.node))
        maker = None if own else passed.maker_of_lambda(self.session, local.node)
        around = environment if own else maker.environment if maker else Environment()
        inner = local.environment.copy()
        inner.kinds |= around.kinds
        inner.kinds |= bound
        kind = evaluation.called_lambda(
            local.node, node, made, inner, maker.evaluation if maker else evaluation
        )
        if maker is not None:
            passed.hand_over(evaluation.facts, maker.evaluation.facts, local.node)
        elif not own and any(
            n in evaluation.facts.staged for n in ast.walk(local.node)
        ):
            evaluation.problem(
                "it calls a lambda of the module that branches on a tensor: make that a `def`",
                node,
            )
        return kind

    def call_definition(
        self,
        evaluation: Evaluation,
        node: ast.expr,
        definition: FunctionDefinition,
        receiver: Kind | None,
        arguments: Arguments,
        environment: Environment,
    ) -> Kind:
        qualname = definition.qualname
        if definition.is_generator and evaluation.session is self.session:
            evaluation.facts.generators[node] = qualname
        bound = self._bound(evaluation, node, definition, receiver, arguments)
        if bound is None:
            return UNKNOWN
        frame = Frame(evaluation, environment)
        maker = (
            frame
            if self._is_around(definition, evaluation)
            else passed.maker_of(self.session, definition)
        )
        outer = self._around(definition, maker)
        with evaluation.session.calling(frame):
            facts = self.session.analyse_function(
                definition, self._with_recorded(definition, bound), outer
            )
        if evaluation.session is self.session:
            evaluation.facts.calls[node] = qualname
        else:
            call = ForeignCall(self.session, qualname, facts)
            evaluation.facts.foreign[node] = call
        if gives_unsized(facts):
            evaluation.facts.unsized_calls.add(node)
        if outer is not None and maker is not None:
            _note_captures(maker.evaluation, definition, outer, node)
            maker.evaluation.facts.nested[definition.original] = facts
            facts.borrows.add(maker.evaluation.facts.definition.qualname)
        elif outer is not None:
            evaluation.facts.enclosed[node] = facts
        own = evaluation.facts.definition.qualname
        evaluation.facts.borrows |= facts.borrows - {own}
        self._note_effects(evaluation, node, facts)
        unready = (
            self._unready(facts.result)
            if evaluation.session is not self.session
            else None
        )
        if unready is not None:
            reason = (
                f"it is given a `{unready}` of another module: define that in this one"
            )
            evaluation.problem(reason, node)
            return UNKNOWN
        if definition.has_gradient and isinstance(facts.result, Sequence):
            return facts.result.items[0]
        return _told(facts)

    def _bound(
        self,
        evaluation: Evaluation,
        node: ast.expr,
        definition: FunctionDefinition,
        receiver: Kind | None,
        arguments: Arguments,
    ) -> dict[str, Kind] | None:
        """The kinds of a function's parameters in a call; None, and a problem, where it cannot be called so."""
        obstacle = self._obstacle(definition)
        if obstacle is not None:
            evaluation.problem(
                f"`{definition.node.name}` {obstacle[0]}", node, obstacle[1]
            )
            return None
        defaults = self.session.globals.defaults(definition)
        bound = bind(definition, arguments, receiver, defaults)
        if bound is None:
            evaluation.problem(
                f"what `{definition.node.name}` is called with is not known", node
            )
            return None
        for name in self.session.globals.changed_defaults(definition):
            if bound[name] is defaults[name] and is_mutable(defaults[name]):
                reason = f"the default of `{name}` may change between calls"
                evaluation.problem(reason, node, "GL302", "pass it as an argument")
                bound[name] = forget(bound[name])
        if definition.has_gradient and (
            arguments.keywords or not all(map(is_strong, bound.values()))
        ):
            reason = f"a graph makes tensors of all that `{definition.node.name}` is given: pass tensors, by position"
            evaluation.problem(reason, node)
            return None
        return bound

    def _note_effects(
        self, evaluation: Evaluation, node: ast.expr, facts: FunctionFacts
    ) -> None:
        """Note what a call does besides giving a value, and why the function that it reaches cannot be lifted."""
        qualname = facts.definition.qualname
        for name in facts.effects:
            if name != "mutates":
                evaluation.effect(name, node)
        if "mutates" in facts.effects and facts.definition.node.name != "__init__":
            evaluation.effect("mutates", node)
            if evaluation.is_staged():
                evaluation.problem(
                    f"`{qualname}` changes an object where a tensor says so",
                    node,
                    "GL303",
                )
        first = (
            facts.problems[0] if facts.problems else self.session.refused.get(qualname)
        )
        if first is not None:
            name = (
                qualname
                if evaluation.session is self.session
                else self.session.dotted(qualname)
            )
            reason = f"it calls `{name}`: {first.reason}"
            evaluation.problem(reason, node, first.code, first.way_out)
        ranks.passed(evaluation, node, facts)
        evaluation.facts.in_graphs += facts.in_graphs
        if self.session.is_graph_function(facts.definition):
            evaluation.facts.in_graphs += facts.operations
        else:
            evaluation.facts.operations += facts.operations

    def _unready(self, kind: Kind) -> str | None:
        """A dataclass in a value that no graph can take apart, as it is."""
        for record in records_in(kind):
            home, name = self.session.home(record.type)
            if name in home.dataclasses and not home.module.method(
                name, "__tf_flatten__"
            ):
                return name
        return None

    def _around(
        self, definition: FunctionDefinition, maker: Frame | None
    ) -> Environment | None:
        """What is bound around a nested function where it is called; None for one that is not nested."""
        parent = definition.parent
        if parent is None:
            return None
        if maker is None:
            return self.session.closure(definition)
        around = maker.evaluation.outer or Environment()
        if parent.original is maker.evaluation.facts.definition.original:
            return Environment({**around.kinds, **maker.environment.kinds})
        return around

    def _is_around(
        self, definition: FunctionDefinition, evaluation: Evaluation
    ) -> bool:
        """Whether the function that runs, or the one around it, made the nested one."""
        parent, caller = definition.parent, evaluation.facts.definition
        return parent is not None and (
            parent.original is caller.original
            or (parent is caller.parent and evaluation.outer is not None)
        )

    def _obstacle(self, definition: FunctionDefinition) -> tuple[str, str] | None:
        if definition.qualname in self.session.active:
            return "calls itself", "GL113"
        if definition.is_generator:
            return "is a generator", "GL401"
        if isinstance(definition.node, ast.AsyncFunctionDef):
            return "is a coroutine", "GL401"
        plain = {"staticmethod", "classmethod", "property"}
        for text in definition.decorators:
            if (
                text not in plain
                and text.rpartition(".")[2] != "custom_gradient"
                and not text.endswith("tf.function")
                and "tf.function(" not in text
            ):
                return f"has the decorator `@{text}`", "GL401"
        return None

    def _with_recorded(
        self, definition: FunctionDefinition, bound: dict[str, Kind]
    ) -> dict[str, Kind]:
        """Argument kinds; what is not known of a tensor is taken from the profile."""
        if definition.parent is None:
            bound = of_any_call(definition, bound)
        recorded = self.session.recorded(definition.qualname)
        if recorded is None:
            return bound
        result = {}
        for name, kind in bound.items():
            seen = recorded.parameters.get(name, UNKNOWN)
            result[name] = _completed(kind, seen)
        return result


def _told(facts: FunctionFacts) -> Kind:
    """What a function gives its callers, which see neither what it tells its shell of the result nor its exceptions."""
    definition, result = facts.definition, facts.result
    if definition.failures and not definition.tags:
        kinds = [k for _, k in facts.returns if definition.raised(k) is None]
        return result_of(kinds, facts.chooses)
    if definition.tags and isinstance(result, Sequence):
        given = [form.kind for form in definition.forms if form.failure is None]
        if given:
            return join_all(given)
        result = result.items[0]
    failing = definition.failure is not None
    return result.kind if failing and isinstance(result, Maybe) else result


def _note_captures(
    evaluation: Evaluation,
    definition: FunctionDefinition,
    around: Environment,
    call: ast.AST,
) -> None:
    """Note what a call of a nested function finds in the names around it."""
    bound = {a.arg for a in definition.parameters}
    for node in ast.walk(definition.node):
        bound |= set(bound_names(node)) if isinstance(node, ast.stmt) else set()
    evaluation.facts.captures.setdefault(definition.qualname, {})[call] = {
        n.id: forget(around.kinds[n.id])
        for n in ast.walk(definition.node)
        if isinstance(n, ast.Name) and n.id in around.kinds and n.id not in bound
    }


def _completed(kind: Kind, seen: Kind) -> Kind:
    """A kind with what the profile knows better: all of an unknown one, a tensor's dtype and rank."""
    if kind == UNKNOWN:
        return of_any_size(seen)
    if isinstance(kind, Dataset) and isinstance(seen, Dataset):
        return seen
    if isinstance(kind, Tensor) and isinstance(seen, Tensor) and not kind.weak:
        if kind.shape is None and seen.shape is not None:
            kind = replace(kind, shape=(None,) * len(seen.shape))
        return replace(kind, dtype=kind.dtype or seen.dtype)
    return kind
