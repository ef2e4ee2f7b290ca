"""Lists whose items are copies of records: the records are read where a field needs more than the copies have."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from domain.authorization import sees_all
from loaders.contracts.base import Contract
from loaders.contracts.reading import ReadOne, without_damage
from loaders.conversion import DamagedItemError
from loaders.keys import masked
from loaders.pages import Page
from resolvers.bindings.base import Call, Charge, Execution, FieldStep, Known, look_up_charge
from resolvers.bindings.lists import BoundPage, Pages
from resolvers.bindings.references import NAMED_BUT_NOT_FOUND
from resolvers.bindings.rules import Rule
from resolvers.request_state import RequestState

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPages(Pages):
    """A page of copies for each parent; `full` reads the records that their attribute `full_key` names.

    `full_rule` says who may see a record: it may have changed hands since its copy was read.
    """

    full: ReadOne[Any]
    full_key: str
    full_rule: Rule

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return (*super(CopyPages, self).contracts, self.full)  # slots leave no other way

    def price(self, step: FieldStep, parents: int, bound: BoundPage) -> list[Charge]:
        charges = Pages.price(self, step, parents, bound)
        if self.reads_records(step, bound):
            records = bound.request.size * parents
            charges += [
                look_up_charge(self.full, records),
                look_up_charge(self.full, records, consistent=True, condition=NAMED_BUT_NOT_FOUND),
            ]
        return charges

    def reads_records(self, step: FieldStep, bound: BoundPage) -> bool:
        """Whether a field needs more than the copies have."""
        return not step.uses <= bound.contract.codec.attributes

    async def fetch(self, calls: Sequence[Call], execution: Execution) -> list[Any]:
        """See Reading: first all pages, then all records, while what needs only their keys is read below them."""
        pages = await Pages.fetch(self, calls, execution)
        left, copied, known = iter(pages), [], []
        for call in calls:
            own = [page for page in islice(left, len(call.rows)) if isinstance(page, Page) and page.nodes]
            if own and self.reads_records(call.step, call.bound):
                copied += own
                copies = [copy for page in own for copy in page.nodes]
                known.append(Known(call.step, copies, {self.full_key}, call.bound.contract.codec.attributes))
        if not copied:
            return pages
        execution.start_early(known)
        path = calls[0].step.path
        shown = dict(zip(map(id, copied), await self._complete(copied, path, execution.request), strict=True))
        return [shown.get(id(page), page) for page in pages]

    async def _complete(self, pages: Sequence[Page[Any]], path: str, request: RequestState) -> list[Any]:
        """The pages with records in the place of copies.

        A copy without a record is left out and logged, and so is a damaged record: one of them must not empty the page.
        So is a record that was transferred since its copy was read to an owner that the caller may not see.
        """
        copies = [copy for page in pages for copy in page.nodes]
        keys = [(getattr(copy, self.full_key),) for copy in copies]
        records = await request.loaders.load_existing(self.full, keys, path)
        if not self._shows_all(records, request):
            records = [self._shown(copy, record, request) for copy, record in zip(copies, records, strict=True)]
        left = iter(records)
        complete: list[Any] = []
        for page in pages:
            shown = list(islice(left, len(page.nodes)))
            failure = None
            if any(issubclass(kind, Exception) for kind in set(map(type, shown))):
                failure = next((record for record in shown if is_failure(record)), None)
            complete.append(failure or without_damage(page.with_nodes(shown)))
        return complete

    def _shows_all(self, records: list[Any], request: RequestState) -> bool:
        permits_all = self.full_rule.allows is None or sees_all(request.principal)
        return permits_all and type(None) not in set(map(type, records))

    def _shown(self, copy: Any, record: Any, request: RequestState) -> Any:
        if record is None:
            logger.error("a copy names %s, which does not exist", masked(self.full.key(getattr(copy, self.full_key))))
            return None
        is_shown = isinstance(record, Exception) or self.full_rule.permits(request.principal, record)
        return record if is_shown else None


def is_failure(record: Any) -> bool:
    """Whether a record could not be read at all; what is damaged is read, but not shown."""
    return isinstance(record, Exception) and not isinstance(record, DamagedItemError)
