"""What instrumented code holds: one small object for each place that is watched.

The objects are constants of the code, so they need no name in the program's name spaces and live as
long as the code does. Copied to another process (by cloudpickle, say) they turn into stand-ins that
watch nothing.
"""

from __future__ import annotations

import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from . import randomness
from .kinds import describe
from .sameness import Steady, shared_tensors
from .samples import Samples

MOST_CALLS = 1000
MOST_TURNS = 5000
"""After so many calls, or iterations of its loops, a function's plain code runs, and calls are counted only."""
MOST_RUNNING = 200
"""So deep in calls a function is not watched any more: there the stack may end."""
MOST_ROOTS = 16

_MISSING = object()
_threads = threading.local()

symbolic_build: Callable[[], bool] = bool
"""Whether Keras is building symbolically; set when Keras is imported."""


def running() -> list[Activation]:
    """The watched calls in progress in this thread, outermost first."""
    try:
        return _threads.running  # type: ignore[no-any-return]
    except AttributeError:
        _threads.running = []
        return _threads.running  # type: ignore[no-any-return]


def current(function: Function) -> Activation:
    """The innermost call in progress of `function`."""
    for activation in reversed(running()):
        if activation.function is function:
            return activation
    return Activation(
        function
    )  # one that other threads' or greenlets' calls have swept away


def drawn(source: str) -> None:
    """Note a random draw in all calls in progress."""
    for activation in running():
        activation.function.random.add(source)


class Watched:
    """Something that instrumented code holds."""

    def __reduce__(self) -> Any:
        return types.SimpleNamespace, (), {"on": False, "calls": 0}


class Place(Watched):
    """An expression or a name whose values are described."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()

    def see(self, value: Any) -> Any:
        """Describe `value`, and give it back."""
        self.kinds.add(describe(value))
        return value

    def note(self, value: Any) -> bool:
        """Describe `value`, as an operand of a condition that holds."""
        self.kinds.add(describe(value))
        return True


class Test(Place):
    """A leaf of a test."""

    def __init__(self) -> None:
        super().__init__()
        self.trues = self.falses = 0

    def true(self) -> bool:
        self.trues += 1
        return True

    def false(self) -> bool:
        self.falses += 1
        return False


class Chain(Place):
    """An attribute of an attribute ... of a name."""

    def __init__(self, path: tuple[str, ...]) -> None:
        super().__init__()
        self.path = path
        self.changed = False
        self._steady: dict[int, tuple[Any, Steady]] = {}

    def peek(self, root: Any) -> None:
        """Describe what the chain holds now, if that takes no code of the user's."""
        value = stored(root, self.path)
        if value is not _MISSING:
            self.kinds.add(describe(value))

    def enter(self, root: Any) -> None:
        """Compare with what the chain held at the first entry with the same root."""
        if self.changed:
            return
        value = stored(root, self.path)
        if value is not _MISSING:
            steady = self._of(root)
            self.changed = steady is not None and steady.differs(value)

    def named(self, name: str, root: Any) -> tuple[str, Any]:
        """The chain as it reads from a root of this name, and what it holds."""
        return ".".join((name, *self.path)), stored(root, self.path)

    def _of(self, root: Any) -> Steady | None:
        known = self._steady.get(id(root))
        if known is not None and known[0]() is root:
            return known[1]
        if len(self._steady) == MOST_ROOTS:
            return None
        try:
            ref: Any = weakref.ref(root)
        except TypeError:
            return None
        steady = Steady()
        self._steady[id(root)] = ref, steady
        return steady


class Outer(Place):
    """A global or closure variable, looked at on entry, with the chains that start from it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.chains: list[Chain] = []
        self.changed = False
        self._steady = Steady()

    def enter(self, value: Any) -> None:
        """Describe the value, and compare it with that at the first entry."""
        self.kinds.add(describe(value))
        self.changed = self.changed or self._steady.differs(value)
        for chain in self.chains:
            chain.enter(value)

    def named(self, value: Any) -> list[tuple[str, Any]]:
        """The value, and what the chains from it hold, by name; of a module nothing."""
        if isinstance(value, types.ModuleType):
            return []
        chains = [chain.named(self.name, value) for chain in self.chains]
        return [(self.name, value), *chains]


class Loop(Watched):
    """A for or while loop."""

    def __init__(self, function: Function, carried: list[str]) -> None:
        self._function = function
        self.iterable: Place | None = None
        self.trips: list[int] = []
        self.entry = {name: Place() for name in carried}
        self.ends = {name: Place() for name in carried}
        self._into = self.entry

    def start(self) -> None:
        """Before the first iteration."""
        counts = current(self._function).counts
        if self in counts:  # left by an exception the last time
            self.ended(counts[self])
        counts[self] = 0

    def turn(self) -> None:
        """At the start of an iteration, with the carried names as the last one left them."""
        counts = current(self._function).counts
        count = counts.get(self, 0)
        counts[self] = count + 1
        self._into = self.ends if count else self.entry
        self._function.tick()

    def done(self) -> None:
        """After the last iteration."""
        count = current(self._function).counts.pop(self, 0)
        self._into = self.ends if count else self.entry
        self.ended(count)

    def ended(self, count: int) -> None:
        least, most = self.trips or (count, count)
        self.trips = [min(least, count), max(most, count)]

    def carry(self, name: str, value: Any) -> None:
        self._into[name].see(value)


class Activation:
    """One call in progress."""

    __slots__ = ("counts", "draws", "ended", "function")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.counts: dict[Loop, int] = {}
        self.draws = randomness.snapshot()
        self.ended = False


class Function(Watched):
    """A function of the project: its places, and what is known of its calls.

    `parameters` maps names to how they are passed: "positional", "star", "keyword" or "double star".
    """

    unbound = NameError

    def __init__(self, key: str, source: str, parameters: dict[str, str]) -> None:
        self.key = key
        self.source = source
        self.on = True
        self.calls = 0
        self.passed = [*parameters.values()]
        self.parameters = {name: Place() for name in parameters}
        self.returns = Place()
        self.raises: set[str] = set()
        self.globals: list[Outer] = []
        self.written: list[Outer] = []
        self.closure: list[Outer] = []
        self.chains: dict[str, Chain] = {}
        self.parameter_chains: list[tuple[int, Chain]] = []
        self.names: dict[str, Place] = {}
        self.tests: dict[str, Test] = {}
        self.loops: dict[str, Loop] = {}
        self.random: set[str] = set()
        self.callers: set[str] = set()
        self.shared: set[tuple[str, str]] = set()
        self.samples = Samples()
        self._calls_left = MOST_CALLS
        self._turns_left = MOST_TURNS

    def enter(self, values: tuple[Any, ...]) -> bool:
        """A call begins: whether to watch it."""
        if not self._begin(values, sys._getframe(1)):
            return False
        running().append(Activation(self))
        return True

    def enter_generator(self, values: tuple[Any, ...]) -> bool:
        """A generator's body begins: whether to watch it.

        It isn't among the calls in progress, since these end last in, first out.
        """
        self.returns.kinds.add("generator")
        return self._begin(values, sys._getframe(1))

    def enter_coroutine(self, values: tuple[Any, ...]) -> bool:
        """Likewise for the body of an async function."""
        return self._begin(values, sys._getframe(1))

    def _begin(self, values: tuple[Any, ...], frame: types.FrameType) -> bool:
        try:
            return self._look(values, frame)
        except Exception:  # no room on the stack, say
            return False

    def _look(self, values: tuple[Any, ...], frame: types.FrameType) -> bool:
        kinds = tuple([describe(value) for value in values])
        if any("KerasTensor" in kind for kind in kinds) or symbolic_build():
            self.calls -= 1
            return False
        self._calls_left -= 1
        if self._calls_left <= 0 or len(running()) > MOST_RUNNING:
            self.on = False
        for place, kind in zip(self.parameters.values(), kinds, strict=True):
            place.kinds.add(kind)
        named = [*zip(self.parameters, values, strict=True)]
        for index, chain in self.parameter_chains:
            root, value = named[index]
            chain.enter(value)
            named.append(chain.named(root, value))
        for outer in self.globals:
            value = frame.f_globals.get(outer.name, _MISSING)
            if value is not _MISSING:
                outer.enter(value)
                named += outer.named(value)
        self.shared.update(shared_tensors(named))
        self.callers.update(_caller(frame))
        if self.samples.wanted(kinds):
            self.samples.take(*self._passed(values), kinds)
        return True

    def _passed(self, values: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments that give these values to the parameters."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, how, value in zip(self.parameters, self.passed, values, strict=True):
            if how == "positional":
                args.append(value)
            elif how == "star":
                args.extend(value)
            elif how == "keyword":
                kwargs[name] = value
            else:
                kwargs.update(value)
        return args, kwargs

    def back(self, value: Any) -> Any:
        """The value of a return statement."""
        current(self).ended = True
        return self.returns.see(value)

    def raised(self) -> None:
        """An exception leaves the function."""
        current(self).ended = True
        cls = sys.exc_info()[0]
        if cls is not None and issubclass(cls, Exception):
            self.raises.add(cls.__name__)

    def leave(self) -> None:
        """A watched call ends."""
        activation = current(self)
        activations = running()
        if activation in activations:
            del activations[activations.index(activation) :]
        self.random.update(randomness.drawn_since(activation.draws))
        for loop, count in activation.counts.items():
            loop.ended(count)
        if not activation.ended and self.on:
            self.returns.see(None)
        if self.written:
            namespace = sys._getframe(1).f_globals
            for outer in self.written:
                if outer.name in namespace:
                    outer.see(namespace[outer.name])

    def tick(self) -> bool:
        """An iteration begins."""
        self._turns_left -= 1
        if self._turns_left <= 0:
            self.on = False
        return True

    def traced(self, arguments: dict[str, Any], result: Any) -> None:
        """A call of which TensorFlow ran a converted copy."""
        self.calls += 1
        for name, value in arguments.items():
            if name in self.parameters:
                self.parameters[name].see(value)
        self.returns.see(result)


def retire(functions: Iterable[Function]) -> None:
    """Watch nothing any more, without any name of this module: the interpreter is about to take it apart.

    Bodies of generators may still be closed, in their watching form.
    """
    for function in functions:
        function.on = False
    Place.see = lambda self, value: value  # type: ignore[method-assign]
    Place.note = lambda self, value: True  # type: ignore[method-assign]
    Chain.peek = lambda self, root: None  # type: ignore[method-assign]


class Module(Watched):
    """The code of a module's top level, as a caller."""

    def __init__(self, key: str) -> None:
        self.key = key


CODES: dict[tuple[str, int, str], Function | Module] = {}
"""Whose code it is: by the file, first line and name of a code object."""


def whose(code: types.CodeType) -> Function | Module | None:
    return CODES.get((code.co_filename, code.co_firstlineno, code.co_name))


def own(code: types.CodeType, owner: Function | Module) -> None:
    CODES[code.co_filename, code.co_firstlineno, code.co_name] = owner


def _caller(frame: types.FrameType | None) -> tuple[str, ...]:
    """The key of the nearest function of the project below a frame, as a tuple of at most one."""
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
        owner = whose(frame.f_code)
        if owner is not None:
            return (owner.key,)
    return ()


def stored(root: Any, path: tuple[str, ...]) -> Any:
    """The value of root.path as far as it is stored in plain attributes, found without running any code."""
    for name in path:
        root = _stored(root, name)
        if root is _MISSING:
            break
    return root


def _stored(value: Any, name: str) -> Any:
    cls = type(value)
    if issubclass(cls, type):
        return _of_class(value, name, None)
    try:
        namespace = object.__getattribute__(value, "__dict__")
    except Exception:
        namespace = None
    if type(namespace) is dict and name in namespace:
        return namespace[name]
    return _of_class(cls, name, value)


def _of_class(cls: type, name: str, instance: Any) -> Any:
    for base in type.__getattribute__(cls, "__mro__"):
        if name in base.__dict__:
            value = base.__dict__[name]
            if isinstance(value, types.MemberDescriptorType) and instance is not None:
                try:
                    return value.__get__(instance)
                except AttributeError:
                    return _MISSING
            return _MISSING if hasattr(type(value), "__get__") else value
    return _MISSING
