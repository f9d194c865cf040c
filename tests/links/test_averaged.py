"""The average of two models of links, against the two."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.links.choice import fit_averaged
from accord.links.dual import Evidence, fit_dual
from accord.links.joint import fit_joint


@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_average_stands_half_way_between_dual_and_joint_log_odds(n_labels):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_labels, 60)
    scores = rng.normal(size=(60, n_labels)) + 1.5 * np.eye(n_labels)[codes]
    if n_labels == 2:
        scores = scores[:, 1] - scores[:, 0]
    ends = np.array([rng.choice(60, 2, replace=False) for _ in range(80)])
    same = codes[ends[:, 0]] == codes[ends[:, 1]]
    evidence = [Evidence(ends, (np.where(same, 1.0, -1.0) + rng.normal(size=80))[:, None])]
    average = fit_averaged(scores, codes, evidence, n_labels=n_labels)
    two = (
        fit_dual(scores, codes, evidence, n_labels=n_labels),
        fit_joint(scores, codes, evidence, n_labels=n_labels, objective="likelihood"),
    )

    def odds(p):
        return np.log(p[:, 1:] / p[:, :1])

    beliefs = average.beliefs(scores, evidence)
    assert_allclose(beliefs.sum(axis=1), 1.0)
    assert_allclose(odds(beliefs), np.mean([odds(model.beliefs(scores, evidence)) for model in two], axis=0), atol=1e-9)
    content = np.exp(average.content(scores))
    assert_allclose(odds(content), np.mean([odds(np.exp(model.content(scores))) for model in two], axis=0), atol=1e-9)
    assert_allclose(average.gains(evidence)[0], np.mean([model.gains(evidence)[0] for model in two], axis=0))
    if n_labels == 2:  # slope and offset of the log odds of the content
        slope, offset = average.sigmoids[:, 0]
        assert_allclose(odds(content)[:, 0], slope * scores + offset)
