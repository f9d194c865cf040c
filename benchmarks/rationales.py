"""The model of the annotator: one pass, one fit, and its parts against scikit-learn and CRFsuite."""

import time

import numpy as np

from accord.rationales.annotator import Strengths, highlight_loss, loss
from accord.rationales.annotator_fit import fit_classes, fit_joint, starting_habits
from accord.rationales.features import Vocabulary, read_tokens
from accord.rationales.highlights import Annotation
from accord.rationales.marked_texts import MarkedTexts, marked_texts

N_TEXTS, N_TOKENS, N_WORDS = 1600, 743, 17744  # the shape of 1,600 movie reviews: 1.19 million tokens
STRENGTHS = Strengths(0.01, 0.01)


def synthetic(n_texts: int = N_TEXTS, seed: int = 0) -> MarkedTexts:
    """Texts of Zipf-distributed words, two classes, with highlights about words that speak for the class."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=0.1, size=N_WORDS)
    p = 1.0 / np.arange(1, N_WORDS + 1)
    words = rng.choice(N_WORDS, size=(n_texts, N_TOKENS), p=p / p.sum())
    labels = (np.array([weights[np.unique(row)].sum() for row in words]) > 0).astype(np.int64)
    signs = 2 * labels - 1
    start = rng.random((n_texts, N_TOKENS)) < 0.012 * np.exp(15 * signs[:, None] * weights[words])
    inside = start.copy()
    for step in range(1, 7):
        inside[:, step:] |= start[:, :-step]
    names = np.array([f"w{i}" for i in range(N_WORDS - 2)] + [",", "."], dtype=object)
    rng.shuffle(names)
    tokens = read_tokens([" ".join(names[row]) for row in words], tokeniser="whitespace")
    vocabulary = Vocabulary(np.sort(names.astype(str)).astype(object))
    annotations = [Annotation(row, 0, int(labels[row]), inside[row]) for row in range(n_texts)]
    design = vocabulary.presence(tokens.strings)
    return marked_texts(
        tokens, vocabulary, design, labels, annotations, log_prior=np.zeros(2), n_habits=1, transitions="words"
    )


def best_of(work, repeats: int) -> float:
    """CPU seconds of one thread, the best of several."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def row(name: str, ours: float, *, peer: str = "", peer_s: float = float("nan"), note: str = "") -> dict:
    return {"name": name, "peer": peer, "ours_s": ours, "peer_s": peer_s, "ratio": peer_s / ours, "note": note}


def against_scikit_learn(texts: MarkedTexts) -> dict:
    """Without highlights the model is logistic regression: the same optimum, timed to the same tolerance."""
    from sklearn.linear_model import LogisticRegression

    alone = texts.subset(np.arange(texts.n_texts), marked=np.zeros(texts.n_texts, dtype=bool))
    fit = {}

    def ours():
        fit["ours"] = fit_classes(alone, STRENGTHS.theta_variance, tol=1e-3, value_tol=1e-12).theta[0]

    def theirs():
        model = LogisticRegression(C=4 * STRENGTHS.theta_variance, fit_intercept=False, tol=1e-6, max_iter=1000)
        fit["theirs"] = model.fit(alone.design, alone.labels).coef_[0]

    ours_s, peer_s = best_of(ours, 3), best_of(theirs, 3)
    apart = float(np.abs(2 * fit["ours"] - fit["theirs"]).max())
    return row(
        "rationales: classes alone",
        ours_s,
        peer="scikit-learn LogisticRegression",
        peer_s=peer_s,
        note=f"{alone.n_texts} texts; largest difference of a weight {apart:.1e}",
    )


def against_crfsuite(texts: MarkedTexts, n_texts: int = 200, n_iter: int = 20) -> dict | None:
    """One pass of the chain against one L-BFGS iteration of CRFsuite on the same tags, one feature a token."""
    try:
        import pycrfsuite
    except ImportError:
        return None
    part = texts.subset(np.arange(n_texts))
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"max_iterations": n_iter, "c2": 1.0, "epsilon": 0.0, "delta": 0.0})
    for start, end in zip(part.offsets[:-1], part.offsets[1:], strict=True):
        trainer.append([[str(word)] for word in part.words[start:end]], ["OI"[int(t)] for t in part.tags[start:end]])
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        trainer.train(os.path.join(folder, "model"))
        peer_s = (time.process_time() - begin) / n_iter
    weights = np.random.default_rng(0).normal(scale=0.1, size=(2, part.n_features))
    table = starting_habits(part).table
    ours_s = best_of(lambda: highlight_loss(part, weights, table), 20)
    return row(
        "rationales: one pass of the chain",
        ours_s,
        peer="python-crfsuite, one L-BFGS iteration",
        peer_s=peer_s,
        note=f"{n_texts} texts of {N_TOKENS} tokens; CRFsuite's time includes its optimiser's own work",
    )


def run() -> list[dict]:
    texts = synthetic()
    small, _ = texts.compact()
    theta = np.random.default_rng(0).normal(scale=0.05, size=(1, small.n_features))
    habits = starting_habits(small)
    n_tokens = len(texts.words)
    rows = [
        row(
            "rationales: objective and gradient",
            best_of(lambda: loss(small, theta, habits, STRENGTHS), 10),
            note=f"{texts.n_texts} texts, {n_tokens} tokens",
        ),
        row("rationales: a whole fit", best_of(lambda: fit_joint(small, STRENGTHS), 1), note=f"{texts.n_texts} texts"),
        against_scikit_learn(texts),
    ]
    chain = against_crfsuite(texts)
    return rows if chain is None else [*rows, chain]


if __name__ == "__main__":
    for entry in run():
        print(entry)
