"""Qatar Living threads. The expected counts are those of the README beside the files; 2015 also of [JMN16]."""

from collections import Counter

import numpy as np
import pytest

from accord.data.corpora import cqa

pytestmark = pytest.mark.corpora

# The README's table of files.
COUNTS = {
    "2015/train": (
        2600,
        {"Good": 8069, "Dialogue": 3755, "Bad": 2981, "Potential": 1659, "Not English": 74, "Other": 3},
    ),
    "2015/dev": (300, {"Good": 875, "Dialogue": 312, "Bad": 269, "Potential": 187, "Not English": 2}),
    "2015/test": (329, {"Good": 997, "Dialogue": 435, "Bad": 362, "Potential": 167, "Not English": 15}),
    "2016/train": (379, {"Good": 1364, "Bad": 1777, "PotentiallyUseful": 649}),
    "2016/dev": (244, {"Good": 818, "Bad": 1209, "PotentiallyUseful": 413}),
    "2016/test": (327, {"Good": 1329, "Bad": 1485, "PotentiallyUseful": 456}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_threads_are_counted_as_published(accord_data, name):
    n_threads, labels = COUNTS[name]
    threads = cqa.load(name, accord_data)
    assert threads.n_threads == n_threads
    assert Counter(threads.labels) == labels
    assert threads.n_comments == sum(labels.values())


def test_threads_of_two_or_more_are_counted_as_in_the_paper(accord_data):
    sizes = np.diff(cqa.load("2015/test", accord_data).offsets)
    assert ((sizes >= 2).sum(), sizes[sizes >= 2].sum()) == (280, 1927)  # [JMN16] section 4; the README


def test_the_question_is_subject_and_body(accord_data):
    raw = cqa.load_raw("2015/dev", accord_data)
    threads = cqa.threads_of(raw)
    assert threads.questions[0] == f"{raw[0]['subject']} {raw[0]['body']}"
    assert threads.texts[0] == raw[0]["comments"][0]["body"]
    assert threads.askers[0] == raw[0]["user"]


def test_training_threads_whose_subject_is_lost_still_have_a_question(accord_data):
    raw = cqa.load_raw("2015/train", accord_data)
    lost = [i for i, thread in enumerate(raw) if thread["split"] == "none"]
    assert len(lost) == 1414  # the README
    threads = cqa.threads_of(raw)
    assert all(threads.questions[i] == raw[i]["body"].strip() for i in lost)


def test_vectors_belong_to_the_posts(accord_data):
    ids, vectors = cqa.vectors(accord_data)
    assert vectors.shape == (23391, 384)  # the README
    parts = [cqa.load(f"2015/{split}", accord_data) for split in ("train", "dev", "test")]
    posts = {name for part in parts for name in (*part.thread_ids, *part.comment_ids)}
    assert set(ids) == posts
    np.testing.assert_allclose(np.linalg.norm(vectors[:200], axis=1), 1.0, atol=2e-3)
