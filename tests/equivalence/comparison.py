"""Compares two answers to one document: all must be equal but for the choice that the specification leaves.

`data` is equal as JSON text, the order of its keys included. Errors are equal as multisets: message, path, locations,
and what decides their code, status and input path.

The one choice: where a field that must not be null fails, its parent becomes null, and of several errors below that
parent an executor must report one and may report others. For an error, the *lifted null* is the null in the response
at a strict prefix of its path. Errors with a lifted null are compared in groups, one for each lifted null:

- both answers have the same lifted nulls;
- each reported error is one that occurs: it is among the errors of an execution by graphql-core of the same schema
  without non-null types, where nothing is lifted, so that every error is reported;
- in each answer at least one error of the group explains its null: every type from below the null down to the error's
  own field is non-null.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from graphql import GraphQLError, GraphQLList, GraphQLNonNull

from domain.errors import SmartLockerError

Path = tuple[str | int, ...]


class ErrorText(NamedTuple):
    """An error in the form in which it is compared."""

    path: Path | None
    message: str
    locations: str
    cause: str


class Answer(NamedTuple):
    data: bytes
    errors: list[ErrorText]

    @classmethod
    def of(cls, data: Any, errors: Iterable[GraphQLError]) -> Answer:
        """An answer in the form in which it is compared."""
        return cls(orjson.dumps(data, default=_exact), [_error_text(error) for error in errors])


async def differences(
    plan: Answer, oracle: Answer, occurring: Callable[[], Awaitable[tuple[list[ErrorText], Mapping[Path, Any]]]]
) -> list[str]:
    """Says in what two answers differ; empty where they are equivalent.

    Args:
        plan: the answer of the plan.
        oracle: the answer of graphql-core.
        occurring: every error that occurs, and the declared types of the fields by their paths. Called only where a
            null was lifted.
    """
    if plan.data != oracle.data:
        return [f"data differ:\n  plan   {plan.data.decode()}\n  oracle {oracle.data.decode()}", *_all(plan, oracle)]
    data = orjson.loads(plan.data)
    plan_exact, plan_lifted = _divided(data, plan.errors)
    exact, lifted = _divided(data, oracle.errors)
    found = [f"only the plan has {error}" for error in (plan_exact - exact).elements()]
    found += [f"only graphql-core has {error}" for error in (exact - plan_exact).elements()]
    if plan_lifted.keys() != lifted.keys():
        return [*found, f"lifted nulls differ: plan {plan_lifted}, graphql-core {lifted}"]
    if lifted:
        possible, types = await occurring()
        for null in lifted:
            for name, errors in (("the plan", plan_lifted[null]), ("graphql-core", lifted[null])):
                found += [f"{name} has {error}, which does not occur" for error in errors if error not in possible]
                if not any(_explains(error.path or (), null, types) for error in errors):
                    found.append(f"no error of {name} explains the null at {null}: {errors}")
    return found


def _all(plan: Answer, oracle: Answer) -> list[str]:
    return [f"  plan   {error}" for error in plan.errors] + [f"  oracle {error}" for error in oracle.errors]


def _divided(data: Any, errors: list[ErrorText]) -> tuple[Counter[ErrorText], dict[Path, list[ErrorText]]]:
    """The errors at their own null, and those below a lifted one."""
    exact: Counter[ErrorText] = Counter()
    lifted: dict[Path, list[ErrorText]] = defaultdict(list)
    for error in errors:
        null = None if error.path is None else _null_at(data, error.path)
        if null is None or null == error.path:
            exact[error] += 1
        else:
            lifted[null].append(error)
    return exact, lifted


def _null_at(data: Any, path: Path) -> Path:
    """The path of the null that stands at a path or above it; a list without its damaged items is no null."""
    value = data
    for depth, key in enumerate(path):
        if value is None:
            return path[:depth]
        value = value[key]
    assert value is None or isinstance(value, dict | list), f"there is an error at {path}, and it is not null"
    return path


def _explains(path: Path, null: Path, types: Mapping[Path, Any]) -> bool:
    return all(_is_non_null(path[:length], types) for length in range(len(null) + 1, len(path) + 1))


def _is_non_null(path: Path, types: Mapping[Path, Any]) -> bool:
    if isinstance(path[-1], str):
        return isinstance(types[path], GraphQLNonNull)
    of = types[path[:-1]]
    of = of.of_type if isinstance(of, GraphQLNonNull) else of
    assert isinstance(of, GraphQLList)
    return isinstance(of.of_type, GraphQLNonNull)


def _error_text(error: GraphQLError) -> ErrorText:
    path = None if error.path is None else tuple(error.path)
    return ErrorText(path, error.message, str(error.formatted.get("locations")), _cause(error.original_error))


def _cause(cause: Exception | None) -> str:
    match cause:
        case SmartLockerError():
            return f"{cause.code} {cause.status} {cause.path} {cause.details}"
        case None | GraphQLError():
            return "BAD_USER_INPUT"
        case _:
            return f"INTERNAL_SERVER_ERROR {cause!r}"


def _exact(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} is no JSON")
