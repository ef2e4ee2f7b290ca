"""The lockers of a location: all of them for admins, and what is offered to them for other callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.authorization import is_admin, searched_audiences
from domain.errors import BadInputError
from loaders.contracts.base import Contract
from loaders.contracts.reading import ReadPage
from resolvers.bindings.copies import CopyPages
from resolvers.request_state import ArgumentContext


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPages(CopyPages):
    """A page of the whole list for admins; for other callers of what is `offers` to their audiences, merged."""

    offers: ReadPage[Any]

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (*super(OfferedPages, self).contracts, self.offers)  # slots leave no other way

    def lists(
        self, values: Mapping[str, Any], request: ArgumentContext
    ) -> tuple[ReadPage[Any], tuple[tuple[Any, ...], ...]]:
        owner_ids = values.get("owner_ids")
        if is_admin(request.principal):
            if owner_ids is not None:
                raise BadInputError("Admins get all lockers: leave out ownerIds.", ("ownerIds",))
            return CopyPages.lists(self, values, request)
        if values.get("status") is not None:
            raise BadInputError("Only admins can select a status.", ("status",))
        return self.offers, tuple(searched_audiences(request.principal, owner_ids))
