"""What differs between two observations, the original's and the lift's.

An observation is a dict of

    loaded     what was printed while the file was loaded
    calls      for each call: `printed`; `returned`, a held value, or `raised`; and `arguments`,
               held after the call. `raised` has the `class`, the `message`, `own`: raised by the
               user's code, and `op`: a tf.errors.OpError
    state      module -> name -> held value, after the last call
    observed   what observe() returned, where there is one; a call's dict without arguments

A caller may not notice a lift, so results keep structure, type, dtype and shape; only a returned
tf.Variable may arrive as its value. What a module or an object keeps, and what the lift did to its
arguments, is compared by value: a number, a text or a tensor may have become a tf.Variable that
holds it, and what the lift keeps besides is its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .closeness import EXACT, Array, distance
from .printed import is_part, tokens, unlike
from .values import Held
from .words import (
    error_in_words,
    in_words,
    kind_of,
    shape_of,
    text_in_words,
    tokens_in_words,
)

SHOWN = 5
ARRAYS = ("tensor", "variable", "array", "scalar")
NOTHING: Held = {"opaque": "nothing", "text": ""}


class Comparison:
    """Collects differences, each in words, and how far floats are apart.

    `excess` is the largest distance as closeness.py measures it; `structural` says that types or
    structure differ, which no rounding does; `raised`, that only the lift raised.
    """

    def __init__(self) -> None:
        self.differences: list[str] = []
        self.excess = 0.0
        self.max_abs = 0.0
        self.max_rel = 0.0
        self.structural = False
        self.raised = False

    def report(self) -> dict[str, Any]:
        """The first differences and the figures, ready for JSON."""
        return {
            "differences": self.differences[:SHOWN],
            "excess": self.excess,
            "max_abs": self.max_abs,
            "max_rel": self.max_rel,
            "structural": self.structural,
            "raised": self.raised,
        }

    def observations(
        self, reference: dict[str, Any], candidate: dict[str, Any]
    ) -> None:
        """Compare whole observations."""
        self.printed("while loading", reference["loaded"], candidate["loaded"])
        calls = zip(reference["calls"], candidate["calls"], strict=True)
        for i, (one, other) in enumerate(calls):
            where = f"call {i + 1}"
            self.call(where, one, other)
            self.value(
                f"{where}, arguments afterwards",
                one["arguments"],
                other["arguments"],
                kept=True,
            )
        self.state(reference["state"], candidate["state"])
        if "observed" in reference and "observed" in candidate:
            self.call(
                "observe()", reference["observed"], candidate["observed"], kept=True
            )

    def call(
        self,
        where: str,
        reference: dict[str, Any],
        candidate: dict[str, Any],
        kept: bool = False,
    ) -> None:
        """Compare what one call returned or raised, and printed."""
        raised = candidate.get("raised")
        if raised and "raised" in reference:
            self.exception(where, reference["raised"], raised)
        elif raised:
            self.raised |= not kept
            expected = f"returns {in_words(reference['returned'])}"
            self._differ(where, expected, f"raises {error_in_words(raised)}")
        elif "raised" in reference:
            expected = f"raises {error_in_words(reference['raised'])}"
            self._differ(where, expected, f"returns {in_words(candidate['returned'])}")
        else:
            self.value(where, reference["returned"], candidate["returned"], kept)
        self.printed(
            where,
            reference["printed"],
            candidate["printed"],
            may_lose="raised" in reference and bool(raised and raised["op"]),
        )

    def printed(
        self, where: str, reference: str, candidate: str, may_lose: bool = False
    ) -> None:
        """Compare printed text, token by token; `may_lose`: an op raised, which drops what was printed."""
        one, other = tokens(reference), tokens(candidate)
        if may_lose and is_part(other, one):
            return
        found = unlike(one, other)
        if found is not None:
            *rests, apart = found
            whole = (text_in_words(reference), text_in_words(candidate))
            expected, got = map(tokens_in_words, rests) if one and other else whole
            self._differ(where, f"prints {expected}", f"prints {got}", apart)

    def exception(
        self, where: str, reference: dict[str, Any], candidate: dict[str, Any]
    ) -> None:
        """Compare exceptions: those of the user by class and message, of TensorFlow by class.

        A ValueError or AssertionError may arrive as InvalidArgumentError of tf.errors.
        """
        same = (reference["class"], reference["op"]) == (
            candidate["class"],
            candidate["op"],
        )
        if reference["class"] in ("AssertionError", "ValueError"):
            same |= candidate["class"] == "InvalidArgumentError" and candidate["op"]
        if same and reference["own"] and not reference["op"]:
            message = reference["message"]
            same = message in candidate["message"] or _same_text(
                message, candidate["message"]
            )
        if not same:
            expected, got = error_in_words(reference), error_in_words(candidate)
            self._differ(where, f"raises {expected}", f"raises {got}")

    def state(
        self,
        reference: dict[str, dict[str, Held]],
        candidate: dict[str, dict[str, Held]],
    ) -> None:
        """Compare what modules hold: what the original has, in the lift, and no leak in either."""
        for module, kept in reference.items():
            of = f" of {module}" if module else ""
            names = candidate.get(module, {})
            for name, held in kept.items():
                self.value(name + of, held, names.get(name, NOTHING), kept=True)
            for name in names.keys() - kept.keys():
                for leak in _leaks(names[name]):
                    self._unlike(name + of, NOTHING, {"leak": leak})

    def value(
        self, where: str, reference: Held, candidate: Held, kept: bool = False
    ) -> None:
        """Compare two held values; `kept` for those that are kept, not handed out."""
        kind, other = kind_of(reference), kind_of(candidate)
        if kind != other and not _may_become(kind, other, kept):
            self._unlike(where, reference, candidate)
        elif kind == "value":
            self._plain(where, reference, candidate)
        elif kind == "complex":
            one, got = (
                np.asarray(complex(*held[kind])) for held in (reference, candidate)
            )
            self._numbers(where, one, got, "complex64")
        elif kind in ARRAYS:
            self._arrays(where, reference, candidate, kept)
        elif kind in ("list", "tuple", "parts"):
            self._items(where, reference, candidate, kept)
        elif kind == "dict":
            self._members(where, reference, candidate, kept)
        elif kind == "object":
            self._objects(where, reference, candidate)
        elif reference != candidate:
            self._unlike(where, reference, candidate)

    def _plain(self, where: str, reference: Held, candidate: Held) -> None:
        expected = reference["value"]
        if "variable" in candidate:
            self._became_variable(where, reference, candidate)
        elif type(expected) is not type(candidate["value"]):
            self._unlike(where, reference, candidate)
        elif isinstance(expected, float):
            got = np.asarray(candidate["value"])
            self._numbers(where, np.asarray(expected), got, "float32")
        elif expected != candidate["value"]:
            self._differ(where, repr(expected), repr(candidate["value"]))

    def _became_variable(self, where: str, reference: Held, candidate: Held) -> None:
        """A Python number or text that a tf.Variable holds now."""
        expected, got = reference["value"], candidate["variable"]
        if isinstance(expected, str) and got == [{"bytes": expected}]:
            return
        kinds = {bool: "b", int: "iu", float: "f"}.get(type(expected), "")
        if isinstance(got, list) or got.shape or got.dtype.kind not in kinds:
            self._unlike(where, reference, candidate)
        else:
            self._numbers(where, np.asarray(expected), got, "float32")

    def _arrays(self, where: str, reference: Held, candidate: Held, kept: bool) -> None:
        one, other = reference[kind_of(reference)], candidate[kind_of(candidate)]
        if reference["dtype"] != candidate["dtype"]:
            self._unlike(where, reference, candidate)
        elif shape_of(reference) != shape_of(candidate):
            self._differ(where, in_words(reference), in_words(candidate))
        elif isinstance(one, list):
            for i, (expected, got) in enumerate(zip(one, other, strict=True)):
                self.value(f"{where}[{i}]", expected, got, kept)
        else:
            self._numbers(where, one, other, reference["dtype"])

    def _numbers(self, where: str, one: Array, other: Array, dtype: str) -> None:
        apart = distance(one, other, dtype)
        self.max_abs = max(self.max_abs, apart.max_abs)
        self.max_rel = max(self.max_rel, apart.max_rel)
        if apart.excess > 1:
            place = apart.place
            at = f"[{', '.join(map(str, place))}]" if place else ""
            self._differ(where + at, str(one[place]), str(other[place]), apart.excess)

    def _items(self, where: str, reference: Held, candidate: Held, kept: bool) -> None:
        one, other = reference[kind_of(reference)], candidate[kind_of(candidate)]
        if len(one) != len(other) or reference.get("type") != candidate.get("type"):
            self._unlike(where, reference, candidate)
            return
        for i, (expected, got) in enumerate(zip(one, other, strict=True)):
            self.value(f"{where}[{i}]", expected, got, kept)

    def _members(
        self, where: str, reference: Held, candidate: Held, kept: bool
    ) -> None:
        one, other = reference["dict"], candidate["dict"]
        for key, held in one.items():
            self.value(f"{where}[{key}]", held, other.get(key, NOTHING), kept)
        for key in other.keys() - one.keys():
            self._unlike(f"{where}[{key}]", NOTHING, other[key])

    def _objects(self, where: str, reference: Held, candidate: Held) -> None:
        if reference["object"] != candidate["object"]:
            self._unlike(where, reference, candidate)
            return
        kept = candidate["attributes"]
        for name, held in reference["attributes"].items():
            self.value(f"{where}.{name}", held, kept.get(name, NOTHING), kept=True)

    def _unlike(self, where: str, reference: Held, candidate: Held) -> None:
        """Note that types or structure differ."""
        self.structural = True
        self._differ(where, in_words(reference), in_words(candidate))

    def _differ(
        self, where: str, expected: str, got: str, excess: float = EXACT
    ) -> None:
        self.differences.append(f"{where}: eager {expected}, lifted {got}")
        self.excess = max(self.excess, excess)


def _may_become(kind: str, other: str, kept: bool) -> bool:
    """Whether a value of one kind may arrive as another."""
    if kept:
        return other == "variable" and kind in ("value", *ARRAYS)
    return kind == "variable" and other == "tensor"


def _same_text(one: str, other: str) -> bool:
    return unlike(tokens(one), tokens(other)) is None


def _leaks(held: Any) -> Iterator[str]:
    """All symbolic tensors in a held value."""
    if isinstance(held, dict) and "leak" in held:
        yield held["leak"]
    elif isinstance(held, dict | list):
        for item in held.values() if isinstance(held, dict) else held:
            yield from _leaks(item)
