"""All engines by name. Each takes ``(graphs, *, max_iter, tol, warn, …)`` and returns :class:`Marginals`."""

from collections.abc import Callable

from accord.inference.belief_propagation import belief_propagation
from accord.inference.chain import chain
from accord.inference.exact import exact
from accord.inference.marginals import Marginals
from accord.inference.mean_field import mean_field

__all__ = ["ENGINES"]

ENGINES: dict[str, Callable[..., Marginals]] = {
    "belief_propagation": belief_propagation,
    "chain": chain,
    "exact": exact,
    "mean_field": mean_field,
}
