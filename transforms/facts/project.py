"""The modules of a project: which of them import each other, and what each does to the others."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from .definitions import INITIALIZERS
from .library_settings import changed_settings
from .modules import ModuleFacts, Uses
from .profile import FunctionNode, Profile
from .replicas import AGGREGATION
from .syntax import ANY, bound_names, changed_object, root_name, stored_attributes

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>\.*[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]*)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)
CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)
WORD = re.compile(r"[^\W\d]\w*")
OTHERS = frozenset({"tensorflow", "keras", "numpy", "typing", "__future__"})
SOURCE_FOLDERS = ("", "src/")
TAPE = "GradientTape"
POLICIES = frozenset(
    ["set_dtype_policy", "set_global_policy", "set_floatx", "mixed_precision"]
)
"""Words of programs that set how layers compute."""
ASKS = POLICIES | frozenset(
    [
        *("save", "save_weights", "load_weights", "export", "summary"),
        *("built", "count_params", "get_weights", "set_weights"),
    ]
)
"""Those, and words of programs that ask whether layers are built."""
RUNS = frozenset(
    [
        *("fit", "evaluate", "predict", "function", "map"),
        *("train_on_batch", "test_on_batch", "predict_on_batch"),
        *("Sequential", "Input", "RNN", "Bidirectional", "TimeDistributed"),
        *("save", "export", "summary", "count_params"),
    ]
)
"""Words of programs that have Keras, or TensorFlow, call layers and models in graphs."""
NEST = "nest"
REDIRECTION = "redirect_stdout"
TELLING = ASKS | RUNS | {TAPE, NEST, AGGREGATION, REDIRECTION}
"""Words that tell something of a program, wherever they stand in it."""


class _Tally:
    """How many of some modules use each name, and how many have each word."""

    def __init__(self, modules: Iterable[tuple[Uses, set[str]]]) -> None:
        self.words: Counter[str] = Counter()
        self.rebound: Counter[str] = Counter()
        self.stored: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.settings: Counter[str] = Counter()
        self.methods: Counter[str] = Counter()
        self.overrides: Counter[str] = Counter()
        self.replicated: Counter[str] = Counter()
        self.inside_replicated: Counter[str] = Counter()
        for uses, words in modules:
            self.words.update(words)
            self.rebound.update(uses.rebound)
            self.stored.update(uses.stored)
            self.changed.update(uses.changed)
            self.settings.update(uses.settings)
            self.methods.update(uses.methods)
            self.overrides.update(uses.overrides)
            self.replicated.update(uses.replicated)
            self.inside_replicated.update(uses.inside_replicated)

    def without(self, own: Uses, words: set[str]) -> Uses:
        """Which of these words are used by the modules other than the one whose uses are `own`, and all the settings."""

        def rest(tally: Counter[str], names: frozenset[str]) -> frozenset[str]:
            return frozenset(w for w in words if tally[w] > (w in names))

        return Uses(
            rest(self.rebound, own.rebound),
            rest(self.stored, own.stored),
            rest(self.changed, own.changed),
            frozenset(self.settings - Counter(own.settings)),
            rest(self.methods, own.methods),
            rest(self.overrides, own.overrides),
            rest(self.replicated, own.replicated),
            rest(self.inside_replicated, own.inside_replicated),
        )


class ProjectModules:
    """The modules of a project, by the paths of their files.

    Args:
        paths: of all its files, as the profile names them.
        read: gives the text of a file. OSError or ValueError where it cannot.
        profile: tells by what names they are imported.
        rewritten: the paths of the files that are lifted in this run.
        uses: gives the uses in a text.
    """

    def __init__(
        self,
        paths: Iterable[str],
        read: Callable[[str], str],
        profile: Profile | None = None,
        rewritten: frozenset[str] = frozenset(),
        uses: Callable[[str], Uses] | None = None,
    ) -> None:
        self.profile = profile
        self.rewritten = rewritten
        self._read = read
        self._texts: dict[str, str] = {}
        self._trees: dict[str, ast.Module] = {}
        self._uses_in = uses or attribute_uses
        self._uses: dict[str, Uses] = {}
        self._word_sets: dict[str, set[str]] = {}
        self._tallies: dict[str, _Tally | None] = {}
        self._paths: dict[str, list[str]] = {}
        for path in paths:
            self._paths.setdefault(_dotted(path).rpartition(".")[2], []).append(path)
        named = profile.modules.items() if profile else ()
        self._by_name = {name: path for path, name in named}

    def text(self, path: str) -> str:
        """The text of a module, empty where it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = self._read(path)
            except (OSError, ValueError):
                self._texts[path] = ""
        return self._texts[path]

    def tree(self, path: str) -> ast.Module:
        """The parse of a module, empty where it is no Python."""
        if path not in self._trees:
            self._trees[path] = _parsed(self.text(path)) or ast.Module([], [])
        return self._trees[path]

    def name(self, path: str) -> str:
        """The dotted name of a module, as kinds have it."""
        known = self.profile.modules if self.profile else {}
        return known.get(path) or _beside(path, known) or _identifier(path)

    # ---- what an import means

    def resolve(self, importer: str, dotted: str) -> tuple[str, str] | None:
        """The path of the module that a dotted name of an import starts with, and the rest of the name.

        A name without dots is none of the importer itself: `random.py` imports Python's `random`.
        """
        relative = dotted.startswith(".")
        parts = _absolute(dotted, importer).split(".")
        if parts[0] in OTHERS:
            return None
        for count in range(len(parts), 0, -1):
            path = self._module(importer, ".".join(parts[:count]), relative)
            if path is not None and (path != importer or count > 1):
                return path, ".".join(parts[count:])
        return None

    def _module(self, importer: str, dotted: str, relative: bool) -> str | None:
        if dotted in self._by_name and not relative:
            return self._by_name[dotted]
        folders = {p: _dotted(p).removesuffix(dotted) for p in self._candidates(dotted)}
        reached = [
            path
            for path, folder in folders.items()
            if not folder or (not relative and _is_reached(importer, folder))
        ]
        return reached[0] if len(reached) == 1 else None

    def _candidates(self, dotted: str) -> list[str]:
        return [
            path
            for path in self._paths.get(dotted.rpartition(".")[2], ())
            if f".{_dotted(path)}".endswith(f".{dotted}")
        ]

    # ---- what others do

    def elsewhere(self, path: str) -> Uses:
        """How other modules use this one's words: those that imports connect it with, so that they may share a program."""
        tally = self._tally(path)
        return tally.without(self.uses(path), self._words(path)) if tally else Uses()

    def mentioned(self, path: str) -> frozenset[str]:
        """Which of TELLING stand in a module, or in one that may share a program with it."""
        tally = self._tally(path)
        return TELLING & (tally.words.keys() if tally else self._words(path))

    def named_elsewhere(self, path: str) -> frozenset[str]:
        """The classes of a module that other modules of its program mention, so that they may extend them."""
        tally = self._tally(path)
        classes = CLASS.findall(self.text(path)) if tally else ()
        return frozenset(n for n in classes if tally and tally.words[n] > 1)

    def _tally(self, path: str) -> _Tally | None:
        """What the modules of a program use; None where it has one alone."""
        if path not in self._tallies:
            component = self._component(path)
            modules = ((self.uses(p), self._words(p)) for p in component)
            tally = _Tally(modules) if len(component) > 1 else None
            self._tallies |= dict.fromkeys(component, tally)
        return self._tallies[path]

    def _words(self, path: str) -> set[str]:
        if path not in self._word_sets:
            self._word_sets[path] = set(WORD.findall(self.text(path)))
        return self._word_sets[path]

    def uses(self, path: str) -> Uses:
        """The attribute names in a module."""
        if path not in self._uses:
            self._uses[path] = self._uses_in(self.text(path))
        return self._uses[path]

    def digest(self, path: str) -> str:
        """Changes with all that other modules have to say of this one, and with which of them are lifted."""
        found = hashlib.sha256(repr(sorted(self.mentioned(path))).encode())
        for module in (path, *sorted(self._imported_by(path))):
            uses, named = self.elsewhere(module), self.named_elsewhere(module)
            lifted = module != path and module in self.rewritten
            said = (module, lifted, _in_order(uses), sorted(named))
            found.update(repr(said).encode("utf-8", "surrogatepass"))
            if module != path:
                found.update(self.text(module).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def _imported_by(self, path: str) -> set[str]:
        """The modules that importing this one loads."""
        return _reached(self._imports, path)

    def _component(self, path: str) -> set[str]:
        return {path, *_reached(self._connected, path)}

    @cached_property
    def _imports(self) -> Mapping[str, set[str]]:
        """The modules that each one may import."""
        paths = [path for paths in self._paths.values() for path in paths]
        return {
            path: {
                other
                for dotted in imported(self.text(path), path)
                for other in self._candidates(dotted)
            }
            for path in paths
        }

    @cached_property
    def _connected(self) -> Mapping[str, set[str]]:
        """The modules that each one imports or is imported by."""
        found: dict[str, set[str]] = {}
        for path, others in self._imports.items():
            for other in others:
                found.setdefault(path, set()).add(other)
                found.setdefault(other, set()).add(path)
        return found


def _in_order(uses: Uses) -> list[list[str]]:
    return [sorted(names) for names in vars(uses).values()]


def imported(text: str, path: str) -> Iterator[str]:
    """The dotted names that a module's text imports; relative ones from the root that `path` starts from."""
    for match in IMPORT.finditer(text):
        if match["modules"] is not None:
            for part in match["modules"].split(","):
                name = part.partition(" as ")[0].strip()
                if name.partition(".")[0] not in OTHERS:
                    yield name
            continue
        module = _absolute(match["module"], path)
        if module.partition(".")[0] in OTHERS:
            continue
        yield module
        for part in match["names"].strip("()\n").split(","):
            yield f"{module}.{part.partition(' as ')[0].strip()}"


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _absolute(module: str, path: str) -> str:
    name = module.lstrip(".")
    level = len(module) - len(name)
    if not level:
        return name
    folders = path.split("/")[:-level]
    return ".".join([*folders, name] if name else folders)


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _beside(path: str, known: Mapping[str, str]) -> str | None:
    """The name of a module by those of the modules known in its folder, or in one around it; None where that tells none."""
    roots = {
        other.rpartition("/")[0]: _dotted(other).removesuffix(name)
        for other, name in known.items()
        if _dotted(other).endswith(name)
    }
    folder = path.rpartition("/")[0]
    while folder and folder not in roots:
        folder = folder.rpartition("/")[0]
    return _dotted(path).removeprefix(roots[folder]) if folder else None


def _identifier(path: str) -> str:
    stem = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
    return re.sub(r"^(?=\d)|\W", "_", stem)


def _is_reached(importer: str, folder: str) -> bool:
    """Whether what lies in a folder (dotted) is imported by its name alone."""
    folder = folder.replace(".", "/")
    return folder in SOURCE_FOLDERS or importer.startswith(folder)


def attribute_uses(text: str) -> Uses:
    """The attribute names in a text, but those that a class uses of `self` and no other module's class shares."""
    tree = _parsed(text)
    if tree is None:
        return Uses()
    own, initial = _own_attributes(tree)
    methods, overrides = _methods(tree)
    module = ModuleFacts(tree, "")
    imports = module.imports
    rebound: set[str] = set()
    stored: set[str] = set()
    changed: set[str] = set()
    for node in ast.walk(tree):
        target = changed_object(node)
        if isinstance(target, ast.Attribute) and target not in own:
            changed.add(target.attr)
        elif isinstance(target, ast.Name) and target.id in imports:
            changed.add(imports[target.id].rpartition(".")[2])
        match node:
            case ast.Attribute():
                if node not in own and node not in initial:
                    names = stored_attributes(node) - {ANY}
                    stored |= names
                    if root_name(node) in imports:
                        rebound |= names
            case ast.Call():
                names = stored_attributes(node) - {ANY}
                stored |= names
                rebound |= names
    settings = {f"{of} {text}" for of, text in changed_settings(module).items()}
    used = (rebound, stored, changed, settings, methods, overrides, *module.replicated)
    return Uses(*map(frozenset, used))


def _own_attributes(tree: ast.Module) -> tuple[set[ast.AST], set[ast.AST]]:
    """The attributes of `self` in classes that extend no other module's, and those in other classes' initializers."""
    own: set[ast.AST] = set()
    initial: set[ast.AST] = set()
    for made, extends in _classes(tree):
        for method in made.body:
            if not isinstance(method, FunctionNode):
                continue
            if not extends:
                own |= set(_attributes_of_self(method))
            elif method.name in INITIALIZERS:
                initial |= set(_attributes_of_self(method))
    return own, initial


def _methods(tree: ast.Module) -> tuple[set[str], set[str]]:
    """What classes have methods, or values, of, and those of the classes that may extend one of another module."""
    methods: set[str] = set()
    overrides: set[str] = set()
    for made, extends in _classes(tree):
        names = {name for node in made.body for name in bound_names(node)}
        methods |= names
        overrides |= names if extends else set()
    return methods, overrides


def _classes(tree: ast.Module) -> Iterator[tuple[ast.ClassDef, bool]]:
    """The classes of a module, and whether each may extend one of another module of the project."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = {node.name: [ast.unparse(b) for b in node.bases] for node in classes}
    outside = {"object", *_names_from_others(tree)}
    for made in classes:
        yield made, _extends(made.name, bases, outside)


def _attributes_of_self(method: FunctionNode) -> Iterator[ast.AST]:
    first = [*method.args.posonlyargs, *method.args.args][:1]
    for node in ast.walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name in {
                a.arg for a in first
            }:
                yield node


def _names_from_others(tree: ast.Module) -> Iterator[str]:
    """The names that imports from packages outside the project bind."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in OTHERS:
                    yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module.partition(".")[0] in OTHERS:
                yield from (alias.asname or alias.name for alias in node.names)


def _extends(name: str, bases: Mapping[str, list[str]], outside: set[str]) -> bool:
    """Whether a class may extend one of another module of the project."""
    seen: set[str] = set()
    queue = [name]
    while queue:
        current = queue.pop()
        if current in seen or current.partition(".")[0] in outside:
            continue
        seen.add(current)
        if current not in bases:
            return True
        queue += bases[current]
    return False


def _reached(links: Mapping[str, set[str]], start: str) -> set[str]:
    """Where links lead from somewhere, one after the other."""
    found: set[str] = set()
    queue = [start]
    while queue:
        new = links.get(queue.pop(), set()) - found
        found |= new
        queue += new
    return found
