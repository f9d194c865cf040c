"""What people judged: frozen, validated records, and the readers and writers that make them."""

from accord.data.aspects import AspectRatings
from accord.data.documents import Items
from accord.data.links import Links
from accord.data.pairs import Comparisons
from accord.data.rationales import Rationales
from accord.data.threads import Threads

__all__ = ["AspectRatings", "Comparisons", "Items", "Links", "Rationales", "Threads"]
