"""The access patterns of the search for support: each finds by one meaning that a text may have."""

from domain.errors import BadInputError
from loaders import keys
from loaders.codecs import (
    API_KEY,
    BOOKING,
    EMAIL_CLAIM,
    LOCATION,
    LOCATION_CODE,
    LOCKER,
    OWNER,
    OWNER_PHONE,
    REFERENCE_CLAIM,
    RESERVATION_CLAIM,
    WEBHOOK,
)
from loaders.contracts.reading import ReadKinds, ReadPage

_FOR_SUPPORT = "Low: only the search for support reads it."

SEARCH_KEYS = ReadKinds(
    id="QC-176",
    purpose="Search records by an id of any kind, and the claims on an email address or a location's code",
    codecs=(OWNER, LOCKER, LOCATION, BOOKING, WEBHOOK, API_KEY, EMAIL_CLAIM, LOCATION_CODE),
    errors=(BadInputError,),
    note="One request for all kinds that the text can be a key of. What a claim names is read after it.",
    cardinality="One item of each kind at most.",
    hot_partition=_FOR_SUPPORT,
)

SEARCH_IDS = ReadPage(
    id="QC-177",
    purpose="Search reservations by their id, at all lockers",
    range=keys.claims_of_id,
    codec=RESERVATION_CLAIM,
    note="By lockerId. An id is unique at its locker alone. The reservations are read by the keys in the claims.",
    cardinality="One, unless clients choose the same ids at several lockers.",
    hot_partition=_FOR_SUPPORT,
)

SEARCH_REFERENCES = ReadPage(
    id="QC-178",
    purpose="Search reservations by their reference, of all owners",
    range=keys.claims_of_reference,
    codec=REFERENCE_CLAIM,
    note="By ownerId. A reference is unique for its owner alone. The reservations are read by the keys in the claims.",
    cardinality="One, unless several owners have the same reference.",
    hot_partition=_FOR_SUPPORT,
)

SEARCH_PHONES = ReadPage(
    id="QC-179",
    purpose="Search owners by their phone number",
    range=keys.owners_by_phone,
    codec=OWNER_PHONE,
    note="By ownerId, and by the digits alone. The owners are read after it.",
    cardinality="One or two owners a number.",
    hot_partition=_FOR_SUPPORT,
)
