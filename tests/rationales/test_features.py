import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from accord.data.rationales import inside_tags
from accord.errors import InputError
from accord.rationales.features import (
    Vocabulary,
    read_tokens,
    transition_names,
    transition_table,
)


def test_the_vocabulary_keeps_types_that_occur_often_enough():
    vocabulary = Vocabulary.count([["b", "a", "b"], ["a", "b", "c"]], min_count=2)
    assert vocabulary.words.tolist() == ["a", "b"]
    assert vocabulary.codes(["b", "c", "a"]).tolist() == [1, 2, 0]
    assert_array_equal(vocabulary.presence([["b", "b", "c"], [], ["a"]]).toarray(), [[0, 1], [0, 0], [1, 0]])
    repeated = vocabulary.presence([["b", "c", "b", "a", "b"], [], ["c", "c"]], repeats=True).toarray()
    assert_allclose(repeated, [[1, 1 + np.log(3)], [0, 0], [0, 0]])


def test_n_grams_join_neighbours_and_characters_of_scripts_without_spaces():
    tokens = read_tokens(["not so good", "one", "好吃的 ok"])
    assert tokens.n_grams(0, 2, 2) == [(0, "not so"), (1, "so good")]
    assert tokens.n_grams(0, 2, 1) == []
    assert tokens.n_grams(1, 2, 2) == []
    assert tokens.n_grams(2, 2, 1) == [(0, "好吃"), (1, "吃的")]
    assert tokens.n_grams(2, 3, 1) == [(0, "好吃的")]
    assert tokens.n_grams(2, 2, 2)[-1] == (2, "的 ok")


def test_tokens_keep_their_characters():
    tokens = read_tokens(["Not good, at all", "", "Fine"])
    assert tokens.strings == [["not", "good", ",", "at", "all"], [], ["fine"]]
    text = "Not good, at all"
    assert [text[a:b] for a, b in tokens.of(0)] == ["Not", "good", ",", "at", "all"]
    assert tokens.offsets.tolist() == [0, 5, 5, 6]
    assert len(tokens.places) == 6 + 3
    assert len(tokens.places_of(1)) == 1


def test_a_token_that_is_partly_highlighted_is_inside():
    tokens = read_tokens(["Not good, at all"])
    assert inside_tags(np.array([[5, 9]]), tokens.of(0)).tolist() == [False, True, True, False, False]


@pytest.mark.parametrize(("transitions", "n"), [("plain", 4), ("words", 27), ("syntax", 93)])
def test_each_set_has_its_features(transitions, n):
    # Words: 4 + 8 on the left + 8 on the right + 5 starters + 2 ends; syntax: 11 phrases × 3 kinds × 2 changes more.
    assert len(transition_names(transitions)) == n


def names_at(tokens, place, transition, transitions="words"):
    contexts, features = transition_table(tokens.places, transitions)
    row = features[4 * int(contexts[place]) + ["OO", "OI", "IO", "II"].index(transition)].toarray()[0]
    return {name for name, on in zip(transition_names(transitions), row, strict=True) if on}


def test_transitions_see_the_words_on_both_sides():
    tokens = read_tokens(["bad , not good ."])
    assert names_at(tokens, 0, "OI") == {"O-I", "(begin)-I"}
    assert names_at(tokens, 1, "IO") == {"I-O", "I-O(,)"}
    assert names_at(tokens, 2, "OI") == {"O-I", "O(,)-I", "O-I(not)"}
    assert names_at(tokens, 2, "IO") == {"I-O", "I(,)-O"}
    assert names_at(tokens, 2, "OO") == {"O-O"}
    assert names_at(tokens, 5, "IO") == {"I-O", "I(.)-O", "I-(end)"}


def test_plain_transitions_have_one_context():
    contexts, features = transition_table(read_tokens(["bad , not good .", "a"], transitions="plain").places, "plain")
    assert set(contexts.tolist()) == {0}
    assert_array_equal(features.toarray(), np.eye(4))


def test_syntactic_boundaries_are_the_largest_that_end_or_start_and_the_smallest_that_crosses():
    # (S (NP the film) (VP is (ADJP very good)))
    def parser(tokens):
        assert tokens == ["the", "film", "is", "very", "good"]
        return [("S", 0, 5), ("NP", 0, 2), ("VP", 2, 5), ("ADJP", 3, 5), ("JJ", 4, 5)]

    tokens = read_tokens(["the film is very good"], transitions="syntax", parser=parser)
    assert names_at(tokens, 2, "OI", "syntax") == {"O-I", "O-I/E=NP", "O-I/S=VP", "O-I/C=S"}
    assert names_at(tokens, 3, "OI", "syntax") == {"O-I", "O-I(very)", "O-I/S=ADJP", "O-I/C=VP"}
    assert names_at(tokens, 5, "IO", "syntax") == {"I-O", "I-O/E=S", "I-(end)"}


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="needs a parser"):
        read_tokens(["a"], transitions="syntax")
    with pytest.raises(InputError, match="row 2 is NoneType"):
        read_tokens(["a", None])
    with pytest.raises(InputError, match="inside its text of 1 tokens"):
        read_tokens(["a"], transitions="syntax", parser=lambda tokens: [("NP", 0, 2)])
