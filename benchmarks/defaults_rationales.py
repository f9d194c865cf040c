"""Defaults on few reviews and on short texts, beside what people would pick instead.

Reviews with highlights are drawn from folds F3–F8 of the movie reviews and tested on the others of these folds; short
texts are windows of 26 tokens that hold a highlight, one a review. ``python benchmarks/defaults_rationales.py 20``
draws 20 times, and ``12@3000 20 60`` with the seeds from 3000 on and 20 and 60 reviews alone.
"""

import sys
import warnings

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from accord import RationaleClassifier
from accord.data.corpora import rationales as corpus
from accord.data.rationales import inside_tags, token_spans
from accord.errors import ConvergenceWarning
from accord.rationales.baselines import TokenClassifier

WIDTH, N_SHORT, N_TEST = 26, 400, 600


def load():
    frame = corpus.load().reviews
    return frame[frame["folds"] < 9].reset_index(drop=True)


def example(row, first=0, last=None):
    """A text, its class and its spans in characters."""
    words = row["tokens"][first:last]
    tags = np.zeros(len(row["tokens"]), dtype=bool)
    for start, end in row["spans"]:
        tags[start:end] = True
    at = np.cumsum([0, *(len(word) + 1 for word in words)])
    return (
        " ".join(words),
        int(row["labels"] > 0),
        [(int(at[a]), int(at[b] - 1)) for a, b in token_spans(tags[first:last])],
    )


def window(row, rng):
    starts = [k for k in range(0, len(row["tokens"]) - WIDTH + 1, WIDTH) if example(row, k, k + WIDTH)[2]]
    return example(row, *(lambda k: (k, k + WIDTH))(int(rng.choice(starts)))) if starts else None


def simple(texts, labels):
    model = make_pipeline(TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True), LogisticRegressionCV(
        Cs=np.logspace(-2, 4, 7), cv=min(5, int(np.bincount(labels).min())), scoring="neg_log_loss", max_iter=1000,
    ))  # fmt: skip
    return model.fit(texts, labels)


def measures(name, p, labels):
    p = np.clip(p[np.arange(len(labels)), labels], 1e-12, 1)
    return {f"{name} accuracy": 100 * np.mean(p > 0.5), f"{name} log loss": -np.log(p).mean()}


def marks(name, probabilities, threshold, tags):
    guess = probabilities >= threshold
    f1 = 2 * (guess & tags).sum() / (guess.sum() + tags.sum())
    return {f"{name} token AUC": roc_auc_score(tags, probabilities), f"{name} token F1": 100 * f1}


def draw(train, test, *, highlights):
    texts, labels, spans = map(list, zip(*train, strict=True))
    new, truth, marked = map(list, zip(*test, strict=True))
    labels, truth = np.array(labels), np.array(truth)
    share = np.bincount(labels, minlength=2) / len(labels)
    found = measures("prior", np.tile(share, (len(truth), 1)), truth)
    found |= measures("tf-idf", simple(texts, labels).predict_proba(new), truth)
    found |= measures("no highlights", RationaleClassifier().fit(texts, labels).predict_proba(new), truth)
    alike = RationaleClassifier(reading="words").fit(texts, labels, rationales=spans)
    found |= measures("all words alike", alike.predict_proba(new), truth)
    model = RationaleClassifier().fit(texts, labels, rationales=spans)
    found |= measures("rationales", model.predict_proba(new), truth)
    for other in ("prior", "tf-idf", "no highlights", "all words alike"):
        for what in ("accuracy", "log loss"):
            found[f"rationales - {other}, {what}"] = found[f"rationales {what}"] - found[f"{other} {what}"]
    if highlights:
        predicted = model.predict_rationales(new, truth)
        tags = np.concatenate(
            [inside_tags(np.array(m).reshape(-1, 2), one.tokens) for m, one in zip(marked, predicted, strict=True)]
        )
        p = np.concatenate([one.probabilities for one in predicted])
        found |= marks("rationales", p, model.threshold_, tags)
        tagger = TokenClassifier().fit(texts, labels, spans)
        found |= marks("token classifier", np.concatenate(tagger.predict_proba(new, truth)), tagger.threshold_, tags)
        found["every token F1"] = 200 * tags.mean() / (1 + tags.mean())
    return found


def report(title, draws):
    print(f"{title}, {len(draws)} draws", flush=True)
    for name in draws[0]:
        values = np.array([one[name] for one in draws])
        half = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        print(f"  {name:38s} {values.mean():8.3f} ± {half:.3f}", flush=True)


def main(n_draws, first, sizes, n_test=N_TEST):
    for category in (ConvergenceWarning, FutureWarning):
        warnings.simplefilter("ignore", category)
    frame = load()
    rows = np.flatnonzero(frame["folds"] >= 3)
    for size in sizes:
        draws = []
        for seed in range(first, first + n_draws):
            order = np.random.default_rng(seed).permutation(rows)
            rng = np.random.default_rng(1000 + seed)
            if size == "short":
                every = [found for i in order if (found := window(frame.iloc[i], rng)) is not None]
                draws.append(draw(every[:N_SHORT], every[N_SHORT:], highlights=True))
            else:
                every = [example(frame.iloc[i]) for i in order[: int(size) + n_test]]
                draws.append(draw(every[: int(size)], every[int(size) :], highlights=False))
            if len(draws) in (1, n_draws) or len(draws) % 5 == 0:
                report(f"{size}", draws)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    n_draws, first = map(int, [*(arguments or ["20"])[0].split("@"), "0"][:2])
    main(n_draws, first, arguments[1:] or ["20", "60", "200", "short"])
