"""Asks for explanations, and makes them comparable: whatever takes time is checked and left out."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api import Api


async def explained(api: Api, document: str, *, mode: bool | str = True, **variables: Any) -> dict[str, Any]:
    """A request's explanation, or its plan with `mode="plan"`."""
    content = {"query": document, "variables": variables, "extensions": {"explain": mode}}
    answer = (await api.client.post("/graphql", json=content, headers=api.headers)).json()
    explanation: dict[str, Any] = answer["extensions"]["explain"]
    return explanation


async def explain(api: Api, document: str, **variables: Any) -> list[dict[str, Any]]:
    return timeless(await explained(api, document, **variables))


def walk(tree: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in tree:
        yield step
        yield from walk(step["children"])


def timeless(explanation: dict[str, Any]) -> list[dict[str, Any]]:
    """The operations, whose times and totals are as they should be."""
    operations: list[dict[str, Any]] = explanation["operations"]
    measured = explanation["totals"]["measured"]
    starts = [operation["startMs"] for operation in operations]
    ends = [operation["startMs"] + operation["durationMs"] for operation in operations]
    assert starts == sorted(starts)
    assert all(0 < start < end for start, end in zip(starts, ends, strict=True))
    assert measured == {
        "operations": len(operations),
        "requests": sum(operation["attempts"] for operation in operations),
        "items": sum(operation["returned"] for operation in operations),
        "readUnits": sum(operation["readUnits"] for operation in operations),
        "writeUnits": sum(operation["writeUnits"] for operation in operations),
        "durationMs": pytest.approx(max(ends) - starts[0], abs=0.002) if operations else 0,
    }
    return [
        {name: value for name, value in operation.items() if name not in {"startMs", "durationMs"}}
        for operation in operations
    ]


def get(contract: str, pk: str, sk: str = "META", **more: Any) -> dict[str, Any]:
    return _operation(contract, "GetItem", pk, f"= {sk}", [{"pk": pk, "sk": sk}], **{"asked": 1, **more})


def query(contract: str, pk: str, sort_key: str | None, **more: Any) -> dict[str, Any]:
    return _operation(contract, "Query", pk, sort_key, None, **more)


def brief(operations: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(operation[name] for name in names) for operation in operations]


def _operation(
    contract: str, operation: str, pk: str, sort_key: str | None, keys: list[dict[str, str]] | None, **more: Any
) -> dict[str, Any]:
    return {
        "contract": contract,
        "operation": operation,
        "index": None,
        "consistent": False,
        "partition": pk,
        "sortKey": sort_key,
        "keys": keys,
        "returned": 1,
        "pages": 1,
        "merged": 1,
        "readUnits": 0.5,
        "writeUnits": 0,
        "attempts": 1,
        "outcome": "ok",
        **more,
    }
