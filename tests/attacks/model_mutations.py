"""Model files changed at random: in their bytes, and in what they say, with everything around it made right again."""

import copy
import io
import json
import zipfile
from typing import Any

import numpy as np

__all__ = ["mutated", "pack", "slightly_mutated", "unpack"]

# What a file should not be able to say.
NASTY: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**31, 2**63, 2**200, 1e308, "", "x", "__class__", "__reduce__", "predict", "fit", "filename"),
    *("os.system", "numpy.distutils.exec_command.Popen", "numpy.lib.npyio.DataSource", "tcp://host:8786", "../../x"),
    *([], {}, [[]], {"a": 1, "b": 2}, {"os.system": ["true"]}, {"builtins.eval": "1"}, {"sklearn.Pipeline": {}}),
    *({"type": "object"}, {"dtype": "O"}, {"dtype": "|V8"}, {"same": 0}, {"same": 10**6}, {"float": "1e5"}),
    *(
        {"tuple": [[], {}]},
        {"set": [[1]]},
        {"pairs": [[[1], 2]]},
        {"pairs": [[{"dict": {}}, 2]]},
        {"slice": [1, 2, "x"]},
    ),
    *({"Generator": {"dict": {"bit_generator": "PCG64", "state": 1}}}, {"RandomState": None}),
    *({"objects": {"shape": [2**40, 0], "values": []}}, {"objects": {"shape": [2], "values": [1]}}),
    {"array": {"place": 0, "dtype": "<f8", "shape": [2**40, 2**40], "fortran": False}},
    {"csr_matrix": {"shape": [1, 1], "data": {"array": {}}, "indices": {"array": {}}, "indptr": {"array": {}}}},
    {"sklearn.CountVectorizer": {"input": "filename"}},
    {"texts.WordVectors": {"_place": {"dict": {"a": 9}}, "_vectors": 3}},
)


def unpack(raw: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The document of a model file, and its other files by name."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("model.json")), files


def pack(document: Any, files: dict[str, bytes], *, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A model file of these, with right sums."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("model.json", document if isinstance(document, bytes) else json.dumps(document))
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """A model file with one to four changes."""
    if rng.random() < 0.3:
        return _bytes(raw, rng)
    document, files = unpack(raw)
    for _ in range(rng.integers(1, 5)):
        if rng.random() < 0.2 and files:
            name = str(rng.choice(sorted(files)))
            files[name] = _bytes(files[name], rng)
        else:
            document = _value(document, rng)
    return pack(document, files)


def slightly_mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """A model file that often still loads: one number, or some entries of an array, say something else."""
    document, files = unpack(raw)
    if rng.random() < 0.5 and files:
        name = str(rng.choice(sorted(files)))
        files[name] = _entries(files[name], rng)
        return pack(document, files)
    numbers = [
        (holder, key) for holder, key in _places(document["model"])
        if isinstance(holder[key], int | float) and key not in ("place", "fortran")
    ]  # fmt: skip
    holder, key = numbers[int(rng.integers(len(numbers)))]
    held = holder[key]
    if isinstance(held, bool):
        holder[key] = not held
    else:
        others = (0, 1, -1, -held, held + 1, held * 1000, held / 3, 2**31, 10**12, 1e300, 1e-300, 0.5)
        value = others[int(rng.integers(len(others)))]
        holder[key] = int(value) if isinstance(held, int) and rng.random() < 0.8 else float(value)
    return pack(document, files)


def _entries(raw: bytes, rng: np.random.Generator) -> bytes:
    """An array of the same type and shape with some entries changed."""
    array = np.load(io.BytesIO(raw))
    flat = array.reshape(-1)
    if not flat.size or flat.dtype.names is not None:
        return _bytes(raw, rng)
    for place in rng.integers(0, flat.size, int(rng.integers(1, 5))):
        if flat.dtype.kind == "f":
            with np.errstate(over="ignore"):  # 1e300 is infinite among short floats
                flat[place] = rng.choice([0.0, -1.0, 1e300, -1e300, np.nan, np.inf, 1e-300, flat[place] * 10])
        elif flat.dtype.kind in "iu":
            limits = np.iinfo(flat.dtype)
            flat[place] = int(rng.choice([0, 1, limits.max, limits.min, flat[int(rng.integers(flat.size))]]))
        else:
            flat[place] = flat[int(rng.integers(flat.size))]
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _bytes(raw: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(raw)
    for _ in range(rng.integers(1, 6)):
        place = int(rng.integers(0, len(out) + 1))
        way = rng.integers(5)
        if way == 0 and out:
            out[place % len(out)] = int(rng.integers(256))
        elif way == 1 and out:
            out[place % len(out)] ^= 1 << int(rng.integers(8))
        elif way == 2:
            del out[place : place + int(rng.integers(1, 200))]
        elif way == 3:
            out[place:place] = rng.bytes(int(rng.integers(1, 20)))
        elif way == 4 and rng.random() < 0.2:
            del out[place:]
    return bytes(out)


def _value(document: Any, rng: np.random.Generator) -> Any:
    """A document with one value or name changed."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    if not places:
        return document
    holder, key = places[int(rng.integers(len(places)))]
    way = rng.integers(6)
    other, place = places[int(rng.integers(len(places)))]
    if way == 0:
        holder[key] = copy.deepcopy(NASTY[int(rng.integers(len(NASTY)))])
    elif way == 1:
        holder[key] = copy.deepcopy(other[place])
    elif way == 2:
        del holder[key]
    elif way == 3 and isinstance(holder, dict):
        new = NASTY[int(rng.integers(20))]
        holder[str(new) if rng.random() < 0.5 else str(place)] = holder.pop(key)
    elif way == 4 and isinstance(holder[key], int | float):
        holder[key] = type(holder[key])(holder[key] * 2 + rng.integers(-2, 3))
    elif isinstance(holder, list):
        holder.insert(int(key), copy.deepcopy(other[place]))
    else:
        holder[f"{key}_"] = copy.deepcopy(other[place])
    return document


def _places(value: Any) -> Any:
    """Every place of a document that holds something."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in pairs:
        yield value, key
        yield from _places(held)
