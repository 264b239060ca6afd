"""What statements do, as the interpreter walks a function: blocks, definitions and ways out."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Sequenced

from .calls import Arguments
from .environment import Environment, Flow
from .evaluation_calls import CallEvaluation
from .evaluation_comprehensions import ComprehensionEvaluation
from .evaluation_names import NameEvaluation
from .evaluation_operators import OperatorEvaluation
from .kinds import NONE, UNKNOWN, Function, Kind, Sequence
from .staging import is_strong
from .syntax import blocks


class Execution(
    NameEvaluation, OperatorEvaluation, CallEvaluation, ComprehensionEvaluation
):
    """Executes statements on an environment; see `Evaluation` for expressions."""

    def block(self, body: Sequenced[ast.stmt], environment: Environment) -> Flow:
        flow = Flow(environment)
        for node in body:
            if flow.end is None:
                break
            self.facts.before[node] = flow.end.copy()
            inner = self.statement(node, flow.end)
            flow = Flow(
                inner.end, flow.breaks + inner.breaks, flow.continues + inner.continues
            )
            self.facts.after[node] = inner.end.copy() if inner.end else None
        return flow

    def statement(self, node: ast.stmt, environment: Environment) -> Flow:
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None:
            self.problem(f"`{_keyword(node)}` is not lifted", node)
            return Flow(environment)
        self.raised = False
        flow: Flow = handler(node, environment)
        if self.raised and not blocks(node) and self.innermost_loop() is not None:
            return Flow(None)
        return flow

    def _pass(self, node: ast.Pass, environment: Environment) -> Flow:
        return Flow(environment)

    def _expr(self, node: ast.Expr, environment: Environment) -> Flow:
        self.evaluate(node.value, environment)
        return Flow(environment)

    def _global(self, node: ast.Global, environment: Environment) -> Flow:
        if not self.facts.definition.declared_global.isdisjoint(node.names):
            self.problem("it writes a module's global", node, "GL301")
        return Flow(environment)

    def _nonlocal(self, node: ast.Nonlocal, environment: Environment) -> Flow:
        if not self.facts.definition.declared_global.isdisjoint(node.names):
            reason = "it writes a variable of the function around it"
            self.problem(reason, node, "GL301")
        return Flow(environment)

    def _import(
        self, node: ast.Import | ast.ImportFrom, environment: Environment
    ) -> Flow:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            environment.bind(name, self.imported(name))
        return Flow(environment)

    _importfrom = _import

    def _functiondef(self, node: ast.FunctionDef, environment: Environment) -> Flow:
        definition = self.session.nested(node)
        decorated = node.decorator_list and not (definition and definition.has_gradient)
        if definition is None or decorated:
            self.problem(f"the nested function `{node.name}` is not lifted", node)
            environment.bind(node.name, UNKNOWN)
        else:
            environment.bind(
                node.name, Function(self.session.dotted(definition.qualname))
            )
        return Flow(environment)

    # ---- exits

    def _return(self, node: ast.Return, environment: Environment) -> Flow:
        kind = self.evaluate(node.value, environment) if node.value else NONE
        if self.facts.definition.has_gradient and node.value is not None:
            self._follow_gradient(node.value, kind, environment)
        self.facts.returns.append((node, kind))
        self.facts.chooses = self.facts.chooses or self.is_staged()
        self.exit_to(None)
        return Flow(None)

    def _follow_gradient(
        self, node: ast.expr, kind: Kind, environment: Environment
    ) -> None:
        """Call the gradient that is returned beside a value, as TensorFlow will: with one of the kind of each tensor."""
        value, gradient = (
            kind.items
            if isinstance(kind, Sequence) and len(kind.items) == 2
            else (UNKNOWN,) * 2
        )
        given = value.items if isinstance(value, Sequence) else (value,)
        if not isinstance(gradient, Function) or not all(map(is_strong, given)):
            self.problem("which gradient this gives is not known", node)
        elif self.is_staged():
            reason = "a tensor chooses between gradients: choose in one gradient"
            self.problem(reason, node)
        else:
            site = getattr(node, "callback", None)
            if site is None:
                site = ast.copy_location(ast.Call(node, [], []), node)
                node.callback = site  # type: ignore[attr-defined]
            self.called(site, gradient, Arguments(list(given), {}), environment)

    def _break(self, node: ast.Break, environment: Environment) -> Flow:
        self.exit_to(self.innermost_loop())
        return Flow(None, breaks=[environment])

    def _continue(self, node: ast.Continue, environment: Environment) -> Flow:
        self.exit_to(self.innermost_loop(), continues=True)
        return Flow(None, continues=[environment])

    def _raise(self, node: ast.Raise, environment: Environment) -> Flow:
        if self.is_staged():
            self.problem("it raises where a tensor says so", node, "GL108")
        if node.exc is not None:
            self.evaluate(node.exc, environment)
        return Flow(None)

    def _assert(self, node: ast.Assert, environment: Environment) -> Flow:
        decided = self.test(node.test, environment) == "tensor"
        if decided:
            self.facts.staged.add(node)
            self.problem("it asserts on a tensor", node, "GL108")
        elif self.is_staged():
            self.problem("it asserts where a tensor says so", node, "GL108")
        if node.msg is not None and (decided or self.is_staged()):
            self.evaluate(node.msg, environment)
        return Flow(environment)


def _keyword(node: ast.stmt) -> str:
    names = {
        "AsyncFor": "async for",
        "AsyncWith": "async with",
        "AsyncFunctionDef": "async def",
        "ClassDef": "class",
    }
    return names.get(type(node).__name__, type(node).__name__.lower())
