"""Labels that people wrote in two ways are said, at the import and by every model of labels; nothing is merged."""

import numpy as np
import pandas as pd
import pytest

from accord import CollectiveClassifier, RationaleClassifier, ThreadClassifier
from accord.workflows.import_ import import_files

SAID = "labels that differ only in case, spaces or width are different labels: 'No' and 'no'"
WORDS = ("warm soup and good bread", "cold soup and bad bread")


def table(n=24):
    rng = np.random.default_rng(0)
    side = np.arange(n) % 2
    return pd.DataFrame(
        {
            "item_id": [f"t{k}" for k in range(n)],
            "text": [f"{WORDS[s]} {' '.join(rng.choice(list('abcdefgh'), 3))}" for s in side],
            "group_id": [f"g{k // 4}" for k in range(n)],
            "label": np.where(side == 0, "yes", np.where(np.arange(n) % 6 == 1, "No", "no")),
        }
    )


@pytest.mark.parametrize("kind", ["threads", "links", "rationales"])
def test_an_import_says_which_labels_are_written_in_two_ways(kind, tmp_path):
    frame = table()
    frame.to_csv(tmp_path / "texts.csv", index=False)
    imported = import_files([tmp_path / "texts.csv"], tmp_path / "project", kind=kind)
    assert sum(SAID in told for told in imported.assumed) == 1
    assert imported.counts["label"] == 24
    frame["label"] = frame["label"].str.lower()
    frame.to_csv(tmp_path / "texts.csv", index=False)
    imported = import_files([tmp_path / "texts.csv"], tmp_path / "again", kind=kind)
    assert not any("differ only" in told for told in imported.assumed)


@pytest.mark.parametrize("make", [ThreadClassifier, CollectiveClassifier, RationaleClassifier])
@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")  # a dozen texts fit nothing well
def test_a_model_says_which_of_its_labels_are_written_in_two_ways(make):
    frame = table()
    x, y = frame[["item_id", "text"]], frame["label"].to_numpy(object)
    groups = {} if make is RationaleClassifier else {"groups": frame["group_id"].to_numpy(object)}
    with pytest.warns(UserWarning, match=SAID) as said:
        model = make().fit(x, y, **groups)
    assert sum(SAID in str(one.message) for one in said) == 1
    assert next(one for one in said if SAID in str(one.message)).filename == __file__
    assert model.classes_.tolist() == ["No", "no", "yes"]
