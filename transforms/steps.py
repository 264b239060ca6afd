"""The plan's own form of lifted code: what each statement of the new body is made from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .facts.liveness import reads
from .facts.profile import FunctionNode
from .facts.syntax import blocks, bound_names
from .source import Source


@dataclass(frozen=True)
class Keep:
    """An original statement as it stands, with its comments."""

    node: ast.stmt


@dataclass(frozen=True)
class Code:
    """A new simple statement; the comments before and after `origin` stay with it."""

    text: str
    origin: ast.stmt | None = None


@dataclass(frozen=True)
class Define:
    """A nested function, and the text of its decorator, if any."""

    name: str
    parameters: tuple[str, ...]
    body: list[Step]
    origin: ast.stmt | None = None
    decorator: str | None = None


@dataclass(frozen=True)
class Compound:
    """A compound statement that stays Python's: its headers, as `if x:` and `else:`, and a block after each."""

    headers: tuple[str, ...]
    blocks: tuple[list[Step], ...]
    origin: ast.stmt | None = field(default=None)


Step = Keep | Code | Define | Compound
WORD = re.compile(r"[^\W\d]\w*")


def with_origin(steps: list[Step], node: ast.stmt) -> list[Step]:
    """The steps in the place of a statement; its comments go before the first."""
    first, *rest = steps
    origin: ast.stmt = getattr(node, "origin", node)
    return [first if isinstance(first, Keep) else replace(first, origin=origin), *rest]


def changes(steps: list[Step], body: list[ast.stmt]) -> bool:
    """Whether the steps are anything else than the statements of a body; a `del` that is left out is no change."""
    kept = [step.node if isinstance(step, Keep) else None for step in steps]
    return kept != [node for node in body if not isinstance(node, ast.Delete)]


def origins(steps: Iterable[Step]) -> Iterator[ast.stmt]:
    """The statements of the file that stand in the new body, or something else in their place."""
    for step in steps:
        match step:
            case Keep(node=node):
                node = getattr(node, "duplicate_of", node)
                yield from (n for n in ast.walk(node) if isinstance(n, ast.stmt))
            case (
                Code(origin=ast.stmt() as origin) | Define(origin=ast.stmt() as origin)
            ):
                yield origin
            case Compound(origin=ast.stmt() as origin):
                yield origin
        match step:
            case Define(body=body):
                yield from origins(body)
            case Compound(blocks=blocks):
                for block in blocks:
                    yield from origins(block)


def kept(steps: Iterable[Step]) -> Iterator[ast.stmt]:
    """The statements that stay as they are."""
    for step in steps:
        if isinstance(step, Keep):
            yield step.node
        elif isinstance(step, Compound):
            for block in step.blocks:
                yield from kept(block)


def texts(steps: list[Step]) -> Iterator[str]:
    """The new texts, inner ones included."""
    for step in steps:
        match step:
            case Code(text=text):
                yield text
            case Define(body=body):
                yield from texts(body)
            case Compound(headers=headers, blocks=blocks):
                yield from headers
                for block in blocks:
                    yield from texts(block)


def mentioned(steps: list[Step]) -> set[str]:
    """The names, of attributes too, that stand in the steps."""
    found = {word for text in texts(steps) for word in WORD.findall(text)}
    return found.union(*map(names_and_attributes, kept(steps)))


def names_and_attributes(node: ast.AST) -> set[str]:
    """The names and the names of attributes in a piece of code."""
    inner = list(ast.walk(node))
    attributes = {n.attr for n in inner if isinstance(n, ast.Attribute)}
    return attributes | {n.id for n in inner if isinstance(n, ast.Name)}


def without_dead_stores(steps: list[Step], source: Source) -> list[Step]:
    """The steps of a function without constants that are stored and never read: loops now start from their values."""
    if all(isinstance(step, Keep) for step in steps):
        return steps
    kept = [s for i, s in enumerate(steps) if not _is_dead(s, steps[i + 1 :], source)]
    return [
        replace(s, body=without_dead_stores(s.body, source))
        if isinstance(s, Define)
        else s
        for s in kept
    ]


def _is_dead(step: Step, later: list[Step], source: Source) -> bool:
    name = _constant_target(step)
    if name is None or (isinstance(step, Keep) and source.has_comment([step.node])):
        return False
    for following in later:
        read, written = _names(following)
        if name in read:
            return False
        if name in written:
            return True
    return True


def _constant_target(step: Step) -> str | None:
    node = (
        step.node
        if isinstance(step, Keep)
        else ast.parse(step.text).body[0]
        if isinstance(step, Code)
        else None
    )
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Constant() | ast.UnaryOp(operand=ast.Constant()),
        ):
            return name
    return None


def read_first(steps: Iterable[Step]) -> frozenset[str]:
    """The names that steps may read before they surely write them."""
    found, written = frozenset[str](), frozenset[str]()
    for step in steps:
        read, bound = _names(step)
        found |= read - written
        written |= bound
    return found


def _names(step: Step) -> tuple[frozenset[str], frozenset[str]]:
    """The names a step reads, and those it surely writes."""
    match step:
        case Keep(node=node):
            return _all_reads(node), frozenset(bound_names(node)) if not blocks(
                node
            ) else frozenset()
        case Code(text=text):
            (node,) = ast.parse(text).body
            return _free_reads(node), frozenset(bound_names(node))
        case Define(parameters=parameters, body=body):
            return read_first(body) - frozenset(parameters), frozenset()
        case Compound(headers=headers, blocks=inner_blocks):
            found = frozenset[str]()
            for header in headers:
                text = header.replace("elif ", "if ", 1)
                if text.partition(" ")[0].rstrip(":") in ("if", "while", "for", "with"):
                    found |= _all_reads(ast.parse(text + " pass").body[0])
            return found.union(
                *(_names(s)[0] for block in inner_blocks for s in block)
            ), frozenset()


def _all_reads(node: ast.stmt) -> frozenset[str]:
    return reads(node).union(*(_all_reads(s) for block in blocks(node) for s in block))


def _free_reads(node: ast.stmt) -> frozenset[str]:
    """The names a simple statement reads, the parameters of its lambdas left out."""
    found: set[str] = set()

    def visit(inner: ast.AST, bound: frozenset[str]) -> None:
        if isinstance(inner, ast.Lambda):
            bound |= {a.arg for a in inner.args.args}
            visit(inner.body, bound)
            return
        if (
            isinstance(inner, ast.Name)
            and isinstance(inner.ctx, ast.Load)
            and inner.id not in bound
        ):
            found.add(inner.id)
        for child in ast.iter_child_nodes(inner):
            visit(child, bound)

    visit(node, frozenset())
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return frozenset(found)


@dataclass(frozen=True)
class Core:
    """A graph beside others of the same function: its name, parameters and body, and whether it is a static method."""

    name: str
    parameters: list[str]
    steps: list[Step]
    decorator: str
    is_static: bool


@dataclass
class Plan:
    """What becomes of one function.

    Attributes:
        node: the function, as the file has it.
        steps: its new body.
        decorator: what it is decorated with, if anything.
        core: the name of its core, where it gets a Python shell around it.
        shell: the statements of that shell.
        parameters: of the core, where they are not the function's own.
        is_static: whether the core is a static method.
        statements: what its module has to make before it.
        imports: the modules that it needs.
        more: other graphs that its shell calls.
        loop: where all that changes is in this loop.
        outside: the share of its tensor work that stays Python's.
        methods: what classes of the file have to be given, by which graphs take their instances apart.
        tensors: names of its shell for tensors that its core gives back beside the result; nothing else calls that core.
    """

    node: FunctionNode
    qualname: str
    steps: list[Step]
    decorator: str | None = None
    core: str | None = None
    shell: list[Step] = field(default_factory=list)
    parameters: list[str] | None = None
    is_static: bool = False
    statements: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    more: list[Core] = field(default_factory=list)
    loop: ast.stmt | None = None
    outside: float = 0.0
    methods: dict[ast.ClassDef, str] = field(default_factory=dict)
    tensors: frozenset[str] = frozenset()
