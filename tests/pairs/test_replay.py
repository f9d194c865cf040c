"""The loop of replays: every vote once, batches as wished, what is learnt handed on."""

import numpy as np

from accord.pairs.replay import replay_votes


def test_votes_are_asked_for_once_and_learning_goes_on_from_what_was_learnt():
    seen = []

    def learn(before, asked, new):
        assert before is None or before + len(new) == len(asked)
        seen.append(new.tolist())
        return len(asked)

    found = list(
        replay_votes(
            np.arange(10, 30), np.array([12, 15]), learn=learn, step=lambda n: 4 if n < 9 else 0,
            rng=np.random.default_rng(0),
        )
    )  # fmt: skip
    assert [learnt for _, learnt in found] == [2, 6, 10]
    asked = found[-1][0]
    assert len(set(asked.tolist())) == 10
    assert set(asked.tolist()) <= set(range(10, 30))
    assert sum(seen, []) == asked.tolist()  # noqa: RUF017


def test_a_pool_that_is_used_up_ends_the_replay_and_a_pick_is_taken():
    found = list(
        replay_votes(
            np.arange(5), np.array([4]), learn=lambda before, asked, new: asked.size, step=lambda n: 3,
            rng=np.random.default_rng(0), pick=lambda learnt, free, n: free[:n],
        )
    )  # fmt: skip
    assert found[-1][0].tolist() == [4, 0, 1, 2, 3]
