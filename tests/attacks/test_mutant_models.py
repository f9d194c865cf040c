"""A changed model file that still loads gives an answer or one sentence when it is used.

No hang, and no more memory than its process may have. ``ACCORD_FUZZ`` says how many files are tried.
"""

import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from model_mutations import mutated, slightly_mutated
from mutant_use import use_all

from accord.errors import InputError
from accord.store.models import load_model
from accord.studio.limited import Limits, run
from accord.workflows.predict import predict
from accord.workflows.projects import open_example
from accord.workflows.train import train

EXAMPLES = {
    "arguments": {"length_scales": "base"},
    "cafe-threads": {},
    "cafe-reviews": {"min_texts": 1},
    "cafe-statements": {},
    "cafe-notes": {"C": 0.1, "theta_variance": 1.0, "min_count": 1},
}
LIMITS = Limits(seconds=1_500.0, megabytes=1_000, cure="")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The bytes of a model of each kind, trained on an example."""
    path = tmp_path_factory.mktemp("models") / "model.accord"
    found = {}
    for name, settings in EXAMPLES.items():
        train(open_example(name), path, settings=settings, progress=lambda what, done, total: None)
        found[name] = path.read_bytes()
    return found


def test_the_models_themselves_answer(real):
    assert run(use_all, list(real.items()), limits=LIMITS) == ["answered"] * len(EXAMPLES)


def test_a_model_whose_parts_do_not_fit_together_is_one_sentence(real, tmp_path):
    (tmp_path / "m").write_bytes(real["arguments"])
    saved = load_model(tmp_path / "m")
    saved.model.theta_ = saved.model.theta_[:-1]
    saved.model.scorer_ = replace(saved.model.scorer_, theta=saved.model.theta_)
    with pytest.raises(InputError, match=r"does not work on these data \(\w+Error: .*\)\. Its file is damaged"):
        predict(saved, open_example("arguments"))


def test_changed_models_answer_or_say_why_not(real):
    rng = np.random.default_rng(int(os.environ.get("ACCORD_FUZZ_SEED", "0")))
    n, names = int(os.environ.get("ACCORD_FUZZ", "60")), list(EXAMPLES)
    files = []
    for k in range(n):
        name, change = names[k % len(names)], mutated if k % 7 == 0 else slightly_mutated
        files.append((name, change(real[name], rng)))
    outcomes, wrong = Counter(), {}
    for first in range(0, n, 200):
        for number, outcome in enumerate(run(use_all, files[first : first + 200], limits=LIMITS), start=first):
            outcomes[outcome if outcome in ("refused", "answered", "said") else "wrong"] += 1
            if outcome not in ("refused", "answered", "said"):
                wrong[number] = outcome
    print(dict(outcomes))
    assert wrong == {}
    assert outcomes["answered"] + outcomes["said"] > n / 4, "enough of them must load"
