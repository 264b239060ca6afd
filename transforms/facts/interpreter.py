"""The abstract interpreter: walks a function with the kinds of its parameters and finds the facts.

Statements are taken in order, loops to a fixpoint (Cousot and Cousot, 1977). A tensor that decides an `if` or a loop
*stages* it: both ways are taken, and Python values set there become values held in tensors (see `staging`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as Sequenced
from dataclasses import replace

from ..findings import Refusal
from . import arrays, buffers, ownership
from .calls import Arguments
from .definitions import FunctionDefinition
from .environment import Environment, Flow, FunctionFacts, merge
from .evaluation_calls import KEYED_BY_TENSOR, CallEvaluation
from .evaluation_comprehensions import ComprehensionEvaluation
from .evaluation_names import NameEvaluation
from .evaluation_operators import OperatorEvaluation
from .kind_joins import forget, join, join_all
from .kind_parts import has_unknown, is_mutable
from .kinds import (
    NONE,
    NUMPY,
    SIZE,
    UNKNOWN,
    Array,
    Dataset,
    Dict,
    Elements,
    Function,
    Iterator,
    Kind,
    Mapping,
    Object,
    Python,
    Sequence,
    Tensor,
)
from .operators import iterate
from .profile import FunctionNode
from .staging import (
    choose,
    hold,
    host_join,
    is_list,
    is_numpy,
    is_strong,
    is_tensor,
    list_of,
    stage,
)
from .syntax import blocks, names_in, own_nodes

MOST_ROUNDS = 12
TAPE = "tensorflow.GradientTape"
HARMLESS_CONTEXTS = frozenset({TAPE, "tensorflow.name_scope", "tensorflow.device"})


class Interpreter(
    NameEvaluation, OperatorEvaluation, CallEvaluation, ComprehensionEvaluation
):
    """Interprets one function's statements; see `Evaluation` for its expressions."""

    def function(
        self,
        definition: FunctionDefinition,
        facts: FunctionFacts,
        outer: Environment | None,
    ) -> None:
        """Interpret a function body from the kinds of its parameters; the results go into `facts`."""
        self.enter(facts, outer)
        environment = Environment(dict(facts.parameters))
        flow = self.block(definition.node.body, environment)
        if flow.end is not None:
            facts.returns.append((None, NONE))
        facts.result = self._result(facts)
        self._check_captures(definition.node)

    def _check_captures(self, function: FunctionNode) -> None:
        """Refuse nested functions that read a name which an arm or loop body of the graph holds in its own scope.

        One that is called after that statement finds there what the statement gave back, as it does in eager mode.
        """
        inner = named_functions(function)
        for staged in [
            n for n in self.facts.staged if isinstance(n, ast.If | ast.For | ast.While)
        ]:
            inside = {id(n) for n in ast.walk(staged)}
            assigned = self.assigned_in(staged)
            used = names_in(staged)
            for node, name in inner.items():
                read = {
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                } - _parameters(node)
                if id(node) in inside or not read & assigned:
                    continue
                if name is None or name in used:
                    self.problem(
                        f"a nested function reads `{min(read & assigned)}`, which a tensor decides",
                        node,
                    )
        for qualname, calls in self.facts.captures.items():
            first, *others = calls.values()
            if any(other != first for other in others):
                self.problem(
                    f"`{qualname}` finds other kinds of values in the names around it from call to call",
                    function,
                )

    def _result(self, facts: FunctionFacts) -> Kind:
        if not facts.returns:
            return NONE
        both = choose if facts.chooses else host_join
        kinds = [kind for _, kind in facts.returns]
        result = kinds[0]
        for kind in kinds[1:]:
            result = both(result, kind)
        return result

    # ---- blocks

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
        self.problem("it writes a module's global", node, "GL301")
        return Flow(environment)

    def _nonlocal(self, node: ast.Nonlocal, environment: Environment) -> Flow:
        self.problem("it writes a variable of the function around it", node, "GL301")
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

    # ---- assignments

    def _assign(self, node: ast.Assign, environment: Environment) -> Flow:
        kind = self.evaluate(node.value, environment)
        for target in node.targets:
            given = self._of_layer(node.value, kind, target)
            self.assign(target, given, environment)
        return Flow(environment)

    def _of_layer(self, value: ast.expr, kind: Kind, target: ast.expr) -> Kind:
        """What calling a layer of Keras gives: several values where the recorded run took them apart."""
        if not isinstance(target, ast.Tuple) or kind != Tensor():
            return kind
        function = value.func if isinstance(value, ast.Call) else None
        if function is None or not isinstance(self.facts.kind(function), Object):
            return kind
        seen = [
            self.observed(e, UNKNOWN) if isinstance(e, ast.Name) else UNKNOWN
            for e in target.elts
        ]
        if UNKNOWN in seen:
            return kind
        self.facts.kinds[value] = Sequence("tuple", tuple(seen))
        return self.facts.kinds[value]

    def _annassign(self, node: ast.AnnAssign, environment: Environment) -> Flow:
        if node.value is not None:
            self.assign(
                node.target, self.evaluate(node.value, environment), environment
            )
        return Flow(environment)

    def _augassign(self, node: ast.AugAssign, environment: Environment) -> Flow:
        loaded = _as_load(node.target)
        left = self.evaluate(loaded, environment)
        right = self.evaluate(node.value, environment)
        kind = self.binary(node.op, left, right, node)
        if isinstance(left, Array) or (
            is_numpy(left) and getattr(left, "shape", None) != ()
        ):
            self._check_growth(node, left, right, kind)
        if is_list(left):
            self._changes_list(node, left, environment)
        self.assign(node.target, kind, environment)
        return Flow(environment)

    def _changes_list(
        self, node: ast.AugAssign, left: Kind, environment: Environment
    ) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else None
        if name is None or (name in self.facts.parameters and not self.is_fresh(name)):
            self.problem("the caller's list is changed in place", node, "GL204")
            return
        if self.has_one_name(name, node, environment) and self.is_staged():
            self.problem(
                "a list or dict is changed where a tensor says so", node, "GL203"
            )

    def _check_growth(
        self, node: ast.AugAssign, left: Kind, right: Kind, kind: Kind
    ) -> None:
        """An array changes in place and keeps its dtype: refuse where it has another name, or would not."""
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        own = ownership.is_own(name, self.facts, self.session)
        same = hold(kind) == hold(left)
        if name and not (own and same and not is_strong(right)):
            self.problem(
                f"`{name}` is changed in place in a way that is not lifted",
                node,
                "GL206",
            )

    def assign(self, target: ast.expr, kind: Kind, environment: Environment) -> None:
        self.facts.kinds[target] = kind
        match target:
            case ast.Name(id=name):
                graph = self.session.is_graph_function(self.facts.definition)
                if kind == SIZE and not graph:
                    self.problem("a size that may vary is kept here", target, "GL406")
                environment.bind(name, self.observed(target, kind))
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                self._unpack(target, elts, kind, environment)
            case ast.Subscript(value=value, slice=index):
                self._assign_item(target, value, index, kind, environment)
            case ast.Attribute(value=value, attr=name):
                self.assign_attribute(
                    target, self.evaluate(value, environment), name, kind
                )
            case _:
                self.problem("this assignment is not lifted", target)

    def _unpack(
        self,
        target: ast.expr,
        elts: list[ast.expr],
        kind: Kind,
        environment: Environment,
    ) -> None:
        kinds: list[Kind] | None = None
        if isinstance(kind, Sequence) and len(kind.items) == len(elts):
            kinds = list(kind.items)
        elif (
            isinstance(kind, Tensor)
            and kind.weak in (None, NUMPY)
            and kind.shape
            and kind.shape[0] == len(elts)
        ):
            self.operation()
            kinds = [Tensor(kind.dtype, kind.shape[1:], kind.weak)] * len(elts)
        else:
            element = None if is_tensor(kind) else iterate(kind)
            kinds = [element] * len(elts) if element is not None else None
        starred = [i for i, e in enumerate(elts) if isinstance(e, ast.Starred)]
        if len(starred) == 1 and isinstance(kind, Sequence):
            kinds = _with_rest(kind.items, starred[0], len(elts))
        elif starred:
            kinds = None
        if kinds is None:
            self.problem(f"how {kind} unpacks here is not known", target)
            kinds = [UNKNOWN] * len(elts)
        for target, element in zip(elts, kinds, strict=True):
            inner = target.value if isinstance(target, ast.Starred) else target
            self.assign(inner, element, environment)

    def _assign_item(
        self,
        target: ast.Subscript,
        value: ast.expr,
        index: ast.expr,
        kind: Kind,
        environment: Environment,
    ) -> None:
        container = self.evaluate(value, environment)
        key = self.evaluate(index, environment)
        if not (isinstance(value, ast.Name) and value.id in environment.kinds):
            self.problem(
                "something outside this function is changed in place", target, "GL204"
            )
            return
        if value.id in self.facts.parameters and not self.is_fresh(value.id):
            self.problem(
                f"the caller's `{value.id}` is changed in place", target, "GL204"
            )
        if isinstance(container, Array) or is_numpy(container):
            self._fill(target, value.id, container, kind)
            environment.bind(value.id, hold(container))
            return
        if is_mutable(container) and not self.has_one_name(
            value.id, target, environment
        ):
            return
        changed = _with_item(container, key, kind)
        if changed is not None:
            environment.bind(value.id, changed)
            return
        if isinstance(container, Dict | Mapping) and is_tensor(key):
            self.problem(KEYED_BY_TENSOR, target, "GL111")
            environment.bind(value.id, UNKNOWN)
            return
        staged = self.is_staged() or is_tensor(key)
        if staged or not isinstance(container, Sequence | Elements | Dict | Mapping):
            self.problem("which item is changed here is not known", target, "GL203")
        items = container.items if isinstance(container, Sequence) else ()
        if is_list(container):
            before = items or (iterate(container) or UNKNOWN,)
            both = list_of if staged else _any_list
            environment.bind(value.id, both(*before, kind))
        elif isinstance(container, Dict | Mapping):
            changed = UNKNOWN if staged else _with_entry(container, key, kind)
            environment.bind(value.id, changed)

    def _fill(
        self, target: ast.Subscript, name: str, container: Kind, kind: Kind
    ) -> None:
        """An item of an array of this function's own is set: the graph makes a new tensor of it."""
        key = self.facts.kind(target.slice)
        fits = buffers.fits(container, target.slice, key, kind, self.facts)
        known = arrays.may_hold(container)
        if not (fits and known and ownership.is_own(name, self.facts, self.session)):
            self.problem(
                f"`{name}` is changed in place in a way that is not lifted",
                target,
                "GL206",
            )
        self.operation()

    def _delete(self, node: ast.Delete, environment: Environment) -> Flow:
        for target in node.targets:
            match target:
                case ast.Name(id=name):
                    environment.unbind(name)
                    continue
                case ast.Subscript(value=ast.Name(id=name) as owner, slice=index):
                    container = self.evaluate(owner, environment)
                    key = self.evaluate(index, environment)
                    if self.has_one_name(name, node, environment):
                        environment.bind(name, _without_item(container, key))
            self.problem("`del` of an item or attribute is not lifted", node, "GL204")
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

    # ---- if

    def _if(self, node: ast.If, environment: Environment) -> Flow:
        truth = self.test(node.test, environment)
        staged = truth == "tensor"
        if truth is True or truth is False:
            flow = self.block(node.body if truth else node.orelse, environment)
            self.facts.arms[node] = (flow.end, None) if truth else (None, flow.end)
            return flow
        if staged:
            self.facts.staged.add(node)
        with self.control(node, staged):
            then = self.block(node.body, self.narrowed(node.test, True, environment))
            other = self.block(
                node.orelse, self.narrowed(node.test, False, environment)
            )
        self.facts.arms[node] = (then.end, other.end)
        end = merge([then.end, other.end], choose if staged else host_join)
        if staged and end is not None:
            self._restore(node, environment, end)
            self._check_keys(node, then.end, other.end)
            _stage_partly_bound(then.end, other.end, end)
        if not staged and then.end and other.end and end:
            end.missing |= then.end.kinds.keys() ^ other.end.kinds.keys()
        return Flow(end, then.breaks + other.breaks, then.continues + other.continues)

    def _check_keys(
        self, node: ast.If, then: Environment | None, other: Environment | None
    ) -> None:
        """Refuse dicts that a tensor gives a key, or takes one: the arms of a graph give dicts of the same keys."""
        if then is None or other is None:
            return
        for name, kind in then.kinds.items():
            found = other.kinds.get(name)
            if isinstance(kind, Dict) and isinstance(found, Dict):
                differing = dict(kind.items).keys() ^ dict(found.items).keys()
                if differing:
                    reason = f"`{name}` has the key {min(differing)!r} after one arm only: give it that key before"
                    self.problem(reason, node, "GL204")

    def _match(self, node: ast.Match, environment: Environment) -> Flow:
        kind = self.evaluate(node.subject, environment)
        self.problem(f"`match` on {kind}", node, "GL110")
        self.operation()
        return Flow(environment)

    # ---- loops

    def _while(self, node: ast.While, environment: Environment) -> Flow:
        def enter(head: Environment) -> tuple[bool, bool]:
            truth = self.test(node.test, head)
            return truth == "tensor", truth is not True

        return self._loop(node, environment, enter)

    def _for(self, node: ast.For, environment: Environment) -> Flow:
        iterable = self.evaluate(node.iter, environment)
        ended = hasattr(node, "stops")
        staged = ended or self.iterates_in_graph(node.iter, iterable)
        element = self.observed_element(node, iterable)
        if element is None:
            self.problem(f"what a loop over {iterable} gives is not known", node.iter)
            element = UNKNOWN
        if isinstance(iterable, Dataset | Iterator) and has_unknown(element):
            self.problem(
                f"what the elements of {iterable} are is not known", node.iter, "GL106"
            )
        items = iterable.items if isinstance(iterable, Sequence) else ()
        if items and (ended or not staged):
            element = items[0]
            for item in items[1:]:
                element = choose(element, item) if ended else join(element, item)
        if staged:
            held = stage(element)
            whole = isinstance(element, Sequence) and held == UNKNOWN
            element = element if whole else held
        if self.runs_at_least_once(node.iter, iterable):
            self.facts.runs.add(node)

        def enter(head: Environment) -> tuple[bool, bool]:
            return staged, True

        def start(head: Environment) -> None:
            self.assign(node.target, element, head)

        return self._loop(node, environment, enter, start)

    def _loop(
        self,
        node: ast.While | ast.For,
        environment: Environment,
        enter: Callable[[Environment], tuple[bool, bool]],
        start: Callable[[Environment], None] = lambda head: None,
    ) -> Flow:
        """To a fixpoint. `enter` evaluates the test (staged?, may it fail?), `start` binds a for loop's target."""
        head = environment.copy()
        marks = self.marks()
        for _ in range(MOST_ROUNDS):
            self.rewind(marks)
            tested = head.copy()
            staged, may_end = enter(tested)
            staged = staged or node in self.facts.exits
            both = choose if staged else host_join
            if staged:
                self.rewind(marks)
                self.facts.staged.add(node)
                head = self._carried(node, head)
                tested = head.copy()
                _, may_end = enter(tested)
            inside = tested.copy()
            with self.control(node, staged):
                start(inside)
                body = self.block(node.body, inside)
            if not staged and node in self.facts.exits:
                continue
            entry = _staged(environment, head) if staged else environment
            grown = merge([entry, body.end, *body.continues], both)
            if staged and grown is not None:
                self._restore(node, environment, grown)
                grown = _widened(self._carried(node, grown), head)
            elif grown is not None:
                grown.missing |= grown.kinds.keys() - environment.kinds.keys()
            if grown is None or _same(grown, head):
                break
            head = grown
        else:
            self.problem(
                "what the loop's variables hold does not settle", node, "GL104"
            )
        self.facts.heads[node] = head
        self.facts.ends[node] = (
            merge([body.end, *body.continues], both) or Environment()
        )
        exhausted: list[Environment | None] = [tested if may_end else None]
        if node in self.facts.runs:
            exhausted = [body.end, *body.continues]
        other = Flow(merge(exhausted, both))
        if node.orelse and other.end is not None:
            with self.control(node, staged and bool(body.breaks), loop=False):
                other = self.block(node.orelse, other.end)
        end = merge([other.end, *body.breaks], both)
        if staged and end is not None:
            self._restore(node, environment, end)
        return Flow(end, other.breaks, other.continues)

    def _restore(self, node: ast.stmt, before: Environment, after: Environment) -> None:
        """Python values that a staged statement does not set stay Python's, alone or in a structure."""
        assigned = self.assigned_in(node)
        for name in before.kinds.keys() & after.kinds.keys() - assigned:
            kind = before.kinds[name]
            if isinstance(kind, Python) or after.kinds[name] == stage(kind) != UNKNOWN:
                after.kinds[name] = kind

    def _carried(self, node: ast.While | ast.For, head: Environment) -> Environment:
        """The head of a staged loop: what its body sets lives in the graph."""
        staged = head.copy()
        for name in self.assigned_in(node):
            if name in staged.kinds:
                staged.kinds[name] = stage(staged.kinds[name])
        return staged

    # ---- with, try

    def _with(self, node: ast.With, environment: Environment) -> Flow:
        for item in node.items:
            kind = self.evaluate(item.context_expr, environment)
            name = str(getattr(kind, "name", ""))
            if name not in HARMLESS_CONTEXTS or (item.optional_vars and name != TAPE):
                self.problem("this context manager is not known", item.context_expr)
            if item.optional_vars:
                self.assign(item.optional_vars, kind, environment)
        return self.block(node.body, environment)

    def _try(self, node: ast.Try, environment: Environment) -> Flow:
        entry = environment.copy()
        if node.handlers:
            self.problem("`try` around tensor work is not lifted", node, "GL211")
        flow = self.block(node.body, environment)
        if flow.end is None or flow.breaks or flow.continues or self.leaves(node.body):
            self.problem("`finally` after an exit is not lifted", node, "GL211")
        if node.orelse and flow.end is not None:
            flow = self.block(node.orelse, flow.end)
        ends = [flow.end]
        for handler in node.handlers:
            caught = entry.copy()
            if handler.name:
                caught.bind(handler.name, UNKNOWN)
            ends.append(self.block(handler.body, caught).end)
        end = merge(ends, host_join)
        if node.finalbody and end is not None:
            return self.block(node.finalbody, end)
        return Flow(end, flow.breaks, flow.continues)


def named_functions(
    function: FunctionNode,
) -> dict[ast.Lambda | FunctionNode, str | None]:
    """The functions defined in one, each with the one name that it goes by; None where it may have others."""
    found: dict[ast.Lambda | FunctionNode, str | None] = {}
    for node in own_nodes(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made):
                found[made] = name
            case ast.FunctionDef(name=name):
                found[node] = name
            case ast.Lambda():
                found.setdefault(node, None)
    names = set(filter(None, found.values()))
    loads = [
        n
        for n in own_nodes(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names
    ]
    called = {n.func for n in own_nodes(function) if isinstance(n, ast.Call)}
    escaping = {n.id for n in loads if n not in called}
    return {n: None if name in escaping else name for n, name in found.items()}


def _with_rest(items: tuple[Kind, ...], position: int, count: int) -> list[Kind] | None:
    """What each of `count` targets gets, one of which takes a list of all that the others leave."""
    after = count - position - 1
    if len(items) < count - 1:
        return None
    rest = items[position : len(items) - after]
    return [*items[:position], Sequence("list", rest), *items[len(items) - after :]]


def _parameters(node: ast.Lambda | FunctionNode) -> set[str]:
    args = node.args
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {a.arg for a in found if a is not None}


def _keyword(node: ast.stmt) -> str:
    names = {
        "AsyncFor": "async for",
        "AsyncWith": "async with",
        "AsyncFunctionDef": "async def",
        "ClassDef": "class",
    }
    return names.get(type(node).__name__, type(node).__name__.lower())


def _as_load(target: ast.expr) -> ast.expr:
    """The expression that reads what an augmented assignment writes; one node per target, so facts keep to it."""
    loaded: ast.expr | None = getattr(target, "as_load", None)
    if loaded is None:
        match target:
            case ast.Name(id=name):
                loaded = ast.Name(name, ast.Load())
            case ast.Attribute(value=value, attr=attr):
                loaded = ast.Attribute(value, attr, ast.Load())
            case ast.Subscript(value=value, slice=index):
                loaded = ast.Subscript(value, index, ast.Load())
            case _:
                raise Refusal("this assignment is not lifted", target)
        ast.copy_location(loaded, target)
        target.as_load = loaded  # type: ignore[union-attr]
    return loaded


def _with_item(container: Kind, key: Kind, kind: Kind) -> Kind | None:
    """The container after `container[key] = kind`; None where that is not known."""
    if not (isinstance(key, Python) and key.known):
        return None
    if (
        isinstance(container, Sequence)
        and container.type == "list"
        and isinstance(key.value, int)
    ):
        items = list(container.items)
        if not -len(items) <= key.value < len(items):
            return None
        items[key.value] = kind
        return Sequence("list", tuple(items))
    if isinstance(container, Dict) and isinstance(key.value, str):
        entries = dict(container.items)
        entries[key.value] = kind
        return Dict(tuple(entries.items()))
    return None


def _without_item(container: Kind, key: Kind) -> Kind:
    """The container after `del container[key]`."""
    if isinstance(container, Dict) and isinstance(key, Python) and key.known:
        return Dict(tuple(entry for entry in container.items if entry[0] != key.value))
    return UNKNOWN


def _stage_partly_bound(
    then: Environment | None, other: Environment | None, end: Environment
) -> None:
    """What only one arm of the graph binds is held in the graph after it."""
    if then is not None and other is not None:
        for name in then.kinds.keys() ^ other.kinds.keys():
            staged = stage(end.kinds[name])
            if staged != UNKNOWN:
                end.kinds[name] = staged


def _any_list(*items: Kind) -> Kind:
    return Elements("list", join_all(map(forget, items)))


def _with_entry(container: Dict | Mapping, key: Kind, kind: Kind) -> Kind:
    """A dict with one more entry, under a key that Python knows while tracing."""
    if isinstance(container, Dict):
        keys: list[Kind] = [Python("str")] * len(container.items)
        values = [value for _, value in container.items]
    else:
        keys, values = [container.key], [container.value]
    return Mapping(
        join_all(map(forget, [*keys, key])), join_all(map(forget, [*values, kind]))
    )


def _staged(entry: Environment, head: Environment) -> Environment:
    """The entry of a staged loop, with what the loop carries held in the graph."""
    result = entry.copy()
    for name, kind in entry.kinds.items():
        if name in head.kinds and kind != head.kinds[name]:
            result.kinds[name] = stage(kind)
    return result


def _same(a: Environment, b: Environment) -> bool:
    alike = (a.kinds, a.unsure, a.missing, a.nonzero) == (
        b.kinds,
        b.unsure,
        b.missing,
        b.nonzero,
    )
    return alike and all(
        _numbers(kind) == _numbers(b.kinds[name]) for name, kind in a.kinds.items()
    )


def _widened(grown: Environment, head: Environment) -> Environment:
    """What the next round of a loop begins with: numbers that change from round to round are any."""
    for name, kind in grown.kinds.items():
        if isinstance(kind, Tensor) and _numbers(kind) != _numbers(
            head.kinds.get(name)
        ):
            grown.kinds[name] = replace(kind, numbers=None)
    return grown


def _numbers(kind: Kind | None) -> tuple[int | float, ...] | None:
    return kind.numbers if isinstance(kind, Tensor) else None
