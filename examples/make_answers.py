"""Make the votes of the example project ``answers``: few votes of people, many of two judges.

The answers are written by hand. The votes are drawn, with a fixed seed, from this model:

* each answer has a quality, set by hand below: how useful a cook would find it;
* people see the difference of the two qualities; judges see 0.6 of it, and 0.9 for twice the length;
* both judges have another 0.5 for the answer that is shown on the left; the second has 0.4 for three more list items;
* everybody sees it with noise of variance 2.

Five people answer 36 times each, the judges 450 times each. Run ``python examples/make_answers.py`` to write the tables.
"""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "src" / "accord" / "examples" / "answers"
QUESTION = "How do I keep fresh herbs from wilting?"
PEOPLE = ("ada", "bela", "chen", "dara", "emil")
JUDGES = {"north-large": ("north", 0.004), "south-mini": ("south", 0.001)}
# Quality and text.
ANSWERS = [
    (1.6, "Trim the stems, stand them in a glass of water, cover loosely with a bag, and chill. Basil stays outside."),
    (1.2, "Like flowers: a glass with water, a loose bag over it, fridge door. Change the water every two days."),
    (
        0.9,
        "Wrap parsley and coriander in a damp towel and put them in a box in the fridge. They last two weeks. Wash them "
        "only before use, because wet leaves rot.",
    ),
    (1.4, "Damp kitchen paper, box, fridge. Basil at room temperature in water."),
    (
        0.2,
        "Herbs are wonderful. People have used them for thousands of years, and every kitchen has its own tradition. To "
        "keep herbs, it is important to think about moisture, temperature and air. There are many ways to do this, and "
        "each of them has advantages and disadvantages that depend on your situation and on the herb that you have.",
    ),
    (-0.4, "Put them in the fridge."),
    (
        0.7,
        "- Soft herbs (parsley, mint): stems in water, bag on top.\n- Hard herbs (thyme, rosemary): damp paper in a box.\n"
        "- Basil: water, on the counter.\n- Chives: dry paper, box.",
    ),
    (-1.3, "Freshness matters. Buy fresh herbs and they will be fresh."),
    (
        -0.7,
        "1. Buy herbs.\n2. Wash herbs.\n3. Dry herbs.\n4. Store herbs.\n5. Use herbs.\n6. Enjoy herbs.\n"
        "7. Repeat the steps above as often as you like for the best results.",
    ),
    (1.0, "Freeze what you cannot use: chop, cover with oil in an ice tray. For the week, stems in water."),
    (
        -0.2,
        "**Storage** is key. You can store herbs in many containers: glasses, boxes, bags, jars, bowls and tins. Every "
        "container has a lid or no lid. A lid keeps air out, and no lid lets air in, which is something to consider.",
    ),
    (0.5, "Cut the stems, change the water daily, keep the leaves dry."),
    (-1.6, "I do not cook."),
    (
        0.3,
        "Treat them gently. Shake off the water, roll them in a clean cloth and keep the roll in the vegetable drawer, "
        "away from apples, whose gas makes leaves yellow. Look at them every other day and take out what has turned.",
    ),
    (
        -1.0,
        "As a general remark, wilting is a natural process in which plants lose water. It cannot be stopped, and it is "
        "part of the beauty of nature. Some say that herbs should be eaten soon, others say that they should be eaten "
        "later. In conclusion, herbs wilt, and it is up to you to decide how you feel about that in your own kitchen.",
    ),
    (0.0, "Use a herb keeper from the shop; they work well enough."),
]


def listed(text: str) -> float:
    """Logarithm of one more than the number of list items, to the base 2."""
    return float(
        np.log2(1 + sum(line.strip()[:2] in ("- ", *(f"{k}." for k in range(1, 10))) for line in text.split("\n")))
    )


def main() -> None:
    """Write items.csv, votes.csv and annotators.csv."""
    rng = np.random.default_rng(20)
    quality = np.array([quality for quality, _ in ANSWERS])
    length = np.log2([len(text) for _, text in ANSWERS])
    lists = np.array([listed(text) for _, text in ANSWERS])
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "items.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item_id", "text", "group_id"])
        writer.writerows([f"h{k + 1:02d}", text, QUESTION] for k, (_, text) in enumerate(ANSWERS))
    rows = []
    for who, n in [(name, 36) for name in PEOPLE] + [(name, 450) for name in JUDGES]:
        for _ in range(n):
            a, b = rng.choice(len(ANSWERS), 2, replace=False)
            seen = quality[a] - quality[b]
            if who in JUDGES:
                seen = 0.6 * seen + 0.9 * (length[a] - length[b]) + 0.5
                seen += (0.2 if who == "south-mini" else 0.0) * (lists[a] - lists[b])
            left, right = f"h{a + 1:02d}", f"h{b + 1:02d}"
            rows.append([left, right, int(seen + np.sqrt(2.0) * rng.standard_normal() > 0), who, left])
    with (FOLDER / "votes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["left", "right", "value", "annotator_id", "shown_left_id"])
        writer.writerows(rows)
    with (FOLDER / "annotators.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["annotator_id", "kind", "family", "model", "cost"])
        writer.writerows([name, "person", "", "", 0.2] for name in PEOPLE)
        writer.writerows([name, "judge", family, name, cost] for name, (family, cost) in JUDGES.items())


if __name__ == "__main__":
    main()
