"""Draw docs/_static/judges.png: slopes of the judges of the example "answers" and the ranking by what people prefer.

python docs/draw_judges.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from accord import AnchoredRanker, open_example

NAMES = {"position": "left text", "length": "twice the length", "lists": "twice the list items"}


def main() -> None:
    """Fit with the defaults and draw."""
    project = open_example("answers")
    votes = project.comparisons()
    table = votes.to_table()
    ranker = AnchoredRanker().fit(
        *votes.xy(), items=votes.items, annotator=table["annotator_id"], judges=project.judges(),
        shown_left=table["shown_left_id"],
    )  # fmt: skip
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), width_ratios=(1, 1.1))
    slopes = ranker.slopes_[ranker.slopes_["covariate"].isin(NAMES)]  # that on markdown is too uncertain to show
    for place, (who, own) in enumerate(slopes[~slopes["annotator"].isin(["judges", "people"])].groupby("annotator")):
        at = [-list(NAMES).index(name) - 0.22 * place for name in own["covariate"]]
        error = [own["slope"] - own["low"], own["high"] - own["slope"]]
        left.errorbar(own["slope"], at, xerr=error, fmt="o", capsize=4, label=who)
    left.axvline(0.0, color="grey", lw=0.8)
    left.set_yticks([-k - 0.11 for k in range(len(NAMES))], list(NAMES.values()))
    left.set(title="What judges like beyond what people like", xlabel="slope, in the unit of the scores")
    left.legend(frameon=False, loc="lower right")
    ranked = ranker.rank()
    error = [ranked["score"] - ranked["low"], ranked["high"] - ranked["score"]]
    right.errorbar(ranked["score"], -ranked.index, xerr=error, fmt="ko", ms=4, capsize=3)
    right.set_yticks(-ranked.index, ranked["item_id"], fontsize=8)
    right.set(title="Ranking", xlabel="what people prefer, with 90 % intervals")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(Path(__file__).parent / "_static" / "judges.png", dpi=100)
    print(ranker.judges_.round(2).to_string(), slopes.round(2).to_string(), sep="\n")


if __name__ == "__main__":
    main()
