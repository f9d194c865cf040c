"""Does the 95 % interval of the accuracy on the rest hold it, with adaptive asking and other makes of projects?

    python benchmarks/asking_rest.py [--projects 300] [--first-seed 0] [--answers 100] [--makes rare,few]

Each project has 600 texts, 20 first answers at random and then batches of 20 by ``accord ask``'s own rule (information
among the least certain, 15 % at random, draws by :class:`accord.workflows.collecting.mix.TextMix`). Makes of projects:
``rare`` (15 % positive, a truth that is not linear, every tenth answer wrong), ``topics`` (words of twelve topics, each
with a share of positives of its own, every twentieth answer wrong), ``three`` (labels of 70, 20 and 10 %, every tenth
answer wrong), ``wrong`` (every fourth answer wrong), ``few`` (as ``rare``, with ten first answers and 60 in all: about
17 are at random), ``threads`` (six texts a thread, whose label is more of the thread than of the words; the model reads
the answers about the other texts of a thread, and every tenth answer is wrong). What is estimated is how often people's
answers, wrong ones included, are what the model says.
"""

import argparse
import random

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from accord.engines.numerics import entropy
from accord.errors import InputError
from accord.evaluation.agreement import wilson
from accord.evaluation.rest import rest_accuracy
from accord.fitting.asking import Asking, label_precision, least_certain, pick_texts
from accord.workflows.ask import _FLOOR
from accord.workflows.collecting.mix import TextMix

N_TEXTS, FIRST, BATCH, FOLDS, THREAD = 600, 20, 20, 5, 6
NO_PAIRS = (np.empty((0, 2), dtype=np.int64), np.empty(0))


def _flipped(rng, y, share, n_labels):
    other = (y + rng.integers(1, n_labels, y.size)) % n_labels
    return np.where(rng.random(y.size) < share, other, y)


def _dense(rng):
    x = rng.normal(size=(N_TEXTS, 8))
    return x, x[:, 0] + 0.7 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3] + 0.5 * rng.normal(size=N_TEXTS)


def rare(rng):
    x, score = _dense(rng)
    return x, _flipped(rng, (score > np.quantile(score, 0.85)).astype(int), 0.1, 2)


def wrong(rng):
    x, score = _dense(rng)
    return x, _flipped(rng, (score > 0.2).astype(int), 0.25, 2)


def three(rng):
    x, score = _dense(rng)
    return x, _flipped(rng, np.digitize(score, np.quantile(score, [0.7, 0.9])), 0.1, 3)


def topics(rng):
    topic = rng.integers(0, 12, N_TEXTS)
    p = 0.5 * rng.dirichlet(np.full(400, 0.05), 12) + 0.5 * rng.dirichlet(np.full(400, 0.2), 1)
    x = np.sqrt(np.stack([rng.multinomial(40, p[one]) for one in topic]).astype(float))
    share = rng.beta(0.6, 1.0, 12)
    return x / np.linalg.norm(x, axis=1, keepdims=True), _flipped(
        rng, (rng.random(N_TEXTS) < share[topic]).astype(int), 0.05, 2
    )


def threads(rng):
    x = rng.normal(size=(N_TEXTS, 8))
    pull = np.repeat(1.5 * rng.standard_t(3, N_TEXTS // THREAD), THREAD)
    return x, _flipped(rng, (x[:, 0] + x[:, 1] * x[:, 2] + pull + rng.normal(size=N_TEXTS) > 0.4).astype(int), 0.1, 2)


MAKES = {"rare": rare, "topics": topics, "three": three, "wrong": wrong, "few": rare, "threads": threads}


def _with_others(x, y, known):
    """The features, and what is known of the answers about the other texts of each thread."""
    told = np.zeros(N_TEXTS)
    told[known] = 2.0 * y[known] - 1.0
    return np.column_stack([x, np.repeat(told.reshape(-1, THREAD).sum(axis=1), THREAD) - told])


def _said(make, x, y, known, new, n_labels):
    """Probabilities of the labels of new texts by what is known of others."""
    own = _with_others(x, y, known) if make == "threads" else x
    return _model(own[known], y[known], n_labels)(own[new])


def _model(x, y, n_labels):
    """Probabilities of all labels, whatever was answered so far."""
    if len(set(y.tolist())) < 2:
        p = np.full(n_labels, 0.02)
        p[y[0]] = 1.0 - 0.02 * (n_labels - 1)
        return lambda new: np.tile(p, (len(new), 1))
    model = LogisticRegression(C=1.0).fit(x, y)

    def probabilities(new):
        p = np.zeros((len(new), n_labels))
        p[:, model.classes_] = model.predict_proba(new)
        return p

    return probabilities


def project(make, seed, n_answers):
    """The estimate and the truth of one project."""
    rng, draws = np.random.default_rng([seed, list(MAKES).index(make)]), random.Random(seed)
    x, y = MAKES[make](rng)
    k = int(y.max()) + 1
    unit = sp.csr_array(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9))
    first, n_answers = (10, 60) if make == "few" else (FIRST, n_answers)
    asked, is_random = rng.permutation(N_TEXTS)[:first].tolist(), [True] * first
    while len(asked) < n_answers:
        left = np.setdiff1d(np.arange(N_TEXTS), asked)
        p = _said(make, x, y, asked, left, k)
        rows = np.concatenate([left, asked])
        given = np.arange(rows.size) >= left.size
        allowed = np.zeros(rows.size, dtype=bool)
        allowed[least_certain(entropy(p), BATCH)] = True
        precision = np.concatenate([label_precision(p), np.ones(len(asked))])
        order = rows[pick_texts(Asking(unit[rows], precision, given, *NO_PAIRS, allowed), BATCH + 2, rng)[0]]
        mix = TextMix(
            left.tolist(), [0] * left.size, [""] * left.size, {"informative": order.tolist()},
            {"informative": 1.0 - _FLOOR, "random": _FLOOR},
        )  # fmt: skip
        for _ in range(min(BATCH, n_answers - len(asked))):
            way, key, _ = mix.draw(draws)
            asked.append(key)
            is_random.append(way == "random")
    asked = np.array(asked)
    right, sure = np.empty(asked.size), np.empty(asked.size)
    fold = rng.permutation(asked.size) % FOLDS
    for part in range(FOLDS):
        inside, out = asked[fold != part], asked[fold == part]
        p = _said(make, x, y, inside, out, k)
        right[fold == part], sure[fold == part] = p.argmax(axis=1) == y[out], p.max(axis=1)
    rest = np.setdiff1d(np.arange(N_TEXTS), asked)
    p = _said(make, x, y, asked, rest, k)
    truth = float(np.mean(p.argmax(axis=1) == y[rest]))
    return rest_accuracy(np.array(is_random), right, sure, p.max(axis=1)), truth, float(right.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", type=int, default=300)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--makes", type=lambda text: text.split(","), default=list(MAKES))
    options = parser.parse_args()
    for make in options.makes:
        found, refused = [], 0
        for seed in range(options.first_seed, options.first_seed + options.projects):
            try:
                found.append(project(make, seed, options.answers))
            except InputError:  # too few random questions
                refused += 1
        inside = float(np.mean([rest.low <= truth <= rest.high for rest, truth, _ in found]))
        low, high = wilson(inside, len(found))
        under = float(np.mean([rest.high < truth for rest, truth, _ in found]))
        over = float(np.mean([rest.low > truth for rest, truth, _ in found]))
        error = np.mean([rest.value - truth for rest, truth, _ in found])
        plain = np.mean([asked - truth for _, truth, asked in found])
        width = np.mean([rest.high - rest.low for rest, _, _ in found])
        print(
            f"{make}: interval held the truth in {inside:.3f} ({low:.3f} to {high:.3f}, n {len(found)}, refused "
            f"{refused}), too low in {under:.3f}, too high in {over:.3f}; "
            f"width {width:.3f}, error {error:+.3f}, of the questions that were asked {plain:+.3f}",
            flush=True,
        )
