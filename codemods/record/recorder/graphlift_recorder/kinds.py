"""What a value is, in the notation of profiles, found without running any code of the user's.

Nothing is imported from TensorFlow, Keras or NumPy: their types are known by module and name.
"""

from __future__ import annotations

import keyword
import re
import sys
import types
import weakref
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import islice
from typing import Any

Describer = Callable[[Any, int], str]

MOST_ITEMS = 8
"""Up to this many items of a container are described one by one."""
MOST_SCANNED = 1000
DEEPEST = 3


def describe(value: Any, depth: int = 0) -> str:
    """The kind of `value`; "unknown" where it can't be told."""
    cls = type(value)
    try:
        describer = _DESCRIBERS.get(id(cls)) or _remember(cls)
        return describer(value, depth)
    except Exception:  # a library's object in a state it does not expect
        return "unknown"


@lru_cache(maxsize=4096)
def dotted(module: str | None, qualname: str) -> str:
    """A name that reads as a Python expression: no `<locals>`, every part an identifier."""
    if module in ("__main__", "__mp_main__"):
        module = main_name()
    parts = f"{module or ''}.{qualname}".split(".")
    return ".".join(_identifier(part) for part in parts if part not in ("", "<locals>"))


def main_name() -> str:
    """The module name of the program's main script: the stem of its file."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != "__main__":
        return str(spec.name)
    path = getattr(main, "__file__", None) or "__main__"
    return re.split(r"[/\\]", path)[-1].partition(".")[0]


def _identifier(part: str) -> str:
    if part == "<lambda>":
        return "lambda_"
    part = re.sub(r"\W", "_", part)
    return "_" + part if part[:1].isdigit() or keyword.iskeyword(part) else part


def _remember(cls: type) -> Describer:
    """Find out how values of a class are described, and keep that for as long as the class lives."""
    address = id(cls)
    describer = _DESCRIBERS[address] = _describer(cls)
    _CLASSES[address] = weakref.ref(
        cls, partial(_forget, address, _DESCRIBERS, _CLASSES)
    )
    return describer


def _forget(address: int, *tables: Any) -> None:
    for table in tables[:-1]:  # the last is the class's weak reference
        table.pop(address, None)


def _describer(cls: type) -> Describer:
    """How values of `cls` are described."""
    for base in type.__getattribute__(cls, "__mro__"):
        package = str(type.__getattribute__(base, "__module__")).partition(".")[0]
        known = _LIBRARY.get(base.__name__)
        if (
            known
            and package in _PACKAGES
            and (base is cls or base.__name__ != "ndarray")
        ):
            return known
    if cls.__name__ == "cython_function_or_method":
        return _builtin
    if issubclass(cls, type):
        return lambda value, depth: f"type({_named(value)})"
    if issubclass(cls, types.ModuleType):
        return lambda value, depth: (
            f"module({object.__getattribute__(value, '__dict__').get('__name__', 'unknown')})"
        )
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _record
    if "__dataclass_fields__" in cls.__dict__ and cls.__mro__ == (cls, object):
        return _dataclass
    name = f"object({_named(cls)})"
    return lambda value, depth: name


def _named(cls: type) -> str:
    module = type.__getattribute__(cls, "__module__")
    return dotted(module, type.__getattribute__(cls, "__qualname__"))


# ---- Python's own types


def _constant(text: str) -> Describer:
    return lambda value, depth: text


def _function(value: Any, depth: int) -> str:
    return f"function({dotted(value.__module__, value.__qualname__)})"


def _builtin(value: Any, depth: int) -> str:
    module = getattr(value, "__module__", None)
    return f"function({dotted(module, value.__qualname__)})"


def _method(value: Any, depth: int) -> str:
    return describe(value.__func__)


def _sequence(name: str) -> Describer:
    def describer(value: Any, depth: int) -> str:
        if depth == DEEPEST and value:
            return f"{name}[unknown]"
        if len(value) <= MOST_ITEMS:
            return f"{name}({', '.join([describe(item, depth + 1) for item in value])})"
        return f"{name}[{_either(_sample(value), depth)}]"

    return describer


def _sample(value: Any) -> list[Any]:
    """Items of a long sequence: its ends, and one of every other type."""
    half = MOST_ITEMS // 2
    sample = [*value[:half], *value[-half:]]
    scanned = value[:MOST_SCANNED]
    for cls in set(map(type, scanned)).difference(map(type, sample)):
        sample.append(next(item for item in scanned if type(item) is cls))
    return sample


def _either(values: Any, depth: int) -> str:
    return (
        " | ".join(sorted({describe(value, depth + 1) for value in values}))
        or "unknown"
    )


def _record(value: Any, depth: int) -> str:
    """A namedtuple."""
    return _members(type(value), dict(zip(value._fields, value, strict=True)), depth)


def _dataclass(value: Any, depth: int) -> str:
    cls = type(value)
    names = cls.__dataclass_fields__
    try:
        fields = {name: object.__getattribute__(value, name) for name in names}
    except AttributeError:
        return f"object({_named(cls)})"
    return _members(cls, fields, depth)


def _members(cls: type, fields: dict[str, Any], depth: int) -> str:
    if depth == DEEPEST or len(fields) > MOST_ITEMS:
        return f"object({_named(cls)})"
    texts = [f"{name}={describe(item, depth + 1)}" for name, item in fields.items()]
    return f"record({', '.join([_named(cls), *texts])})"


def _set(value: Any, depth: int) -> str:
    return f"set[{_either(islice(value, MOST_ITEMS), depth)}]"


def _dict(value: Any, depth: int) -> str:
    if depth == DEEPEST and value:
        return "dict[unknown, unknown]"
    if len(value) <= MOST_ITEMS and all(type(k) is str and _plain(k) for k in value):
        pairs = [f"{key}={describe(item, depth + 1)}" for key, item in value.items()]
        return f"dict({', '.join(pairs)})"
    keys, items = zip(*islice(value.items(), MOST_ITEMS), strict=True)
    return f"dict[{_either(keys, depth)}, {_either(items, depth)}]"


def _plain(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key)


# ---- NumPy


def _dtype_name(dtype: Any) -> str:
    return {"U": "str", "S": "bytes"}.get(dtype.kind) or _identifier(dtype.name)


def _scalar(value: Any, depth: int) -> str:
    return f"scalar({_dtype_name(value.dtype)})"


def _array(value: Any, depth: int) -> str:
    return _shaped("array", _dtype_name(value.dtype), value.shape)


# ---- TensorFlow and Keras


def _shaped(name: str, dtype: str, dims: Any) -> str:
    sizes = ["..."] if dims is None else [str(dim) for dim in dims]
    return f"{name}({', '.join([dtype, *sizes])})"


def _dims(shape: Any) -> list[int | None] | None:
    """The dimensions of a TensorShape or a tuple; None for an unknown rank."""
    if isinstance(shape, (tuple, list)):
        return list(shape)
    return None if shape is None or shape.rank is None else shape.as_list()


_EAGER: dict[tuple[int, tuple[int, ...]], str] = {}


def _eager(value: Any, depth: int) -> str:
    key = (value._datatype_enum(), value._shape_tuple())
    text = _EAGER.get(key)
    if text is None:
        text = _EAGER[key] = _shaped("tensor", value.dtype.name, key[1])
    return text


def _library(name: str, dtype: str = "dtype", shape: str = "shape") -> Describer:
    """A describer of objects that hold their dtype and shape in these attributes."""

    def describer(value: Any, depth: int) -> str:
        held = getattr(value, dtype)
        return _shaped(name, getattr(held, "name", held), _dims(getattr(value, shape)))

    return describer


def _tensor_shape(value: Any, depth: int) -> str:
    dims = ["size" if dim is None else "int" for dim in value.as_list()]
    return f"shape({', '.join(dims)})"


def _pipeline(name: str) -> Describer:
    return lambda value, depth: f"{name}({_spec(value.element_spec)})"


def _spec(spec: Any) -> str:
    """The kind of what a tf.data element spec stands for."""
    if isinstance(spec, dict):
        return (
            f"dict({', '.join(f'{key}={_spec(item)}' for key, item in spec.items())})"
        )
    if isinstance(spec, (tuple, list)):
        return f"tuple({', '.join(map(_spec, spec))})"
    name = type(spec).__name__
    if name == "DatasetSpec":
        return f"dataset({_spec(spec._element_spec)})"
    if name == "NoneTensorSpec":
        return "None"
    return _SPECS[name](spec, 0)


_SPECS = {
    "TensorSpec": _library("tensor"),
    "RaggedTensorSpec": _library("ragged", "_dtype", "_shape"),
    "SparseTensorSpec": _library("sparse"),
    "TensorArraySpec": _library("tensorarray", "_dtype", "_element_shape"),
}

_list, _tuple = _sequence("list"), _sequence("tuple")

_PACKAGES = ("tensorflow", "keras", "tf_keras", "numpy")
_LIBRARY: dict[str, Describer] = {
    "EagerTensor": _eager,
    "SymbolicTensor": _library("tensor"),
    "Tensor": _library("tensor"),
    "Variable": _library("variable", "_dtype", "_shape"),
    "RaggedTensor": _library("ragged"),
    "SparseTensor": _library("sparse"),
    "TensorArray": _library("tensorarray", "dtype", "element_shape"),
    "DatasetV2": _pipeline("dataset"),
    "IteratorBase": _pipeline("iterator"),
    "TensorShape": _tensor_shape,
    "DType": _constant("dtype"),
    "Function": lambda value, depth: describe(value._python_function),
    "ListWrapper": lambda value, depth: _list(list(list.__iter__(value)), depth),
    "TrackedList": lambda value, depth: _list(list(list.__iter__(value)), depth),
    "TrackedDict": lambda value, depth: _dict(dict(dict.items(value)), depth),
    "_DictWrapper": lambda value, depth: describe(value.__wrapped__, depth),
    "_TupleWrapper": lambda value, depth: describe(value.__wrapped__, depth),
    "ShouldUseWrapper": lambda value, depth: describe(
        object.__getattribute__(value, "_tf_should_use_wrapped_value"), depth
    ),
    "ndarray": _array,
    "generic": _scalar,
}

_PYTHON: dict[type, Describer] = {
    **{cls: _constant(cls.__name__) for cls in (int, float, bool, str, bytes, complex)},
    type(None): _constant("None"),
    type(...): _constant("ellipsis"),
    types.GeneratorType: _constant("generator"),
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinFunctionType: _builtin,
    type(str.join): _builtin,
    type(object.__init__): _builtin,
    type("".__str__): _builtin,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _set,
}

_DESCRIBERS: dict[int, Describer] = {id(cls): known for cls, known in _PYTHON.items()}
_CLASSES: dict[int, weakref.ref[type]] = {}
