"""One fold over debates: every classifier trained on the training debates, asked about the others."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import LinearSVC

from accord.engines.iterated import iterate_labels
from accord.links.choice import AveragedModel, fit_averaged, fit_chosen
from accord.links.cut import fit_cut
from accord.links.dual import DualModel, Evidence, fit_dual
from accord.links.estimator import IMPLICIT_SCALES
from accord.links.features.neighbours import Neighbours
from accord.links.features.words import LinkedPairs, linked_pairs, unit_rows
from accord.links.joint import fit_joint
from accord.links.local import choose_scale, fit_local, joined_features, local_labeller
from accord.links.out_of_fold import fit_with_left_out_scores, label_scores
from accord.links.paper.conditions import Condition
from accord.links.ridge import ridge_dual
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Outcome", "Outcomes", "beyond", "default_beliefs", "paper_recipe"]

SET_TO = (0.6, 0.8, 1.0)
INC_BY = (0.05, 0.15, 0.25)
RIDGE = 1.0
N_FOLDS = 5
MAX_ROUNDS = 30
# Of neighbour features beside words: one for labels, which are few; for window words a choice in the training debates.
NEIGHBOUR_SCALES = {"presence": (1.0,), "count": (1.0,), "window": (1.0, 2.0, 4.0)}


@dataclass(frozen=True, eq=False)
class Outcome:
    """How one method did on the test texts of one fold."""

    right: BoolArray  # (n_test,)
    log_loss: FloatArray | None = None  # (n_test,) of beliefs, where the method has any


Outcomes = dict[str, Outcome]


@dataclass(frozen=True, eq=False)
class Scores:
    """Content and link scores: left-out ones for training texts and pairs, the classifier's for test ones."""

    content: FloatArray  # (n_texts,)
    link: FloatArray  # (n_pairs,)
    train: BoolArray  # (n_texts,)

    def inside(self, train: bool) -> BoolArray:
        """Mask of the training or test texts."""
        return self.train if train else ~self.train


def paper_recipe(condition: Condition, train: IntArray, test: IntArray, seed: int) -> Outcomes:
    """Every row of Tables 1 and 2 of [BBB11]: linear support vector machines on word presence."""
    codes, where = condition.codes, _mask(train, condition)
    words = unit_rows(condition.words)
    machine = _machine()
    content = np.zeros(len(codes))
    first, content[train] = fit_with_left_out_scores(
        machine, words[train], codes[train], condition.debates[train], n_folds=N_FOLDS, seed=seed
    )
    content[test] = label_scores(first, words[test])
    ends, windows = condition.pairs.ends, unit_rows(condition.windows)
    in_train = where[ends[:, 0]]
    link = np.zeros(len(ends))
    fitted, link[in_train] = fit_with_left_out_scores(
        machine,
        windows[in_train],
        condition.same[in_train].astype(np.int64),
        condition.debates[ends[in_train, 0]],
        n_folds=N_FOLDS,
        seed=seed,
    )
    link[~in_train] = label_scores(fitted, windows[~in_train])
    scores = Scores(content, link, where)
    majority = int(np.mean(codes[train]) >= 0.5)
    outcomes = {"majority": Outcome(codes[test] == majority)}
    # Platt's sigmoid alone: one logistic weight, no penalty.
    evidence = [Evidence(ends, link[:, None])]
    for name, engine in (("mean_field", "mean_field"), ("lbp", "lbp")):
        model = _fit(scores, condition, evidence, engine=engine, strength=0.0)
        outcomes |= {"content": _content(model, scores, condition), name: _beliefs(model, scores, condition, evidence)}
    outcomes |= _cuts(scores, condition)
    labels = model.content(content).argmax(axis=1)
    outcomes |= _neighbours(labels[test], labels[train], condition, train, test, seed)
    return outcomes


def beyond(condition: Condition, train: IntArray, test: IntArray, seed: int) -> Outcomes:
    """Better content, link evidence beyond the window's words, implicit links, joint training, and a choice."""
    where = _mask(train, condition)
    link = _link_scores(condition, where)
    plain, stance = (
        Scores(_content_scores(condition, gram, where), link, where)
        for gram in (condition.plain_gram, condition.stance_gram)
    )
    told = [Evidence(condition.pairs.ends, link[:, None])]
    meta = [Evidence(condition.pairs.ends, np.column_stack([link, condition.link_meta]))]
    outcomes: Outcomes = {}
    model = _fit(plain, condition, told)
    outcomes["content_words"] = _content(model, plain, condition)
    outcomes["links_words"] = _beliefs(model, plain, condition, told)
    model = _fit(stance, condition, told)
    outcomes["content_stance"] = _content(model, stance, condition)
    outcomes["links_stance"] = _beliefs(model, stance, condition, told)
    outcomes["meta"] = _beliefs(_fit(stance, condition, meta), stance, condition, meta)
    both = _with_implicit(stance, condition)
    part = _part(stance, condition, both, train=True)
    models = {
        "implicit": _fit(stance, condition, both, scales=[(1.0,), IMPLICIT_SCALES]),
        "joint": fit_joint(*part, objective="marginals"),
        "joint_likelihood": fit_joint(*part, objective="likelihood"),
        "chosen": fit_chosen(*part, condition.debates[where], scales=[(1.0,), IMPLICIT_SCALES]),
    }
    for name, fitted in models.items():
        outcomes[name] = _beliefs(fitted, stance, condition, both)
    average = AveragedModel((models["implicit"], models["joint_likelihood"]))
    outcomes["average"] = _beliefs(average, stance, condition, both)
    return outcomes


def default_beliefs(condition: Condition, train: IntArray, test: IntArray) -> FloatArray:
    """What the default model, trained on some texts, believes of others; shape (n_test, 2)."""
    where = _mask(train, condition)
    stance = Scores(_content_scores(condition, condition.stance_gram, where), _link_scores(condition, where), where)
    evidence = _with_implicit(stance, condition)
    content, _, part = _part(stance, condition, evidence, train=False)
    model = fit_averaged(*_part(stance, condition, evidence, train=True), scales=[(1.0,), IMPLICIT_SCALES])
    beliefs = model.beliefs(content, part, warn=False)
    return beliefs[np.searchsorted(np.flatnonzero(~where), test)]


def _with_implicit(scores: Scores, condition: Condition) -> list[Evidence]:
    return [
        Evidence(condition.pairs.ends, scores.link[:, None]),
        Evidence(condition.near, condition.near_similarity),
    ]


def _content_scores(condition: Condition, gram: FloatArray, where: BoolArray) -> FloatArray:
    return _ridge_scores(gram, np.where(condition.codes == 1, 1.0, -1.0), condition.debates, where)


def _link_scores(condition: Condition, where: BoolArray) -> FloatArray:
    first = condition.pairs.ends[:, 0]
    targets = np.where(condition.same, 1.0, -1.0)
    return _ridge_scores(condition.window_gram, targets, condition.debates[first], where[first])


def _machine() -> LinearSVC:
    return LinearSVC(loss="hinge", C=1.0, max_iter=20_000, random_state=0)


def _mask(train: IntArray, condition: Condition) -> BoolArray:
    where = np.zeros(len(condition.codes), dtype=bool)
    where[train] = True
    return where


def _ridge_scores(gram: FloatArray, targets: FloatArray, groups: AnyArray, train: BoolArray) -> FloatArray:
    """Left-out scores of training rows, scores of the others."""
    inside, outside = np.flatnonzero(train), np.flatnonzero(~train)
    weights, left_out = ridge_dual(
        gram[np.ix_(inside, inside)] + 1.0, targets[inside, None], groups[inside], strength=RIDGE
    )
    scores = np.empty(len(train))
    scores[inside] = left_out[:, 0]
    scores[outside] = (gram[np.ix_(outside, inside)] + 1.0) @ weights[:, 0]
    return scores


def _part(
    scores: Scores, condition: Condition, evidence: list[Evidence], *, train: bool
) -> tuple[FloatArray, IntArray, list[Evidence]]:
    """Scores, labels and evidence of the training or the test texts, renumbered."""
    inside = scores.inside(train)
    place = np.cumsum(inside) - 1
    kept = [kind.inside(inside) for kind in evidence]
    return (
        scores.content[inside],
        condition.codes[inside],
        [Evidence(place[kind.ends], kind.features) for kind in kept],
    )


def _fit(
    scores: Scores,
    condition: Condition,
    evidence: list[Evidence],
    *,
    engine: str = "mean_field",
    strength: float = 1.0,
    scales: list[tuple[float, ...]] | None = None,
) -> DualModel:
    part = _part(scores, condition, evidence, train=True)
    return fit_dual(*part, n_labels=2, engine=engine, strength=strength, scales=scales)


def _content(model: DualModel, scores: Scores, condition: Condition) -> Outcome:
    inside = ~scores.train
    return _outcome(np.exp(model.content(scores.content[inside])), condition.codes[inside])


def _beliefs(
    model: DualModel | AveragedModel, scores: Scores, condition: Condition, evidence: list[Evidence]
) -> Outcome:
    content, codes, part = _part(scores, condition, evidence, train=False)
    return _outcome(model.beliefs(content, part, warn=False), codes)


def _outcome(beliefs: FloatArray, codes: IntArray) -> Outcome:
    told = beliefs[np.arange(len(codes)), codes]
    return Outcome(beliefs.argmax(axis=1) == codes, -np.log(np.clip(told, 1e-12, 1.0)))


def _cuts(scores: Scores, condition: Condition) -> Outcomes:
    evidence = [Evidence(condition.pairs.ends, scores.link[:, None])]
    content, codes, (links,) = _part(scores, condition, evidence, train=True)
    asked, truth, (asked_links,) = _part(scores, condition, evidence, train=False)
    groups, asked_groups = condition.debates[scores.train], condition.debates[~scores.train]
    rows = [("min_cut", "min_cut", 0.8)]
    rows += [(f"set_to_{beta:g}", "set_to", beta) for beta in SET_TO]
    rows += [(f"inc_by_{beta:g}", "inc_by", beta) for beta in INC_BY]
    outcomes = {}
    for name, cut, beta in rows:
        model = fit_cut(content, codes, groups, links.ends, links.features[:, 0], cut=cut, beta=beta)
        labels = model.labels(asked, asked_groups, asked_links.ends, asked_links.features[:, 0])
        outcomes[name] = Outcome(labels == truth)
    return outcomes


def _neighbours(
    start: IntArray, left_out: IntArray, condition: Condition, train: IntArray, test: IntArray, seed: int
) -> Outcomes:
    """Local classifiers with true neighbour labels, and the iterative classifiers made of them.

    ``start`` are the content labels of the test texts; texts without a link keep them. ``left_out`` are those of the
    training texts, by classifiers trained without their debate.
    """
    codes, words = condition.codes, condition.words
    inside, asked = _among(condition.pairs, train), _among(condition.pairs, test)
    outcomes = {}
    for kind in ("presence", "count", "window"):
        known, around = (
            Neighbours(kind, pairs, n_labels=2, words=condition.windows[_kept(condition.pairs, rows)])
            for pairs, rows in ((inside, train), (asked, test))
        )
        told = known.matrix(codes[train])
        local = fit_local(_machine(), words[train], [told], codes[train])
        true = joined_features(words[test], around.matrix(codes[test]))
        outcomes[f"local_{kind}"] = Outcome(local.predict(true) == codes[test])
        scale = choose_scale(
            _machine(),
            words[train],
            known,
            [codes[train]],
            codes[train],
            condition.debates[train],
            start=left_out,
            free=inside.connected,
            scales=NEIGHBOUR_SCALES[kind],
            max_iter=MAX_ROUNDS,
            seed=seed,
        )
        trained_on = {"": [codes[train]], "_left_out": [codes[train], left_out]}
        for suffix, seen in trained_on.items():
            local = fit_local(
                _machine(), words[train], [known.matrix(labels) for labels in seen], codes[train], scale=scale
            )
            relabel = local_labeller(
                local, words[test], around.row, n_neighbour_features=around.n_features, scale=scale
            )
            order = np.random.default_rng(seed)
            labels, _ = iterate_labels(relabel, start, max_iter=MAX_ROUNDS, rng=order, free=asked.connected)
            outcomes[f"iterative_{kind}{suffix}"] = Outcome(labels == codes[test])
    return outcomes


def _kept(pairs: LinkedPairs, rows: IntArray) -> BoolArray:
    inside = np.zeros(pairs.n_texts, dtype=bool)
    inside[rows] = True
    return np.asarray(inside[pairs.ends].all(axis=1))


def _among(pairs: LinkedPairs, rows: IntArray) -> LinkedPairs:
    """The pairs among some texts, renumbered."""
    place = np.full(pairs.n_texts, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    ends = place[pairs.ends[_kept(pairs, rows)]]
    return linked_pairs(ends[:, 0], ends[:, 1], n_texts=len(rows))
