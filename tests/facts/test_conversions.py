"""What `int`, `float`, `bool` and `str` give for what may be None."""

from __future__ import annotations

import pytest

from graphlift.transforms.facts.calls import Arguments, call_builtin
from graphlift.transforms.facts.kinds import Maybe, Tensor


@pytest.mark.parametrize("name", ["int", "float", "bool", "str"])
def test_what_a_tensor_may_make_none_is_not_converted_while_tracing(name: str) -> None:
    assert call_builtin(name, Arguments([Maybe(Tensor("float32", ()))], {})) is None
