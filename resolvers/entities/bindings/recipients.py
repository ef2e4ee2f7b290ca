"""The reservations of a recipient, found by a keyed hash. What the caller asks for is not in the plan or its price."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.access_codes import MAX_RING_KEYS
from domain.errors import BadInputError
from domain.ids import argument
from domain.models import contact_by
from domain.text import check_email, check_sought_phone
from domain.times import EARLIEST, LATEST
from loaders.pages import Page
from resolvers.bindings.base import Charge, FieldStep
from resolvers.bindings.lists import BoundPage, Lists, Pages
from resolvers.request_state import ArgumentContext, RequestState

_FURTHER_KEYS = "only where the ring of access codes has further keys"
_CHECKS = {"email": argument(check_email), "phone": argument(check_sought_phone)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientPages(Pages):
    """A page of the list of a contact: one list for each key of the ring, merged."""

    def lists(self, values: Mapping[str, Any], request: ArgumentContext) -> Lists:
        given = {name: values[name] for name in _CHECKS if values.get(name) is not None}
        if len(given) != 1:
            raise BadInputError("Give an email or a phone, one of them.", ())
        ((name, text),) = given.items()
        return self.contract, ((contact_by(**{name: _CHECKS[name](text, name)}),),)

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        further = self.contract.maximum(bound.request.size) * (MAX_RING_KEYS - 1)
        charge = Charge(self.contract, "Query", maximum=further * parents, condition=_FURTHER_KEYS)
        return [*Pages.price(self, step, parents, bound), charge]

    async def page(self, key: Any, bound: BoundPage, request: RequestState) -> Page[Any]:
        ((contact,),) = bound.keys
        lists = [(name, EARLIEST, LATEST) for name in request.backend.code_ring().recipients(contact)]
        store, since = request.backend.store, request.kept_since(self.contract)
        return await self.contract.merged_page(store, bound.request, bound.order, lists, request.queries, since)
