"""The search for support: everything that a text may mean is looked for at the same time, in few requests."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from domain.errors import BadInputError, ForbiddenError
from domain.models import Owner
from domain.search import MOST_HITS, Meanings, SearchMatch, meanings_of
from domain.text import normalize_email, phone_digits
from loaders.codecs import API_KEY, BOOKING, EMAIL_CLAIM, LOCATION, LOCATION_CODE, LOCKER, OWNER, WEBHOOK
from loaders.concurrency import outcomes, together
from loaders.contracts.base import Contract, Order
from loaders.contracts.locations import LOCATION_BY_ID
from loaders.contracts.owners import OWNER_BY_ID, OWNERS_BY_NAME
from loaders.contracts.reading import ReadOne, ReadPage
from loaders.contracts.reservations import RESERVATION_BY_KEY
from loaders.contracts.search import SEARCH_IDS, SEARCH_KEYS, SEARCH_PHONES, SEARCH_REFERENCES
from loaders.conversion import Codec, DamagedItemError
from loaders.pages import Page, PageRequest
from loaders.table.recording import asking
from resolvers.bindings.base import NULL_WITH_ERROR, Call, Charge, Execution, FieldStep, Reading, look_up_charge
from resolvers.bindings.lists import WholeList, damages
from resolvers.bindings.nodes import NODE_KINDS, Named, Nodes, named_by
from resolvers.bindings.references import NAMED_BUT_NOT_FOUND
from resolvers.bindings.rules import AS_OBJECT
from resolvers.request_state import ArgumentContext, RequestState

DEFAULT = 10
_BY_ID: dict[str, Codec[Any]] = {
    "Owner": OWNER,
    "Locker": LOCKER,
    "Location": LOCATION,
    "Booking": BOOKING,
    "Webhook": WEBHOOK,
    "ApiKey": API_KEY,
}
"""The types of objects that have an id of their own, in the order in which they are shown."""
_RESERVATION_KEY = ("locker_id", "start_at", "reservation_id")
_NODES = Nodes(rule=AS_OBJECT)


@dataclass(frozen=True, slots=True)
class Hit:
    matched_by: list[SearchMatch]
    node: Any


@dataclass(frozen=True, slots=True)
class BoundSearch:
    told: Meanings
    named: Named | None
    """The object whose global id the text is."""
    size: int
    types: tuple[str, ...]
    """The types of `_BY_ID` that the caller may see: others are not read."""

    @property
    def keys(self) -> list[tuple[Codec[Any], tuple[str]]]:
        """The items whose keys the text can be a part of."""
        told = self.told
        keys = [(_BY_ID[type_name], told.id) for type_name in self.types]
        keys += [(EMAIL_CLAIM, told.email), (LOCATION_CODE, told.code)]
        return [(codec, (text,)) for codec, text in keys if text is not None]

    @property
    def lists(self) -> list[tuple[ReadPage[Any], str]]:
        told = self.told
        lists: list[tuple[ReadPage[Any], str | None]] = [
            (SEARCH_IDS, told.id),
            (SEARCH_PHONES, told.phone),
            (SEARCH_REFERENCES, told.reference),
            (OWNERS_BY_NAME, told.name),
        ]
        return [(contract, text) for contract, text in lists if text is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Reading):
    """The objects that a text finds, each once, the most certain ones first."""

    when_null: ClassVar[str] = NULL_WITH_ERROR

    @property
    def contracts(self) -> tuple[Contract, ...]:
        lists = (SEARCH_IDS, SEARCH_PHONES, SEARCH_REFERENCES, OWNERS_BY_NAME)
        return (SEARCH_KEYS, *lists, OWNER_BY_ID, LOCATION_BY_ID, RESERVATION_BY_KEY)

    def bind(self, values: Mapping[str, Any], request: ArgumentContext) -> BoundSearch:
        first = DEFAULT if values.get("first") is None else values["first"]
        if not 1 <= first <= MOST_HITS:
            raise BadInputError(f"first must be from 1 to {MOST_HITS}, not {first}.", ("first",))
        try:
            told = meanings_of(values["text"])
        except ValueError as error:
            raise BadInputError(f"text {error}", ("text",)) from error
        types = tuple([name for name in _BY_ID if NODE_KINDS[name].rule.admits(request.principal)])
        return BoundSearch(told, named_by(told.name), first, types)

    def price(self, step: FieldStep, parents: int, bound: BoundSearch) -> list[Charge]:
        """See Reading: one request for all keys, a Query for each list, and what the claims that they find name."""
        told, size, codecs = bound.told, bound.size, [codec for codec, _ in bound.keys]
        charges = [
            Charge(contract, "Query", contract.expected(size), contract.maximum(size)) for contract, _ in bound.lists
        ]
        if codecs:
            expected, maximum = SEARCH_KEYS.expected(codecs), SEARCH_KEYS.maximum(codecs)
            charges.append(Charge(SEARCH_KEYS, "BatchGetItem", expected, maximum))
        if bound.named is not None:
            charges += _NODES.price(step, parents, [bound.named])
        if told.email is not None or told.phone is not None:
            charges += _claimed(OWNER_BY_ID, size)
        if told.code is not None:
            charges += _claimed(LOCATION_BY_ID, 1)
        if told.id is not None or told.reference is not None:
            charges += _claimed(RESERVATION_BY_KEY, 2 * size)
        return charges

    def price_key(self, bound: BoundSearch) -> Hashable:
        told, named = bound.told, bound.named
        forms = tuple([text is None for text in (told.id, told.email, told.phone, told.code, told.reference)])
        return bound.size, bound.types, forms, None if named is None else named.kind.type_name

    def below(self, parents: int, bound: BoundSearch, type_name: str) -> int:
        return parents * bound.size

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        return await outcomes(self._hits(call, execution) for call in calls)

    def damages(self, results: Sequence[Any]) -> Iterable[tuple[int, Exception]]:
        return damages(results, WholeList)

    async def _hits(self, call: Call, execution: Execution) -> WholeList:
        """The hits of one search: first all keys and lists, then all that the claims among them name."""
        bound, request, path = call.bound, execution.request, call.step.path
        store, told = request.backend.store, bound.told

        async def page(contract: ReadPage[Any], text: str) -> Page[Any]:
            async with request.queries:
                return await contract.page(store, PageRequest(bound.size), Order.ASC, text)

        async def by_global_id() -> list[Any]:
            return [] if bound.named is None else await _NODES.fetch([call._replace(bound=[bound.named])], execution)

        async def named(contract: ReadOne[Any], claims: Sequence[Any], *key: str) -> list[Any]:
            wanted = [tuple([getattr(claim, name) for name in key]) for claim in claims]
            return await request.loaders.load_existing(contract, wanted, path) if wanted else []

        with asking(path):
            reads: list[Any] = [SEARCH_KEYS.read(store, bound.keys), *(page(*one) for one in bound.lists)]
            found, *pages = await together(reads)
        records = {codec: record for (codec, _), record in zip(bound.keys, found, strict=True)}
        lists = {contract.id: one for (contract, _), one in zip(bound.lists, pages, strict=True)}

        def listed(contract: ReadPage[Any]) -> Sequence[Any]:
            return lists[contract.id].nodes if contract.id in lists else ()

        def claim(codec: Codec[Any]) -> list[Any]:
            return [] if isinstance(records.get(codec), Exception | None) else [records[codec]]

        by_id, by_email, by_phone, by_code, by_reference, by_global = await together(
            [
                named(RESERVATION_BY_KEY, listed(SEARCH_IDS), *_RESERVATION_KEY),
                named(OWNER_BY_ID, claim(EMAIL_CLAIM), "owner_id"),
                named(OWNER_BY_ID, listed(SEARCH_PHONES), "owner_id"),
                named(LOCATION_BY_ID, claim(LOCATION_CODE), "location_id"),
                named(RESERVATION_BY_KEY, listed(SEARCH_REFERENCES), *_RESERVATION_KEY),
                by_global_id(),
            ]
        )
        hits = _Hits(request)
        for type_name, codec in _BY_ID.items():
            hits.add(SearchMatch.ID, type_name, [records.get(codec)])
        hits.add(SearchMatch.ID, "Reservation", by_id)
        if bound.named is not None:
            hits.add(SearchMatch.ID, bound.named.kind.type_name, by_global)
        hits.add(SearchMatch.EMAIL, "Owner", [one for one in by_email if _is_reached(one, told)])
        hits.add(SearchMatch.PHONE, "Owner", [one for one in by_phone if _is_reached(one, told)])
        hits.add(SearchMatch.LOCATION_CODE, "Location", by_code)
        hits.add(SearchMatch.REFERENCE, "Reservation", by_reference)
        hits.add(SearchMatch.NAME, "Owner", listed(OWNERS_BY_NAME))
        damages = (one for one in (*found, *(one.damage for one in pages)) if isinstance(one, Exception))
        return hits.shown(bound.size, next(damages, None))


class _Hits:
    """The objects that were found so far and that the caller may see, each once, by global id."""

    def __init__(self, request: RequestState) -> None:
        self._request = request
        self._hits: dict[str, Hit] = {}
        self._damage: Exception | None = None

    def add(self, match: SearchMatch, type_name: str, found: Iterable[Any]) -> None:
        kind, principal = NODE_KINDS[type_name], self._request.principal
        for one in found:
            if isinstance(one, DamagedItemError):
                self._damage = one
            elif isinstance(one, ForbiddenError):
                self._request.has_hidden = True
            elif isinstance(one, Exception):
                raise one
            elif one is not None and kind.rule.admits(principal) and kind.rule.permits(principal, one):
                hit = self._hits.setdefault(kind.global_id(one, self._request), Hit([], one))
                if match not in hit.matched_by:
                    hit.matched_by.append(match)

    def shown(self, size: int, damage: Exception | None) -> WholeList:
        shown = WholeList([*self._hits.values()][:size])
        shown.damage = self._damage or damage
        return shown


def _is_reached(owner: Owner | Exception | None, told: Meanings) -> bool:
    """Whether the address or number is still the owner's; what could not be read is decided on later."""
    if not isinstance(owner, Owner):
        return True
    return (told.email or told.phone) in {normalize_email(owner.email or ""), phone_digits(owner.phone or "")}


def _claimed(contract: ReadOne[Any], most: int) -> list[Charge]:
    """The price of what claims name: usually one record, and `most` at most."""
    usual, all_of_them = look_up_charge(contract, 1), look_up_charge(contract, most)
    again = look_up_charge(contract, most, consistent=True, condition=NAMED_BUT_NOT_FOUND)
    return [replace(all_of_them, expected=usual.expected), again]
