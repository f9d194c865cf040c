"""All engines by name. Each takes ``(graphs, *, max_iter, tol, warn, …)`` and returns :class:`Marginals`."""

from collections.abc import Callable

from accord.engines.auto import auto
from accord.engines.belief_propagation import belief_propagation
from accord.engines.chain import chain
from accord.engines.counting import counting
from accord.engines.exact import exact
from accord.engines.iterated import iterated
from accord.engines.marginals import Marginals
from accord.engines.mean_field import mean_field
from accord.engines.min_cut import min_cut, qpbo

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
