"""The order in which votes, items and sides come, and how voters are called, change nothing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from accord import AnchoredRanker, BradleyTerryRanker, PersonalRanker, PreferenceRanker
from accord.data.corpora import convarg
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.pairs.controlled import ControlledRanker
from accord.pairs.paper.folds import split

NAMES = ("given", "votes", "items", "voters", "sides")
RENAMED = (0, 1, 2)


def problem(n=15, n_votes=600, *, seed=0, features=0, margin=0.0, sides=False, groups=None, weighted=False):
    """Votes of twelve voters, two of whom answer at random; items are not given in the order of their ids."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, max(features, 1)))
    f = x[:, 0] + 0.5 * rng.standard_normal(n)
    ids = rng.permutation(np.array([f"t{k:03d}" for k in range(n)], dtype=object))
    size = n if groups is None else n // groups
    left = rng.integers(0, size * (groups or 1), n_votes)
    right = left // size * size + (left % size + rng.integers(1, size, n_votes)) % size
    side = rng.choice([-1, 1], n_votes)
    z = f[left] - f[right] + 0.4 * side * sides + rng.normal(0, np.sqrt(2), n_votes)
    voter = rng.integers(0, 12, n_votes)
    y = np.where(z > margin, 1.0, np.where(z < -margin, 0.0, 0.5))
    y = np.where(voter < 2, rng.integers(0, 2, n_votes), y)
    return Comparisons(
        Items(
            ids,
            features=x if features else None,
            groups=None if groups is None else [f"g{groups - 1 - min(k // size, groups - 1)}" for k in range(n)],
        ),
        left,
        right,
        y,
        voter,
        np.array([f"person-{k:02d}" for k in range(12)], dtype=object),
        0.5 + rng.integers(0, 3, n_votes) if weighted else None,
        side if sides else None,
    )


def arranged(votes, what, seed=1):
    """The same votes told in another way, and how each voter is called there."""
    rng = np.random.default_rng(seed)
    table, items = votes.to_table(), votes.items
    names = {name: name for name in votes.annotators}
    if what == "votes":
        table = table.sample(frac=1.0, random_state=seed)
    elif what == "items":
        items = items.subset(rng.permutation(items.n_items))
    elif what == "voters":
        names = {name: f"x{place}" for name, place in zip(names, rng.permutation(len(names)), strict=True)}
        table["annotator_id"] = table["annotator_id"].map(names)
    elif what == "sides":
        swap = rng.random(len(table)) < 0.5
        left, right = table["left"], table["right"]
        table["left"], table["right"] = np.where(swap, right, left), np.where(swap, left, right)
        table["value"] = np.where(swap, 1.0 - table["value"], table["value"])
    return table.reset_index(drop=True), items, names


def routed(table, *wanted):
    columns = {"annotator_id": "annotator", "weight": "sample_weight", "shown_left_id": "shown_left"}
    return {
        setting: table[column].to_numpy()
        for column, setting in columns.items()
        if column in table and (not wanted or setting in wanted)
    }


def renamed(table, names):
    """A table of voters with their first names."""
    back = {new: old for old, new in names.items()}
    table = table.assign(annotator=[back.get(name, name) for name in table["annotator"]])
    return table.sort_values("annotator", ignore_index=True)


def same(found, reference):
    """Rankings are the same, line by line, whatever the order of groups that are given in another order."""
    found, reference = (table.sort_values("item_id", ignore_index=True) for table in (found, reference))
    pd.testing.assert_frame_equal(found, reference, rtol=0.0, atol=1e-6)


PROBLEMS = {
    "voters, sides, ties": {"sides": True, "margin": 0.4, "n": 8, "n_votes": 150},
    "features": {"features": 4, "n": 20, "n_votes": 150},
    "groups and items without votes": {"groups": 2, "n": 13, "n_votes": 150},
    "weights": {"weighted": True, "margin": 0.4, "n": 8, "n_votes": 150},
    "more items than are drawn together": {"n": 270, "n_votes": 900},
    "many items without features": {"n": 1600, "n_votes": 3000},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_ranking_does_not_depend_on_the_order_of_anything(name):
    votes = problem(**PROBLEMS[name])
    pairs = np.column_stack([votes.items.ids[:7], votes.items.ids[1:8]])
    reference = None
    for what in NAMES:
        table, items, names = arranged(votes, what)
        ranker = PreferenceRanker().fit(table[["left", "right"]], table["value"], items=items, **routed(table))
        voters = renamed(ranker.annotators_, names)
        found = (ranker.predict_proba(pairs), ranker.score_items(votes.items), ranker.rank(), voters)
        assert ranker.items_.ids.tolist() == items.ids.tolist()
        assert_allclose(ranker.score_items(), ranker.score_items(items), atol=1e-12)
        reference = reference or found
        assert_allclose(found[0], reference[0], rtol=0.0, atol=1e-6)
        assert_allclose(found[1], reference[1], rtol=0.0, atol=1e-6)
        same(found[2], reference[2])
        pd.testing.assert_frame_equal(found[3], reference[3], rtol=0.0, atol=1e-6)
        if name == "groups and items without votes":
            assert ranker.rank()["group"].drop_duplicates().tolist() == list(dict.fromkeys(items.groups))
            assert ranker.stability(top=2).p_top == pytest.approx(
                ranker.stability(votes.items, top=2).p_top, abs=1e-12
            )  # fmt: skip


@pytest.mark.parametrize("settings", [{"inference": "svi"}, {"n_inducing": 10}, {"aggregate": "majority"}])
def test_no_setting_depends_on_the_order_of_votes_and_items(settings):
    votes = problem(features=3, n=40, n_votes=500)
    pairs = np.column_stack([votes.items.ids[:7], votes.items.ids[1:8]])
    reference = None
    for what in NAMES:
        table, items, _ = arranged(votes, what)
        ranker = PreferenceRanker(**settings).fit(table[["left", "right"]], table["value"], items=items)
        found = ranker.predict_proba(pairs)
        reference = found if reference is None else reference
        assert_allclose(found, reference, rtol=0.0, atol=1e-6)


def test_questions_do_not_depend_on_the_order_of_items():
    votes = problem(groups=2, n=20)
    asked = []
    for what in NAMES[:3]:
        table, items, _ = arranged(votes, what)
        ranker = PreferenceRanker().fit(table[["left", "right"]], table["value"], items=items, **routed(table))
        found = ranker.ask(6)
        asked.append({frozenset(pair) for pair in found[["left", "right"]].to_numpy()})
    assert asked[0] == asked[1] == asked[2]


def test_votes_added_later_are_those_of_the_items_they_name():
    votes = problem(n=210, n_votes=1000)
    table, items, _ = arranged(votes, "items")
    first, rest = table.iloc[:980], table.iloc[980:]
    known = Items(np.concatenate([["a new one"], items.ids, ["the last"]]))
    whole = PreferenceRanker().fit(table[["left", "right"]], table["value"], items=known)
    ranker = PreferenceRanker().fit(first[["left", "right"]], first["value"], items=items)
    ranker.partial_fit(rest[["left", "right"]], rest["value"], items=known)
    pairs = np.column_stack([rest["left"], rest["right"]])
    assert np.abs(ranker.predict_proba(pairs) - whole.predict_proba(pairs)).mean() < 0.01
    counts = [each.rank().set_index("item_id")["n_votes"].to_dict() for each in (ranker, whole)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("make", [BradleyTerryRanker, lambda: ControlledRanker(covariates=["position"])])
def test_rankings_by_log_odds_do_not_depend_on_the_order(make):
    votes = problem(n=12, n_votes=300, sides=True, margin=0.3)
    pairs = np.column_stack([votes.items.ids[:7], votes.items.ids[1:8]])
    reference = None
    for what in NAMES:
        table, items, _ = arranged(votes, what)
        ranker = make()
        wanted = ("sample_weight",) if isinstance(ranker, BradleyTerryRanker) else ("sample_weight", "shown_left")
        ranker.fit(table[["left", "right"]], table["value"], items=items, **routed(table, *wanted))
        found = ranker.rank()
        if isinstance(ranker, BradleyTerryRanker):
            assert ranker.ids_.tolist() == items.ids.tolist()
            found["p"] = np.append(ranker.predict_proba(pairs)[:, 1], np.zeros(5))
        reference = found if reference is None else reference
        same(found, reference)


def test_personal_rankings_do_not_depend_on_the_order():
    votes = problem(n=8, n_votes=200, features=2)
    pairs = np.column_stack([votes.items.ids[:7], votes.items.ids[1:8]])
    reference = None
    for what in NAMES:
        table, items, names = arranged(votes, what)
        ranker = PersonalRanker(n_tastes=2).fit(table[["left", "right"]], table["value"], items=items, **routed(table))
        person = names["person-05"]
        found = (ranker.predict_proba(pairs, annotator=person), ranker.rank(person))
        reference = reference or found
        assert_allclose(found[0], reference[0], rtol=0.0, atol=1e-6)
        same(found[1], reference[1])


def test_rankings_with_judges_do_not_depend_on_the_order():
    votes = problem(n=10, n_votes=300, sides=True, margin=0.3)
    reference = None
    for what in NAMES:
        table, items, names = arranged(votes, what)
        judges = pd.DataFrame({"annotator_id": [names["person-10"], names["person-11"]]})
        ranker = AnchoredRanker(n_draws=60, burn_in=30, covariates=["position"])
        with pytest.warns(UserWarning, match="draws"):
            ranker.fit(table[["left", "right"]], table["value"], items=items, judges=judges, **routed(table))
        shown = (ranker.judges_.drop(columns="family"), ranker.slopes_, ranker.annotators_)
        found = (ranker.rank(), *(renamed(part, names) for part in shown))
        assert ranker.items_.ids.tolist() == items.ids.tolist()
        by_item = ranker.rank().set_index("item_id")["score"].loc[items.ids]
        assert np.corrcoef(ranker.score_items(), by_item)[0, 1] > 1.0 - 1e-9
        reference = reference or found
        same(found[0], reference[0])
        for part, wanted in zip(found[1:], reference[1:], strict=True):
            pd.testing.assert_frame_equal(part, wanted, rtol=0.0, atol=1e-6)


@pytest.mark.corpora
def test_a_real_fold_does_not_depend_on_the_order(accord_data):
    corpus = convarg.load()
    fold = split(corpus, str(np.unique(corpus.folds)[0]), "glove")
    votes = fold.train(corpus.crowdsample)
    votes = votes.subset(np.isin(votes.groups.astype(str), np.unique(votes.groups.astype(str))[:3]))
    pairs = fold.test.xy()[0].head(50)
    reference = None
    for what in ("given", "votes", "items", "voters"):
        table, items, _ = arranged(votes, what)
        ranker = PreferenceRanker().fit(table[["left", "right"]], table["value"], items=items, **routed(table))
        found = ranker.predict_proba(pairs, items=fold.items)
        reference = found if reference is None else reference
        assert_allclose(found, reference, rtol=0.0, atol=1e-6)


def called(votes, seed):
    """The same votes about items with other ids, in another order, and what each item is called there."""
    rng = np.random.default_rng(seed)
    items, place = votes.items, rng.permutation(votes.items.n_items)
    if seed:
        ids = np.array([f"x{number:05d}" for number in rng.permutation(90_000)[: items.n_items]], dtype=object)
    else:
        ids, place = items.ids, np.arange(items.n_items)
    names = dict(zip(items.ids, ids, strict=True))
    new = Items(
        ids[place],
        texts=None if items.texts is None else items.texts[place],
        features=None if items.features is None else items.features[place],
        groups=None if items.groups is None else items.groups[place],
    )
    table = votes.to_table().sample(frac=1.0, random_state=seed, ignore_index=True)
    for column in {"left", "right", "shown_left_id"} & set(table):
        table[column] = table[column].map(names)
    return table, new, names


def first_called(table, names):
    """A ranking with the items' first ids."""
    back = {new: old for old, new in names.items()}
    return table.assign(item_id=table["item_id"].map(back))


def with_texts(votes, seed=0):
    rng = np.random.default_rng(seed)
    words = ["a", "cold", "warm", "soup", "bread", "was", "very", "not", "good", "bad", "we", "ate", "left", "again"]
    texts = [" ".join(rng.choice(words, rng.integers(4, 12))) + "." for _ in votes.items.ids]
    return Comparisons(
        Items(votes.items.ids, texts=texts, groups=votes.items.groups), votes.left, votes.right, votes.value,
        votes.annotator, votes.annotators,
    )  # fmt: skip


@pytest.mark.parametrize("name", [*PROBLEMS, "texts", "sparse votes", "pairs apart"])
def test_a_ranking_does_not_depend_on_what_items_are_called(name):
    if name == "texts":
        votes = with_texts(problem(n=30, n_votes=150))
    elif name == "sparse votes":  # some items have no votes, or the same ones
        votes = problem(n=60, n_votes=50)
    elif name == "pairs apart":  # four pairs that no vote joins, beside items that all differ
        votes = problem(n=20, n_votes=120)
        apart = Items(np.concatenate([votes.items.ids, [f"z{k}" for k in range(8)]]))
        left, right = (np.concatenate([old, 20 + np.arange(k, 8, 2)]) for k, old in ((0, votes.left), (1, votes.right)))
        votes = Comparisons(apart, left, right, np.append(votes.value, np.ones(4)))
    else:
        votes = problem(**PROBLEMS[name])
    pairs = np.column_stack([votes.items.ids[:7], votes.items.ids[1:8]])
    reference = None
    for seed in RENAMED:
        table, items, names = called(votes, seed)
        ranker = PreferenceRanker().fit(table[["left", "right"]], table["value"], items=items, **routed(table))
        now = [(names[a], names[b]) for a, b in pairs]
        alone = np.bincount(np.concatenate([votes.left, votes.right]), minlength=votes.items.n_items) < 2
        told = first_called(ranker.rank(), names).set_index("item_id").loc[votes.items.ids[~alone]]
        found = ranker.predict_proba(now), told.reset_index()
        reference = reference or found
        assert_allclose(found[0], reference[0], rtol=0.0, atol=1e-6)
        same(found[1], reference[1])


@pytest.mark.parametrize("settings", [{"inference": "svi"}, {"n_inducing": 10}, {"aggregate": "majority"}])
@pytest.mark.parametrize("features", [0, 3])
def test_no_setting_depends_on_what_items_are_called(settings, features):
    votes = problem(features=features, n=40, n_votes=500)
    pairs = np.column_stack([votes.items.ids[:7], votes.items.ids[1:8]])
    reference = None
    for seed in RENAMED:
        table, items, names = called(votes, seed)
        ranker = PreferenceRanker(**settings).fit(table[["left", "right"]], table["value"], items=items)
        found = ranker.predict_proba([(names[a], names[b]) for a, b in pairs])
        reference = found if reference is None else reference
        assert_allclose(found, reference, rtol=0.0, atol=1e-6)


def test_questions_and_later_votes_do_not_depend_on_what_items_are_called():
    votes = problem(groups=2, n=20)
    asked, chances = [], []
    for seed in RENAMED:
        table, items, names = called(votes, seed)
        back = {new: old for old, new in names.items()}
        ranker = PreferenceRanker().fit(table[["left", "right"]], table["value"], items=items, **routed(table))
        found = ranker.ask(6)
        asked.append({frozenset(back[name] for name in pair) for pair in found[["left", "right"]].to_numpy()})
        more = [(names[a], names[b]) for a, b in zip(votes.items.ids[:5], votes.items.ids[5:10], strict=True)]
        ranker.partial_fit(more, np.ones(5), annotator=["person-05"] * 5)
        chances.append(ranker.predict_proba(more))
    assert asked[0] == asked[1] == asked[2]
    assert_allclose(chances[1:], [chances[0]] * 2, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("make", [BradleyTerryRanker, lambda: ControlledRanker(covariates=["position"])])
def test_rankings_by_log_odds_do_not_depend_on_what_items_are_called(make):
    votes = problem(n=12, n_votes=300, sides=True, margin=0.3)
    reference = None
    for seed in RENAMED:
        table, items, names = called(votes, seed)
        ranker = make()
        wanted = ("sample_weight",) if isinstance(ranker, BradleyTerryRanker) else ("sample_weight", "shown_left")
        ranker.fit(table[["left", "right"]], table["value"], items=items, **routed(table, *wanted))
        found = first_called(ranker.rank(), names)
        reference = found if reference is None else reference
        same(found, reference)


def test_personal_rankings_do_not_depend_on_what_items_are_called():
    for features in (0, 2):
        votes, reference = problem(n=8, n_votes=200, features=features), None
        for seed in RENAMED:
            table, items, names = called(votes, seed)
            ranker = PersonalRanker(n_tastes=2)
            ranker.fit(table[["left", "right"]], table["value"], items=items, **routed(table))
            found = first_called(ranker.rank("person-05"), names)
            reference = found if reference is None else reference
            same(found, reference)


def test_rankings_with_judges_do_not_depend_on_what_items_are_called():
    votes = problem(n=10, n_votes=300, sides=True, margin=0.3)
    reference = None
    for seed in RENAMED:
        table, items, names = called(votes, seed)
        judges = pd.DataFrame({"annotator_id": ["person-10", "person-11"]})
        ranker = AnchoredRanker(n_draws=60, burn_in=30, covariates=["position"])
        with pytest.warns(UserWarning, match="draws"):
            ranker.fit(table[["left", "right"]], table["value"], items=items, judges=judges, **routed(table))
        found = first_called(ranker.rank(), names), ranker.judges_, ranker.slopes_, ranker.annotators_
        reference = reference or found
        same(found[0], reference[0])
        for part, wanted in zip(found[1:], reference[1:], strict=True):
            pd.testing.assert_frame_equal(part, wanted, rtol=0.0, atol=1e-6)
