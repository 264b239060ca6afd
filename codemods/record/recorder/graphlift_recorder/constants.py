"""Has code hold objects as constants, which the compiler itself doesn't allow."""

from __future__ import annotations

import types

from .watching import Function, Module, Watched, own


class Constants:
    """The objects that the code of one module holds."""

    def __init__(self) -> None:
        self._objects: dict[str, Watched] = {}
        self._texts: dict[Watched, str] = {}

    def text(self, watched: Watched) -> str:
        """The text that stands for an object in the tree, until `fill`."""
        if watched not in self._texts:
            text = f"\0graphlift:{len(self._objects)}"
            self._texts[watched] = text
            self._objects[text] = watched
        return self._texts[watched]

    def fill(
        self, code: types.CodeType, module: Module | None = None
    ) -> types.CodeType:
        """The code with the objects in place; `watching` is told whose code it is."""
        if module is not None:
            own(code, module)
        return self._filled(code)

    def _filled(self, code: types.CodeType) -> types.CodeType:
        constants = []
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                constant = self._filled(constant)
            elif isinstance(constant, str) and constant in self._objects:
                constant = self._objects[constant]
                if isinstance(constant, Function):
                    own(code, constant)
            constants.append(constant)
        return code.replace(co_consts=tuple(constants))
