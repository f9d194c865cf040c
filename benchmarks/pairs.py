"""Votes between items with known truth: our ranker against what people install for the same job.

Items have 32 features of which 8 matter; the truth is a smooth function of them. Log loss is on 5,000 votes between
seen items and 5,000 between 300 unseen ones, mean over seeds; time is CPU time of one thread, of fits after the first
of a process, which compiles.
"""

import time
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression

from accord import PreferenceRanker
from accord.data.documents import Items

N_FEATURES, N_RELEVANT, LENGTH, SPREAD, N_NEW = 32, 8, 3.0, 1.5, 300
SEEDS = (0, 1, 2)
# (items, votes, seeds)
GRID = ((300, 1_500, 3), (1_000, 5_000, 3), (1_000, 20_000, 1), (3_000, 60_000, 1))


def problem(n, n_votes, seed, *, random_voters=0):
    """Votes by 20 voters, of whom some answer at random."""
    rng = np.random.default_rng([seed, n, n_votes])
    x = rng.normal(size=(n + N_NEW, N_FEATURES))
    w, b = rng.normal(size=(N_RELEVANT, 2000)) / LENGTH, rng.uniform(0, 2 * np.pi, 2000)
    f = np.cos(x[:, :N_RELEVANT] @ w + b) @ rng.normal(size=2000) * np.sqrt(2.0 / 2000)
    f = SPREAD * (f - f[:n].mean()) / f[:n].std()

    def votes(low, high, m):
        i = rng.integers(low, high, m)
        j = (i - low + rng.integers(1, high - low, m)) % (high - low) + low
        return i, j, (rng.random(m) < ndtr((f[i] - f[j]) / np.sqrt(2))).astype(float)

    i, j, y = votes(0, n, n_votes)
    who = rng.integers(0, 20, n_votes)
    spam = who < random_voters
    y[spam] = rng.integers(0, 2, int(spam.sum()))
    return x, (i, j, y, who), votes(0, n, 5000), votes(n, n + N_NEW, 5000)


def ids(rows):
    return np.array([f"i{k}" for k in rows], dtype=object)


def frame(i, j):
    return pd.DataFrame({"left": ids(i), "right": ids(j)})


def log_loss(p, y):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-np.mean(np.where(y == 1, np.log(p), np.log(1 - p))))


def accuracy(p, y):
    return float(np.mean((p > 0.5) == (y == 1)))


def ours(x, train, seen, unseen, **settings):
    i, j, y, who = train
    n = len(x) - N_NEW
    ranker = PreferenceRanker(**settings)  # the default is what people get
    items = Items(ids(range(len(x))), features=x)
    start = time.process_time()
    ranker.fit(frame(i, j), y, items=items.subset(np.arange(n)), annotator=ids(who))
    seconds = time.process_time() - start
    return seconds, [ranker.predict_proba(frame(a, b), items=items)[:, 1] for a, b, _ in (seen, unseen)], ranker


def by_scores(scores):
    return lambda pairs: 1.0 / (1.0 + np.exp(-(scores[pairs[0]] - scores[pairs[1]])))


def choix_scores(x, train):
    import choix

    i, j, y, _ = train
    won = np.where(y == 1, i, j), np.where(y == 1, j, i)
    scores = choix.ilsr_pairwise(len(x) - N_NEW, list(zip(*won, strict=True)), alpha=0.01)
    return by_scores(np.concatenate([scores, np.full(N_NEW, scores.mean())]))


def evalica_scores(x, train):
    """Without the ties evalica has no answer: where an item never won or never lost, it gives all the same score."""
    import evalica

    i, j, y, _ = train
    names = ids(range(len(x) - N_NEW)).tolist()
    lefts, rights = [*ids(i).tolist(), *names], [*ids(j).tolist(), *(["another"] * len(names))]
    winners = [evalica.Winner.X if v == 1 else evalica.Winner.Y for v in y] + [evalica.Winner.Draw] * len(names)
    table = evalica.bradley_terry(lefts, rights, winners).scores
    scores = np.log([table[name] for name in names])
    return by_scores(np.concatenate([scores, np.full(N_NEW, scores.mean())]))


def crowdkit_scores(x, train):
    from crowdkit.aggregation import NoisyBradleyTerry

    i, j, y, who = train
    table = pd.DataFrame({"worker": who, "left": ids(i), "right": ids(j), "label": np.where(y == 1, ids(i), ids(j))})
    scores = NoisyBradleyTerry(n_iter=10).fit_predict(table)
    found = np.array([scores.get(name, np.nan) for name in ids(range(len(x)))])
    return by_scores(np.where(np.isnan(found), np.nanmean(found), found))


def logistic(x, train):
    i, j, y, _ = train
    model = LogisticRegression(fit_intercept=False, C=1.0, max_iter=1000).fit(x[i] - x[j], y)
    return lambda pairs: model.predict_proba(x[pairs[0]] - x[pairs[1]])[:, 1]


# peer → module, how it is fitted, most votes it is given (beyond, it takes minutes)
PEERS = {
    "choix": ("choix", choix_scores, 20_000),
    "evalica, one tie added for each item": ("evalica", evalica_scores, 60_000),
    "crowd-kit NoisyBradleyTerry": ("crowdkit", crowdkit_scores, 5_000),
    "logistic regression on differences": ("sklearn", logistic, 60_000),
}


def run(grid=GRID, peers=False, only=""):
    """All rows, or those that have ``only`` in their name and peer."""
    ours(*problem(60, 300, 0))  # compiles and loads what the first fit of a process needs
    rows = []
    for n, n_votes, n_seeds in grid:
        name = f"pairs {n:,}/{n_votes:,}"
        chosen = {
            peer: fit
            for peer, (module, fit, most) in PEERS.items()
            if only in f"{name} {peer}" and find_spec(module) is not None and n_votes <= most
        }
        if not chosen:
            continue
        problems = [problem(n, n_votes, seed) for seed in SEEDS[:n_seeds]]
        found = [ours(*data) for data in problems]
        seconds = float(np.mean([one[0] for one in found]))
        mine = _summary([one[1] for one in found], problems)
        for peer, fit in chosen.items():
            times, answers = [], []
            for x, train, seen, unseen in problems:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    start = time.process_time()
                    predict = fit(x, train)
                    times.append(time.process_time() - start)
                    answers.append([predict(seen), predict(unseen)])
            theirs = float(np.mean(times))
            note = f"ours {mine}; theirs {_summary(answers, problems)}; {n_seeds} seeds"
            rows.append(_row(name, peer, seconds, theirs, note))
    # Larger problems take BoTorch minutes each.
    apart = [("BoTorch PairwiseGP", "botorch_pairs.py", grid[0])]
    apart += [("GPyTorch SVGP", "svgp_pairs.py", size) for size in grid if size[1] != 20_000]
    for peer, script, size in apart:
        if only in f"pairs {size[0]:,}/{size[1]:,} {peer}":
            rows.append(_apart(peers, peer, script, *size))
    if only not in "pairs spam 1,000/5,000 the same without reliability":
        return rows
    data = problem(1_000, 5_000, 0, random_voters=6)
    plain, learned = ours(*data, reliability="equal"), ours(*data)
    worst = set(learned[2].annotators_["annotator"].iloc[-6:])
    note = (
        f"log loss unseen {log_loss(plain[1][1], data[3][2]):.3f} without, "
        f"{log_loss(learned[1][1], data[3][2]):.3f} with reliability; "
        f"{len(worst & {f'i{k}' for k in range(6)})} of 6 random voters among the six least reliable"
    )
    rows.append(_row("pairs spam 1,000/5,000", "the same without reliability", learned[0], plain[0], note))
    return rows


def _apart(peers, peer, script, n, n_votes, n_seeds):
    """A peer that needs torch, on the same problems."""
    name = f"pairs {n:,}/{n_votes:,}"
    if not peers:
        note = "needs torch: `make bench-peers` runs it in an environment of its own"
        return {"name": name, "peer": peer, "ours_s": None, "peer_s": None, "ratio": None, "note": note}
    from engines import ask_peer

    problems = [problem(n, n_votes, seed) for seed in SEEDS[:n_seeds]]
    found, theirs = [ours(*data) for data in problems], []
    for x, (i, j, y, _), seen, unseen in problems:
        sides = {"winner": np.where(y == 1, i, j), "loser": np.where(y == 1, j, i)}
        pairs = {"seen": np.column_stack(seen[:2]), "unseen": np.column_stack(unseen[:2])}
        theirs.append(ask_peer("botorch", script, x=x, **sides, **pairs))
    mine, other = (
        _summary([one[1] for one in found], problems),
        _summary([[np.array(one["seen"]), np.array(one["unseen"])] for one in theirs], problems),
    )
    note = f"ours {mine}; theirs {other}; {n_seeds} seeds; {peer.split()[0]} {theirs[0]['version']}"
    spent = [float(np.mean(part)) for part in ([one[0] for one in found], [one["seconds"] for one in theirs])]
    return _row(name, peer, *spent, note)


def _summary(answers, problems):
    parts = []
    for k, what in enumerate(("seen", "unseen")):
        truth = [data[2 + k][2] for data in problems]
        loss = np.mean([log_loss(answer[k], y) for answer, y in zip(answers, truth, strict=True)])
        right = np.mean([accuracy(answer[k], y) for answer, y in zip(answers, truth, strict=True)])
        parts.append(f"{what} log loss {loss:.3f}, accuracy {right:.3f}")
    return ", ".join(parts)


def _row(name, peer, ours_s, peer_s, note):
    return {"name": name, "peer": peer, "ours_s": ours_s, "peer_s": peer_s, "ratio": peer_s / ours_s, "note": note}


if __name__ == "__main__":
    for row in run():
        print(row)
