"""Kernels: what makes two texts similar, as sums and products over named groups of features.

A :class:`Kernel` is a sum of terms; a term is a variance times a product of factors; a factor is one family on one
group of features. All parameters are logarithms, relative to a base scale: zero is the base.

    K = Σ_t e^{θ_t} Π_f k_f(x_g, x'_g; l_f = base_f · e^{θ_f})

A term without factors is the item effect: 1 for the same item, 0 otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from accord.errors import InputError
from accord.pairs.process.matern_product import product_gradient, product_matrix, product_rows
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["FAMILIES", "Block", "Factor", "Inputs", "Kernel", "Term", "squared_distances"]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features of items, one matrix a group, and who each item is.

    Parameters
    ----------
    parts : tuple of arrays or CSR arrays of shape (n_items, n_features of the group)
    index : int array of shape (n_items,)
        Identity of each item for the item effect; −1 is nobody in particular.
    """

    parts: tuple[Any, ...]
    index: IntArray

    @property
    def n(self) -> int:
        """Number of items."""
        return self.index.size

    def take(self, rows: IntArray) -> "Inputs":
        """Some of the items, in the order given."""
        return Inputs(tuple(part[rows] for part in self.parts), self.index[rows])


def squared_distances(x: Any, z: Any, *, paired: bool = False) -> FloatArray:
    """Squared Euclidean distances between the rows of ``x`` and ``z``, shape (n, m), or (n,) if paired."""
    if paired:
        difference = x - z
        if sp.issparse(difference):
            return np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", difference, difference)
    if sp.issparse(x):
        xx = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        zz = np.asarray(z.multiply(z).sum(axis=1)).ravel()
        distances = xx[:, None] + zz - 2.0 * (x @ z.T).toarray()
    else:
        distances = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", z, z) - 2.0 * (x @ z.T)
    np.maximum(distances, 0.0, out=distances)
    if x is z:
        np.fill_diagonal(distances, 0.0)
    return distances


class Block(Protocol):
    """Kernel values between two fixed sets of items, as a function of the parameters."""

    def value(self, theta: FloatArray) -> FloatArray:
        """Values, shape (n, m), or (n,) if paired."""

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        """Σ weights · ∂ value / ∂ θ, shape (n_parameters,)."""


# d² → the kernel, and its slope with ∂k/∂ log l = slope · d² (d² = Σ δ²/l²); they share the exponential
def _matern32(d2: FloatArray) -> tuple[FloatArray, FloatArray]:
    r = np.sqrt(3.0 * d2)
    e = np.exp(-r)
    r += 1.0
    r *= e
    return r, e * 3.0


def _rbf(d2: FloatArray) -> tuple[FloatArray, FloatArray]:
    k = np.exp(-0.5 * d2)
    return k, k


_PROFILES: dict[str, Callable[[FloatArray], tuple[FloatArray, FloatArray]]] = {"matern": _matern32, "rbf": _rbf}


@dataclass(frozen=True)
class Factor:
    """One kernel family on one group of features.

    Parameters
    ----------
    family : {"matern", "rbf", "linear", "matern_product"}
    part : int
        Which group.
    base : array of shape (n_features,) or (1,)
        Length-scales at θ = 0. For ``linear``: the divisor of the inner product.
    ard : bool
        One length-scale a feature instead of one for the group.
    """

    family: str
    part: int
    base: FloatArray
    ard: bool = False

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise InputError(f"a kernel must be one of {', '.join(FAMILIES)}; this is {self.family!r}.")

    @property
    def n_parameters(self) -> int:
        """Number of log length-scales."""
        if self.family == "linear":
            return 0
        return self.base.size if self.ard else 1


class _Linear:
    def __init__(self, factor: Factor, x: Any, z: Any, paired: bool) -> None:
        if paired:
            product = x.multiply(z) if sp.issparse(x) else x * z
            values = np.asarray(product.sum(axis=1)).ravel()
        else:
            values = x @ z.T
            values = values.toarray() if sp.issparse(values) else values
        self._values: FloatArray = values / float(factor.base[0])

    def value(self, theta: FloatArray) -> FloatArray:
        return self._values

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        return np.zeros(0)


class _Isotropic:
    """Stationary in the Euclidean distance, one length-scale: the distances are computed once."""

    def __init__(self, factor: Factor, x: Any, z: Any, paired: bool) -> None:
        self._profile = _PROFILES[factor.family]
        base = factor.base if factor.base.size > 1 else float(factor.base[0])
        a = _divided(x, base)
        self._d2 = squared_distances(a, a if z is x else _divided(z, base), paired=paired)
        self._last: tuple[float, FloatArray, FloatArray] | None = None

    def _at(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        if self._last is None or self._last[0] != theta[0]:
            self._last = (float(theta[0]), *self._profile(self._d2 * np.exp(-2.0 * theta[0])))
        return self._last

    def value(self, theta: FloatArray) -> FloatArray:
        return self._at(theta)[1]

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        slope = self._at(theta)[2]
        return np.array([np.exp(-2.0 * theta[0]) * np.vdot(weights, slope * self._d2)])


class _Ard:
    """Stationary in the Euclidean distance, one length-scale a feature."""

    def __init__(self, factor: Factor, x: Any, z: Any, paired: bool) -> None:
        self._profile = _PROFILES[factor.family]
        self._x, self._z, self._paired, self._base = x, z, paired, factor.base
        self._last: tuple[bytes, Any, Any, FloatArray, FloatArray] | None = None

    def _at(self, theta: FloatArray) -> tuple[bytes, Any, Any, FloatArray, FloatArray]:
        key = theta.tobytes()
        if self._last is None or self._last[0] != key:
            lengths = self._base * np.exp(theta)
            a = _divided(self._x, lengths)
            b = a if self._z is self._x else _divided(self._z, lengths)
            self._last = (key, a, b, *self._profile(squared_distances(a, b, paired=self._paired)))
        return self._last

    def value(self, theta: FloatArray) -> FloatArray:
        return self._at(theta)[3]

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        _, a, b, _, slope = self._at(theta)
        v = weights * slope
        if self._paired:
            difference = a - b
            squares = difference.multiply(difference) if sp.issparse(difference) else difference**2
            return np.asarray(squares.T @ v).ravel()
        # Σ_ij v_ij (a_id − b_jd)²
        a2, b2 = (a.multiply(a), b.multiply(b)) if sp.issparse(a) else (a**2, b**2)
        cross = np.zeros(self._base.size)
        for first in range(0, a.shape[0], 256):
            rows = slice(first, first + 256)
            product = v[rows] @ b
            cross += np.asarray(
                (a[rows].multiply(product) if sp.issparse(a) else a[rows] * product).sum(axis=0)
            ).ravel()
        return np.asarray(v.sum(axis=1) @ a2).ravel() + np.asarray(v.sum(axis=0) @ b2).ravel() - 2.0 * cross


class _Product:
    """The product Matérn 3/2 of [SG18], with one multiplier or one length-scale a feature."""

    def __init__(self, factor: Factor, x: Any, z: Any, paired: bool) -> None:
        self._x = product_rows(x)
        self._z = self._x if z is x else product_rows(z)
        self._paired, self._factor = paired, factor
        self._last: tuple[bytes, FloatArray] | None = None

    def _lengths(self, theta: FloatArray) -> FloatArray:
        return np.broadcast_to(self._factor.base * np.exp(theta), (self._x.shape[1],))

    def value(self, theta: FloatArray) -> FloatArray:
        key = theta.tobytes()
        if self._last is None or self._last[0] != key:
            values = product_matrix(self._x, self._z, self._lengths(theta), paired=self._paired)
            self._last = key, values
        return self._last[1]

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        gradient = product_gradient(
            self._x, self._z, self._lengths(theta), weights * self.value(theta), paired=self._paired
        )
        return gradient if self._factor.ard else np.array([gradient.sum()])


def _divided(x: Any, lengths: FloatArray | float) -> Any:
    if sp.issparse(x):
        scaled = sp.csr_array(x, dtype=np.float64, copy=True)
        scaled.data /= lengths if isinstance(lengths, float) else lengths[scaled.indices]
        return scaled
    return x / lengths


def _stationary(factor: Factor, x: Any, z: Any, paired: bool) -> Block:
    return (_Ard if factor.ard else _Isotropic)(factor, x, z, paired)


# name → what computes its values
FAMILIES: dict[str, Callable[[Factor, Any, Any, bool], Block]] = {
    "linear": _Linear,
    "matern": _stationary,
    "matern_product": _Product,
    "rbf": _stationary,
}


@dataclass(frozen=True)
class Term:
    """A variance times a product of factors; without factors, the item effect."""

    name: str
    factors: tuple[Factor, ...]

    @property
    def n_parameters(self) -> int:
        """One log variance and the factors' log length-scales."""
        return 1 + sum(factor.n_parameters for factor in self.factors)


class _TermBlock:
    def __init__(self, term: Term, x: Inputs, z: Inputs, paired: bool) -> None:
        self._blocks = [FAMILIES[f.family](f, x.parts[f.part], z.parts[f.part], paired) for f in term.factors]
        ends = np.cumsum([1, *(f.n_parameters for f in term.factors)])
        self._slices = [slice(a, b) for a, b in pairwise(ends)]
        self._same: FloatArray | None = None
        if not term.factors:
            a, b = (x.index, z.index) if paired else (x.index[:, None], z.index[None, :])
            self._same = ((a == b) & (a >= 0)).astype(np.float64)

    def _values(self, theta: FloatArray) -> list[FloatArray]:
        return [block.value(theta[part]) for block, part in zip(self._blocks, self._slices, strict=True)]

    def value(self, theta: FloatArray) -> FloatArray:
        if self._same is not None:
            return np.exp(theta[0]) * self._same
        values = self._values(theta)
        product = np.exp(theta[0]) * values[0]
        for other in values[1:]:
            product *= other
        return product

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        if self._same is not None:
            return np.array([np.exp(theta[0]) * np.vdot(weights, self._same)])
        values = self._values(theta)
        scaled = np.exp(theta[0]) * weights
        pieces = []
        for k, (block, part) in enumerate(zip(self._blocks, self._slices, strict=True)):
            others = scaled
            for j, value in enumerate(values):
                others = others if j == k else others * value
            if k == 0:
                pieces.append(np.array([np.vdot(others, values[0])]))
            pieces.append(block.gradient(theta[part], others))
        return np.concatenate(pieces)


class _SumBlock:
    def __init__(self, kernel: "Kernel", x: Inputs, z: Inputs, paired: bool) -> None:
        self._blocks = [_TermBlock(term, x, z, paired) for term in kernel.terms]
        self._slices = kernel.slices
        self._shape = (x.n,) if paired else (x.n, z.n)

    def value(self, theta: FloatArray) -> FloatArray:
        total = np.zeros(self._shape)
        for block, part in zip(self._blocks, self._slices, strict=True):
            total += block.value(theta[part])
        return total

    def gradient(self, theta: FloatArray, weights: FloatArray) -> FloatArray:
        pairs = zip(self._blocks, self._slices, strict=True)
        return np.concatenate([block.gradient(theta[part], weights) for block, part in pairs])


@dataclass(frozen=True)
class Kernel:
    """A sum of terms."""

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        if not self.terms:
            raise InputError("a kernel needs at least one term; it has none. Give features or allow item effects.")

    @property
    def n_parameters(self) -> int:
        """Number of entries of θ."""
        return sum(term.n_parameters for term in self.terms)

    @property
    def slices(self) -> list[slice]:
        """Where each term's parameters stand in θ."""
        ends = np.cumsum([0, *(term.n_parameters for term in self.terms)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @property
    def is_variance(self) -> AnyArray:
        """Which entries of θ are log variances, shape (n_parameters,)."""
        mask = np.zeros(self.n_parameters, dtype=bool)
        mask[[part.start for part in self.slices]] = True
        return mask

    def block(self, x: Inputs, z: Inputs | None = None, *, paired: bool = False) -> Block:
        """Values between the items of ``x`` and of ``z`` (``x`` itself if not given), ready for any θ."""
        return _SumBlock(self, x, x if z is None else z, paired)

    def diagonal(self, theta: FloatArray, x: Inputs) -> FloatArray:
        """k(x, x) of every item, shape (n_items,)."""
        return self.block(x, x, paired=True).value(theta)

    def lengths(self, theta: FloatArray) -> dict[tuple[str, int], FloatArray]:
        """Length-scales by term name and group number."""
        found: dict[tuple[str, int], FloatArray] = {}
        for term, part in zip(self.terms, self.slices, strict=True):
            at = part.start + 1
            for factor in term.factors:
                own = theta[at : at + factor.n_parameters]
                at += factor.n_parameters
                if factor.n_parameters:
                    found[term.name, factor.part] = np.asarray(factor.base * np.exp(own))
        return found
