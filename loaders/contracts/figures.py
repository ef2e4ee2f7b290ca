"""The access patterns of figures and usage, which follow from the log."""

from typing import Any

from domain.errors import BadInputError, InvalidCursorError
from loaders import keys
from loaders.codecs import LOCATION_FIGURES, LOCATION_USAGE, OWNER_FIGURES
from loaders.contracts.base import MAX_ITEMS, PageRule
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.write_parts import IS_NEW, ItemRead, put
from loaders.contracts.writing import WriteContract
from loaders.conversion import Codec

_SMALL_ITEMS = PageRule(default=MAX_ITEMS, maximum=500, is_small=True)
_AS_READ = "#revision = :readRevision"
_HOT_LIST = (
    "Medium: the figures of all locations share one partition. A location's are written at most once a second, all of "
    "them up to 1,000 times a second; beyond that they get late, and nothing else does."
)

FIGURES_OF_LOCATION = ReadOne(
    id="QC-160",
    purpose="Figures of a location",
    codec=LOCATION_FIGURES,
    note="Up to 100 locations in one request.",
    cardinality="One item a location.",
    hot_partition=_HOT_LIST,
)

FIGURES_OF_OWNER = ReadOne(
    id="QC-161",
    purpose="Figures of an owner",
    codec=OWNER_FIGURES,
    note="One item for each part of the log, which readers add.",
    cardinality="Up to four items an owner.",
    hot_partition="None: they are in the partition of the owner.",
)

USAGE_OF_LOCATION = ReadOne(
    id="QC-162",
    purpose="Usage of a location on a day",
    codec=LOCATION_USAGE,
    note="Up to 100 days and locations in one request. A day on which nothing happened has no item.",
    cardinality="One item a location and day.",
    hot_partition=_HOT_LIST,
)

FIGURES_OF_LOCATIONS = ReadPage(
    id="QC-163",
    purpose="Figures of all locations",
    range=keys.all_location_figures,
    codec=LOCATION_FIGURES,
    page_rule=_SMALL_ITEMS,
    errors=(BadInputError, InvalidCursorError),
    note="Ordered by locationId. The items are small, so a page may have 500 of them.",
    cardinality="10 to 10,000 locations.",
    hot_partition=_HOT_LIST,
)

USAGE_OF_LOCATIONS = ReadPage(
    id="QC-164",
    purpose="Usage of all locations on a day",
    range=keys.day_usage,
    codec=LOCATION_USAGE,
    page_rule=_SMALL_ITEMS,
    errors=(BadInputError, InvalidCursorError),
    note="Ordered by locationId. The items are small, so a page may have 500 of them.",
    cardinality="10 to 10,000 locations.",
    hot_partition=_HOT_LIST,
)

FIGURES: dict[str, Codec[Any]] = {"location": LOCATION_FIGURES, "owner": OWNER_FIGURES, "day": LOCATION_USAGE}
"""The kinds of items that are counted, by the names of the steps that write them."""

COUNT_ACTIVITIES = WriteContract(
    id="QC-165",
    purpose="Add activities of the log to figures and usage",
    operation="PutItem",
    reads=tuple(ItemRead(name, codec, at_once=MAX_ITEMS, usual=1) for name, codec in FIGURES.items()),
    steps=(
        *(put(f"first {name}", codec, IS_NEW, when="nothing was counted yet") for name, codec in FIGURES.items()),
        *(put(name, codec, _AS_READ, when="something was counted") for name, codec in FIGURES.items()),
    ),
    most_steps=1,
    silent="Figures follow from what was logged.",
    note="Only the follower `figures` of the log uses it. Each item has the position in the log up to which it "
    "includes all activities, so what is told twice is counted once. Activities that are told together are one write "
    "of an item. The time zone of a location, which decides on its days, is read by QC-31.",
    cardinality="One item of a location or an owner, and one of the location's day.",
    hot_partition=_HOT_LIST,
)
