"""Runs a plan: each step once for all of its parents, siblings at the same time.

Nulls and errors are values in the output. Only where there is an error does one pass at the end lift nulls as the
specification says and collect the errors in document order.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any, TypeAlias

from graphql import GraphQLError

from domain.authorization import is_admin, sees_all
from loaders.concurrency import counting, started, together
from resolvers.bindings.base import Call, Embedded, Known, Reading
from resolvers.plan.compile import Place, PlanColumn, PlanStep
from resolvers.request_state import RequestState


class _Failure:
    """An error in the place of a value."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


_NO_OBJECT = (Exception, type(None))
_LIST = (list, tuple)


def _contains(values: Sequence[Any], kinds: type | tuple[type, ...]) -> bool:
    """Whether a value is of one of these kinds: there are many values, but few types of them."""
    for kind in set(map(type, values)):  # noqa: SIM110  # a generator takes twice as long
        if issubclass(kind, kinds):
            return True
    return False


def _by_field(calls: list[Call]) -> list[list[Call]]:
    """The calls of each field: several where it has aliases."""
    groups: dict[Any, list[Call]] = {}
    for call in calls:
        groups.setdefault(call.step.field, []).append(call)
    return [*groups.values()]


class _NullError(Exception):
    """A field that must not be null is: its parent becomes null."""


class _Root:
    """The parent of root fields: it has no columns."""


Shown: TypeAlias = tuple[dict[str, Any] | None, list[GraphQLError]]
"""The data of an operation, and its errors."""


def run_plan(
    root: Place, bound: Mapping[PlanStep, Any], request: RequestState, type_of: Mapping[type, str]
) -> Awaitable[Shown]:
    """Runs an operation; `type_of` has the GraphQL type of each class of records, for fields that can have several."""
    return _Run(bound, request, type_of).run(root)


def run_events(
    root: Place,
    bound: Mapping[PlanStep, Any],
    request: RequestState,
    type_of: Mapping[type, str],
    events: Sequence[Any],
) -> Awaitable[list[Shown]]:
    """Runs a subscription for several events at once; each has a result of its own."""
    return _Run(bound, request, type_of).run_events(root, events)


class _Run:
    group: asyncio.TaskGroup | None
    """Of reads that start early."""

    def __init__(self, bound: Mapping[PlanStep, Any], request: RequestState, type_of: Mapping[type, str]) -> None:
        self._bound = bound
        self.request = request
        self._type_of = type_of
        self._early: dict[PlanStep, tuple[list[Any], int, asyncio.Task[list[list[Any]]]]] = {}
        """Of each step that was started early: the keys of its parents, and which of a task's results are its own."""
        self._unconfirmed: list[Call] = []
        self._filled: set[PlanStep] = set()
        """Lists of which an item was found."""
        self._has_failures = False
        self._places: dict[int, Place] = {}
        self._damages: dict[int, _Failure] = {}
        self.errors: list[GraphQLError] = []

    async def run_events(self, place: Place, events: Sequence[Any]) -> list[Shown]:
        if place.error is not None:
            return [(None, [place.error]) for _ in events]
        outputs = self._outputs(place, events)
        with counting():
            async with asyncio.TaskGroup() as self.group:
                calls: list[Call] = []
                self._begin(place, events, outputs, calls)
                await self._run(calls)
        return [self._shown(place, output) for output in outputs]

    def _shown(self, place: Place, output: dict[str, Any]) -> Shown:
        self.errors = []
        return self._settled_root(place, output), self.errors

    async def run(self, place: Place) -> Shown:
        if place.error is not None:
            return None, [place.error]
        rows = [_Root]
        outputs = self._outputs(place, rows)
        if place.alone is not None:
            call = Call(place.alone, rows, self._bound[place.alone], outputs)
            binding: Reading = call.step.binding
            failed = isinstance(call.bound, Exception)
            self._put(call, [call.bound if failed else await binding.result_alone(call, self.request)], [])
            return self._settled_root(place, outputs[0]), self.errors
        # Where there is but one step, nothing can be read early.
        with counting():
            async with asyncio.TaskGroup() if len(place.reading) > 1 else nullcontext() as self.group:
                try:
                    if place.type_name == "Mutation":
                        await self._run_in_turn(place, rows, outputs)
                    else:
                        calls: list[Call] = []
                        self._begin(place, rows, outputs, calls)
                        await self._run(calls)
                        if self._unconfirmed:
                            await self._confirm()
                except _NullError:
                    return None, self.errors
        return self._settled_root(place, outputs[0]), self.errors

    def _settled_root(self, place: Place, output: dict[str, Any]) -> dict[str, Any] | None:
        try:
            return self._settled(place, output, []) if self._has_failures else output
        except _NullError:
            return None

    async def _run_in_turn(self, place: Place, rows: Sequence[Any], outputs: list[dict[str, Any]]) -> None:
        for step in place.steps.values():
            await self._run([Call(step, rows, self._bound[step], outputs)])
            if self._has_failures:
                # Where the failed field must not be null there is no data, and no later mutation runs.
                self._settle(place, step.key, outputs[0], [step.key])

    async def _run(self, calls: list[Call]) -> None:
        """Runs the calls of one level, and everything below them: those of one field together, others concurrently."""
        while calls:
            groups = _by_field(calls) if len(calls) > 1 else ()
            if len(groups) > 1:
                await together([self._run(same) for same in groups])
                return
            calls = await self._run_field(calls)

    async def _run_field(self, calls: list[Call]) -> list[Call]:
        """Runs the calls of one field; returns those of the next level."""
        binding: Reading = calls[0].step.binding
        below: list[Call] = []
        asked = []
        for call in calls:
            if isinstance(call.bound, Exception):
                self._put(call, [call.bound] * len(call.rows), below)
            else:
                asked.append(call)
        if asked:
            for call, found in zip(asked, await binding.results(asked, self), strict=True):
                self._put(call, found, below)
                if binding.confirms(call.step) and not isinstance(found[0], Exception):
                    self._unconfirmed.append(call)
        return below

    async def _confirm(self) -> None:
        """Removes what does not exist after all, once everything below is complete."""
        for calls in _by_field(self._unconfirmed):
            binding: Reading = calls[0].step.binding
            for call, error in zip(calls, await binding.confirm(calls, self), strict=True):
                if error is not None:
                    self._put(call, [error] * len(call.rows), [])

    def _put(self, call: Call, results: Sequence[Any], below: list[Call]) -> None:
        """Puts what a field has found into the outputs of its parents, and adds the calls below it."""
        step: PlanStep = call.step
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
        for output, value in zip(call.outputs, completed, strict=True):
            output[key] = value

    def _lists(self, step: PlanStep, results: Sequence[Any], below: list[Call]) -> list[Any]:
        """Lists of objects: all of them are completed together, then divided again."""
        if len(results) == 1 and isinstance(results[0], _LIST):
            return [self._objects(step, results[0], below)]
        flat = [row for rows in results if isinstance(rows, _LIST) for row in rows]
        completed = iter(self._objects(step, flat, below))
        return [
            list(islice(completed, len(rows))) if isinstance(rows, _LIST) else rows for rows in self._checked(results)
        ]

    def _objects(self, step: PlanStep, results: Sequence[Any], below: list[Call]) -> list[Any]:
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
        groups: dict[Place, list[int]] = {}
        for i, result in enumerate(results):
            if not isinstance(result, _NO_OBJECT):
                groups.setdefault(step.places[self._type_of[type(result)]], []).append(i)
        return groups

    def _complete(self, place: Place, rows: Sequence[Any], below: list[Call]) -> list[Any]:
        """The output of objects at one place, with what they hold; the steps that read are added to those below."""
        if place.error is not None:
            return [self._failed(place.error) for _ in rows]
        outputs = self._outputs(place, rows)
        if place.steps and rows:
            self._begin(place, rows, outputs, below)
        return outputs

    def _begin(self, place: Place, rows: Sequence[Any], outputs: list[dict[str, Any]], below: list[Call]) -> None:
        request, bound = self.request, self._bound
        for step in place.steps.values():
            binding = step.binding
            if isinstance(binding, Embedded):
                self._put(Call(step, rows, None, outputs), binding.held(rows, request), below)
            else:
                below.append(Call(step, rows, bound[step], outputs))

    def _checked(self, results: Sequence[Any]) -> list[Any]:
        if not _contains(results, Exception):
            return list(results)
        return [self._failed(result) if isinstance(result, Exception) else result for result in results]

    def found(self, binding: Reading, calls: Sequence[Call]) -> Awaitable[list[list[Any]]]:
        return self._read_or_taken(binding, calls) if self._early else self._read(binding, calls)

    async def _read_or_taken(self, binding: Reading, calls: Sequence[Call]) -> list[list[Any]]:
        """Reads for those calls for which nothing was read early."""
        early = [self._early.pop(call.step, None) for call in calls]
        late = [call for call, read in zip(calls, early, strict=True) if read is None]
        found = iter(await self._read(binding, late) if late else ())
        results = []
        for call, read in zip(calls, early, strict=True):
            if read is None:
                results.append(next(found))
                continue
            keys, place, task = read
            own, wanted = (await task)[place], binding.row_keys(call.rows)
            if wanted != keys:
                by_key = dict(zip(keys, own, strict=True))
                own = [by_key[key] for key in wanted]
            results.append(own)
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
            assert self.group is not None  # noqa: S101  # there is more than one step
            task = started(self._read(binding, calls), self.group)
            for place, call in enumerate(calls):
                self._early[call.step] = binding.row_keys(call.rows), place, task

    def _can_start(self, step: PlanStep, objects: Known) -> bool:
        binding, principal = step.binding, self.request.principal
        if not isinstance(binding, Reading) or not binding.needs <= objects.identity:
            return False
        rule = binding.rule
        if isinstance(self._bound[step], Exception) or not rule.admits(principal):
            return False
        if rule.allows is None or rule.on_result or sees_all(principal):
            return True
        return rule.needs <= objects.attributes and all(rule.permits(principal, row) for row in objects.rows)

    def note_items(self, step: PlanStep) -> None:
        self._filled.add(step)

    def has_items(self, step: PlanStep) -> bool:
        return any(inner in self._filled for place in step.places.values() for inner in place.steps.values())

    def _outputs(self, place: Place, rows: Sequence[Any]) -> list[dict[str, Any]]:
        request = self.request
        if not place.restrictions or self._sees_all(place, rows):
            return place.outputs(rows, request)
        return [
            {key: None if key in place.steps else self._column(place.columns[key], row, request) for key in place.keys}
            for row in rows
        ]

    def _sees_all(self, place: Place, rows: Sequence[Any]) -> bool:
        principal = self.request.principal
        return is_admin(principal) or all(rule.permits_all(principal, rows) for rule in place.restrictions)

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
