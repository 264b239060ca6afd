"""GL106 dataset-for: a `for` over a dataset becomes a `tf.while_loop` over its iterator."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .counter import Counter
from .findings import Refusal
from .rule import Rule
from .steps import Code, Step

if TYPE_CHECKING:
    from .planner import Planner


class DatasetFor(Rule):
    """A `for` over a `tf.data` dataset.

    What it finds:
        Loops over datasets, over `enumerate` of one, and over iterators, also by `next` until there is no more.

    Why it matters:
        Each element comes to Python and its work is started op by op; outside AutoGraph a traced loop over a dataset
        never ends.

    Before:
        import tensorflow as tf

        NUMBERS = tf.data.Dataset.range(5)

        def f(scale: tf.Tensor):
            total = tf.constant(0, tf.int64)
            for n in NUMBERS:
                total = total + n * scale
            return total

        ARGS = [(tf.constant(1, tf.int64),), (tf.constant(2, tf.int64),), (tf.constant(0, tf.int64),)]

    After:
        import tensorflow as tf

        NUMBERS = tf.data.Dataset.range(5)

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([], tf.int64)])
        def f(scale: tf.Tensor):
            total = tf.constant(0, tf.int64)
            iterator = iter(NUMBERS)

            def body(item, total):
                n = item.get_value()
                total = total + n * scale
                return iterator.get_next_as_optional(), total

            _, total = tf.while_loop(
                lambda item, total: item.has_value(),
                body,
                (iterator.get_next_as_optional(), total),
            )
            return total

        ARGS = [(tf.constant(1, tf.int64),), (tf.constant(2, tf.int64),), (tf.constant(0, tf.int64),)]

    When it is left alone:
        Datasets whose elements' kinds nothing tells, and iterators of Python.
    """

    code = "GL106"
    name = "dataset-for"
    errors = (r"An unusually high number of `tf\.data\.Iterator\.get_next\(\)` calls",)


def elements(
    planner: Planner, node: ast.For, dataset: ast.expr, method: str = ""
) -> tuple[str, Counter]:
    """The name of the element that a loop over a dataset has, and how it counts."""
    text = planner.writer.atom(dataset) if method else planner.writer.text(dataset)
    iterator = planner.names.fresh("iterator")
    before: list[Step] = [Code(f"{iterator} = iter({text}{method})")]
    item = planner.names.fresh("item", "element")
    following = f"{iterator}.get_next_as_optional()"
    begin = [_bind(planner, node.target, f"{item}.get_value()")]
    spec = f"{planner.tf}.OptionalSpec({iterator}.element_spec)"
    return item, Counter(
        following, f"{item}.has_value()", following, begin, before, spec
    )


def remaining(planner: Planner, node: ast.For) -> tuple[str, Counter]:
    """The same for a loop over what an iterator has left: an element is taken only when it is needed."""
    iterator = planner.source.segment(node.iter)
    if not isinstance(node.iter, ast.Name | ast.Attribute):
        raise Refusal("how this iterator is made is not lifted", node.iter, "GL106")
    item = planner.names.fresh("item", "element")
    first = following = f"{iterator}.get_next_as_optional()"
    stops = getattr(node, "stops", ())
    if stops:
        ended = " | ".join(stops)
        following = f"{planner.tf}.cond({ended}, lambda: {item}, lambda: {first})"
    begin = [_bind(planner, node.target, f"{item}.get_value()")]
    spec = f"{planner.tf}.OptionalSpec({iterator}.element_spec)"
    return item, Counter(first, f"{item}.has_value()", following, begin, [], spec)


def _bind(planner: Planner, target: ast.expr, text: str) -> Step:
    if isinstance(target, ast.Name | ast.Tuple):
        return Code(f"{planner.source.segment(target)} = {text}")
    raise Refusal("how an element unpacks here is not known", target, "GL106")
