"""Kernels over named feature groups, written as families joined by ``+``, with base scales from the items."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accord.errors import InputError
from accord.pairs.process.kernels import FAMILIES, Factor, Inputs, Kernel, Term
from accord.pairs.process.length_scales import half_mean_square, median_by_feature, median_distance
from accord.typing import FloatArray

__all__ = ["design_kernel", "isotropic_start", "parameter_table", "starting_point"]


def _families(spec: str) -> list[str]:
    names = [name.strip() for name in spec.split("+")]
    for name in names:
        if name not in FAMILIES:
            raise InputError(f"a kernel is written as {', '.join(FAMILIES)}, joined by '+'; got {spec!r}.")
    return names


def _factor(family: str, part: int, x: Any, *, ard: bool, rng: np.random.Generator) -> Factor:
    if family == "linear":
        return Factor(family, part, np.array([half_mean_square(x, rng)]))
    if family == "matern_product":
        return Factor(family, part, median_by_feature(x, rng), ard)
    base = np.array([median_distance(x, rng)])
    return Factor(family, part, np.repeat(base, x.shape[1]) if ard else base, ard)


def design_kernel(
    inputs: Inputs,
    names: Sequence[str],
    *,
    families: str | Mapping[str, str],
    combine: str,
    ard: bool,
    item_effects: bool,
    rng: np.random.Generator,
) -> Kernel:
    """A sum over groups of each group's families; or, with ``combine="product"``, a product over groups.

    Parameters
    ----------
    inputs : Inputs
        All items, from which the base scales are taken.
    names : sequence of str
        Names of the groups, in the order of ``inputs.parts``.
    families : str or mapping of group to str
    """
    if isinstance(families, str):
        chosen = {name: _families(families) for name in names}
    else:
        unknown = sorted(set(families) - set(names))
        if unknown:
            raise InputError(f"kernel names groups of features; there is no group {unknown[0]!r} among {list(names)}.")
        chosen = {name: _families(families.get(name, "linear+matern")) for name in names}
    terms: list[Term] = []
    if combine == "product" and names:
        width = sum(part.shape[1] for part in inputs.parts)
        for k in range(max(len(found) for found in chosen.values())):
            factors = []
            for part, name in enumerate(names):
                family = chosen[name][min(k, len(chosen[name]) - 1)]
                factor = _factor(family, part, inputs.parts[part], ard=ard, rng=rng)
                if family == "matern_product":
                    # The published scale is the median times the number of all features, not of the group's.
                    factor = Factor(family, part, factor.base * (width / factor.base.size), ard)
                factors.append(factor)
            terms.append(Term("×".join(dict.fromkeys(f.family for f in factors)), tuple(factors)))
    else:
        for part, name in enumerate(names):
            for family in chosen[name]:
                terms.append(Term(family, (_factor(family, part, inputs.parts[part], ard=ard, rng=rng),)))
    if item_effects:
        terms.append(Term("item", ()))
    return Kernel(tuple(terms))


def starting_point(kernel: Kernel) -> FloatArray:
    """θ with a total variance of about 1, shared out evenly, and the base length-scales."""
    theta = np.zeros(kernel.n_parameters)
    theta[kernel.is_variance] = -np.log(len(kernel.terms))
    return theta


def isotropic_start(plain: Kernel, theta: FloatArray, ard: Kernel) -> FloatArray:
    """θ of a kernel with one length-scale a feature that equals the kernel with one a group at ``theta``."""
    found, at = [], 0
    for term, wider in zip(plain.terms, ard.terms, strict=True):
        found.append(theta[at : at + 1])
        at += 1
        for factor, many in zip(term.factors, wider.factors, strict=True):
            found.append(
                np.repeat(theta[at : at + factor.n_parameters], many.n_parameters if factor.n_parameters else 0)
            )
            at += factor.n_parameters
    return np.concatenate(found)


def parameter_table(kernel: Kernel, theta: FloatArray, names: Sequence[str]) -> dict[str, list[Any]]:
    """Variances and length-scales as columns ``term, group, parameter, value``; a vector's value is its median."""
    table: dict[str, list[Any]] = {"term": [], "group": [], "parameter": [], "value": []}
    for term, part in zip(kernel.terms, kernel.slices, strict=True):
        group = "+".join(names[factor.part] for factor in term.factors)
        entries = [(group, "variance", float(np.exp(theta[part.start])))]
        at = part.start + 1
        for factor in term.factors:
            if factor.n_parameters:
                lengths = factor.base * np.exp(theta[at : at + factor.n_parameters])
                entries.append((names[factor.part], "length_scale", float(np.median(lengths))))
                at += factor.n_parameters
        for entry in entries:
            for column, value in zip(table, (term.name, *entry), strict=True):
                table[column].append(value)
    return table
