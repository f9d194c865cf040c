"""UKPConvArg as published, against the prepared files."""

import numpy as np
import pytest

from accord.data.corpora import convarg as prepared
from accord.data.corpora.locate import corpus_file, read_csv
from accord.errors import InputError
from original_files import convarg


@pytest.fixture(scope="module")
def both(accord_data):
    return convarg.load(accord_data), prepared.load(accord_data)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["strict", "all", "crowdsample"])
def test_votes_equal_the_prepared_ones(both, name):
    published, ready = (getattr(corpus, name).to_table() for corpus in both)
    for column in ("left", "right", "value"):
        np.testing.assert_array_equal(published[column], ready[column])


@pytest.mark.corpora
def test_workers_of_the_sample_are_the_same_under_other_names(both):
    published, ready = (corpus.crowdsample for corpus in both)
    np.testing.assert_array_equal(published.annotator, ready.annotator)


@pytest.mark.corpora
def test_arguments_and_scores_equal_the_prepared_ones(both):
    published, ready = both
    place = ready.items.positions(published.items.ids)
    assert published.items.n_items == ready.items.n_items
    np.testing.assert_array_equal(published.pagerank, ready.pagerank[place])
    np.testing.assert_array_equal(published.items.groups, ready.folds[place])


@pytest.mark.corpora
def test_the_xml_holds_the_texts_topics_and_every_vote(both, accord_data):
    published, ready = both
    place = ready.items.positions(published.arguments["arg"])
    for column, known in (("text", ready.items.texts), ("topic", ready.topics), ("stance", ready.stances)):
        np.testing.assert_array_equal(published.arguments[column], known[place])
    np.testing.assert_array_equal(published.arguments["source"], ready.items.meta["source"][place])
    folds = sorted(set(published.crowd["fold"]))
    assert len(folds) == 2  # the README: two of the 32 XML files are in the archive
    full, gold = ready.crowd_full, ready.all
    rows = np.isin(full.groups, folds)
    np.testing.assert_array_equal(published.crowd["label"] / 2, full.value[rows])
    np.testing.assert_array_equal(published.crowd["arg1"], full.items.ids[full.left[rows]])
    said = np.array(prepared.crowd_reasons(accord_data), dtype=object)[rows]
    np.testing.assert_array_equal(published.crowd["reason"], said)
    stances = read_csv(corpus_file("convarg", "crowd_full.csv.gz", accord_data))["annotator_stance"].to_numpy(object)
    np.testing.assert_array_equal(published.crowd["annotator_stance"], stances[rows])
    np.testing.assert_array_equal(published.gold["label"] / 2, gold.value[np.isin(gold.groups, folds)])


def test_one_debate_is_spelt_in_one_way():
    assert convarg.fold_of("a/william_the-comnong-good.csv") == "william_the-common-good"
    assert convarg.fold_of("a/william_the-commond-good.csv") == "william_the-common-good"


def test_a_line_with_too_few_cells_is_named():
    with pytest.raises(InputError, match=r"must have 5 cells; line 2 has 2"):
        convarg.parse_pairs("x.csv", b"# head\na1_a2\tgoldLabel\n")
    with pytest.raises(InputError, match="a1, a2 or equal; line 1"):
        convarg.parse_pairs("x.csv", b"a1_a2\tgoldLabel\ta3\tone\ttwo\n")


def test_xml_that_defines_entities_is_refused():
    bomb = b'<!DOCTYPE l [<!ENTITY a "aaaa">]><list>&a;</list>'
    with pytest.raises(InputError, match="must be the XML of UKPConvArg"):
        convarg.parse_xml("x.xml", bomb)


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(InputError, match="UKPConvArgStrict-new-CSV"):
        convarg.load(folder=tmp_path)
