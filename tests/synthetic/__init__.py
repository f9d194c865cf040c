"""Made-up judgements with known truth, one generator a word, for tests, examples and benchmarks.

Every generator is a function of its settings and ``random_state`` alone, and returns a record that holds the judgements
as Accord reads them beside the truth they were drawn from.
"""

from synthetic.aspects import SyntheticAspects, aspect_ratings
from synthetic.links import SyntheticLinks, linked_texts
from synthetic.pairs import SyntheticVotes, votes, votes_csv
from synthetic.rationales import SyntheticRationales, texts_with_rationales
from synthetic.threads import SyntheticThreads, threads

__all__ = [
    "SyntheticAspects",
    "SyntheticLinks",
    "SyntheticRationales",
    "SyntheticThreads",
    "SyntheticVotes",
    "aspect_ratings",
    "linked_texts",
    "texts_with_rationales",
    "threads",
    "votes",
    "votes_csv",
]
