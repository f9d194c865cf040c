"""All engines by name. Each takes ``(graphs, *, max_iter, tol, warn, …)`` and returns :class:`Marginals`."""

from collections.abc import Callable

from accord.inference.auto import auto
from accord.inference.belief_propagation import belief_propagation
from accord.inference.chain import chain
from accord.inference.counting import counting
from accord.inference.exact import exact
from accord.inference.iterated import iterated
from accord.inference.marginals import Marginals
from accord.inference.mean_field import mean_field
from accord.inference.min_cut import min_cut, qpbo

__all__ = ["ENGINES"]

ENGINES: dict[str, Callable[..., Marginals]] = {
    "auto": auto,
    "belief_propagation": belief_propagation,
    "chain": chain,
    "counting": counting,
    "exact": exact,
    "iterated": iterated,
    "mean_field": mean_field,
    "min_cut": min_cut,
    "qpbo": qpbo,
}
