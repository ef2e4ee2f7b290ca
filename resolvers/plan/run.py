"""Runs a plan: each step once for all of its parents, siblings at the same time.

Nulls and errors are values in the output. Only where there is an error does one pass at the end lift nulls as the
specification says and collect the errors in document order.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import GraphQLError

from domain.authorization import is_admin
from resolvers.bindings.base import Call, Embedded, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resolvers.bindings.base import Known
    from resolvers.plan.compile import Place, PlanColumn, PlanStep
    from resolvers.request_state import RequestState


class _Failure:
    """An error in the place of a value."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class _Work(NamedTuple):
    """A step that asks the store, the parents that it does so for, and where its results go."""

    step: PlanStep
    rows: Sequence[Any]
    outputs: list[dict[str, Any]]


_NO_OBJECT = (Exception, type(None))
_LIST = (list, tuple)


def _contains(values: Sequence[Any], kinds: type | tuple[type, ...]) -> bool:
    """Whether a value is of one of these kinds: there are many values, but few types of them."""
    for kind in set(map(type, values)):  # noqa: SIM110  # a generator takes twice as long
        if issubclass(kind, kinds):
            return True
    return False


def _by_field(works: list[_Work]) -> list[list[_Work]]:
    """The steps of each field: several where it has aliases."""
    if len(works) == 1:
        return [works]
    groups: dict[Any, list[_Work]] = {}
    for work in works:
        groups.setdefault(work.step.field, []).append(work)
    return [*groups.values()]


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
        self.request = request
        self._type_of = type_of
        self._early: dict[PlanStep, tuple[list[Any], int, asyncio.Task[list[list[Any]]]]] = {}
        """Of each step that was started early: the keys of its parents, and which of a task's results are its own."""
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
                    await self._run([_Work(step, rows, outputs)])
                    if self._has_failures:
                        # Where the failed field must not be null there is no data, and no later mutation runs.
                        self._settle(place, step.key, outputs[0], [step.key])
            else:
                works: list[_Work] = []
                self._begin(place, rows, outputs, works)
                await self._run(works)
            return self._settled(place, outputs[0], []) if self._has_failures else outputs[0]
        except _NullError:
            return None

    async def _run(self, works: list[_Work]) -> None:
        """Runs steps of one level, and everything below them: those of one field together, others concurrently."""
        while works:
            groups = _by_field(works)
            if len(groups) > 1:
                async with asyncio.TaskGroup() as group:
                    for same in groups:
                        group.create_task(self._run(same))
                return
            works = await self._run_field(works)

    async def _run_field(self, works: list[_Work]) -> list[_Work]:
        """Runs the steps of one field; returns those of the next level."""
        binding = works[0].step.binding
        assert isinstance(binding, Reading)  # noqa: S101  # nothing else is work
        calls = [Call(step, rows, self._bound[step]) for step, rows, _ in works]
        asked = [call for call in calls if not isinstance(call.bound, Exception)]
        results = iter(await binding.results(asked, self) if asked else ())
        below: list[_Work] = []
        unconfirmed = []
        for work, call in zip(works, calls, strict=True):
            refused = isinstance(call.bound, Exception)
            found = [call.bound] * len(work.rows) if refused else next(results)
            self._put(work, found, below)
            if not refused and binding.confirms(work.step) and not isinstance(found[0], Exception):
                unconfirmed.append((work, call))
        if not unconfirmed:
            return below
        await self._run(below)
        errors = await binding.confirm([call for _, call in unconfirmed], self)
        for (work, _), error in zip(unconfirmed, errors, strict=True):
            if error is not None:
                self._put(work, [error] * len(work.rows), below)
        return []

    def _put(self, work: _Work, results: Sequence[Any], below: list[_Work]) -> None:
        """Puts what a step has found into the outputs of its parents, and adds the steps below it."""
        step = work.step
        if not step.places:
            completed = self._checked(results)
        elif step.field.is_list:
            completed = self._lists(step, results, below)
        else:
            completed = self._objects(step, results, below)
        if isinstance(step.binding, Reading):
            for place, damage in step.binding.damages(results):
                # A list without its damaged items is shown, and yet there is an error of its field.
                self._damages[id(completed[place])] = self._failed(damage)
        key = step.key
        for output, value in zip(work.outputs, completed, strict=True):
            output[key] = value

    def _lists(self, step: PlanStep, results: Sequence[Any], below: list[_Work]) -> list[Any]:
        """Lists of objects: all of them are completed together, then divided again."""
        if len(results) == 1 and isinstance(results[0], _LIST):
            return [self._objects(step, results[0], below)]
        flat = [row for rows in results if isinstance(rows, _LIST) for row in rows]
        completed = iter(self._objects(step, flat, below))
        return [
            list(islice(completed, len(rows))) if isinstance(rows, _LIST) else rows for rows in self._checked(results)
        ]

    def _objects(self, step: PlanStep, results: Sequence[Any], below: list[_Work]) -> list[Any]:
        """Objects, some of which may be null or errors."""
        if len(step.places) == 1:
            (place,) = step.places.values()
            if not _contains(results, _NO_OBJECT):
                return self._complete(place, results, below)
            groups = {place: [i for i, result in enumerate(results) if not isinstance(result, _NO_OBJECT)]}
        else:
            groups = self._by_type(step, results)
        completed = self._checked(results)
        for place, positions in groups.items():
            outputs = self._complete(place, [results[i] for i in positions], below)
            for i, output in zip(positions, outputs, strict=True):
                completed[i] = output
                if len(step.places) > 1:
                    self._places[id(output)] = place
        return completed

    def _by_type(self, step: PlanStep, results: Sequence[Any]) -> dict[Place, list[int]]:
        """The objects of a field that can have several types, each with its own place."""
        groups: dict[Place, list[int]] = {}
        for i, result in enumerate(results):
            if not isinstance(result, _NO_OBJECT):
                groups.setdefault(step.places[self._type_of[type(result)]], []).append(i)
        return groups

    def _complete(self, place: Place, rows: Sequence[Any], below: list[_Work]) -> list[Any]:
        """The output of objects at one place, with what they hold; the steps that read are added to those below."""
        if place.error is not None:
            return [self._failed(place.error) for _ in rows]
        outputs = self._outputs(place, rows)
        if place.steps and rows:
            self._begin(place, rows, outputs, below)
        return outputs

    def _begin(self, place: Place, rows: Sequence[Any], outputs: list[dict[str, Any]], below: list[_Work]) -> None:
        request = self.request
        for step in place.steps.values():
            work, binding = _Work(step, rows, outputs), step.binding
            if isinstance(binding, Embedded):
                self._put(work, binding.held(rows, request), below)
            else:
                below.append(work)

    def _checked(self, results: Sequence[Any]) -> list[Any]:
        if not _contains(results, Exception):
            return list(results)
        return [self._failed(result) if isinstance(result, Exception) else result for result in results]

    async def found(self, binding: Reading, calls: Sequence[Call]) -> list[list[Any]]:
        """See Execution."""
        if self._early.keys().isdisjoint([call.step for call in calls]):
            return await self._read(binding, calls)
        early = [self._early.pop(call.step, None) for call in calls]
        late = [call for call, started in zip(calls, early, strict=True) if started is None]
        read = iter(await self._read(binding, late) if late else ())
        results = []
        for call, started in zip(calls, early, strict=True):
            if started is None:
                results.append(next(read))
                continue
            keys, place, task = started
            found, wanted = (await task)[place], binding.row_keys(call.rows)
            if wanted != keys:
                by_key = dict(zip(keys, found, strict=True))
                found = [by_key[key] for key in wanted]
            results.append(found)
        return results

    async def _read(self, binding: Reading, calls: Sequence[Call]) -> list[list[Any]]:
        try:
            found = await binding.fetch(calls, self)
        except Exception as error:  # noqa: BLE001  # it becomes an error of the field
            return [[error] * len(call.rows) for call in calls]
        if len(calls) == 1:
            return [found]
        left = iter(found)
        return [list(islice(left, len(call.rows))) for call in calls]

    def start_early(self, known: Sequence[Known]) -> None:
        """Starts the steps that need only what is known of objects, while their records are being read.

        They need no more than what identifies an object: all else may be different in its record, and what was read
        for nothing is not in the price. They start for all objects or none: an object that the caller may not see may
        be the caller's own in its record, and to read it later would be an operation more than the price has.
        """
        groups: dict[Any, list[Call]] = {}
        for objects in known:
            if objects.step.below:
                for place in objects.step.item_places:
                    for step in place.steps.values():
                        if self._can_start(step, objects):
                            call = Call(step, objects.rows, self._bound[step])
                            groups.setdefault(step.field, []).append(call)
        for field, calls in groups.items():
            binding = field.binding
            task = self.group.create_task(self._read(binding, calls))
            for place, call in enumerate(calls):
                self._early[call.step] = binding.row_keys(call.rows), place, task

    def _can_start(self, step: PlanStep, objects: Known) -> bool:
        binding, principal = step.binding, self.request.principal
        if not isinstance(binding, Reading) or not binding.needs <= objects.identity:
            return False
        rule = binding.rule
        if isinstance(self._bound[step], Exception) or not rule.admits(principal):
            return False
        if rule.allows is None or rule.on_result or is_admin(principal):
            return True
        return rule.needs <= objects.attributes and all(rule.permits(principal, row) for row in objects.rows)

    def note_items(self, step: PlanStep) -> None:
        """See Execution."""
        self._filled.add(step)

    def has_items(self, step: PlanStep) -> bool:
        """See Execution."""
        return any(inner in self._filled for place in step.places.values() for inner in place.steps.values())

    def _outputs(self, place: Place, rows: Sequence[Any]) -> list[dict[str, Any]]:
        request = self.request
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
