"""What a profile says of functions of plain Python."""

import sys

import pytest

PROGRAM = '''
import random
import settings
from settings import STEPS

CALLS = []
RATE = 1
FIXED = (1, "a")


def classify(x, *rest, flag=False, **options):
    """Tests and early returns."""
    if not x and flag or len(rest) > 1:
        return "some"
    return 1 if x > 2 else None


def walk(n):
    total = 0
    for i, (a, b) in enumerate([(1, 2.0)] * n):
        if i == 2:
            continue
        total += a * b
        last = i
    while n > 0:
        n -= 1
    return total


def search(rows):
    for row in rows:
        for item in row:
            if item == 3:
                return item
    return None


def squares(n):
    return {k: k * RATE for k in range(n) if k % 2}, [y := n], (lambda: n)()


def count():
    global RATE
    RATE = RATE + 0.5
    CALLS.append(RATE)
    return STEPS + settings.STEPS + FIXED[0]


def outer(n):
    def inner(x):
        nonlocal n
        n += x
        return helper(n)

    def helper(y):
        return y

    return inner(1) + inner(2)


class Counter:
    limit = 10

    def __init__(self, start):
        self.value = start
        self.inner = self
        self.__private = 1

    def step(self, by=1):
        self.value += by
        self.inner.last = [self.value]
        if self.value > self.limit:
            raise OverflowError(self.value)
        return self

    @property
    def double(self):
        return self.value * 2

    @double.setter
    def double(self, value):
        self.value = value // 2

    @classmethod
    def make(cls):
        return cls(0)

    @staticmethod
    def twice(x):
        return 2 * x


def generate(n):
    for k in range(n):
        sent = yield k
    return n


async def later(x):
    y = x
    return y


def draw():
    return random.random()


def draw_below():
    return draw()


def match(value):
    match value:
        case {"a": first, **others}:
            return first
        case [x, *tail] if tail:
            return x
        case str() as text:
            return text


def unpack():
    (a, *b), c = d = [1, 2, 3], None
    with open(__file__) as file:
        e: int = file.fileno()
    del a
    return b, c, e and 0


def uncalled():
    return 1


def main():
    classify(0, flag=True), classify(3), classify(1, 2, 3, key=4)
    walk(4), walk(0), search([[1], [2, 3]]), squares(4)
    count(), count()
    outer(1), outer(5)
    counter = Counter.make()
    counter.step().step(2)
    counter.double = counter.double + Counter.twice(3)
    try:
        counter.step(100)
    except OverflowError as error:
        pass
    list(generate(3))
    try:
        later(1).send(None)
    except StopIteration:
        pass
    draw_below()
    match({"a": 1, "b": 2}), match([1, 2]), match("t")
    unpack()


if __name__ == "__main__":
    main()
'''


@pytest.fixture(scope="module")
def functions(shared):
    shared.write("settings.py", "STEPS = 3\n\n\ndef unused():\n    pass\n")
    shared.write("program.py", PROGRAM)
    done = shared.record(sys.executable, "program.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {
        key.removeprefix("program.py::"): entry
        for key, entry in shared.functions.items()
    }


def test_functions_that_were_called_have_an_entry(functions):
    assert "uncalled" not in functions and "settings.py::unused" not in functions
    assert {"outer.<locals>.inner", "Counter.__init__", "Counter.make"} <= set(
        functions
    )


def test_parameters_returns_and_calls(functions):
    entry = functions["classify"]
    assert entry["calls"] == 3
    assert entry["parameters"] == {
        "x": "int",
        "rest": "tuple[int]",
        "flag": "bool",
        "options": "dict[str, int]",
    }
    assert entry["returns"] == "int | str"
    assert functions["Counter.step"]["parameters"]["self"] == "object(program.Counter)"
    assert functions["Counter.make"]["parameters"]["cls"] == "type(program.Counter)"
    assert functions["main"]["returns"] == "None"


def test_leaves_of_tests_are_counted_one_by_one(functions):
    tests = functions["classify"]["tests"]
    assert tests["2:11"] == {"kind": "int", "true": 2, "false": 1}  # x
    assert tests["2:17"] == {"kind": "bool", "true": 1, "false": 0}  # flag
    assert tests["2:25"] == {"kind": "bool", "true": 1, "false": 1}  # len(rest) > 1
    assert tests["4:16"] == {"kind": "bool", "true": 1, "false": 0}  # x > 2


def test_loops(functions):
    loops = functions["walk"]["loops"]
    assert loops["2:4"] == {
        "iterable": "object(builtins.enumerate)",
        "trips": [0, 4],
        "names": {"total": ["int", "float"]},
    }
    assert loops["7:4"] == {"trips": [0, 4], "names": {"n": ["int", "int"]}}
    assert functions["walk"]["tests"]["7:10"] == {
        "kind": "bool",
        "true": 4,
        "false": 2,
    }
    assert functions["search"]["loops"]["1:4"]["trips"] == [2, 2]
    assert functions["search"]["loops"]["2:8"]["trips"] == [1, 2]


def test_names_at_their_assignments(functions):
    names = functions["walk"]["names"]
    assert names["1:4:total"] == "int"
    assert names["5:8:total"] == "float"
    assert (names["2:8:i"], names["2:12:a"], names["2:15:b"]) == ("int", "int", "float")
    assert functions["unpack"]["names"] == {
        "1:5:a": "int",
        "1:9:b": "list(int, int)",
        "1:13:c": "None",
        "1:17:d": "tuple(list(int, int, int), None)",
        "2:27:file": "object(_io.TextIOWrapper)",
        "3:8:e": "int",
    }
    assert set(functions["match"]["names"]) == {
        "2:19:first",
        "2:13:others",
        "4:14:x",
        "4:17:tail",
        "6:13:text",
    }


def test_comprehensions(functions):
    entry = functions["squares"]
    assert entry["names"] == {"1:28:k": "int", "1:54:y": "int"}
    assert entry["tests"] == {"1:45": {"kind": "int", "true": 2, "false": 2}}
    assert entry["returns"] == "tuple(dict[int, int], list(int), int)"


def test_globals_and_what_changed(functions):
    entry = functions["count"]
    assert entry["globals"] == {
        "RATE": "float | int",
        "CALLS": "list[float]",
        "STEPS": "int",
        "FIXED": "tuple(int, str)",
    }
    assert entry["changed"] == ["CALLS", "RATE"]
    assert functions["main"]["globals"]["walk"] == "function(program.walk)"
    assert functions["main"]["globals"]["Counter"] == "type(program.Counter)"


def test_closures(functions):
    entry = functions["outer.<locals>.inner"]
    assert entry["closure"] == {
        "n": "int",
        "helper": "function(program.outer.helper)",
    }
    assert "n" in entry["changed"]
    assert entry["callers"] == ["program.py::outer"]


def test_attributes_read_and_written(functions):
    assert functions["Counter.__init__"]["attributes"] == {
        "self.value": "int",
        "self.inner": "object(program.Counter)",
    }
    entry = functions["Counter.step"]
    assert entry["attributes"] == {
        "self.value": "int",
        "self.limit": "int",
        "self.inner": "object(program.Counter)",
        "self.inner.last": "list(int)",
    }
    assert entry["changed"] == ["self.inner.last", "self.value"]


def test_exceptions_that_leave(functions):
    assert functions["Counter.step"]["raises"] == ["OverflowError"]
    assert functions["Counter.step"]["returns"] == "object(program.Counter)"
    assert "raises" not in functions["main"]


def test_generators_and_coroutines(functions):
    assert functions["generate"]["returns"] == "generator"
    assert functions["generate"]["names"] == {"1:8:k": "int", "2:8:sent": "None"}
    assert functions["later"]["names"] == {"1:4:y": "int"}
    assert functions["later"]["parameters"] == {"x": "int"}


def test_random_draws_count_for_callers(functions):
    assert functions["draw"]["random"] == ["random"]
    assert functions["draw_below"]["random"] == ["random"]
    assert functions["main"]["random"] == ["random"]
    assert "random" not in functions["count"]


def test_callers(functions):
    assert functions["main"]["callers"] == ["program.py::<module>"]
    assert functions["Counter.__init__"]["callers"] == ["program.py::Counter.make"]


def test_the_first_of_two_functions_of_one_name_is_kept(functions):
    assert functions["Counter.double"]["parameters"] == {
        "self": "object(program.Counter)"
    }


def test_a_function_called_often_is_only_counted(project):
    project.write(
        "often.py",
        """
        def f(x):
            for k in range(2):
                if x == 4999:
                    x = str(x)
            return x

        for x in range(5000):
            f(x)
        """,
    )
    assert project.record(sys.executable, "often.py").returncode == 0
    entry = project.functions["often.py::f"]
    assert entry["calls"] == 5000
    assert entry["returns"] == "int"
    assert entry["tests"]["2:11"]["false"] < 5000


def test_a_module_that_is_loaded_twice_has_one_entry(project):
    project.write(
        "twice.py",
        """
        import sys

        def f(x):
            return x

        f(__name__)
        if __name__ == "__main__":
            import twice
            twice.f(1)
        """,
    )
    assert project.record(sys.executable, "twice.py").returncode == 0
    entry = project.functions["twice.py::f"]
    assert (entry["calls"], entry["parameters"]) == (3, {"x": "int | str"})
