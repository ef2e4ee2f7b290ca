"""Runs a plan: each step once for all of its parents, siblings at the same time.

Nulls and errors are values in the output. Only where there is an error does one pass at the end lift nulls as the
specification says and collect the errors in document order.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from domain.authorization import is_admin
from loaders.pages import Page
from loaders.table.retry import together
from resolvers.bindings.base import Embedded, Reading
from resolvers.bindings.lists import Pages, Whole, WholeList
from resolvers.bindings.nodes import Nodes
from resolvers.bindings.references import Lookup
from resolvers.bindings.writes import Writing
from resolvers.plan.compile import item_places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from resolvers.bindings.rules import Rule
    from resolvers.plan.compile import Place, PlanColumn, PlanStep
    from resolvers.request_state import RequestState


class _Failure:
    """An error in the place of a value."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


_NO_OBJECT = (_Failure, Exception, type(None))
_LIST = (list, tuple)
_LISTING = (Pages, Whole)
_LISTED = (Page, WholeList)


def _contains(values: Sequence[Any], kinds: type | tuple[type, ...]) -> bool:
    """Whether a value is of one of these kinds: there are many values, but few types of them."""
    for kind in set(map(type, values)):  # noqa: SIM110  # a generator takes twice as long
        if issubclass(kind, kinds):
            return True
    return False


class _NullError(Exception):
    """A field that must not be null is: its parent becomes null."""


class _Root:
    """The parent of root fields: it has no columns."""


async def run_plan(
    root: Place, bound: Mapping[PlanStep, Any], request: RequestState, type_of: Mapping[type, str]
) -> tuple[dict[str, Any] | None, list[GraphQLError]]:
    """Runs an operation.

    Args:
        root: its compiled tree.
        bound: the checked arguments of each step.
        request: who asks, with what.
        type_of: the GraphQL type of each class of records, for fields that can have several.
    """
    run = _Run(bound, request, type_of)
    if len(root.reading) == 1:  # nothing else can be read at the same time
        return await run.root(root), run.errors
    async with asyncio.TaskGroup() as run.group:
        data = await run.root(root)
    return data, run.errors


class _Run:
    """One execution of a plan."""

    group: asyncio.TaskGroup
    """Of reads that start early."""

    def __init__(
        self,
        bound: Mapping[PlanStep, Any],
        request: RequestState,
        type_of: Mapping[type, str],
    ) -> None:
        self._bound = bound
        self._request = request
        self._type_of = type_of
        self._early: dict[PlanStep, tuple[list[Any], asyncio.Task[list[Any]]]] = {}
        self._filled: set[PlanStep] = set()
        """Lists of which an item was found."""
        self._has_failures = False
        self._places: dict[int, Place] = {}
        self._damages: dict[int, _Failure] = {}
        self.errors: list[GraphQLError] = []

    async def root(self, place: Place) -> dict[str, Any] | None:
        if place.error is not None:
            self.errors.append(place.error)
            return None
        rows = [_Root]
        outputs = self._outputs(place, rows)
        try:
            if place.type_name == "Mutation":
                for step in place.steps.values():
                    await self._step(step, rows, outputs)
                    if self._has_failures:
                        # Where the failed field must not be null there is no data, and no later mutation runs.
                        self._settle(place, step.key, outputs[0], [step.key])
            else:
                await self._steps(place, rows, outputs)
            return self._settled(place, outputs[0], []) if self._has_failures else outputs[0]
        except _NullError:
            return None

    async def _complete(self, place: Place, rows: Sequence[Any]) -> Sequence[dict[str, Any] | _Failure]:
        """The output of objects at one place, with everything below them."""
        if place.error is not None:
            return [self._failed(place.error) for _ in rows]
        outputs = self._outputs(place, rows)
        if place.steps and rows:
            await self._steps(place, rows, outputs)
        return outputs

    async def _steps(self, place: Place, rows: Sequence[Any], outputs: list[dict[str, Any]]) -> None:
        reading = []
        for step in place.steps.values():
            if step.reads:
                reading.append(step)
            else:
                await self._step(step, rows, outputs)  # never waits
        if len(reading) == 1:
            await self._step(reading[0], rows, outputs)
        elif reading:
            async with asyncio.TaskGroup() as group:
                for step in reading:
                    group.create_task(self._step(step, rows, outputs))

    async def _step(self, step: PlanStep, rows: Sequence[Any], outputs: list[dict[str, Any]]) -> None:
        binding = step.binding
        if isinstance(binding, Embedded):
            source, request = binding.source, self._request
            results = (
                [getattr(row, source) for row in rows]
                if isinstance(source, str)
                else [source(row, request) for row in rows]
            )
        else:
            results = await self._results(step, rows)
        if not step.places:
            completed = results
        elif step.field.is_list:
            completed = await self._lists(step, results)
        else:
            completed = await self._objects(step, results)
            if isinstance(binding, Lookup) and self._lacks_proof(step, binding, completed):
                completed = await self._proved(step, binding, completed)
        if isinstance(binding, _LISTING):
            self._note_damages(results, completed)
        key = step.key
        for output, value in zip(outputs, completed, strict=True):
            output[key] = value

    def _lacks_proof(self, step: PlanStep, binding: Lookup, completed: Sequence[Any]) -> bool:
        """Whether an object is shown that was not read, and none of its lists has an item."""
        if isinstance(completed[0], _Failure) or not binding.needs_proof(step, self._bound[step], self._request):
            return False
        lists = [inner for place in step.places.values() for inner in place.steps.values()]
        return self._filled.isdisjoint(lists)

    async def _proved(self, step: PlanStep, binding: Lookup, completed: list[Any]) -> list[Any]:
        try:
            await binding.prove(step, self._bound[step], self._request)
        except Exception as error:  # noqa: BLE001  # it becomes an error of the field
            return [self._failed(error)] * len(completed)
        return completed

    def _note_damages(self, results: Sequence[Any], completed: Sequence[Any]) -> None:
        """A list without its damaged items is shown, and yet there is an error of its field."""
        for found, output in zip(results, completed, strict=True):
            if isinstance(found, _LISTED) and found.damage is not None:
                self._damages[id(output)] = self._failed(found.damage)

    async def _lists(self, step: PlanStep, results: Sequence[Any]) -> list[Any]:
        """Lists of objects: all of them are completed together, then divided again."""
        if len(results) == 1 and isinstance(results[0], _LIST):
            return [await self._objects(step, results[0])]
        flat = [row for rows in results if isinstance(rows, _LIST) for row in rows]
        completed = iter(await self._objects(step, flat))
        return [list(islice(completed, len(rows))) if isinstance(rows, _LIST) else rows for rows in results]

    async def _objects(self, step: PlanStep, results: Sequence[Any]) -> list[Any]:
        """Objects, some of which may be null or errors."""
        if len(step.places) == 1:
            (place,) = step.places.values()
            if not _contains(results, _NO_OBJECT):
                return list(await self._complete(place, results))
            groups = {place: [i for i, result in enumerate(results) if self._is_object(result)]}
        else:
            groups = self._by_type(step, results)
        completed: list[Any] = [self._failed(result) if isinstance(result, Exception) else result for result in results]
        parts = [self._complete(place, [results[i] for i in positions]) for place, positions in groups.items()]
        for (place, positions), outputs in zip(groups.items(), await together(parts), strict=True):
            for i, output in zip(positions, outputs, strict=True):
                completed[i] = output
                if len(step.places) > 1:
                    self._places[id(output)] = place
        return completed

    def _by_type(self, step: PlanStep, results: Sequence[Any]) -> dict[Place, list[int]]:
        """The objects of a field that can have several types, each with its own place."""
        groups: dict[Place, list[int]] = {}
        for i, result in enumerate(results):
            if self._is_object(result):
                groups.setdefault(step.places[self._type_of[type(result)]], []).append(i)
        return groups

    @staticmethod
    def _is_object(result: Any) -> bool:
        return not isinstance(result, _NO_OBJECT)

    async def _results(self, step: PlanStep, rows: Sequence[Any]) -> list[Any]:
        """What a step finds for each parent, for those who may have it."""
        binding, bound, principal = step.binding, self._bound[step], self._request.principal
        assert isinstance(binding, Reading)  # noqa: S101  # nothing else reads
        if isinstance(bound, Exception):
            return [self._failed(bound)] * len(rows)
        if isinstance(binding, Writing):
            return await self._fetched(step, binding, rows)
        rule = binding.rule
        if not rule.admits(principal):
            return [self._failed(rule.refusal(principal))] * len(rows)
        if isinstance(binding, Lookup):
            if step.below and binding.reads_record(step):
                self._start_early([*step.places.values()], [bound], binding.parse.keys(), binding.parse.keys())
            return await self._fetched(step, binding, rows)
        if rule.allows is None or rule.on_result or is_admin(principal):
            results = await self._fetched(step, binding, rows)
        else:
            permitted = [rule.permits(principal, row) for row in rows]
            asked = [row for row, may in zip(rows, permitted, strict=True) if may]
            found = iter(await self._fetched(step, binding, asked) if asked else ())
            results = [next(found) if may else self._failed(rule.refusal(principal)) for may in permitted]
        if rule.on_result and not is_admin(principal) and not isinstance(binding, Nodes):
            results = [
                self._hidden(rule) if self._is_object(result) and not rule.permits(principal, result) else result
                for result in results
            ]
        return results

    async def _fetched(self, step: PlanStep, binding: Reading, rows: Sequence[Any]) -> list[Any]:
        """Reads for all parents, or takes what an early read found."""
        early = self._early.pop(step, None)
        if early is not None:
            keys, task = early
            results, wanted = await task, binding.row_keys(rows)
            if wanted != keys:
                found = dict(zip(keys, results, strict=True))
                results = [found[key] for key in wanted]
        else:
            results = await self._read(step, binding, rows)
        if isinstance(binding, Pages) and any(self._is_object(page) and page.nodes for page in results):
            self._filled.add(step)
        if isinstance(binding, Pages) and binding.reads_records(step, self._bound[step]):
            if step.below:
                copies = [copy for page in results if self._is_object(page) for copy in page.nodes]
                known = self._bound[step].contract.codec.attributes
                self._start_early(item_places(step.places.values()), copies, known, {binding.full_key})
            results = await self._records(step, binding, results)
        if not _contains(results, Exception):
            return results
        return [self._failed(result) if isinstance(result, Exception) else result for result in results]

    async def _read(self, step: PlanStep, binding: Reading, rows: Sequence[Any]) -> list[Any]:
        try:
            return await binding.fetch(step, rows, self._bound[step], self._request)
        except Exception as error:  # noqa: BLE001  # it becomes an error of the field
            return [error] * len(rows)

    async def _records(self, step: PlanStep, binding: Pages, pages: Sequence[Any]) -> list[Any]:
        try:
            return await binding.records(step, pages, self._request)
        except Exception as error:  # noqa: BLE001  # it becomes an error of the field
            return [error if self._is_object(page) else page for page in pages]

    def _start_early(
        self, places: Iterable[Place], rows: Sequence[Any], known: Collection[str], identity: AbstractSet[str]
    ) -> None:
        """Starts the steps that need only what is known of objects, while their records are being read.

        They need no more than what identifies an object: all else may be different in its record, and what was read
        for nothing is not in the price. They start for all objects or none: an object that the caller may not see may
        be the caller's own in its record, and to read it later would be an operation more than the price has.
        """
        principal = self._request.principal
        for place in places:
            for step in place.steps.values():
                binding = step.binding
                if not rows or not isinstance(binding, Reading) or not binding.needs <= identity:
                    continue
                rule = binding.rule
                permits_all = rule.allows is None or rule.on_result or is_admin(principal)
                decided = permits_all or rule.needs <= frozenset(known)
                if isinstance(self._bound[step], Exception) or not decided or not rule.admits(principal):
                    continue
                if permits_all or all(rule.permits(principal, row) for row in rows):
                    keys = binding.row_keys(rows)
                    self._early[step] = keys, self.group.create_task(self._read(step, binding, rows))

    def _outputs(self, place: Place, rows: Sequence[Any]) -> list[dict[str, Any]]:
        request = self._request
        if is_admin(request.principal) or all(rule.permits_all(request.principal, rows) for rule in place.restrictions):
            return place.outputs(rows, request)
        return [
            {key: None if key in place.steps else self._column(place.columns[key], row, request) for key in place.keys}
            for row in rows
        ]

    def _column(self, column: PlanColumn, row: Any, request: RequestState) -> Any:
        rule, principal = column.binding.rule, request.principal
        if rule.admits(principal) and rule.permits(principal, row):
            return column.value(row, request)
        return self._failed(rule.refusal(principal))

    def _hidden(self, rule: Rule) -> _Failure | None:
        """What stands in the place of a result that the caller may not see."""
        if not rule.quiet:
            return self._failed(rule.refusal(self._request.principal))
        self._request.has_hidden = True
        return None

    def _failed(self, error: Exception) -> _Failure:
        self._has_failures = True
        return _Failure(error)

    def _settled(self, place: Place, output: dict[str, Any], path: list[str | int]) -> dict[str, Any]:
        """Lifts nulls and collects errors, in document order."""
        for key in place.keys:
            self._settle(place, key, output, [*path, key])
        return output

    def _settle(self, place: Place, key: str, output: dict[str, Any], path: list[str | int]) -> None:
        value = output[key]
        column = place.columns.get(key)
        if column is not None:
            if isinstance(value, _Failure):
                self._collect(value, column.nodes, path)
                output[key] = self._null(nullable=column.nullable)
            return
        step = place.steps[key]
        try:
            output[key] = self._settled_value(step, value, path)
        except _NullError:
            output[key] = self._null(nullable=step.field.nullable)

    def _settled_value(self, step: PlanStep, value: Any, path: list[str | int]) -> Any:
        if isinstance(value, list) and step.places:
            self._collect_damage(step, value, path)
            return [self._settled_item(step, item, [*path, i]) for i, item in enumerate(value)]
        return self._settled_object(step, value, path)

    def _settled_item(self, step: PlanStep, item: Any, path: list[str | int]) -> Any:
        try:
            return self._settled_object(step, item, path)
        except _NullError:
            return self._null(nullable=step.field.item_nullable)

    def _settled_object(self, step: PlanStep, value: Any, path: list[str | int]) -> Any:
        if isinstance(value, _Failure):
            self._collect(value, step.nodes, path)
            raise _NullError
        if value is None or not step.places:
            return value
        self._collect_damage(step, value, path)
        place = self._places.get(id(value)) if len(step.places) > 1 else next(iter(step.places.values()))
        assert place is not None  # noqa: S101  # every object of several types is noted
        return self._settled(place, value, path)

    def _collect_damage(self, step: PlanStep, value: Any, path: list[str | int]) -> None:
        damage = self._damages.pop(id(value), None)
        if damage is not None:
            self._collect(damage, step.nodes, path)

    @staticmethod
    def _null(*, nullable: bool) -> None:
        if not nullable:
            raise _NullError

    def _collect(self, failure: _Failure, nodes: Sequence[Any], path: list[str | int]) -> None:
        error = failure.error
        if isinstance(error, GraphQLError):  # of an argument: it names the place of the value in the document
            self.errors.append(
                GraphQLError(error.message, error.nodes or nodes, path=path, original_error=error.original_error)
            )
        else:
            self.errors.append(GraphQLError(str(error), nodes, path=path, original_error=error))
