"""Runs one document by the plan and by graphql-core, and says in what the answers differ."""

import os
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from graphql import parse

from domain.authorization import Principal
from loaders.trace import Trace
from resolvers.execution import Executor
from tests.equivalence.comparison import Answer, ErrorText, differences
from tests.equivalence.oracle import Execution, Oracle
from tests.equivalence.vocabulary import caller
from tests.equivalence.world import Table
from tests.fuzz.documents import Document, Vocabulary, make_document
from tests.planned import PriceCheck

DOCUMENTS = int(os.environ.get("EQUIVALENCE_DOCUMENTS", "500"))
"""How many documents are made: one in ten is a mutation."""
_REPORTED = 20


class World(NamedTuple):
    """The items of the world in the store's own form, and what documents can say about it."""

    items: list[dict[str, Any]]
    vocabulary: Vocabulary


class Case(NamedTuple):
    document: Document
    principal: Principal

    def __str__(self) -> str:
        document = self.document
        return f"seed {document.seed} as {self.principal}\n{document.text}\nvariables {document.variables}"


def make_case(seed: int, vocabulary: Vocabulary, operation: str = "query") -> Case:
    return Case(
        make_document(seed, vocabulary, operation=operation), caller(Random(seed), writes=operation == "mutation")
    )


def report(failures: list[str]) -> str:
    return f"{len(failures)} documents differ:\n" + "\n\n".join(failures[:_REPORTED])


class Runner:
    def __init__(self) -> None:
        self.executor = Executor()
        self._oracle = Oracle()
        self._without_non_null = Oracle(nullable=True)

    async def plan(self, case: Case, table: Table) -> tuple[Answer, list[str]]:
        """The plan's answer, and in what it exceeds its price."""
        document = case.document
        operation = self.executor.documents.get(document.text).operation(None)
        assert operation is not None
        state = table.request(case.principal, document.variables, Trace())
        try:
            result = await self.executor.execute(operation, state)
        finally:
            state.close()
        exceeded: list[str] = []
        asked: Any = SimpleNamespace(query="the document", variables=document.variables)
        PriceCheck(exceeded.extend).finished(state, asked, result)
        return Answer.of(result.data, result.errors), exceeded

    async def oracle(self, case: Case, table: Table) -> Answer:
        answer, _ = await self._executed(self._oracle, case, table)
        return answer

    async def occurring(self, case: Case, table: Table) -> tuple[list[ErrorText], Mapping[Any, Any]]:
        """Every error that occurs, and the declared types of the fields by their paths."""
        answer, execution = await self._executed(self._without_non_null, case, table)
        return answer.errors, execution.types

    async def _executed(self, oracle: Oracle, case: Case, table: Table) -> tuple[Answer, Execution]:
        execution = Execution(table.request(case.principal, case.document.variables))
        try:
            result = await oracle.execute(parse(case.document.text), case.document.variables, execution)
        finally:
            execution.request.close()
        return Answer.of(result.data, result.errors or ()), execution

    async def differences(
        self, case: Case, planned: Table, executed: Table, untouched: Callable[[], Awaitable[Table]]
    ) -> list[str]:
        """In what the answers differ.

        Args:
            case: the document.
            planned: the table on which the plan runs it.
            executed: the table on which graphql-core runs it.
            untouched: a table on which it has not run yet.
        """
        plan, exceeded = await self.plan(case, planned)
        oracle = await self.oracle(case, executed)

        async def occurring() -> tuple[list[ErrorText], Mapping[Any, Any]]:
            return await self.occurring(case, await untouched())

        return exceeded + await differences(plan, oracle, occurring)
