"""The documents that a server keeps."""

from __future__ import annotations

import gc

from graphql.language import Token

from resolvers.schema import build_schema


def document(number: int) -> str:
    return f'query D{number:04d} {{ locker(lockerId: "l1") {{ lockerId status }} }}'


def tokens_in_memory() -> int:
    return sum(isinstance(thing, Token) for thing in gc.get_objects())


def test_a_document_that_is_dropped_leaves_nothing_to_the_garbage_collector() -> None:
    documents = build_schema().documents
    for number in range(300):
        documents.get(document(number))
    gc.collect()
    gc.disable()
    try:
        kept = tokens_in_memory()
        documents.get(document(300))
        assert tokens_in_memory() == kept
    finally:
        gc.enable()
