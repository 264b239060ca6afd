"""What a project may choose about the rewriting."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """`select` and `ignore` hold rule codes; an empty `select` means all rules."""

    line_length: int = 88
    unroll_threshold: int = 16
    randomness: str = "exact"
    unsafe: bool = False
    select: frozenset[str] = field(default_factory=frozenset)
    ignore: frozenset[str] = field(default_factory=frozenset)

    def enabled(self, code: str) -> bool:
        return code not in self.ignore and (not self.select or code in self.select)
