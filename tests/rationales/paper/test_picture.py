import numpy as np
import pytest
from defusedxml import ElementTree

from accord.errors import InputError
from accord.rationales.paper.picture import highlighted_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_every_token_stands_in_the_picture_and_grounds_follow_the_probabilities():
    tokens = ["a", "<superb>", "film", "&", "more"]
    picture = ElementTree.fromstring(highlighted_svg(tokens, np.array([0.0, 0.9, 0.4, 0.0, 0.0]), title="T & t"))
    words = [node.text for node in picture.iter(f"{SVG}text")]
    assert words == ["T & t", *tokens]
    grounds = [node.get("fill-opacity") for node in picture.iter(f"{SVG}rect")]
    assert grounds == [None, "0.90", "0.40"]


def test_marks_are_underlined_and_lines_wrap():
    tokens = ["word"] * 30
    marked = np.arange(30) < 4
    picture = ElementTree.fromstring(highlighted_svg(tokens, np.zeros(30), marked, columns=20))
    assert len(list(picture.iter(f"{SVG}path"))) == 4
    assert len({node.get("y") for node in picture.iter(f"{SVG}text")}) == 8


def test_arrays_of_another_length_are_refused():
    with pytest.raises(InputError, match="2 tokens"):
        highlighted_svg(["a", "b"], np.zeros(3))
