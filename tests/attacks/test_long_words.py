"""No pattern and no model is slower than linear on any text: a word of 300,000 letters is read like any other."""

import pytest

from accord.studio.limited import Limits, run
from long_words import learn_with, search_all

# What is worse than linear takes hours; a hundred seconds are far more than any busy machine needs for the rest.
LIMITS = Limits(seconds=300.0, megabytes=3_000, cure="")


def test_no_pattern_is_slower_than_linear():
    assert run(search_all, limits=LIMITS) > 25


@pytest.mark.parametrize("name", ["arguments", "cafe-threads", "cafe-reviews", "cafe-statements", "cafe-notes"])
def test_a_project_with_a_word_of_300_000_letters_is_learnt_from(name):
    assert run(learn_with, name, "a-", limits=LIMITS) > 10
