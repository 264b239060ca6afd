"""GL110 tensor-match: `match` on a tensor becomes the `if` and `elif` that it stands for.

The first step only: what these become is the business of `conditionals`.
"""

from __future__ import annotations

import ast

from .facts.environment import FunctionFacts
from .facts.kinds import Sequence
from .facts.profile import FunctionNode
from .findings import Refusal
from .making import assigned, called, compared, filled, is_atom
from .rebuilding import with_origin
from .rewriting import Rewriter
from .rule import Rule
from .source import Names

PLAIN_CLASSES = ("bool", "bytes", "float", "int", "str")
Binding = tuple[str, ast.expr]


class TensorMatch(Rule):
    """A `match` whose subject is a tensor.

    What it finds:
        `match` statements over tensors, and over tuples with tensors in them.

    Why it matters:
        Each `case` compares the tensor with a value and asks for the truth of that, which a graph refuses; AutoGraph
        does not know `match` at all.

    Before:
        import tensorflow as tf

        def f(kind: tf.Tensor, x: tf.Tensor):
            match kind:
                case 0:
                    y = x
                case 1 | 2:
                    y = x * 2.0
                case _:
                    y = -x
            return y

        ARGS = [(tf.constant(0), tf.constant(2.0)), (tf.constant(2), tf.constant(2.0)), (tf.constant(7), tf.constant(2.0))]

    After:
        import tensorflow as tf

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)],
        )
        def f(kind: tf.Tensor, x: tf.Tensor):
            y = tf.cond(
                kind == 0,
                lambda: x,
                lambda: tf.cond(
                    tf.logical_or(kind == 1, kind == 2), lambda: x * 2.0, lambda: -x
                ),
            )
            return y

        ARGS = [(tf.constant(0), tf.constant(2.0)), (tf.constant(2), tf.constant(2.0)), (tf.constant(7), tf.constant(2.0))]

    When it is left alone:
        Patterns of mappings, of `*` items, and of the attributes of objects. What can be done: take the parts out
        before it, and `match` or `if` on those.
    """

    code = "GL110"
    name = "tensor-match"


def without_match(facts: FunctionFacts, names: Names) -> FunctionNode | None:
    """The function with its `match` statements written as `if`; None where it has none.

    Raises:
        Refusal: a pattern has no such form.
    """
    return _Matches(facts, names).function()


class _Matches(Rewriter):
    def instead(self, node: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(node, ast.Match):
            return None
        before: list[ast.stmt] = []
        subject = self._subject(node.subject, before)
        made: list[ast.stmt] = []
        for case in reversed(node.cases):
            made = self._case(case, subject, made)
        first, *rest = [*before, *made] or [ast.Pass()]
        return [with_origin(first, node), *rest]

    def _subject(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The subject as it may be written several times."""
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._subject(e, before) for e in node.elts], ast.Load())
        if is_atom(node):
            return node
        name = self.names.fresh("subject")
        before.append(ast.Assign([ast.Name(name, ast.Store())], node))
        return ast.Name(name, ast.Load())

    def _case(
        self, case: ast.match_case, subject: ast.expr, other: list[ast.stmt]
    ) -> list[ast.stmt]:
        tests, bound = self._pattern(case.pattern, subject)
        if case.guard is not None:
            tests.append(filled(case.guard, dict(bound)))
        body = [assigned(name, value) for name, value in bound] + case.body
        if not tests:
            return body
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        return [ast.If(test, body, other)]

    def _pattern(
        self, pattern: ast.pattern, subject: ast.expr
    ) -> tuple[list[ast.expr], list[Binding]]:
        """What has to hold for a pattern to match, and the names it binds."""
        match pattern:
            case ast.MatchValue(value=value):
                return [compared(subject, ast.Eq(), value)], []
            case ast.MatchSingleton(value=value):
                return [compared(subject, ast.Is(), ast.Constant(value))], []
            case ast.MatchAs(pattern=None, name=name):
                return [], [(name, subject)] if name else []
            case ast.MatchAs(pattern=ast.pattern() as inner, name=str() as name):
                tests, bound = self._pattern(inner, subject)
                return tests, [*bound, (name, subject)]
            case ast.MatchOr(patterns=patterns):
                return self._either(patterns, subject), []
            case ast.MatchSequence(patterns=patterns):
                return self._sequence(pattern, patterns, subject)
            case ast.MatchClass(cls=cls, kwd_attrs=[], patterns=[]):
                return [called("isinstance", subject, cls)], []
            case ast.MatchClass(
                cls=ast.Name(id=name) as cls, kwd_attrs=[], patterns=[inner]
            ) if name in PLAIN_CLASSES:
                tests, bound = self._pattern(inner, subject)
                return [called("isinstance", subject, cls), *tests], bound
        raise Refusal("this pattern is not lifted", pattern, "GL110")

    def _either(self, patterns: list[ast.pattern], subject: ast.expr) -> list[ast.expr]:
        tests = []
        for pattern in patterns:
            found, bound = self._pattern(pattern, subject)
            if bound or len(found) != 1:
                raise Refusal("this pattern is not lifted", pattern, "GL110")
            tests += found
        return [ast.BoolOp(ast.Or(), tests)]

    def _sequence(
        self, node: ast.pattern, patterns: list[ast.pattern], subject: ast.expr
    ) -> tuple[list[ast.expr], list[Binding]]:
        if any(isinstance(p, ast.MatchStar) for p in patterns):
            raise Refusal("this pattern is not lifted", node, "GL110")
        if isinstance(subject, ast.Tuple):
            parts = subject.elts
        else:
            kind = self.kind(subject)
            if not isinstance(kind, Sequence) or kind.type not in ("tuple", "list"):
                raise Refusal(
                    "whether this pattern matches is not known", node, "GL110"
                )
            parts = [
                ast.Subscript(subject, ast.Constant(i), ast.Load())
                for i in range(len(kind.items))
            ]
        if len(parts) != len(patterns):
            return [ast.Constant(False)], []
        tests: list[ast.expr] = []
        bound: list[Binding] = []
        for pattern, part in zip(patterns, parts, strict=True):
            inner, names = self._pattern(pattern, part)
            tests += inner
            bound += names
        return tests, bound
