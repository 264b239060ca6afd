"""All rules, in one table."""

from __future__ import annotations

import re

from .add_chains import AddChain
from .assertions import TensorAssert
from .booleans import TensorBool
from .codes import NAMES
from .comprehensions import TensorComprehension
from .conditionals import TensorIf, TensorTernary
from .containers import ListAppend
from .datasets import DatasetFor
from .draws import FrozenClock, FrozenRandom
from .exits import LoopExit
from .host_reads import HostRead
from .inline_steps import InlineStep
from .lookups import TensorLookup
from .loops import TensorFor, TensorWhile
from .matching import TensorMatch
from .numpy_calls import NumpyCall
from .printing import PythonLogging, PythonPrint
from .recursion import TensorRecursion
from .rule import Rule
from .signatures import EagerFunction, NoSignature, PythonArgument
from .state import AttributeWrite, GlobalWrite, OuterMutation, StaleGlobal
from .stateful import LocalStateful
from .static_shapes import StaticShape
from .tensor_arrays import LostWrite
from .texts import TensorString
from .tries import TensorTry
from .unrolled import UnrolledLoop
from .variables import LocalVariable

RULES: tuple[type[Rule], ...] = tuple(
    sorted(
        (
            AddChain,
            TensorIf,
            TensorTernary,
            TensorBool,
            TensorWhile,
            TensorFor,
            TensorRecursion,
            UnrolledLoop,
            LoopExit,
            PythonPrint,
            TensorTry,
            PythonLogging,
            FrozenRandom,
            FrozenClock,
            HostRead,
            NumpyCall,
            TensorComprehension,
            TensorLookup,
            TensorMatch,
            TensorString,
            DatasetFor,
            TensorAssert,
            ListAppend,
            LostWrite,
            LocalVariable,
            LocalStateful,
            EagerFunction,
            InlineStep,
            NoSignature,
            PythonArgument,
            OuterMutation,
            GlobalWrite,
            StaleGlobal,
            AttributeWrite,
            StaticShape,
        ),
        key=lambda rule: rule.code,
    )
)


def find_rule(word: str) -> type[Rule] | None:
    """The rule of a code or a name, however it is capitalised."""
    wanted = word.strip().lower()
    return next((r for r in RULES if wanted in (r.code.lower(), r.name.lower())), None)


def find_code(word: str) -> str | None:
    """The code of a rule, built or to come, by its code or name."""
    wanted = word.strip().lower()
    return next((c for c, n in NAMES.items() if wanted in (c.lower(), n)), None)


def rules_for_error(message: str) -> list[type[Rule]]:
    """The rules that cure an error of TensorFlow, by its message, however its lines are broken."""
    line = " ".join(message.split())
    return [r for r in RULES if any(re.search(pattern, line) for pattern in r.errors)]
