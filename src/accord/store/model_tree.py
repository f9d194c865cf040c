"""Fitted models as plain values: a tree that JSON holds, and arrays beside it.

Whatever JSON has is written as it is (nothing, truth, numbers, texts, lists). Everything else is an object with one
name: ``{"tuple": [...]}``, ``{"array": {...}}``, or a class of the table, ``{"pairs.Votes": {"left": ...}}``. A tree is
checked as a whole before anything that it names is imported, and before any array is read.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.errors import InputError
from accord.store.model_types import TYPES, part_of
from accord.typing import AnyArray

__all__ = ["Malformed", "array_bytes", "array_header", "build", "check_tree", "flatten"]

_DEEPEST = 60
_AS_THEY_ARE = (type(None), bool, int, str)
_NUMBER_TYPES = {
    **{kind.__name__: kind for kind in (bool, int, float, str)},
    **{np.dtype(name).name: np.dtype(name).type for name in ("f4", "f8", "i4", "i8", "u4", "u8")},
}
_TYPE_NAMES: Mapping[Any, str] = {kind: name for name, kind in _NUMBER_TYPES.items()}
_DTYPE = re.compile(r"(\|[biu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,6})\Z")
_SPARSE = {kind.__name__: kind for kind in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array)}
_BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


# -- writing -------------------------------------------------------------------------------------------------------


def flatten(model: Any) -> tuple[Any, list[AnyArray]]:
    """The tree of a model, and the arrays that it refers to by their places.

    What cannot be saved raises an :class:`~accord.errors.InputError` that says where it stands.
    """
    writer = _Writer()
    return writer.node(model, type(model).__name__), writer.arrays


class _Writer:
    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []
        self._array_places: dict[int, int] = {}
        # Objects by identity: None while they are being written, then their number. All are kept alive meanwhile.
        self._numbers: dict[int, int | None] = {}
        self._kept: list[Any] = []
        self._n_written = 0

    def node(self, value: Any, path: str) -> Any:
        kind = type(value)
        if kind in _AS_THEY_ARE:
            return value
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value, path)
        if isinstance(value, np.generic):
            plain = self.node(value.item(), path)
            return {"scalar": {"dtype": _dtype_name(value.dtype, path), "value": plain}}
        if isinstance(value, np.dtype):
            return {"dtype": _dtype_name(value, path)}
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
        return self._object(value, path)

    def nodes(self, values: Sequence[Any], path: str) -> list[Any]:
        if all(type(value) in _AS_THEY_ARE for value in values):
            return list(values)
        return [self.node(value, f"{path}[{place}]") for place, value in enumerate(values)]

    def _float(self, value: float, path: str) -> Any:
        return value if math.isfinite(value) else {"float": repr(value)}

    def _dict(self, value: dict[Any, Any], path: str) -> Any:
        if all(type(key) is str for key in value):
            return {"dict": {key: self.node(held, f"{path}[{key!r}]") for key, held in value.items()}}
        return {"pairs": [[self.node(key, path), self.node(held, f"{path}[{key!r}]")] for key, held in value.items()]}

    def _array(self, value: AnyArray, path: str) -> Any:
        if value.dtype == object:
            values = self.nodes(value.ravel().tolist(), path)
            return {"objects": {"shape": list(value.shape), "values": values}}
        dtype = _dtype_name(value.dtype, path)
        if id(value) not in self._array_places:
            self._array_places[id(value)] = len(self.arrays)
            self.arrays.append(value)
        fortran = value.flags.f_contiguous and not value.flags.c_contiguous
        place = self._array_places[id(value)]
        return {"array": {"place": place, "dtype": dtype, "shape": list(value.shape), "fortran": fortran}}

    def _object(self, value: Any, path: str) -> Any:
        if id(value) in self._numbers:
            number = self._numbers[id(value)]
            if number is None:
                raise InputError(f"a model that holds itself cannot be saved; {path} does.")
            return {"same": number}
        self._numbers[id(value)] = None
        self._kept.append(value)
        if type(value).__name__ in _SPARSE and type(value) is _SPARSE[type(value).__name__]:
            parts = {name: self.node(getattr(value, name), f"{path}.{name}") for name in ("data", "indices", "indptr")}
            node: Any = {type(value).__name__: {"shape": [int(size) for size in value.shape], **parts}}
        elif isinstance(value, np.random.Generator | np.random.RandomState):
            bits = value.bit_generator if isinstance(value, np.random.Generator) else value._bit_generator
            node = {type(value).__name__: self.node(dict(bits.state), path)}
        else:
            node = self._part(value, path)
        self._numbers[id(value)] = self._n_written
        self._n_written += 1
        return node

    def _part(self, value: Any, path: str) -> Any:
        part = part_of(type(value))
        if part is None:
            raise InputError(_refusal(value, path))
        state = part.how.take(value)
        for name in state:
            if not part.how.allows(name):
                raise InputError(
                    f"a model file has no place for {path}.{name}: it is not among the attributes of {part.name} "
                    "in Accord's table of model types. Use a version of the library that Accord was tested with."
                )
        return {part.name: {name: self.node(held, f"{path}.{name}") for name, held in state.items()}}


_WRITERS: Mapping[type, Callable[[_Writer, Any, str], Any]] = {
    float: _Writer._float,
    dict: _Writer._dict,
    np.ndarray: _Writer._array,
    list: lambda writer, value, path: writer.nodes(value, path),
    tuple: lambda writer, value, path: {"tuple": writer.nodes(value, path)},
    set: lambda writer, value, path: {"set": writer.nodes(sorted(value), path)},
    frozenset: lambda writer, value, path: {"frozenset": writer.nodes(sorted(value), path)},
    slice: lambda writer, value, path: {"slice": writer.nodes([value.start, value.stop, value.step], path)},
}


def _refusal(value: Any, path: str) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value) and not hasattr(value, "get_params"):
        return (
            f"a model file holds no functions; {path} is one ({kind}). Compute what it gives beforehand and pass "
            "features, or use one of the settings that are names."
        )
    return (
        f"a model file holds only the types of Accord's table; {path} is {kind}. Use another setting there, or one of "
        f"{', '.join(sorted(name for name in TYPES if name.startswith('sklearn.')))}."
    )


def _dtype_name(dtype: np.dtype[Any], path: str) -> str:
    little = dtype.newbyteorder("<")
    if not _DTYPE.match(little.str) or little != dtype:
        raise InputError(f"a model file holds arrays of numbers, truth values and texts; {path} holds {dtype}.")
    return str(little.str)


def array_header(dtype: str, shape: Sequence[int], fortran: bool) -> bytes:
    """The first bytes of an array's file in NumPy's format; they are written and compared, never read."""
    sizes = "".join(f"{size}, " for size in shape) if len(shape) != 1 else f"{shape[0]},"
    text = f"{{'descr': {dtype!r}, 'fortran_order': {bool(fortran)}, 'shape': ({sizes.removesuffix(', ')}), }}"
    length = -(-(len(text) + 11) // 64) * 64 - 10  # the whole header is a multiple of 64 bytes
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + text.ljust(length - 1).encode() + b"\n"


def array_bytes(value: AnyArray) -> tuple[bytes, Any]:
    """An array's file: header and content."""
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    content = np.ascontiguousarray(value.T if fortran else value)
    return array_header(value.dtype.newbyteorder("<").str, value.shape, fortran), content.reshape(-1).view(np.uint8)


# -- checking ------------------------------------------------------------------------------------------------------


class Malformed(ValueError):
    """A tree that no model is written as."""


def _need(rule: bool, what: str) -> None:
    if not rule:
        raise Malformed(what)


def _named(content: Any, *names: str) -> None:
    _need(type(content) is dict and set(content) == set(names), f"{names[0]} is not where it must be")


def _check_shape(shape: Any) -> None:
    _need(type(shape) is list and len(shape) <= 8, "an array has a wrong shape")
    _need(all(type(size) is int and 0 <= size < 2**48 for size in shape), "an array has a wrong shape")


def check_tree(tree: Any, sizes: Sequence[int]) -> None:
    """Refuse a tree that names what is not in the table, or an array that is not as large as it says.

    Parameters
    ----------
    tree : plain values, as JSON holds them
    sizes : sequence of int
        The bytes of each array's file.
    """
    _Checker(sizes).node(tree, 0)


class _Checker:
    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes

    def node(self, node: Any, depth: int) -> None:
        _need(depth <= _DEEPEST, "it is nested too deeply")
        if type(node) is list:
            self.nodes(node, depth)
        elif type(node) is dict:
            _need(len(node) == 1, "an object has one name")
            ((name, content),) = node.items()
            if name in TYPES:
                _need(type(content) is dict, f"{name} must have named values")
                for attribute, held in content.items():
                    _need(TYPES[name].how.allows(attribute), f"{name} has no {attribute!r}")
                    self.node(held, depth + 1)
            else:
                _need(name in _CHECKS, f"{name!r} is not in the table of types")
                _CHECKS[name](self, content, depth + 1)
        else:
            _need(type(node) in (*_AS_THEY_ARE, float), "a value is not plain")

    def nodes(self, nodes: Any, depth: int) -> None:
        _need(type(nodes) is list, "a list is missing")
        for node in nodes:
            if type(node) not in _AS_THEY_ARE:
                self.node(node, depth + 1)

    def _array(self, content: Any, depth: int) -> None:
        _named(content, "place", "dtype", "shape", "fortran")
        place, dtype, fortran = content["place"], content["dtype"], content["fortran"]
        _need(type(place) is int and 0 <= place < len(self._sizes), "an array is missing")
        _need(type(dtype) is str and _DTYPE.match(dtype) is not None, f"arrays of {dtype!r} are not in the table")
        _need(type(fortran) is bool, "an array has no order")
        _check_shape(content["shape"])
        n_bytes = math.prod(content["shape"]) * np.dtype(dtype).itemsize
        expected = n_bytes + len(array_header(dtype, content["shape"], fortran))
        _need(self._sizes[place] == expected, f"an array says that it has {n_bytes:,} bytes and has others")

    def _scalar(self, content: Any, depth: int) -> None:
        _named(content, "dtype", "value")
        _check_dtype(self, content["dtype"], depth)
        self.node(content["value"], depth)

    def _objects(self, content: Any, depth: int) -> None:
        _named(content, "shape", "values")
        _check_shape(content["shape"])
        self.nodes(content["values"], depth)
        _need(math.prod(content["shape"]) == len(content["values"]), "an array has a wrong shape")

    def _sparse(self, content: Any, depth: int) -> None:
        _named(content, "shape", "data", "indices", "indptr")
        _check_shape(content["shape"])
        for name in ("data", "indices", "indptr"):
            _need(type(content[name]) is dict and set(content[name]) == {"array"}, "a sparse matrix has three arrays")
            self.node(content[name], depth)

    def _dict(self, content: Any, depth: int) -> None:
        _need(type(content) is dict, "a dictionary is missing")
        self.nodes(list(content.values()), depth)

    def _pairs(self, content: Any, depth: int) -> None:
        _need(type(content) is list, "a dictionary is missing")
        for pair in content:
            _need(type(pair) is list and len(pair) == 2, "a dictionary has keys and values")
            self.nodes(pair, depth)


def _one_of(names: Sequence[str]) -> Callable[[_Checker, Any, int], None]:
    def check(checker: _Checker, content: Any, depth: int) -> None:
        _need(type(content) is str and content in names, f"{content!r} is not in the table")

    return check


def _check_same(checker: _Checker, content: Any, depth: int) -> None:
    _need(type(content) is int and content >= 0, "an object refers to none")


def _check_slice(checker: _Checker, content: Any, depth: int) -> None:
    _need(type(content) is list and len(content) == 3, "a slice has three ends")
    _need(all(type(end) in (int, type(None)) for end in content), "a slice has three ends")


def _check_dtype(checker: _Checker, content: Any, depth: int) -> None:
    _need(type(content) is str and _DTYPE.match(content) is not None, f"{content!r} is no type of numbers")


_CHECKS: Mapping[str, Callable[[_Checker, Any, int], None]] = {
    "array": _Checker._array,
    "scalar": _Checker._scalar,
    "objects": _Checker._objects,
    "dict": _Checker._dict,
    "pairs": _Checker._pairs,
    **dict.fromkeys(("tuple", "set", "frozenset"), _Checker.nodes),
    **dict.fromkeys(_SPARSE, _Checker._sparse),
    **dict.fromkeys(("Generator", "RandomState"), _Checker.node),
    "slice": _check_slice,
    "same": _check_same,
    "dtype": _check_dtype,
    "float": _one_of(("nan", "inf", "-inf")),
    "type": _one_of(tuple(_NUMBER_TYPES)),
}


# -- reading -------------------------------------------------------------------------------------------------------


def build(tree: Any, read: Callable[[int], bytes]) -> Any:
    """The model of a checked tree; ``read`` gives the file of the array at a place.

    Raises what constructors raise for values that they do not take (``ValueError`` and its like).
    """
    return _Builder(read).node(tree)


class _Builder:
    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._arrays: dict[int, tuple[Any, AnyArray]] = {}
        self._made: list[Any] = []

    def node(self, node: Any) -> Any:
        if type(node) is list:
            return self.nodes(node)
        if type(node) is not dict:
            return node
        ((name, content),) = node.items()
        if name in _BUILDERS:
            return _BUILDERS[name](self, content)
        if name in _SPARSE:
            made: Any = self._sparse(_SPARSE[name], content)
        elif name in TYPES:
            state = {attribute: self.node(held) for attribute, held in content.items()}
            made = TYPES[name].how.make(TYPES[name].kind, state)
        else:
            made = _random(name, self.node(content))
        self._made.append(made)
        return made

    def nodes(self, nodes: list[Any]) -> list[Any]:
        return [node if type(node) in _AS_THEY_ARE else self.node(node) for node in nodes]

    def array(self, content: Mapping[str, Any]) -> AnyArray:
        place = content["place"]
        if place not in self._arrays:
            raw = self._read(place)
            header = array_header(content["dtype"], content["shape"], content["fortran"])
            if raw[: len(header)] != header:
                raise Malformed("an array is not what the model says")
            flat = np.frombuffer(raw, dtype=content["dtype"], offset=len(header)).copy()
            shape = tuple(content["shape"])
            made = flat.reshape(shape[::-1]).T if content["fortran"] else flat.reshape(shape)
            self._arrays[place] = dict(content), made
        described, made = self._arrays[place]
        if described != content:
            raise Malformed("an array is described in two ways")
        return made

    def objects(self, content: Mapping[str, Any]) -> AnyArray:
        made = np.empty(len(content["values"]), dtype=object)
        made[:] = self.nodes(content["values"])
        return made.reshape(content["shape"])

    def same(self, number: int) -> Any:
        if number >= len(self._made):
            raise Malformed("an object refers to none")
        return self._made[number]

    def pairs(self, content: list[Any]) -> dict[Any, Any]:
        return {self.node(key): self.node(held) for key, held in content}

    def _sparse(self, kind: Any, content: Mapping[str, Any]) -> Any:
        parts = tuple(self.node(content[name]) for name in ("data", "indices", "indptr"))
        made = kind(parts, shape=tuple(content["shape"]))
        made.check_format(full_check=True)  # compiled code trusts the indices
        return made


_BUILDERS: Mapping[str, Callable[[_Builder, Any], Any]] = {
    "array": _Builder.array,
    "scalar": lambda builder, content: np.dtype(content["dtype"]).type(builder.node(content["value"])),
    "objects": _Builder.objects,
    "dict": lambda builder, content: dict(zip(content, builder.nodes(list(content.values())), strict=True)),
    "pairs": _Builder.pairs,
    "same": _Builder.same,
    "tuple": lambda builder, content: tuple(builder.nodes(content)),
    "set": lambda builder, content: set(builder.nodes(content)),
    "frozenset": lambda builder, content: frozenset(builder.nodes(content)),
    "slice": lambda builder, content: slice(*content),
    "dtype": lambda builder, content: np.dtype(content),
    "float": lambda builder, content: float(content),
    "type": lambda builder, content: _NUMBER_TYPES[content],
}


def _random(name: str, state: Any) -> Any:
    """A generator of random numbers that goes on where it was."""
    if not isinstance(state, dict) or state.get("bit_generator") not in _BITS:
        raise Malformed("a generator of random numbers has another state")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits) if name == "Generator" else np.random.RandomState(bits)
