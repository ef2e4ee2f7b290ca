from itertools import cycle

from bench.workload import QUERIES, locker_changes, measure, open_client, query_body


async def test_every_request_of_the_workload_succeeds() -> None:
    async with open_client() as client:
        for name, document in QUERIES.items():
            figures = await measure(client, [cycle([query_body(document)])], requests=2)
            assert min(figures) > 0, name
        data = await client.send(query_body(QUERIES["Q4: Q3 with the active reservations"]))
        assert len(data["owner"]["lockers"]["nodes"]) == 100
        assert min(await measure(client, await locker_changes(client, 2), requests=2)) > 0
