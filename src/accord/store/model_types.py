"""The types that a model file may hold, each by its exact name; nothing else is ever looked up.

To let models hold one more class, add a line to ``TYPES``: the room and the class's name, the module it stands in, and
how it is taken apart. ``RECORD`` is for dataclasses, ``ESTIMATOR`` for Accord's own estimators, ``Learnt(...)`` for a
class of another library, with the list of what fitting gives it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from inspect import getattr_static
from typing import Any, Protocol

import numpy as np

from accord.errors import InputError
from accord.fitting.settings import check_settings

__all__ = ["ESTIMATOR", "RECORD", "TYPES", "How", "Learnt", "Part", "part_of"]

# Where a model is run is not part of it: a file must not choose processes, clusters or folders.
_PLACES = ("n_jobs", "client", "cache_dir", "memory")
_NAME = re.compile(r"_?[A-Za-z][A-Za-z0-9_]*\Z")


class How(Protocol):
    """How an object is taken apart into named values, and made from them."""

    def allows(self, name: str) -> bool:
        """Whether a file may give this name a value; decided before anything is imported."""

    def take(self, value: Any) -> dict[str, Any]:
        """The named values of an object."""

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        """The object of these values; ``ValueError`` where they do not make one."""


class _Record:
    """A dataclass: its fields, handed to its constructor, which checks them."""

    def allows(self, name: str) -> bool:
        return _NAME.match(name) is not None

    def take(self, value: Any) -> dict[str, Any]:
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        known = {field.name for field in fields(kind) if field.init} if is_dataclass(kind) else set()
        if set(state) != known:
            raise ValueError(f"{kind.__name__} has other fields")
        return kind(**state)


class _Estimator:
    """An estimator of Accord: its settings, handed to its constructor, and whatever ``fit`` gave it."""

    def allows(self, name: str) -> bool:
        return _NAME.match(name) is not None and name not in _PLACES

    def take(self, value: Any) -> dict[str, Any]:
        return {name: held for name, held in vars(value).items() if name not in _PLACES}

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        made, fitted = _configured(kind, state)
        for name in fitted:
            defined = getattr_static(kind, name, None)
            if callable(defined) or hasattr(type(defined), "__get__"):
                raise ValueError(f"{kind.__name__}.{name} is a method, and no value can take its place")
        check_settings(made)
        vars(made).update(fitted)
        return made


class Learnt:
    """An object of another library: the settings of its constructor, and a list of what fitting gives it.

    Parameters
    ----------
    *attributes : str
        What fitting gives it and prediction needs.
    left_out : tuple of str
        What fitting gives it and prediction does not need.
    """

    def __init__(self, *attributes: str, left_out: tuple[str, ...] = ()) -> None:
        self._fitted = frozenset(attributes) | {"n_features_in_", "feature_names_in_"}
        self._left_out = frozenset((*left_out, *_PLACES))

    def allows(self, name: str) -> bool:
        # Names without a leading or trailing underscore are settings; those are compared with the constructor's.
        return name in self._fitted or (name[:1] != "_" and name[-1:] != "_" and name not in self._left_out)

    def take(self, value: Any) -> dict[str, Any]:
        return {name: held for name, held in vars(value).items() if name not in self._left_out}

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        made, fitted = _configured(kind, state)
        if not set(fitted) <= self._fitted:
            raise ValueError(f"{kind.__name__} has no setting {min(set(fitted) - self._fitted)!r}")
        vars(made).update(fitted)
        return made


def _configured(kind: Any, state: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """An estimator with its settings, and the values that are none."""
    names = set(kind._get_param_names())
    missing = names - set(_PLACES) - set(state)
    if missing:
        raise ValueError(f"{kind.__name__} lacks the setting {min(missing)!r}")
    made = kind(**{name: value for name, value in state.items() if name in names})
    return made, {name: value for name, value in state.items() if name not in names}


class _Plain:
    """A class of Accord that is neither: its attributes, as they are listed."""

    def __init__(self, *attributes: str) -> None:
        self._attributes = frozenset(attributes)

    def allows(self, name: str) -> bool:
        return name in self._attributes

    def take(self, value: Any) -> dict[str, Any]:
        return dict(vars(value))

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        if set(state) != self._attributes:
            raise ValueError(f"{kind.__name__} has other attributes")
        made: Any = object.__new__(kind)
        vars(made).update(state)
        return made


class _Steps(Learnt):
    """A pipeline or a union of named estimators."""

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        for name, part in state.get("steps", state.get("transformer_list", ())):
            if type(name) is not str or not (part in ("passthrough", "drop") or hasattr(part, "get_params")):
                raise ValueError(f"{kind.__name__} is made of named estimators")
        return super().make(kind, state)


class _Trees:
    """Boosted trees: all nodes in one table, so that a child that stands elsewhere can be refused."""

    _COLUMNS: tuple[str, ...] = (
        "value",
        "count",
        "feature_idx",
        "num_threshold",
        "missing_go_to_left",
        "left",
        "right",
        "gain",
    )
    _COLUMNS += ("depth", "is_leaf", "bin_threshold")
    _NAMES = frozenset({"settings", "classes_", "n_features_in_", "baseline", "n_trees", "sizes", "nodes"})

    def allows(self, name: str) -> bool:
        return name in self._NAMES

    def take(self, value: Any) -> dict[str, Any]:
        if value._preprocessor is not None:
            raise InputError("trees with categories cannot be saved. Give them numbers.")
        trees = [tree for step in value._predictors for tree in step]
        nodes = np.concatenate([tree.nodes for tree in trees])
        return {
            "settings": {name: given for name, given in value.get_params(deep=False).items() if name not in _PLACES},
            "classes_": value.classes_,
            "n_features_in_": value.n_features_in_,
            "baseline": value._baseline_prediction,
            "n_trees": value.n_trees_per_iteration_,
            "sizes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
            "nodes": {name: np.ascontiguousarray(nodes[name]) for name in self._COLUMNS},
        }

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        made: Any = kind(**state["settings"])
        sizes, columns, n_features, n_trees = (state[name] for name in ("sizes", "nodes", "n_features_in_", "n_trees"))
        nodes = np.zeros(int(sizes.sum()), dtype=PREDICTOR_RECORD_DTYPE)
        for name in self._COLUMNS:
            if columns[name].dtype != nodes.dtype[name] or columns[name].shape != nodes.shape:
                raise ValueError(f"the column {name!r} of a tree has another type or length")
            nodes[name] = columns[name]
        ends = np.cumsum(sizes)
        own, size = np.arange(len(nodes)) - np.repeat(ends - sizes, sizes), np.repeat(sizes, sizes)
        inner = nodes["is_leaf"] == 0
        sound = [nodes["left"] > own, nodes["right"] > own, nodes["left"] < size, nodes["right"] < size]
        sound += [nodes["feature_idx"] >= 0, nodes["feature_idx"] < n_features]
        if sizes.min() < 1 or n_trees < 1 or len(sizes) % n_trees or not all(rule[inner].all() for rule in sound):
            raise ValueError("a tree leads to a node or a feature that it does not have")
        none = np.zeros((0, 8), dtype=np.uint32)
        trees = [TreePredictor(part.copy(), none, none) for part in np.split(nodes, ends[:-1])]
        n_classes = len(state["classes_"])
        if n_trees != (1 if n_classes == 2 else n_classes) or state["baseline"].shape != (1, n_trees):
            raise ValueError("there must be as many trees in a step as labels to tell apart")
        mapper = _BinMapper()
        mapper.is_categorical_, mapper.bin_thresholds_ = np.zeros(n_features, dtype=np.uint8), []
        vars(made).update(
            classes_=state["classes_"], n_features_in_=n_features, n_trees_per_iteration_=n_trees, _bin_mapper=mapper,
            _n_features=n_features, _baseline_prediction=state["baseline"], _preprocessor=None, is_categorical_=None,
            _is_categorical_remapped=None, _loss=HalfBinomialLoss() if n_trees == 1 else HalfMultinomialLoss(n_classes),
            _predictors=[trees[start : start + n_trees] for start in range(0, len(trees), n_trees)],
        )  # fmt: skip
        return made


class _Words(Learnt):
    """A vectoriser: texts are given, not read from files; words are numbered without gaps, as compiled code trusts."""

    def take(self, value: Any) -> dict[str, Any]:
        state = super().take(value)
        if "vocabulary_" in state:
            state["vocabulary_"] = {word: int(place) for word, place in state["vocabulary_"].items()}
        return state

    def make(self, kind: type, state: dict[str, Any]) -> Any:
        if state.get("input") != "content":
            raise ValueError("a vectoriser must not read files")
        places = state.get("vocabulary_", {}).values()
        if not all(type(place) is int for place in places) or set(places) != set(range(len(places))):
            raise ValueError("the words of a vectoriser must be numbered from 0")
        return super().make(kind, state)


RECORD, ESTIMATOR = _Record(), _Estimator()
_LINEAR = ("coef_", "intercept_", "classes_", "n_iter_")
# In older versions of scikit-learn it has an attribute C, which is no setting.
_STOCHASTIC = Learnt(*_LINEAR, "t_", left_out=("_expanded_class_weight", "_loss_function_", "C"))
_WORDS = _Words("vocabulary_", "fixed_vocabulary_", "_tfidf", left_out=("_stop_words_id",))
_COMPONENTS = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")
_CONSTANT = ("classes_", "class_prior_", "n_classes_", "n_outputs_", "sparse_output_", "_strategy")
_BAYES = ("classes_", "class_count_", "feature_count_", "feature_log_prob_", "class_log_prior_", "feature_all_")


@dataclass(frozen=True, eq=False)
class Part:
    """One type that a model file may hold."""

    name: str  # room and class, as the file says it
    module: str
    how: How

    @property
    def kind(self) -> type:
        """The class itself; its module is imported when it is asked for."""
        found = getattr(import_module(self.module), self.name.rpartition(".")[2])
        if not isinstance(found, type):
            raise TypeError(f"{self.module} has no class {self.name}")
        return found


# The name in the file, the module that the class stands in, and how it is taken apart.
_TABLE: tuple[tuple[str, str, How], ...] = (
    ("data.Items", "accord.data.documents", RECORD),
    ("data.Comparisons", "accord.data.pairs", RECORD),
    ("engines.Convergence", "accord.engines.convergence", RECORD),
    ("texts.WordAnalyser", "accord.texts.words", RECORD),
    ("texts.FittedVectors", "accord.texts.vectors", RECORD),
    ("texts.WordVectors", "accord.texts.vectors", _Plain("_place", "_vectors")),
    # pairs
    ("pairs.PreferenceRanker", "accord.pairs.estimator", ESTIMATOR),
    ("pairs.BradleyTerryRanker", "accord.pairs.bradley_terry", ESTIMATOR),
    ("pairs.Strengths", "accord.pairs.bradley_terry", RECORD),
    ("pairs.AnchoredRanker", "accord.pairs.judges", ESTIMATOR),
    ("pairs.AnchoredDraws", "accord.pairs.anchored", RECORD),
    ("pairs.PersonalRanker", "accord.pairs.personal", ESTIMATOR),
    ("pairs.PersonalFit", "accord.pairs.process.personal", RECORD),
    ("pairs.Component", "accord.pairs.process.personal", RECORD),
    ("pairs.TasteGroups", "accord.pairs.taste_groups", RECORD),
    ("pairs.ArgumentFeatures", "accord.pairs.features", ESTIMATOR),
    ("pairs.NGrams", "accord.pairs.features", RECORD),
    ("pairs.FeatureGroups", "accord.pairs.feature_groups", RECORD),
    ("pairs.Habits", "accord.pairs.voters", RECORD),
    ("pairs.Voters", "accord.pairs.voters", RECORD),
    ("pairs.Inputs", "accord.pairs.process.kernels", RECORD),
    ("pairs.Factor", "accord.pairs.process.kernels", RECORD),
    ("pairs.Term", "accord.pairs.process.kernels", RECORD),
    ("pairs.Kernel", "accord.pairs.process.kernels", RECORD),
    ("pairs.Preference", "accord.pairs.process.likelihoods", RECORD),
    ("pairs.Ballots", "accord.pairs.process.likelihoods", RECORD),
    ("pairs.Draws", "accord.pairs.process.sampling", RECORD),
    ("pairs.SiteMemory", "accord.pairs.process.vote_counts", RECORD),
    ("pairs.Scorer", "accord.pairs.process.scorer", RECORD),
    ("pairs.SparseScorer", "accord.pairs.process.sparse", RECORD),
    ("pairs.Posterior", "accord.pairs.process.posterior", RECORD),
    ("pairs.Sites", "accord.pairs.process.posterior", RECORD),
    ("pairs.Votes", "accord.pairs.process.posterior", RECORD),
    # threads
    ("threads.ThreadClassifier", "accord.threads.estimator", ESTIMATOR),
    ("threads.ThreadFeatures", "accord.threads.features.table", ESTIMATOR),
    ("threads.StackedLogits", "accord.threads.features.stacking", ESTIMATOR),
    ("threads.Coupling", "accord.threads.held_out", RECORD),
    ("threads.Scaler", "accord.threads.design", RECORD),
    ("threads.ThreadWeights", "accord.threads.models", RECORD),
    ("threads.PerceptronPath", "accord.threads.local", RECORD),
    # aspects
    ("aspects.AspectRanker", "accord.aspects.estimator", ESTIMATOR),
    ("aspects.PhraseFeatures", "accord.aspects.features", ESTIMATOR),
    ("aspects.PRankWeights", "accord.aspects.prank", RECORD),
    ("aspects.GoodGrief", "accord.aspects.prank", RECORD),
    ("aspects.AgreementModel", "accord.aspects.agreement", RECORD),
    ("aspects.StackChoice", "accord.aspects.ordinal", RECORD),
    ("aspects.OrdinalLogits", "accord.aspects.ordinal", RECORD),
    ("aspects.Coupling", "accord.aspects.field_fit", RECORD),
    ("aspects.Whitening", "accord.aspects.field_fit", RECORD),
    ("aspects.Units", "accord.aspects.features", RECORD),
    ("aspects.AspectCRF", "accord.aspects.field_fit", RECORD),
    ("aspects.Scorers", "accord.aspects.scorers", RECORD),
    # links
    ("links.CollectiveClassifier", "accord.links.estimator", ESTIMATOR),
    ("links.IterativeClassifier", "accord.links.iterative", ESTIMATOR),
    ("links.StanceNgrams", "accord.links.features.stance", ESTIMATOR),
    ("links.RidgeScorer", "accord.links.ridge", ESTIMATOR),
    ("links.DualModel", "accord.links.dual", RECORD),
    ("links.Coupling", "accord.links.dual", RECORD),
    ("links.Calibration", "accord.links.content", RECORD),
    ("links.MixedRidge", "accord.links.content", RECORD),
    ("links.FeatureScale", "accord.links.features.words", RECORD),
    ("links.Agreement", "accord.links.dual", RECORD),
    ("links.CutModel", "accord.links.cut", RECORD),
    # rationales
    ("rationales.RationaleClassifier", "accord.rationales.estimator", ESTIMATOR),
    ("rationales.MaskingSVMClassifier", "accord.rationales.baselines", ESTIMATOR),
    ("rationales.TokenClassifier", "accord.rationales.baselines", ESTIMATOR),
    ("rationales.Columns", "accord.rationales.design", RECORD),
    ("rationales.Units", "accord.rationales.design", RECORD),
    ("rationales.Marking", "accord.rationales.marking", RECORD),
    ("rationales.Reading", "accord.rationales.reading", RECORD),
    ("rationales.Choice", "accord.rationales.annotator_choice", RECORD),
    ("rationales.Strengths", "accord.rationales.annotator", RECORD),
    # scikit-learn: what fitted models hold, and what people may give as content= or vectoriser=
    ("sklearn.CountVectorizer", "sklearn.feature_extraction.text", _WORDS),
    ("sklearn.TfidfVectorizer", "sklearn.feature_extraction.text", _WORDS),
    ("sklearn.HashingVectorizer", "sklearn.feature_extraction.text", _WORDS),
    ("sklearn.TfidfTransformer", "sklearn.feature_extraction.text", Learnt("idf_")),
    ("sklearn.FeatureUnion", "sklearn.pipeline", _Steps()),
    ("sklearn.Pipeline", "sklearn.pipeline", _Steps()),
    ("sklearn.Normalizer", "sklearn.preprocessing", Learnt()),
    ("sklearn.StandardScaler", "sklearn.preprocessing", Learnt("mean_", "var_", "scale_", "n_samples_seen_")),
    ("sklearn.MaxAbsScaler", "sklearn.preprocessing", Learnt("max_abs_", "scale_", "n_samples_seen_")),
    ("sklearn.LabelBinarizer", "sklearn.preprocessing", Learnt("classes_", "y_type_", "sparse_input_")),
    ("sklearn.TruncatedSVD", "sklearn.decomposition", Learnt(*_COMPONENTS)),
    ("sklearn.LogisticRegression", "sklearn.linear_model", Learnt(*_LINEAR)),
    ("sklearn.LinearSVC", "sklearn.svm", Learnt(*_LINEAR)),
    ("sklearn.SGDClassifier", "sklearn.linear_model", _STOCHASTIC),
    ("sklearn.RidgeClassifier", "sklearn.linear_model", Learnt(*_LINEAR, "solver_", "_label_binarizer")),
    ("sklearn.MultinomialNB", "sklearn.naive_bayes", Learnt(*_BAYES)),
    ("sklearn.ComplementNB", "sklearn.naive_bayes", Learnt(*_BAYES)),
    ("sklearn.BernoulliNB", "sklearn.naive_bayes", Learnt(*_BAYES)),
    ("sklearn.DummyClassifier", "sklearn.dummy", Learnt(*_CONSTANT)),
    ("sklearn.HistGradientBoostingClassifier", "sklearn.ensemble", _Trees()),
)
TYPES: Mapping[str, Part] = {name: Part(name, module, how) for name, module, how in _TABLE}


def part_of(kind: type) -> Part | None:
    """The line of the table for exactly this class, or ``None``."""
    for part in TYPES.values():
        # Only modules that hold a class of this name are imported.
        if part.name.endswith(f".{kind.__name__}") and part.kind is kind:
            return part
    return None
