"""What a recorded run saw changed between calls, whatever changed it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from .definitions import ClassDefinition
from .kinds import UNKNOWN, Object, Type

if TYPE_CHECKING:
    from .session import Session

PACKAGES = frozenset({"keras", "tensorflow", "object"})


class SeenChanges:
    """The globals of a module, and the attributes of objects, that were seen to change."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @cached_property
    def globals(self) -> frozenset[str]:
        functions = self.session.module.functions
        recorded = filter(None, map(self.session.recorded, functions))
        return frozenset(n for r in recorded for n in r.changed if n in r.globals)

    def has_attribute(self, name: str, made: ClassDefinition) -> bool:
        """Whether an attribute of an object that may be of a class is among them."""
        return any(
            may_be_of(self.session, class_name, made)
            for class_name in self._attributes.get(name, ())
        )

    def has_attribute_of(self, name: str, class_name: str) -> bool:
        """Whether an attribute of an object of another package's class is among them."""
        return bool(self._attributes.get(name, set()) & {class_name, ""})

    @cached_property
    def _attributes(self) -> dict[str, set[str]]:
        """By their names, the classes of the objects; "" for one that is not known."""
        found: dict[str, set[str]] = {}
        profile, own = self.session.profile, f"{self.session.path}::"
        for key, recorded in profile.functions.items() if profile else ():
            for chain in (c for c in recorded.changed if "." in c):
                root, *inner, name = chain.split(".")
                places = (recorded.parameters, recorded.globals, recorded.closure)
                kind = next((p[root] for p in places if root in p), UNKNOWN)
                if isinstance(kind, Object | Type) and not inner:
                    found.setdefault(name, set()).add(kind.name)
                elif key.startswith(own):
                    found.setdefault(name, set()).add("")
        return found


def may_be_of(session: Session, class_name: str, made: ClassDefinition) -> bool:
    """Whether an object of the named class may be one of a class of the module, too."""
    other = session.class_of(class_name)
    if other is None:
        return not class_name or _has_relatives(session, made)
    bases = session.module.bases
    return (
        other is made
        or other.qualname in bases(made.qualname)
        or made.qualname in bases(other.qualname)
    )


def _has_relatives(session: Session, made: ClassDefinition) -> bool:
    """Whether other modules of the project may have classes that a class extends, or that extend it."""
    roots = {
        base.partition(".")[0]
        for base in session.module.bases(made.qualname)
        if base not in session.module.classes
    }
    modules, name = session.modules, made.qualname.rpartition(".")[2]
    named = modules.named_elsewhere(session.path) if modules else ()
    return bool(roots - PACKAGES) or name in named
