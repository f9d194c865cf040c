import re

from accord.evaluation.table_picture import draw_table
from accord.evaluation.tables import Row


def curves(sizes):
    return [Row("t", f"{name}@{n}", "accuracy", None, 0.5, 0.4, 0.6, 3) for name in ("ours", "theirs") for n in sizes]


def test_lines_that_coincide_differ_in_their_dashes(tmp_path):
    picture = tmp_path / "curves.svg"
    assert draw_table(curves((10, 20)), picture)
    # both lines have the same points: the second one and its mark in the legend are dashed
    assert picture.read_text().count("stroke-dasharray") == 2


def test_sizes_that_multiply_stand_at_equal_distances(tmp_path):
    picture = tmp_path / "curves.svg"
    assert draw_table(curves((10, 100, 1000)), picture)
    places = [
        float(x)
        for x in re.findall(r'<use xlink:href="#\w+" x="([\d.]+)" y="[\d.]+" style="fill: #1f77b4', picture.read_text())
    ]
    assert abs((places[1] - places[0]) - (places[2] - places[1])) < 0.01
