"""Which field is at work: noted for every field of a request that is traced, and for no other."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from loaders.table.recording import asked_by

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graphql import GraphQLResolveInfo

__all__ = ["note_path"]


def note_path(resolve: Callable[..., Any], root: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    """A middleware: what a field asks of the store, it asks on behalf of its path in the response."""
    path = ".".join(map(str, info.path.as_list()))
    with asked_by([path]):
        result = resolve(root, info, **arguments)
    return _noted(path, result) if isawaitable(result) else result


async def _noted(path: str, result: Awaitable[Any]) -> Any:
    """A coroutine runs when it is awaited, and by then its field's own context is gone."""
    with asked_by([path]):
        return await result
