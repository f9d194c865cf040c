from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from accord.threads.features.similarity import MIN_TILE, SIMILARITIES, PairSimilarities, row_cosines
from accord.threads.features.text import clean_text, ngram_counts, tokenise

# "the" and "of" are stop words; few words make overlaps, tiles and repeated n-grams frequent.
texts = st.lists(st.sampled_from(["the", "of", "oil", "shop", "visa", "doha"]), max_size=14).map(" ".join)


def ngrams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def plain_cosine(a, b, low, high):
    left = Counter(g for n in range(low, high + 1) for g in ngrams(a, n))
    right = Counter(g for n in range(low, high + 1) for g in ngrams(b, n))
    norm = np.sqrt(sum(v * v for v in left.values()) * sum(v * v for v in right.values()))
    return sum(left[g] * right[g] for g in left) / norm if norm else 0.0


def plain_lcs(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(len(a)):
        for j in range(len(b)):
            table[i + 1, j + 1] = table[i, j] + 1 if a[i] == b[j] else max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def common_runs(a, b, used_a, used_b):
    for length in range(min(len(a), len(b)), 0, -1):
        for i in range(len(a) - length + 1):
            for j in range(len(b) - length + 1):
                free = not any(used_a[i : i + length]) and not any(used_b[j : j + length])
                if free and a[i : i + length] == b[j : j + length]:
                    yield length, i, j
                    return


def plain_tiling(a, b):
    used_a, used_b, tiled = [False] * len(a), [False] * len(b), 0
    while True:
        run = next(common_runs(a, b, used_a, used_b), (0, 0, 0))
        if run[0] < MIN_TILE:
            return tiled
        length, i, j = run
        used_a[i : i + length], used_b[j : j + length] = [True] * length, [True] * length
        tiled += length


@given(a=texts, b=texts)
def test_similarities_equal_their_definitions(a, b):
    tokens = tokenise([a, b])
    weights = np.arange(1.0, len(tokens.words) + 1)
    found = dict(zip(SIMILARITIES, PairSimilarities(tokens, weights).between([0], [1])[0], strict=True))
    left, right = a.split(), b.split()
    content = [[w for w in words if w not in {"the", "of"}] for words in (left, right)]
    for low, high in ((1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)):
        assert_allclose(found[f"cosine_{low}{high}"], plain_cosine(left, right, low, high), atol=1e-12)
        assert_allclose(found[f"cosine_{low}{high}_content"], plain_cosine(*content, low, high), atol=1e-12)
    for n in range(1, 5):
        u, v = set(ngrams(left, n)), set(ngrams(right, n))
        assert_allclose(found[f"jaccard_{n}"], len(u & v) / len(u | v) if u | v else 0.0)
        if n <= 2:
            assert_allclose(found[f"containment_{n}"], len(u & v) / len(u) if u else 0.0)
    common, total = plain_lcs(left, right), len(left) + len(right)
    assert_allclose(found["lcs_mean"], 2 * common / total if total else 0.0)
    assert_allclose(found["lcs_left"], common / len(left) if left else 0.0)
    longest = next(common_runs(left, right, [False] * len(left), [False] * len(right)), (0, 0, 0))[0]
    assert_allclose(found["common_substring"], longest / min(len(left), len(right)) if left and right else 0.0)
    weight = dict(zip(tokens.words, weights, strict=True))
    mass = sum(weight[w] for w in set(left))
    assert_allclose(found["idf_overlap"], sum(weight[w] for w in set(left) & set(right)) / mass if mass else 0.0)


def measures(a, b):
    tokens = tokenise([a, b])
    values = PairSimilarities(tokens, np.ones(len(tokens.words))).between([0], [1])[0]
    return dict(zip(SIMILARITIES, values, strict=True))


@given(a=texts, b=texts)
def test_string_tiling_covers_the_longest_run_and_no_more_than_the_shorter_text(a, b):
    # Ties between equally long runs may be broken either way, so later tiles can differ from the plain algorithm's.
    left, right = a.split(), b.split()
    tiled = measures(a, b)["string_tiling"] * (len(left) + len(right)) / 2
    longest = next(common_runs(left, right, [False] * len(left), [False] * len(right)), (0, 0, 0))[0]
    assert (tiled > 0.5) == (plain_tiling(left, right) > 0)
    assert tiled + 1e-9 >= (longest if longest >= MIN_TILE else 0)
    assert tiled <= min(len(left), len(right)) + 1e-9


def test_string_tiling_marks_two_tiles_in_swapped_order():
    found = measures("a1 a2 a3 x b1 b2 b3 b4", "b1 b2 b3 b4 y a1 a2 a3")
    assert_allclose(found["string_tiling"], 14 / 16)


@given(documents=st.lists(texts, min_size=1, max_size=4))
def test_ngram_counts_are_those_of_a_counter(documents):
    for n, counts in enumerate(ngram_counts(tokenise(documents), 4), start=1):
        for row, text in enumerate(documents):
            assert sorted(counts[[row]].data) == sorted(Counter(ngrams(text.split(), n)).values())


def test_no_pairs_give_an_empty_table():
    tokens = tokenise(["one"])
    assert PairSimilarities(tokens, np.ones(1)).between([], []).shape == (0, len(SIMILARITIES))


def test_row_cosines_of_a_zero_vector_are_zero():
    vectors = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert_allclose(row_cosines(vectors, np.array([0, 0]), np.array([1, 2])), [np.sqrt(0.5), 0.0])


def test_clean_text_drops_html_reply_marks_and_repetitions():
    assert clean_text("RE: &lt;p&gt;SOOOO   nice!!! ... &amp;amp; cheap??</p>") == "soo nice! . & cheap?"


def test_token_strings_survive_more_words_than_the_first_surrogate():
    words = [f"w{i}" for i in range(0xD800 + 10)]
    tokens = tokenise([" ".join(words), words[-1]])
    long, short = tokens.as_strings()
    assert len(long) == len(words)
    assert short == long[-1]
