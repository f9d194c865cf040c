"""Judgements that are given again, counted by hashes and by looking at each."""

from collections import defaultdict

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.data.project import JUDGEMENTS, with_schema
from accord.data.reading.conflicts import Conflicts

VOTES = st.tuples(
    st.sampled_from(["pair", "label"]),
    st.permutations(["a", "b", "c"]),
    st.sampled_from(["1", "0", "0.5"]),
    st.sampled_from(["x", "y", None]),
    st.sampled_from([None, "done", "skipped"]),
)


def plain_count(votes):
    answers = defaultdict(list)
    for kind, (item, other, _), value, person, status in votes:
        if person is None or status == "skipped":
            continue
        if kind == "pair" and item > other:
            item, other, value = other, item, {"1": "0", "0": "1"}.get(value, value)
        answers[person, kind, item, other if kind == "pair" else None].append(value)
    alike = [len(set(given)) == 1 for given in answers.values() if len(given) > 1]
    return {"repeated": sum(alike), "contradicted": len(alike) - sum(alike)}


@settings(max_examples=60)
@given(blocks=st.lists(st.lists(VOTES, max_size=12), max_size=3))
def test_hashes_count_what_looking_at_each_counts(blocks):
    conflicts = Conflicts()
    for votes in blocks:
        columns = {
            "kind": [kind for kind, *_ in votes],
            "item_id": [order[0] for _, order, *_ in votes],
            "other_id": [order[1] if kind == "pair" else None for kind, order, *_ in votes],
            "value": [value for _, _, value, *_ in votes],
            "annotator_id": [person for *_, person, _ in votes],
            "status": [status for *_, status in votes],
        }
        typed = {name: pa.array(column, pa.string()) for name, column in columns.items()}
        conflicts.add(with_schema(typed, JUDGEMENTS))
    assert conflicts.count() == plain_count([vote for votes in blocks for vote in votes])
