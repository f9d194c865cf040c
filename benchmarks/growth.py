"""Time against size, up to 10⁷ edges, and the picture of it in the documentation."""

from pathlib import Path

from engines import bench_growth


def run() -> list[dict]:
    """One row a size."""
    return bench_growth(Path(__file__).resolve().parents[1] / "docs" / "_static" / "engines-growth.svg")
