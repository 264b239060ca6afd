"""GL204, GL301, GL302, GL303: Python state that a function reads and writes.

The rules; `split` does the work.
"""

from __future__ import annotations

from .rule import LEAK, Rule


class OuterMutation(Rule):
    """A list, dict or object of the caller or the module is changed.

    What it finds:
        `append`, item assignment and the like on what was not made in the function.

    Why it matters:
        In a graph the change happens once, while tracing, and leaves a symbolic tensor behind.

    Before:
        import tensorflow as tf

        LOSSES = []

        def f(x: tf.Tensor):
            loss = tf.reduce_sum(x * x)
            LOSSES.append(float(loss))
            return loss

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 1.0]),)]

    After:
        import tensorflow as tf

        LOSSES = []

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([2], tf.float32)])
        def f_graph(x):
            return tf.reduce_sum(x * x)


        def f(x: tf.Tensor):
            loss = f_graph(x)
            LOSSES.append(float(loss))
            return loss

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 1.0]),)]

    When it is left alone:
        A change that stands between tensor work which reads what it changes.
    """

    code = "GL204"
    name = "outer-mutation"
    errors = (r"should not modify its Python input arguments",)


class GlobalWrite(Rule):
    """A module's global is written.

    What it finds:
        `global` names that a function sets.

    Why it matters:
        In a graph the write happens once, while tracing; a counter stands still, and no error says so.

    Before:
        import tensorflow as tf

        CALLS = 0

        def f(x: tf.Tensor):
            global CALLS
            CALLS += 1
            return x * CALLS

        ARGS = [(tf.constant(2.0),), (tf.constant(3.0),), (tf.constant(4.0),)]

    After:
        import tensorflow as tf

        CALLS = 0

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int64)],
        )
        def f_graph(x, calls):
            return x * tf.cast(calls, x.dtype)


        def f(x: tf.Tensor):
            global CALLS
            CALLS += 1
            return f_graph(x, CALLS)

        ARGS = [(tf.constant(2.0),), (tf.constant(3.0),), (tf.constant(4.0),)]

    When it is left alone:
        Values that no tensor holds, writes in a `try`, helpers that hide a name of their caller, and Variables of which
        a tensor decides whether they change places. Items of dicts and lists are followed where each is named by
        itself, those around a nested function too.
    """

    code = "GL301"
    name = "global-write"


class StaleGlobal(Rule):
    """A global or attribute that changes between calls is read.

    What it finds:
        Reads of globals and attributes that something else in the module, or the recorded run, changes.

    Why it matters:
        A graph keeps the value that it saw while tracing.

    Before:
        import tensorflow as tf

        RATE = 0.5

        def slower():
            global RATE
            RATE = RATE * 0.5

        def f(x: tf.Tensor):
            slower()
            return x * RATE + tf.sin(x)

        ARGS = [(tf.constant(2.0),), (tf.constant(2.0),), (tf.constant(2.0),)]

    After:
        import tensorflow as tf

        RATE = 0.5

        def slower():
            global RATE
            RATE = RATE * 0.5

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float64)],
        )
        def f_graph(x, rate):
            return x * tf.cast(rate, x.dtype) + tf.sin(x)


        def f(x: tf.Tensor):
            slower()
            return f_graph(x, RATE)

        ARGS = [(tf.constant(2.0),), (tf.constant(2.0),), (tf.constant(2.0),)]

    When it is left alone:
        Values that no tensor holds, such as containers that grow, and optimizers of models: of which Variables these are
        is not known before.
    """

    code = "GL302"
    name = "stale-global"


class AttributeWrite(Rule):
    """An attribute of an object is written.

    What it finds:
        `self.step += 1`, `self.state = t` in functions that work on tensors.

    Why it matters:
        In a graph the write happens once, while tracing, and may leave a symbolic tensor on the object.

    Before:
        import tensorflow as tf

        class Smoother:
            def __init__(self):
                self.mean = tf.zeros([2])

            def update(self, x: tf.Tensor):
                self.mean = 0.9 * self.mean + 0.1 * x
                return self.mean

        smoother = Smoother()

        def f(x):
            return smoother.update(x)

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 1.0]),)]

    After:
        import tensorflow as tf

        class Smoother:
            def __init__(self):
                self.mean = tf.zeros([2])

            @staticmethod
            @tf.function(
                autograph=False,
                input_signature=[
                    tf.TensorSpec([None], tf.float32),
                    tf.TensorSpec([None], tf.float32),
                ],
            )
            def update_graph(x, mean):
                return 0.9 * mean + 0.1 * x

            def update(self, x: tf.Tensor):
                mean = self.update_graph(x, self.mean)
                self.mean = mean
                return mean

        smoother = Smoother()

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([2], tf.float32), tf.TensorSpec([2], tf.float32)],
        )
        def f_graph(x, mean):
            return 0.9 * mean + 0.1 * x


        def f(x):
            mean = f_graph(x, smoother.mean)
            smoother.mean = mean
            return mean

        ARGS = [(tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),), (tf.constant([0.0, 1.0]),)]

    When it is left alone:
        Attributes that neither `__init__` nor what it calls sets, numbers in tuples, and methods of objects of which the
        class is not known for sure: passed in, or of a class that others extend.
    """

    code = "GL303"
    name = "attribute-write"
    errors = (LEAK,)
