import pytest

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.workflows.collecting.quality import quality


@pytest.mark.parametrize(
    ("times", "per_hour"), [(["2026-01-01"] * 4, None), (["2026-01-01T10:00:0" + s for s in "0011"], 3 * 3600)]
)
def test_answers_whose_times_are_coarse_are_counted_one_by_one(times, per_hour):
    ids = ["a", "b", "c", "d"]
    columns = {
        "kind": ["label", "span"] * 4,
        "annotator_id": ["ann"] * 8,
        "item_id": [name for name in ids for _ in range(2)],
        "value": ["yes", None] * 4,
        "created_at": [time for time in times for _ in range(2)],
    }
    texts = with_schema({"item_id": ids, "text": ids}, ITEMS)
    (ann,) = quality(Project("rationales", texts, with_schema(columns, JUDGEMENTS)))["pace"]
    assert (ann["name"], ann["n"], ann["per_hour"]) == ("ann", 4, per_hour)
