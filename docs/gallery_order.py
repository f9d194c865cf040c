"""What the gallery asks of its settings: the order of examples, and how pictures look."""

from pathlib import Path
from typing import Any

# In the order in which somebody learns; what is not named comes last, by name.
ORDER = (
    "plot_pairs", "plot_threads", "plot_aspects", "plot_links", "plot_rationales",
    "plot_asking", "plot_stopping", "plot_voters", "plot_judges", "plot_agreement", "plot_evaluation",
    "plot_partly_labelled", "plot_own_vectors", "plot_parquet", "plot_own_engine", "plot_own_format",
)  # fmt: skip


def by_number(path: str) -> tuple[int, str]:
    """The place of a script in its gallery."""
    name = Path(path).stem
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def plain_pictures(gallery_conf: dict[str, Any], fname: str) -> None:
    """Pictures of one size and style, before each script."""
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "figure.figsize": (7.0, 3.8),
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "font.size": 10,
            "axes.titlesize": 11,
        }
    )
