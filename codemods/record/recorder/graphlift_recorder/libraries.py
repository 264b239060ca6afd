"""What has to be told by libraries themselves: where they draw random numbers, build symbolically, run
converted copies of functions, or compile test modules.

Each hook gets the name space of one of their modules right after it was loaded. Where a function is
wrapped, the wrapper poses as code of the library's own file, so that tracebacks are filtered as ever.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from . import randomness, watching
from .posing import posing

if TYPE_CHECKING:
    from .loading import Project

Hook = Callable[[dict[str, Any]], None]


def hooks(project: Project) -> dict[str, Hook]:
    """What to do after a module of this name was loaded."""
    return {
        "numpy.random": randomness.numpy_loaded,
        "tensorflow.python.framework.random_seed": _seeds,
        "tensorflow.python.ops.stateful_random_ops": _generators,
        "keras.src.random.seed_generator": _keras_seeds,
        "keras.src.backend.common.symbolic_scope": _symbolic_scope,
        "tensorflow.python.autograph.impl.api": _conversions,
        "_pytest.assertion.rewrite": functools.partial(_assertions, project),
    }


# ---- randomness


def _seeds(namespace: dict[str, Any]) -> None:
    namespace["get_seed"] = _drawing(namespace["get_seed"])


def _keras_seeds(namespace: dict[str, Any]) -> None:
    namespace["draw_seed"] = _drawing(namespace["draw_seed"])


def _generators(namespace: dict[str, Any]) -> None:
    generator = namespace["Generator"]
    for name in ("skip", "binomial"):
        setattr(generator, name, _drawing(getattr(generator, name)))


def _drawing(original: Any) -> Any:
    """The function, noting that it draws from TensorFlow's randomness."""

    def draw(*args: Any, **kwargs: Any) -> Any:
        watching.drawn("tf")
        return original(*args, **kwargs)

    return _standing_in(draw, original)


def _standing_in(wrapper: Any, original: Any) -> Any:
    posing(wrapper, original.__code__.co_filename)
    return functools.wraps(original)(wrapper)


# ---- symbolic calls


def _symbolic_scope(namespace: dict[str, Any]) -> None:
    watching.symbolic_build = namespace["in_symbolic_scope"]


def _conversions(namespace: dict[str, Any]) -> None:
    original = namespace["converted_call"]

    def converted_call(
        f: Any, args: Any, kwargs: Any, *rest: Any, **options: Any
    ) -> Any:
        function = _function_of(f)
        calls = function.calls if function else 0
        result = original(f, args, kwargs, *rest, **options)
        if function and function.calls == calls:  # it was a converted copy that ran
            with suppress(Exception):
                function.traced(_arguments(f, args, kwargs or {}), result)
        return result

    namespace["converted_call"] = _standing_in(converted_call, original)


def _function_of(f: Any) -> watching.Function | None:
    """What watches a Python function or method."""
    f = f.__func__ if isinstance(f, types.MethodType) else f
    owner = watching.whose(f.__code__) if isinstance(f, types.FunctionType) else None
    return owner if isinstance(owner, watching.Function) else None


def _arguments(f: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    receiver = getattr(f, "__self__", None)
    if receiver is None:
        return bound.arguments
    if type(receiver).__name__ == "TfMethodTarget":
        receiver = receiver.target
    return {f.__func__.__code__.co_varnames[0]: receiver, **bound.arguments}


# ---- pytest


def _assertions(project: Project, namespace: dict[str, Any]) -> None:
    """Have pytest instrument the modules whose asserts it rewrites, which it compiles itself."""
    rewrite_asserts = namespace["rewrite_asserts"]
    rewrite_test = namespace["_rewrite_test"]
    read_pyc, write_pyc = namespace["_read_pyc"], namespace["_write_pyc"]
    fillers: dict[str, Callable[[types.CodeType], types.CodeType]] = {}

    def instrument_and_rewrite(
        mod: Any, source: bytes, path: Any = None, config: Any = None
    ) -> None:
        key = project.key(str(path))
        if key is not None:
            try:
                tree, constants, functions = project.instrumented(
                    key, source, asserts=False
                )
            except Exception:
                pass
            else:
                mod.body = tree.body
                project.functions.extend(functions)
                module = watching.Module(f"{key}::<module>")
                fillers[str(path)] = lambda code: constants.fill(code, module)
        rewrite_asserts(mod, source, path, config)

    def rewrite_and_fill(fn: Any, config: Any) -> Any:
        stat, code = rewrite_test(fn, config)
        fill = fillers.pop(str(fn), None)
        return stat, fill(code) if fill else code

    def read(source: Any, *args: Any, **kwargs: Any) -> Any:
        if project.key(str(source)) is not None:
            return None
        return read_pyc(source, *args, **kwargs)

    def write(state: Any, code: Any, *args: Any) -> Any:
        if isinstance(watching.whose(code), watching.Module):  # it is instrumented
            return False
        return write_pyc(state, code, *args)

    namespace.update(
        rewrite_asserts=instrument_and_rewrite,
        _rewrite_test=rewrite_and_fill,
        _read_pyc=read,
        _write_pyc=write,
    )
