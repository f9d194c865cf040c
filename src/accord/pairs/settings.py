"""The settings of the ranker of pairs and their defaults."""

from collections.abc import Mapping
from typing import Any

from accord.errors import InputError

__all__ = ["PairSettings"]

_INFERENCE = ("auto", "variational", "svi", "laplace")


class PairSettings:
    """Stores the settings; :class:`~accord.PreferenceRanker` says what they mean."""

    def __init__(
        self,
        *,
        kernel: str | Mapping[str, str] = "linear+matern",
        combine: str = "sum",
        ard: bool = False,
        length_scales: str = "mlii",
        inference: str = "auto",
        n_inducing: int | None = None,
        ties: str = "half",
        position_bias: bool = False,
        item_effects: bool | None = None,
        reliability: str | None = None,
        standardise: bool = True,
        variance_guard: bool = False,
        features: Any = None,
        hyperparameters: Any = None,
        learning_items: int | None = 400,
        shrinkage: tuple[float, float] = (4.0, 1.5),
        noise_prior: tuple[float, float] = (2.0, 200.0),
        batch_size: int = 2000,
        n_epochs: int | None = None,
        forgetting: float = 0.7,
        delay: float = 1.0,
        n_jobs: int | None = None,
        client: Any = None,
        max_iter: int = 12,
        tol: float = 1e-3,
        random_state: int | None = 0,
    ) -> None:
        self.kernel = kernel
        self.combine = combine
        self.ard = ard
        self.length_scales = length_scales
        self.inference = inference
        self.n_inducing = n_inducing
        self.ties = ties
        self.position_bias = position_bias
        self.item_effects = item_effects
        self.reliability = reliability
        self.standardise = standardise
        self.variance_guard = variance_guard
        self.features = features
        self.hyperparameters = hyperparameters
        self.learning_items = learning_items
        self.shrinkage = shrinkage
        self.noise_prior = noise_prior
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.forgetting = forgetting
        self.delay = delay
        self.n_jobs = n_jobs
        self.client = client
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_settings(self) -> None:
        choices: dict[str, tuple[Any, ...]] = {
            "inference": _INFERENCE,
            "length_scales": ("mlii", "median", "base"),
            "combine": ("sum", "product"),
            "ties": ("half", "margin"),
            "reliability": (None, "em"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(map(str, allowed))}; got {getattr(self, name)!r}.")
