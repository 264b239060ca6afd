"""Which names of a function come from outside it, as the compiler sees it."""

from __future__ import annotations

import ast
import symtable
from dataclasses import dataclass, replace

from .source import SCOPES, FunctionNode, statements


@dataclass(frozen=True)
class Names:
    """The outer names of a function, its comprehensions and lambdas included."""

    globals: frozenset[str]
    written: frozenset[str]
    """Those globals it assigns."""
    closure: frozenset[str]

    def without(self, modules: frozenset[str]) -> Names:
        """The names but for globals that hold modules."""
        return replace(
            self, globals=self.globals - modules, written=self.written - modules
        )


class Scopes:
    """The name tables of a module."""

    def __init__(self, text: str, filename: str) -> None:
        self._tables: dict[tuple[str, int], symtable.SymbolTable] = {}
        self._collect(symtable.symtable(text, filename, "exec"))

    def _collect(self, table: symtable.SymbolTable) -> None:
        for child in table.get_children():
            self._tables.setdefault((child.get_name(), child.get_lineno()), child)
            self._collect(child)

    def names(self, node: FunctionNode) -> Names:
        """The outer names of a function; KeyError for one that the compiler doesn't know."""
        table = self._tables[node.name, node.lineno]
        globals_: set[str] = set()
        written: set[str] = set()
        for part in _parts(table):
            for symbol in part.get_symbols():
                if symbol.is_global():
                    globals_.add(symbol.get_name())
                    if symbol.is_assigned():
                        written.add(symbol.get_name())
        closure = {
            symbol.get_name() for symbol in table.get_symbols() if symbol.is_free()
        }
        closure -= {"__class__", "__classdict__"}
        return Names(frozenset(globals_), frozenset(written), frozenset(closure))


def _parts(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    """A function's table and those of its comprehensions and lambdas."""
    parts = [table]
    for child in table.get_children():
        if child.get_name() in ("listcomp", "setcomp", "dictcomp", "genexpr", "lambda"):
            parts.extend(_parts(child))
    return parts


def imported_modules(tree: ast.Module) -> frozenset[str]:
    """Names that `import` statements of the module's top level bind."""
    names: set[str] = set()
    pending = [*statements(tree)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            names.update(a.asname or a.name.partition(".")[0] for a in node.names)
        elif not isinstance(node, SCOPES):
            pending.extend(statements(node))
    return frozenset(names)
