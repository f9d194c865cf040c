"""Make the votes of the example project ``arguments``.

The texts are written by hand. The votes are drawn, with a fixed seed, from this model:

* each argument has a strength s, set by hand below: what a fair-minded reader might think of it;
* each voter has a reliability r: 0 guesses, 1 is a careful reader, 2 an expert;
* a voter is shown two arguments on the same question, in random order, and cannot decide with probability
  0.3·exp(−|d|), where d = r·(s_left − s_right); otherwise left wins with probability 1 / (1 + e⁻ᵈ).

Twelve voters answer 25 times each. Run ``python examples/make_votes.py`` to write ``votes.csv`` again.
"""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "src" / "accord" / "examples" / "arguments"
VOTES_EACH = 25

# In the order of items.csv.
STRENGTHS = {
    "street": [1.8, 1.0, 1.2, 1.6, -2.4, 1.5, 0.1, 0.8, 0.6, -1.7, 1.4, -2.6, 1.1, 0.9, 0.7, 1.0, 1.3, 0.2, -1.2, 2.0],
    "homework": [
        1.0,
        1.3,
        1.5,
        0.7,
        -2.5,
        0.9,
        1.2,
        -1.8,
        1.4,
        0.3,
        0.6,
        -2.2,
        1.7,
        1.9,
        0.0,
        0.8,
        1.1,
        -2.6,
        0.9,
        1.6,
    ],
}
RELIABILITY = {
    "ada": 2.0,
    "bela": 1.6,
    "chen": 1.5,
    "dara": 1.3,
    "emil": 1.2,
    "fatou": 1.1,
    "gus": 1.0,
    "hana": 0.9,
    "ivo": 0.8,
    "jun": 0.5,
    "kim": 0.2,
    "lou": 0.0,  # clicks without reading
}


def draw_votes(ids: dict[str, list[str]], rng: np.random.Generator) -> list[dict[str, str]]:
    """All votes, in the order in which they were given."""
    votes = []
    for turn in range(VOTES_EACH):
        for voter, reliability in RELIABILITY.items():
            topic = ("street", "homework")[(turn + len(votes)) % 2]
            left, right = rng.choice(len(ids[topic]), size=2, replace=False)
            d = reliability * (STRENGTHS[topic][left] - STRENGTHS[topic][right])
            undecided = rng.random() < 0.3 * np.exp(-abs(d))
            won = rng.random() < 1.0 / (1.0 + np.exp(-d))
            value = "0.5" if undecided else str(int(won))
            votes.append({"left": ids[topic][left], "right": ids[topic][right], "value": value, "annotator_id": voter})
    return votes


def main() -> None:
    """Write votes.csv."""
    with (FOLDER / "items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ids = {topic: [row["item_id"] for row in rows if row["item_id"].startswith(topic)] for topic in STRENGTHS}
    votes = draw_votes(ids, np.random.default_rng(20))
    with (FOLDER / "votes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(votes[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(votes)


if __name__ == "__main__":
    main()
