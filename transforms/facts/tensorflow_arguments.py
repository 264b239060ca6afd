"""The arguments of a TensorFlow call, bound to its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from . import tensorflow_names
from .kinds import NONE, Kind
from .outcome import Outcome, Raises, Unsure

ALWAYS_KNOWN = "name"


@dataclass(frozen=True)
class Arguments:
    """What a call gives each parameter: `given` by name, `rest` for *args, `extra` for **kwargs."""

    parameters: tuple[str, ...]
    given: dict[str, Kind]
    defaults: dict[str, Kind]
    rest: tuple[Kind, ...] = ()
    extra: tuple[tuple[str, Kind], ...] = ()

    def __getitem__(self, name: str) -> Kind:
        """The argument for the parameter, or the parameter's default."""
        return self.given[name] if name in self.given else self.defaults[name]

    def __contains__(self, name: str) -> bool:
        """Was it given, as something else than None?"""
        return self.given.get(name, NONE) != NONE

    def at(self, position: int) -> Kind:
        """The argument for the parameter at the position."""
        return self[self.parameters[position]]

    def only(self, *names: str) -> None:
        """Be unsure where other arguments than these were given."""
        for name in self.given:
            if name in self and name not in (*names, ALWAYS_KNOWN):
                raise Unsure(f"with {name}")


Rule = Callable[[Arguments], "Kind | Outcome"]


def named(names: str, rule: Rule) -> dict[str, Rule]:
    """One rule for several names, which are separated by spaces."""
    return dict.fromkeys(names.split(), rule)


def bind(name: str, args: Sequence[Kind], kwargs: Mapping[str, Kind]) -> Arguments:
    """Bind as Python would by the signature of the canonical name; Raises for arguments that don't fit."""
    signature = tensorflow_names.signature(name)
    if signature is None:
        raise Unsure(f"the parameters of {name}")
    positional = [a.arg for a in (*signature.posonlyargs, *signature.args)]
    named = [*positional, *(a.arg for a in signature.kwonlyargs)]
    if len(args) > len(positional) and signature.vararg is None:
        raise Raises(f"{len(args)} arguments where {len(positional)} are taken")
    given = dict(zip(positional, args, strict=False))
    extra = []
    for key, kind in kwargs.items():
        if key in given:
            raise Raises(f"argument {key} given twice")
        if key in named:
            given[key] = kind
        elif signature.kwarg is None:
            raise Raises(f"no parameter {key}")
        else:
            extra.append((key, kind))
    defaults = _defaults(name)
    for parameter in named:
        if parameter not in given and parameter not in defaults:
            raise Raises(f"argument {parameter} missing")
    return Arguments(
        tuple(named), given, defaults, tuple(args[len(positional) :]), tuple(extra)
    )


@cache
def _defaults(name: str) -> dict[str, Kind]:
    signature = tensorflow_names.signature(name)
    assert signature is not None
    positional = [*signature.posonlyargs, *signature.args]
    optional = positional[len(positional) - len(signature.defaults) :]
    found = {
        a.arg: tensorflow_names.default(d)
        for a, d in zip(optional, signature.defaults, strict=True)
    }
    for a, node in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        if node is not None:
            found[a.arg] = tensorflow_names.default(node)
    return found
