"""What the interpreter says of every expression and name is what eager TensorFlow gives.

Each program is interpreted from the kinds of its arguments, then run with every value watched: see
`watched`. `gives` is the notation of the kind that a call gives inside a graph.
"""

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass

import pytest
from facts.watched import Program, complaints, interpret
from random_writer import Writer

pytestmark = pytest.mark.filterwarnings("ignore")


@dataclass(frozen=True)
class Case:
    """A program in a few lines; `problem` is part of why it cannot be lifted, where that is so."""

    text: str
    calls: str
    gives: str
    entry: str = "f"
    problem: str = ""

    @property
    def program(self) -> Program:
        return Program(
            "import tensorflow as tf\n" + textwrap.dedent(self.text),
            self.calls,
            self.entry,
        )


ARITHMETIC = {
    "a Python number takes the tensor's dtype": Case(
        """
        def f(x):
            y = 2 * x + 1.5
            z = x / 2 - True
            return y - z
        """,
        "[(tf.constant([1.0, 2.0]),), (tf.constant([3.0]),)]",
        "tensor(float32, None)",
    ),
    "Python numbers stay Python's": Case(
        """
        def f(x, n):
            half = n // 2
            part = n / 4
            power = 2 ** 3
            text = "a" * 2
            return x * half + part * power + len(text)
        """,
        "[(tf.constant(1.0), 3), (tf.constant(1.0), 8)]",
        "tensor(float32)",
    ),
    "shapes broadcast": Case(
        """
        def f(x, y):
            outer = x[:, tf.newaxis] * y
            return outer + y, tf.reduce_sum(outer, axis=1, keepdims=True)
        """,
        "[(tf.ones([2]), tf.ones([3])), (tf.ones([2]), tf.ones([1]))]",
        "tuple(tensor(float32, 2, None), tensor(float32, 2, 1))",
    ),
    "comparisons and their chains": Case(
        """
        def f(x, n):
            low = 0.0 < x
            chain = -1.0 < x < 2.0
            plain = 0 < n < 3
            same = x == 1.0
            return low, chain, plain, same
        """,
        "[(tf.constant(1.0), 2), (tf.constant(-3.0), 5)]",
        "tuple(tensor(bool), tensor(bool), bool, tensor(bool))",
    ),
    "bits, integers, and division of them": Case(
        """
        def f(i, j):
            whole = i // j
            exact = i / j
            rest = i % 3
            bits = (i & j) | (i ^ j)
            return whole, exact, rest, bits, -i, ~i, abs(i)
        """,
        "[(tf.constant([7, -7]), tf.constant([2, 3]))]",
        "tuple(tensor(int32, 2), tensor(float64, 2), tensor(int32, 2), tensor(int32, 2),"
        " tensor(int32, 2), tensor(int32, 2), tensor(int32, 2))",
    ),
    "matrix products and transposes": Case(
        """
        def f(a, b):
            product = a @ b
            return product, tf.transpose(product), a @ a
        """,
        "[(tf.ones([2, 2]), tf.ones([2, 3])), (tf.ones([2, 2]), tf.ones([2, 5]))]",
        "tuple(tensor(float32, 2, None), tensor(float32, None, 2), tensor(float32, 2, 2))",
    ),
    "augmented assignments": Case(
        """
        def f(x, n):
            x += 1
            x *= x
            n -= 2
            n **= 2
            x /= 3
            return x, n
        """,
        "[(tf.constant([1.0]), 5), (tf.constant([2.0]), 1)]",
        "tuple(tensor(float32, None), int)",
    ),
    "and, or and not give operands or bools": Case(
        """
        def f(x, y):
            both = (x > 0.0) and (y > 0.0)
            either = x or y
            neither = not x
            return both, either, neither
        """,
        "[(tf.constant(1.0), tf.constant(0.0)), (tf.constant(0.0), tf.constant(2.0))]",
        "tuple(tensor(bool), tensor(float32), weak(bool))",
    ),
    "a named expression": Case(
        """
        def f(x):
            if (top := tf.reduce_max(x)) > 1.0:
                x = x / top
            return x, top
        """,
        "[(tf.constant([1.0, 4.0]),), (tf.constant([0.5]),)]",
        "tuple(tensor(float32, None), tensor(float32))",
    ),
    "shapes and sizes": Case(
        """
        def f(x):
            rows, columns = x.shape
            size = tf.shape(x)[0]
            rank = len(x.shape)
            return tf.reshape(x, [columns, -1]), size, rank, x.dtype == tf.float32
        """,
        "[(tf.ones([2, 3]),), (tf.zeros([2, 3]),)]",
        "tuple(tensor(float32, 3, 2), tensor(int32), int, bool)",
    ),
    "text": Case(
        """
        def f(x, name):
            label = name + "!"
            line = f"{label}: {len(name)}"
            joined = tf.strings.join([x, label, line])
            return joined, tf.strings.length(joined)
        """,
        '[(tf.constant("a"), "b"), (tf.constant("c"), "de")]',
        "tuple(tensor(string), tensor(int32))",
    ),
}

BRANCHES = {
    "both arms agree": Case(
        """
        def f(x):
            if tf.reduce_sum(x) > 0.0:
                y = x * 2.0
            else:
                y = -x
            return y
        """,
        "[(tf.ones([2]),), (-tf.ones([2]),)]",
        "tensor(float32, 2)",
    ),
    "arms of other shapes": Case(
        """
        def f(x):
            y = x
            if tf.reduce_sum(x) > 0.0:
                y = tf.concat([x, x], 0)
            return y
        """,
        "[(tf.ones([2]),), (-tf.ones([2]),)]",
        "tensor(float32, None)",
    ),
    "arms of other ranks": Case(
        """
        def f(x):
            if tf.reduce_sum(x) > 0.0:
                return x[0]
            return x
        """,
        "[(tf.ones([2]),), (-tf.ones([2]),)]",
        "tensor(float32, ...)",
    ),
    "a Python number in each arm": Case(
        """
        def f(x):
            if x > 0.0:
                scale, steps = 2.0, 1
            else:
                scale, steps = 0.5, 2
            return x * scale, steps, scale
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "tuple(tensor(float32), weak(int), weak(float))",
    ),
    "an int in one arm, a float in the other": Case(
        """
        def f(x):
            if x > 0.0:
                gain = 2
            else:
                gain = 0.5
            return x * gain
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "tensor(float32)",
    ),
    "a number in one arm, a tensor in the other": Case(
        """
        def f(x):
            if x > 0.0:
                y = x
            else:
                y = 0.0
            return y + x, y
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "tuple(tensor(float32), tensor(float32))",
    ),
    "None in one arm": Case(
        """
        def f(x):
            y = None
            if x > 0.0:
                y = x * 2.0
            if y is not None:
                return y
            return -x
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "tensor(float32)",
    ),
    "None goes out": Case(
        """
        def f(x):
            if x > 0.0:
                return x
            return None
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "maybe(tensor(float32))",
    ),
    "a name that only one arm binds": Case(
        """
        def f(x):
            if x > 0.0:
                y = x * 2.0
                x = y
            return x
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "tensor(float32)",
    ),
    "arms that Python chooses": Case(
        """
        def f(x, training):
            if training:
                y = x * 2.0
            else:
                y = tf.cast(x, tf.float64)
            return y
        """,
        "[(tf.constant(1.0), True), (tf.constant(-1.0), False)]",
        "tensor(float32) | tensor(float64)",
    ),
    "an arm that is never taken": Case(
        """
        def f(x):
            if len(x.shape) == 2:
                return x[0]
            elif x.dtype == tf.float32:
                return x * 2.0
            raise ValueError("no such x")
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, 2)",
    ),
    "elif of tensors": Case(
        """
        def f(x):
            if x > 2.0:
                y = 1
            elif x > 1.0:
                y = 2
            elif x > 0.0:
                y = 3
            else:
                y = 4
            return y
        """,
        "[(tf.constant(v),) for v in (3.0, 1.5, 0.5, -1.0)]",
        "weak(int)",
    ),
    "a ternary": Case(
        """
        def f(x, n):
            y = x if x > 0.0 else -x
            z = 1 if x > 0.0 else 2.5
            w = "a" if n > 2 else "b"
            return y, z, w
        """,
        "[(tf.constant(1.0), 1), (tf.constant(-1.0), 3)]",
        "tuple(tensor(float32), weak(float), str)",
    ),
    "tuples in the arms": Case(
        """
        def f(x):
            pair = (x, 1)
            if x > 0.0:
                pair = (x * 2.0, 2)
            first, second = pair
            return {"first": first, "second": second}
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "dict(first=tensor(float32), second=weak(int))",
    ),
    "an optional argument": Case(
        """
        def f(x, mask):
            if mask is not None:
                x = x * mask
            return x
        """,
        "[(tf.ones([2]), None), (tf.ones([2]), tf.zeros([2]))]",
        "tensor(float32, None)",
    ),
    "a test on None and a tensor at once": Case(
        """
        def f(x, mask):
            if mask is not None and tf.reduce_sum(mask) > 0.0:
                x = x * mask
            return x
        """,
        "[(tf.ones([2]), None), (tf.ones([2]), tf.ones([2])), (tf.ones([2]), tf.zeros([2]))]",
        "tensor(float32, None)",
    ),
    "isinstance": Case(
        """
        def f(x):
            if isinstance(x, tf.Tensor):
                y = x * 2.0
            else:
                y = tf.constant(x)
            return y
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, 2)",
    ),
    "a raise that Python decides": Case(
        """
        def f(x, n):
            if n < 0:
                raise ValueError("negative")
            return x * n
        """,
        "[(tf.ones([2]), 1), (tf.ones([2]), 2)]",
        "tensor(float32, None)",
    ),
}

LOOPS = {
    "a sum": Case(
        """
        def f(values):
            total = 0.0
            for v in values:
                total += v
            return total
        """,
        "[(tf.constant([1.0, 2.0]),), (tf.zeros([0]),)]",
        "tensor(float32)",
    ),
    "a shape that grows": Case(
        """
        def f(n):
            x = tf.zeros([1, 2])
            i = 0
            while i < n:
                x = tf.concat([x, tf.ones([1, 2])], 0)
                i += 1
            return x
        """,
        "[(tf.constant(0),), (tf.constant(3),)]",
        "tensor(float32, None, 2)",
    ),
    "a shape that broadcasts": Case(
        """
        def f(x, n):
            y = tf.constant(0.0)
            for i in tf.range(n):
                y = y + x
            return y
        """,
        "[(tf.ones([3]), tf.constant(0)), (tf.ones([3]), tf.constant(2))]",
        "tensor(float32, ...)",
    ),
    "a Python number that becomes a tensor": Case(
        """
        def f(values):
            best = -1
            for v in values:
                if v > best:
                    best = v
            return best + tf.constant(0)
        """,
        "[(tf.constant([3, 1]),), (tf.constant([-5]),), (tf.constant([], tf.int32),)]",
        "tensor(int32)",
    ),
    "an int that becomes a float": Case(
        """
        def f(values):
            count = 1
            for v in values:
                count = count / 2
            return v * 0.0 + count
        """,
        "[(tf.constant([3.0, 1.0]),), (tf.constant([-5.0]),)]",
        "tensor(float32)",
    ),
    "None before": Case(
        """
        def f(values):
            last = None
            total = tf.constant(0.0)
            for v in values:
                if last is not None:
                    total += v - last
                last = v
            return total
        """,
        "[(tf.constant([1.0, 4.0, 2.0]),), (tf.constant([1.0]),), (tf.zeros([0]),)]",
        "tensor(float32)",
    ),
    "break and else": Case(
        """
        def f(values):
            found = tf.constant(-1.0)
            for v in values:
                if v < 0.0:
                    found = v
                    break
            else:
                found = tf.constant(0.0)
            return found
        """,
        "[(tf.constant([1.0, -4.0]),), (tf.constant([1.0]),), (tf.zeros([0]),)]",
        "tensor(float32)",
    ),
    "continue": Case(
        """
        def f(values):
            count = 0
            for v in values:
                if v < 0.0:
                    continue
                count += 1
            return count
        """,
        "[(tf.constant([1.0, -4.0, 2.0]),), (tf.zeros([0]),)]",
        "weak(int)",
    ),
    "return from within": Case(
        """
        def f(values):
            for v in values:
                if v > 1.0:
                    return v
            return tf.constant(0.0)
        """,
        "[(tf.constant([1.0, 4.0]),), (tf.constant([1.0]),), (tf.zeros([0]),)]",
        "tensor(float32)",
    ),
    "return from a loop that counts": Case(
        """
        def f(x):
            i = 0
            while i < 3:
                i += 1
                if x > 5.0:
                    return x
                x = x * 0.5
            else:
                x = x - 1.0
            return x
        """,
        "[(tf.constant(1.0),), (tf.constant(9.0),)]",
        "tensor(float32)",
    ),
    "while True": Case(
        """
        def f(x):
            steps = 0
            while True:
                x = x / 2.0
                steps += 1
                if x < 1.0:
                    break
            return x, steps
        """,
        "[(tf.constant(9.0),), (tf.constant(0.5),)]",
        "tuple(tensor(float32), weak(int))",
    ),
    "Python's own loops": Case(
        """
        def f(x, n):
            total = 0
            for i in range(n):
                total += i
                x = x + float(i)
            for name, factor in (("a", 1.0), ("b", 2)):
                x = x * factor
            for j, value in enumerate([x, x]):
                x = x + value * j
            for a, b in zip([1.0, 2.0], [x, x]):
                x = x + a * b
            return x, total, name, j
        """,
        "[(tf.ones([2]), 2), (tf.ones([2]), 3)]",
        "tuple(tensor(float32, None), int, str, int)",
    ),
    "a range of a tensor": Case(
        """
        def f(n):
            total = 0
            for i in range(n):
                total += i
            return total
        """,
        "[(tf.constant(3),), (tf.constant(0),)]",
        "weak(int)",
    ),
    "tf.range": Case(
        """
        def f(n):
            total = tf.constant(0)
            for i in tf.range(1, n):
                total += i * i
            return total
        """,
        "[(tf.constant(3),), (tf.constant(1),)]",
        "tensor(int32)",
    ),
    "rows, counted and paired": Case(
        """
        def f(x, y):
            total = tf.zeros([2])
            for i, row in enumerate(x):
                total = total + row * i
            for a, b in zip(x, y):
                total = total + a * b
            return total
        """,
        "[(tf.ones([3, 2]), tf.ones([3])), (tf.ones([1, 2]), tf.ones([1]))]",
        "tensor(float32, 2)",
    ),
    "loops inside loops": Case(
        """
        def f(n):
            total = 0
            i = tf.constant(0)
            while i < n:
                for j in tf.range(i):
                    if j > 1:
                        break
                    total += 1
                i += 1
            return total, i
        """,
        "[(tf.constant(3),), (tf.constant(0),), (tf.constant(5),)]",
        "tuple(weak(int), tensor(int32))",
    ),
    "two values that change places": Case(
        """
        def f(n):
            a, b = 0, 1
            for _ in tf.range(n):
                a, b = b, a + b
            return a
        """,
        "[(tf.constant(6),), (tf.constant(0),)]",
        "weak(int)",
    ),
    "tuples are carried": Case(
        """
        def f(values):
            state = (tf.constant(0.0), 0)
            for v in values:
                state = (state[0] + v, state[1] + 1)
            return state
        """,
        "[(tf.constant([1.0, 2.0]),), (tf.zeros([0]),)]",
        "tuple(tensor(float32), weak(int))",
    ),
    "a dict is carried": Case(
        """
        def f(values):
            state = {"sum": tf.constant(0.0), "count": 0}
            for v in values:
                state = {"sum": state["sum"] + v, "count": state["count"] + 1}
            return state["sum"] / state["count"]
        """,
        "[(tf.constant([1.0, 2.0]),), (tf.constant([1.0]),)]",
        "tensor(float32)",
    ),
    "batches of a dataset": Case(
        """
        def f(data):
            total = tf.constant(0)
            for x in data.batch(2):
                total += tf.reduce_sum(x)
            return total
        """,
        "[(tf.data.Dataset.range(5).map(lambda i: tf.cast(i, tf.int32)),)]",
        "tensor(int32)",
    ),
    "pairs of a dataset": Case(
        """
        def f(data):
            total = tf.constant(0.0)
            for step, (x, y) in enumerate(data):
                total += x * tf.cast(y, tf.float32) + tf.cast(step, tf.float32)
            return total
        """,
        "[(tf.data.Dataset.from_tensor_slices((tf.ones([3]), tf.range(3))),)]",
        "tensor(float32)",
    ),
}

CONTAINERS = {
    "tuples, lists and dicts": Case(
        """
        def f(x):
            pair = (x, [x, 1.0])
            first, (second, number) = pair
            table = {"a": first, "b": second * number}
            table["c"] = table["a"] + table["b"]
            keys = list(table)
            return table["c"], len(table), pair[1][0], keys
        """,
        "[(tf.ones([2]),)]",
        "tuple(tensor(float32, 2), int, tensor(float32, 2), list[str])",
    ),
    "a list that grows while tracing": Case(
        """
        def f(x):
            found = []
            for i in range(3):
                found.append(x * i)
            found.append(x)
            return tf.stack(found), len(found)
        """,
        "[(tf.ones([2]),)]",
        "tuple(tensor(float32, None, 2), int)",
    ),
    "items and slices of lists": Case(
        """
        def f(x):
            parts = [x, x * 2.0, x * 3.0]
            parts[1] = tf.concat([x, x], 0)
            return parts[-1], parts[1], parts[:2]
        """,
        "[(tf.ones([2]),)]",
        "tuple(tensor(float32, 2), tensor(float32, 4),"
        " list(tensor(float32, 2), tensor(float32, 4)))",
    ),
    "comprehensions while tracing": Case(
        """
        def f(x):
            powers = [x ** i for i in range(4)]
            scaled = [p * w for p, w in zip([x, x], (1.0, 2.0))]
            return tf.add_n(powers), tf.add_n(scaled)
        """,
        "[(tf.ones([2]),)]",
        "tuple(tensor(float32, 2), tensor(float32, 2))",
    ),
    "starred arguments": Case(
        """
        def add(a, b, c=1.0):
            return a + b + c

        def f(x):
            pair = (x, x)
            options = {"c": 2.0}
            return add(*pair, **options)
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, None)",
    ),
    "nested results are unpacked": Case(
        """
        def f(x):
            values, indices = tf.math.top_k(x, 2)
            (mean, variance), n = tf.nn.moments(x, [0]), 2
            rows, columns = tf.unstack(tf.shape(tf.reshape(x, [1, -1])))
            return values, indices, mean, variance, rows
        """,
        "[(tf.ones([4]),)]",
        "tuple(tensor(float32, 2), tensor(int32, 2), tensor(float32), tensor(float32),"
        " tensor(int32))",
    ),
}

FUNCTIONS = {
    "calls, with defaults and keywords": Case(
        """
        def scale(x, by=2.0, *, shift=0.0):
            return x * by + shift

        def f(x):
            return scale(x), scale(x, 3.0), scale(x, shift=x)
        """,
        "[(tf.ones([2]),)]",
        "tuple(tensor(float32, None), tensor(float32, None), tensor(float32, None))",
    ),
    "a helper that other kinds call": Case(
        """
        def double(x):
            return x + x

        def f(x):
            return double(x), double(tf.ones([3])), double(1)
        """,
        "[(tf.ones([2]),)]",
        "tuple(int | tensor(float32, None), int | tensor(float32, None),"
        " int | tensor(float32, None))",
    ),
    "a helper that branches": Case(
        """
        def clip(x, top):
            if x > top:
                return top
            return x

        def f(x):
            return clip(x, 1.0) + clip(x, x)
        """,
        "[(tf.constant(2.0),), (tf.constant(0.0),)]",
        "tensor(float32)",
    ),
    "lambdas": Case(
        """
        def f(x):
            double = lambda v: v * 2.0
            power = lambda v, n: v ** n
            return double(x) + power(x, 2), double(tf.ones([3]))
        """,
        "[(tf.ones([2]),)]",
        "tuple(tensor(float32, 2), tensor(float32, 3))",
    ),
    "a function inside": Case(
        """
        def f(x):
            shift = tf.reduce_mean(x)

            def centred(v):
                return v - shift

            return centred(x) * 2.0
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, 2)",
    ),
    "globals": Case(
        """
        import math

        RATE = 0.5
        TABLE = {"a": 1, "b": 2}
        WEIGHTS = tf.constant([1.0, 2.0])

        def f(x):
            return x * RATE + WEIGHTS * TABLE["b"] + math.pi
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, 2)",
    ),
    "functions are passed": Case(
        """
        def apply(function, x):
            return function(x)

        def f(x):
            return apply(tf.nn.relu, x)
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, None)",
    ),
    "methods and attributes": Case(
        """
        class Layer(tf.Module):
            rate = 0.5

            def __init__(self, size, name=None):
                super().__init__(name=name)
                self.w = tf.Variable(tf.ones([size, 2]))
                self.b = tf.Variable(tf.zeros([2]))
                self.size = size
                self.activation = tf.nn.relu

            @property
            def both(self):
                return self.w, self.b

            def linear(self, x):
                w, b = self.both
                return x @ w + b

            def __call__(self, x):
                return self.activation(self.linear(x)) * self.rate

        def f(layer, x):
            return layer(x)
        """,
        "[(Layer(3), tf.ones([1, 3])), (Layer(3), tf.ones([2, 3]))]",
        "tensor(float32, None, 2)",
    ),
    "methods of a base class": Case(
        """
        class Base:
            def shift(self, x):
                return x + self.amount()

            def amount(self):
                return 1.0

        class Child(Base):
            def amount(self):
                return super().amount() * 2

        def f(child, x):
            return child.shift(x)
        """,
        "[(Child(), tf.ones([2]))]",
        "tensor(float32, None)",
    ),
    "a small object made inside": Case(
        """
        class Point:
            def __init__(self, x, y):
                self.x = x
                self.y = y

            def norm(self):
                return tf.sqrt(self.x ** 2 + self.y ** 2)

        def f(x):
            point = Point(x, x * 2.0)
            return point.norm() + point.x
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, None)",
    ),
    "static and class methods": Case(
        """
        class Tools:
            factor = 3

            @staticmethod
            def half(x):
                return x * 0.5

            @classmethod
            def times(cls, x):
                return x * cls.factor

        def f(x):
            return Tools.half(x) + Tools.times(x)
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, None)",
    ),
    "a function that already is a graph": Case(
        """
        @tf.function
        def double(x):
            return x * 2.0

        def f(x):
            return double(x) + 1.0
        """,
        "[(tf.ones([2]),)]",
        "tensor(float32, None)",
    ),
}

OBJECTS = {
    "a tape": Case(
        """
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            slope = tape.gradient(y, x)
            return y, slope
        """,
        "[(tf.constant([1.0, 2.0]),)]",
        "tuple(tensor(float32, 2), tensor(float32, 2))",
    ),
    "gradients of Variables": Case(
        """
        w = tf.Variable([1.0, 2.0])
        b = tf.Variable(0.5)

        def f(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((x * w + b) ** 2)
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)
            return loss, dw, db
        """,
        "[(tf.ones([2]),), (tf.zeros([2]),)]",
        "tuple(tensor(float32), tensor(float32, 2), tensor(float32))",
    ),
    "Variables are read and written": Case(
        """
        counter = tf.Variable(0)

        def f(x):
            counter.assign_add(1)
            if counter > 1:
                x = x * 2.0
            value = counter.read_value()
            return x, value, counter + 1
        """,
        "[(tf.ones([2]),), (tf.zeros([2]),)]",
        "tuple(tensor(float32, 2), tensor(int32), tensor(int32))",
    ),
    "a Variable or a tensor": Case(
        """
        v = tf.Variable(1.0)

        def f(x):
            y = v if x > 0.0 else x
            return y * 2.0
        """,
        "[(tf.constant(1.0),), (tf.constant(-1.0),)]",
        "tensor(float32)",
    ),
    "a TensorArray": Case(
        """
        def f(x):
            n = tf.shape(x)[0]
            array = tf.TensorArray(tf.float32, size=n, element_shape=[2])
            for i in tf.range(n):
                array = array.write(i, x[i] * 2.0)
            first = array.read(0)
            return array.stack(), first, array.size()
        """,
        "[(tf.ones([3, 2]),), (tf.ones([1, 2]),)]",
        "tuple(tensor(float32, None, 2), tensor(float32, 2), tensor(int32))",
    ),
    "hosts": Case(
        """
        def f(x):
            n = int(tf.reduce_sum(x))
            y = float(x[0])
            return x * y, n, bool(x[0] > 0.0), n + 1
        """,
        "[(tf.constant([1.0, 2.0]),), (tf.constant([-1.5, 2.0]),)]",
        "tuple(tensor(float32, 2), weak(int), weak(bool), weak(int))",
    ),
    "random numbers are refused": Case(
        """
        def f(x):
            return x + tf.random.uniform([2])
        """,
        "[(tf.zeros([2]),)]",
        "tensor(float32, 2)",
        problem="another stream",
    ),
}

CASES = {
    **ARITHMETIC,
    **BRANCHES,
    **LOOPS,
    **CONTAINERS,
    **FUNCTIONS,
    **OBJECTS,
}


@pytest.mark.parametrize("name", CASES)
def test_facts_hold(name: str) -> None:
    case = CASES[name]
    found = interpret(case.program)
    assert complaints(case.program, found) == []
    if case.problem:
        assert any(case.problem in reason for reason in found.problems)
    else:
        assert found.problems == []
    assert str(found.facts[case.entry].result) == case.gives


@pytest.mark.parametrize("number", range(40))
def test_facts_of_random_programs_hold(number: int) -> None:
    written = Writer(random.Random(f"facts {number}")).program()
    program = Program(written.text, written.calls, raises=(ValueError, AssertionError))
    assert complaints(program, interpret(program)) == []
