"""Which modules of a project belong together, and what they do to each other."""

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from graphlift.transforms.facts.environment import FunctionFacts
from graphlift.transforms.facts.modules import ModuleFacts, Uses
from graphlift.transforms.facts.profile import Profile
from graphlift.transforms.facts.project import (
    ProjectModules,
    attribute_uses,
    imported,
)
from graphlift.transforms.facts.session import Session
from graphlift.transforms.source import Source


def project(files: Mapping[str, str], lifted: Iterable[str] = ()) -> ProjectModules:
    def read(path: str) -> str:
        return textwrap.dedent(files[path])

    return ProjectModules(files, read, rewritten=frozenset(lifted))


@pytest.mark.parametrize(
    ("text", "path", "names"),
    [
        ("import a, b.c as d  # e", "m.py", ["a", "b.c"]),
        ("from a.b import c as d, e", "m.py", ["a.b", "a.b.c", "a.b.e"]),
        ("from a import (\n    b,\n    c as d,\n)", "m.py", ["a", "a.b", "a.c"]),
        ("from . import a", "pkg/m.py", ["pkg", "pkg.a"]),
        ("from .a import b", "pkg/m.py", ["pkg.a", "pkg.a.b"]),
        ("from ..a import b", "pkg/sub/m.py", ["pkg.a", "pkg.a.b"]),
        ("import tensorflow as tf\nfrom numpy import ones", "m.py", []),
        ("def f():\n    import a", "m.py", ["a"]),
        ("x = 1  # import a", "m.py", []),
    ],
)
def test_imports(text: str, path: str, names: list[str]) -> None:
    assert [n for n in imported(text, path) if not n.endswith(".")] == names


def found(text: str) -> dict[str, set[str]]:
    uses = attribute_uses(textwrap.dedent(text))
    return {name: set(names) for name, names in vars(uses).items() if names}


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("x.rate = 1", {"stored": {"rate"}}),
        (
            "import m\nm.RATE += 1",
            {"stored": {"RATE"}, "rebound": {"RATE"}, "changed": {"RATE"}},
        ),
        ("from p import m as n\nn.A, y = 1, 2", {"stored": {"A"}, "rebound": {"A"}}),
        ("del x.rate", {"stored": {"rate"}}),
        ("for x.i in y: pass", {"stored": {"i"}}),
        ("x.log.append(1)", {"changed": {"log"}}),
        ("x.table[0] = 1", {"changed": {"table"}}),
        ("from m import LOG as L\nL.append(1)", {"changed": {"LOG"}}),
        ("setattr(x, 'rate', 1)", {"stored": {"rate"}, "rebound": {"rate"}}),
        (
            "def test(monkeypatch):\n    monkeypatch.setattr('m.RATE', 1)",
            {"stored": {"RATE"}, "rebound": {"RATE"}},
        ),
        ("x = y.rate", {}),
        ("class A:\n    def f(self):\n        self.rate = 1", {"methods": {"f"}}),
        (
            "class A:\n    def f(self, x):\n        x.rate = 1",
            {"stored": {"rate"}, "methods": {"f"}},
        ),
        (
            "import tensorflow as tf\nclass A(tf.Module):\n    def f(self): self.rate = 1",
            {"methods": {"f"}},
        ),
        (
            "from m import B\nclass A(B):\n    def f(self): self.rate = 1",
            {"stored": {"rate"}, "methods": {"f"}, "overrides": {"f"}},
        ),
        (
            "from m import B\nclass A(B):\n    def __init__(self): self.rate = 1",
            {"methods": {"__init__"}, "overrides": {"__init__"}},
        ),
        (
            "from m import B\nclass C(B): pass\nclass A(C):\n    def f(self): self.rate = 1",
            {"stored": {"rate"}, "methods": {"f"}, "overrides": {"f"}},
        ),
        ("no python", {}),
    ],
)
def test_uses(text: str, uses: dict[str, set[str]]) -> None:
    assert found(text) == uses


def test_modules_of_one_program_see_each_other() -> None:
    files = {
        "a.py": "rate = 1\nnothing = 2",
        "b.py": "import a\na.rate = 2",
        "main.py": "import a, c",
        "c.py": "def slower(x):\n    x.rate = 3\n    x.other = 1",
        "alone.py": "import tensorflow\nx.nothing = 1",
    }
    modules = project(files)
    assert modules.elsewhere("a.py") == Uses(
        frozenset({"rate"}), frozenset({"rate"}), frozenset()
    )
    assert modules.elsewhere("alone.py") == Uses()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/pkg/model.py", "pkg.model"),
        ("src/pkg/config.py", "pkg.config"),
        ("src/pkg/__init__.py", "pkg"),
        ("src/pkg/nets/blocks.py", "pkg.nets.blocks"),
        ("tools/plot-all.py", "plot_all"),
    ],
)
def test_a_module_in_which_nothing_was_recorded_has_a_name_by_its_folder(
    path: str, name: str
) -> None:
    known = Profile(Path(), {}, {"src/pkg/model.py": "pkg.model", "run.py": "run"})
    assert ProjectModules([], str, known).name(path) == name


def test_one_module_has_a_class_whoever_asks() -> None:
    files = dict.fromkeys(["pkg/__init__.py", "pkg/model.py"], "")
    files["pkg/config.py"] = "class Config:\n    scale = 2.0"
    known = Profile(Path(), {}, {"pkg/model.py": "pkg.model"})
    modules = ProjectModules(files, files.__getitem__, known)
    module = ModuleFacts(modules.tree("pkg/model.py"), "pkg.model")
    session = Session(module, [], "pkg/model.py", known, modules)
    homes = [session.home(name)[0] for name in ("pkg.Config", "pkg.config.Config")]
    assert [h.path for h in homes] == ["pkg/__init__.py", "pkg/config.py"]
    for home in homes:
        assert home.home("pkg.config.Config") == (homes[1], "Config")


def test_a_module_is_not_elsewhere_to_itself() -> None:
    files = {"a.py": "rate = 1\nx.rate = 2", "b.py": "import a"}
    assert project(files).elsewhere("a.py") == Uses()


def test_what_an_import_means() -> None:
    modules = project(
        {
            "pkg/__init__.py": "",
            "pkg/models.py": "",
            "pkg/deep/layers.py": "",
            "src/lib/io.py": "",
            "other/tools.py": "",
        }
    )
    resolve = modules.resolve
    assert resolve("main.py", "pkg.models.Net") == ("pkg/models.py", "Net")
    assert resolve("main.py", "pkg.models") == ("pkg/models.py", "")
    assert resolve("main.py", "pkg.Net") == ("pkg/__init__.py", "Net")
    assert resolve("pkg/train.py", "models.Net") == ("pkg/models.py", "Net")
    assert resolve("pkg/train.py", ".models.Net") == ("pkg/models.py", "Net")
    assert resolve("pkg/deep/layers.py", "..models.Net") == ("pkg/models.py", "Net")
    assert resolve("pkg/train.py", ".numpy.ones") == ("pkg/__init__.py", "numpy.ones")
    assert resolve("main.py", "models.Net") is None
    assert resolve("pkg/models.py", "pkg.models.Net") == ("pkg/models.py", "Net")
    assert resolve("pkg/models.py", "models.Net") is None
    assert resolve("main.py", "lib.io.read") == ("src/lib/io.py", "read")
    assert resolve("main.py", "tools.cut") is None
    assert resolve("main.py", "tensorflow.models") is None


@pytest.mark.parametrize(
    ("text", "whole", "inside"),
    [
        ("strategy.run(step, args=(x,))", {"step"}, set()),
        ("self.s.run(self.step, (x, y))", {"step"}, set()),
        ("strategy.run(lambda: step(x))", set(), {"step"}),
        ("strategy.run(partial(step, 2), args=(x,))", set(), {"step", "partial"}),
        ("strategy.run(a, (x,))\ndef a(x): b(x)\ndef b(x): c()", {"a"}, {"b", "c"}),
        ("app.run(main)\nsubprocess.run(command, check=True)", set(), set()),
    ],
)
def test_what_strategies_run(text: str, whole: set[str], inside: set[str]) -> None:
    found = attribute_uses(text)
    assert found.replicated == whole
    assert found.inside_replicated - {"__call__", "call"} == inside


def test_the_digest_changes_with_what_counts() -> None:
    files = {"a.py": "import b\nrate = 1", "b.py": "k = 1", "c.py": "import a"}
    before = project(files).digest("a.py")
    assert project(files | {"c.py": "import a\nx = 1"}).digest("a.py") == before
    assert project(files | {"c.py": "import a\na.rate = 1"}).digest("a.py") != before
    assert project(files | {"b.py": "k = 2"}).digest("a.py") != before
    assert project(files | {"c.py": "import a, b\nb.k = 1"}).digest("a.py") != before
    taped = {"c.py": "import a\nGradientTape"}
    assert project(files | taped).digest("a.py") != before
    lifted = {name: project(files, {name}).digest("a.py") for name in files}
    assert lifted["b.py"] != lifted["a.py"] == lifted["c.py"] == before


def test_a_module_that_cannot_be_read_says_nothing() -> None:
    def read(path: str) -> str:
        raise OSError(path)

    assert ProjectModules(["a.py", "b.py"], read).elsewhere("a.py") == Uses()


def analysed(files: Mapping[str, str], path: str = "main.py") -> FunctionFacts:
    """The facts of `f` in one of the modules."""
    modules = project(files)
    source = Source(modules.text(path), modules.tree(path))
    module = ModuleFacts(source.tree, modules.name(path), modules.elsewhere(path))
    session = Session(module, source.lines, path, None, modules)
    return session.analyse()["f"]


MODELS = """
    import tensorflow as tf

    RATE = 0.5

    class Net:
        def __init__(self):
            self.scale = 2.0

        def __call__(self, x):
            return x * self.scale

    def act(x):
        if x > 0.0:
            return x
        return -x
"""
MAIN = """
    import tensorflow as tf
    import models
    from models import Net, act

    net = Net()

    def f(x: tf.Tensor):
        x = tf.cast(x, tf.float32)
        return net(act(x)) * models.RATE
"""


def test_calls_reach_other_modules() -> None:
    facts = analysed({"main.py": MAIN, "models.py": MODELS})
    assert not facts.problems
    assert str(facts.result) == "tensor(float32, ...)"
    reached = {call.qualname for call in facts.foreign.values()}
    assert reached == {"Net.__call__", "act"}
    assert not facts.calls


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("import models\nmodels.RATE = 0.1", "`models.RATE` may change"),
        ("import main\nmain.net.scale = 1.0", "`self.scale` may change"),
        (
            "import main\ndef test(monkeypatch): monkeypatch.setattr(main, 'act', abs)",
            "the global `act` may change",
        ),
        ("import main\nmain.net = None", "the global `net` may change"),
    ],
)
def test_what_other_modules_change_is_no_constant(other: str, reason: str) -> None:
    files = {"main.py": MAIN, "models.py": MODELS, "other.py": other}
    facts = analysed(files)
    assert any(reason in p.reason and p.code == "GL302" for p in facts.problems)
