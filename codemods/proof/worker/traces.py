"""How often tf.functions are traced, and into how large a graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf


class Traces:
    """Counts the tf.functions that are made from now on, those that Keras makes for its models too.

    They are kept, so that those of objects that are gone by the end count as well.
    """

    def __init__(self) -> None:
        self._made: list[Any] = []
        real = tf.function
        counted = self._counted(type(real(lambda: None)))

        @functools.wraps(real)
        def function(*args: Any, **kwargs: Any) -> Any:
            made = real(*args, **kwargs)
            if hasattr(made, "experimental_get_tracing_count"):
                return self._keep(made, counted)
            return lambda python_function: self._keep(made(python_function), counted)

        tf.function = function

    def count(self) -> int:
        """How often the busiest of them was traced."""
        counts = (f.experimental_get_tracing_count() for f in self._made)
        return max(counts, default=0)

    def nodes(self) -> int | None:
        """The number of nodes of the largest graph, branches and bodies included; None where there is none."""
        sizes = [
            size
            for function in self._made
            if function.experimental_get_tracing_count()
            for size in _sizes(function)
        ]
        return max(sizes, default=None)

    def _counted(self, function: Any) -> Any:
        """A kind of `function` that is kept when it is made: for a method, one for each instance."""
        keep = self._made.append

        class Counted(function):  # type: ignore[misc]
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                keep(self)

        Counted.__name__ = function.__name__
        return Counted

    def _keep(self, made: Any, counted: Callable[..., Any]) -> Any:
        made.__class__ = counted
        self._made.append(made)
        return made


def _sizes(function: Any) -> Iterator[int]:
    try:
        for concrete in function._list_all_concrete_functions():
            graph = concrete.graph.as_graph_def()
            bodies = graph.library.function
            yield len(graph.node) + sum(len(body.node_def) for body in bodies)
    except Exception:  # no part of TensorFlow's interface, and a graph can be too large
        return
