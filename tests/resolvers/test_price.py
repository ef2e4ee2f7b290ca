import pytest

from domain.errors import QueryTooComplexError
from loaders.contracts.cost import Cost
from loaders.contracts.reservations import CREATE_RESERVATION, SETTLE_LAST_CHANGE
from resolvers.bindings.nodes import to_global_id
from resolvers.limits import Limit
from resolvers.plan.price import Price
from tests.resolvers.plans import LIMIT, OWNER, figures, price, steps

ID = to_global_id("Locker", "l1")
NOTHING = Cost()
MANY = 1_000_000
EVENT = {"lockerId": "l", "action": "OPEN", "actorId": "a", "result": "SUCCESS"}
RECORD_ONE = "mutation ($input: RecordAccessEventInput!) { recordAccessEvent(input: $input) { userErrors { code } } }"
ANY = "mutation ($input: ReserveAnyLockerInput!) { reserveAnyLocker(input: $input) { userErrors { code } } }"
RECORD_SEVERAL = RECORD_ONE.replace("EventInput", "EventsInput").replace("Event(", "Events(")


@pytest.mark.parametrize(
    ("document", "expected", "maximum"),
    [
        ('{ locker(lockerId: "l1") { alias } }', (1, 1, 0.5), (1, 1, 0.5)),
        ('{ locker(lockerId: "l1", consistent: true) { alias } }', (1, 1, 1), (1, 1, 1)),
        ('{ locker(lockerId: "l1") { owner { name } location { name } } }', (3, 3, 1.5), (3, 3, 2)),
        ('{ locker(lockerId: "l1") { latestEvent { action } } }', (2, 2, 1), (2, 2, 4)),
        (OWNER % "name", (1, 1, 0.5), (1, 1, 0.5)),
        (OWNER % "ownerId", (1, 1, 0.5), (1, 1, 0.5)),
        (OWNER % "ownerId lockers(first: 3) { nodes { alias } }", (1, 4, 0.5), (2, 5, 1.5)),
        (OWNER % "name lockers(first: 3) { nodes { alias } }", (2, 5, 1), (2, 5, 1.5)),
        ('{ ownerByEmail(email: "a@b.c") { name } }', (2, 2, 1), (3, 3, 2)),
        ('{ locationByCode(code: "rome") { name } }', (2, 2, 1), (3, 3, 3.5)),
        ('{ reservation(lockerId: "l1", reservationId: "r") { status } }', (2, 2, 1), (4, 4, 2.5)),
        ('{ booking(bookingId: "b") { owner { name } location { name } } }', (3, 3, 1.5), (3, 3, 4)),
        ("{ pendingBookings(first: 10) { nodes { date } } }", (1, 11, 1), (1, 11, 12.5)),
        (f'{{ node(id: "{ID}") {{ id }} }}', (1, 1, 0.5), (1, 1, 0.5)),
        ('{ node(id: "nonsense") { id } }', (0, 0, 0), (0, 0, 0)),
        ("{ __schema { types { name } } __typename }", (0, 0, 0), (0, 0, 0)),
    ],
)
async def test_a_document_has_an_expected_and_a_maximum_price(
    document: str, expected: tuple[int, int, float], maximum: tuple[int, int, float]
) -> None:
    priced = await price(document)
    assert (figures(priced.expected), figures(priced.maximum)) == (expected, maximum)


async def test_a_list_reads_records_only_where_a_field_needs_more_than_the_copies_have() -> None:
    page = OWNER % "lockers(first: 10) { %s }"
    assert figures((await price(page % "nodes { alias status ownerId }")).maximum) == (2, 12, 3.5)
    for asked in ("nodes { version }", "edges { node { version } }", "nodes { alias } edges { node { version } }"):
        priced = await price(page % asked)
        assert figures(priced.expected) == (2, 21, 0.5 + 5)
        # Records that are too new for an eventually consistent read are read again, strongly; the owner, if the list is
        # empty.
        assert figures(priced.fallbacks) == (2, 11, 10 + 0.5)
        assert figures(priced.maximum) == (4, 32, 3 + 5 + 10 + 0.5)


async def test_lists_of_codes_share_their_reads_by_key_and_are_priced_for_every_attempt() -> None:
    priced = await price(OWNER % "lockers(first: 30) { nodes { accessCodeList { revision } } }")
    charges = steps(priced)["owner.lockers.nodes.accessCodeList"].charges
    doors, guards, codes, reservations, queries, lockers = [
        (charge.operation, charge.expected.operations, charge.maximum.operations) for charge in charges[:6]
    ]
    assert doors == guards == lockers == ("BatchGetItem", 1, 1)
    assert codes == reservations == ("BatchGetItem", 8, 15)
    assert queries == ("Query", 30, 30)
    first, others = charges[:6], charges[6:]
    assert [charge.maximum for charge in others] == [charge.maximum * 11 for charge in first]
    assert {charge.expected for charge in others} == {NOTHING}


async def test_a_known_document_is_priced_by_the_variables_of_each_request() -> None:
    document = """query ($id: ID!, $first: Int, $strongly: Boolean!) {
      owner(ownerId: $id) { lockers(first: $first) { nodes { alias } } }
      locker(lockerId: $id, consistent: $strongly) { alias }
    }"""
    for first, strongly, items in ((3, False, 5), (100, True, 102), (None, True, 27)) * 2:
        priced = await price(document, id="x", first=first, strongly=strongly)
        page, locker = (step.charges[0].expected for step in (steps(priced)["owner.lockers"], steps(priced)["locker"]))
        assert (priced.expected.operations, priced.expected.items) == (2, items)
        assert (page.items, locker.read_units) == (items - 1, 1 if strongly else 0.5)
    refused = await price(document, id="x", first=0, strongly=False)
    assert figures(refused.expected) == (1, 1, 0.5)
    wanted = {"locationId": "x", "ownerId": "x", "startAt": "2026-03-02T00:00:00Z", "endAt": "2026-03-03T00:00:00Z"}
    for size, searched in (("XL", "QC-38"), (None, "QC-37")) * 2:
        priced = await price(ANY, input=wanted | {"size": size})
        assert {charge.contract.id for charge in steps(priced)["reserveAnyLocker"].charges} & {"QC-37", "QC-38"} == {
            searched
        }


async def test_pages_multiply_and_references_are_batches_of_a_hundred() -> None:
    priced = await price(OWNER % "lockers(first: 30) { nodes { reservations(first: 9) { nodes { owner { name } } } } }")
    found = steps(priced)
    reservations = found["owner.lockers.nodes.reservations"]
    owners = found["owner.lockers.nodes.reservations.nodes.owner"]
    assert (reservations.parents, owners.parents) == (30, 270)
    assert [charge.expected.operations for charge in (*reservations.charges, *owners.charges)] == [30, 3]
    assert [charge.expected.items for charge in (*reservations.charges, *owners.charges)] == [300, 270]


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ("", 25),
        ("(first: 7)", 7),
        ("(last: 7)", 7),
        ("(first: null)", 25),
        ("(first: $given)", 9),
        ("(first: $default)", 11),
        ("(first: $absent)", 25),
    ],
)
async def test_a_page_counts_as_full_with_one_item_more(arguments: str, size: int) -> None:
    # Every variable is used, so that the document is valid whichever is asked for.
    document = """query ($given: Int, $default: Int = 11, $absent: Int, $on: Boolean = false) {
      pendingBookings%s { nextCursor }
      ... @include(if: $on) {
        a: pendingBookings(first: $given) { nextCursor } b: pendingBookings(first: $default) { nextCursor }
        c: pendingBookings(first: $absent) { nextCursor }
      }
    }"""
    priced = await price(document % arguments, given=9)
    assert priced.expected.items == priced.maximum.items == size + 1


BACKWARD = '(window: {from: "2026-03-02T00:00:00Z", to: "2026-03-01T00:00:00Z"})'


@pytest.mark.parametrize("arguments", ["(first: 0)", "(first: 101)", "(first: 3, last: 4)", BACKWARD])
async def test_a_field_with_wrong_arguments_costs_nothing(arguments: str) -> None:
    priced = await price(f'{{ locker(lockerId: "l1") {{ alias reservations{arguments} {{ nextCursor }} }} }}')
    assert figures(priced.maximum) == (1, 1, 0.5)


async def test_a_list_of_ids_is_expected_to_be_short() -> None:
    priced = await price("{ apiKeys(first: 100) { nodes { owners { name } } } }")
    (owners,) = steps(priced)["apiKeys.nodes.owners"].charges
    assert (figures(owners.expected), figures(owners.maximum)) == ((2, 200, 100), (25, 2500, 1250))


async def test_fields_of_one_key_and_repeated_fragments_are_priced_once() -> None:
    document = """{
      owner(ownerId: "a") { lockers(first: 2) { nodes { lockerId } } }
      ...A ...A ... on Query { ...A }
    }
    fragment A on Query { owner(ownerId: "a") { lockers(first: 2) { nodes { ...L } edges { node { ...L } } } } }
    fragment L on Locker { owner { name } ... on Node { id ... on Reservation { owner { name } } } }"""
    merged = (
        '{ owner(ownerId: "a") { lockers(first: 2) { nodes { owner { name } } edges { node { owner { name } } } } } }'
    )
    assert (await price(document)).maximum == (await price(merged)).maximum


async def test_skipped_fields_are_not_priced() -> None:
    document = """query ($on: Boolean!) {
      a: owner(ownerId: "a") @include(if: $on) { name }
      b: owner(ownerId: "b") @skip(if: $on) { name lockers { nextCursor } }
      ...F @skip(if: $on)
    } fragment F on Query { d: owner(ownerId: "d") { name } }"""
    assert figures((await price(document, on=True)).expected)[:2] == (1, 1)
    assert figures((await price(document, on=False)).expected)[:2] == (3, 28)


async def test_nodes_are_priced_by_their_types_and_below_each_only_what_applies_to_it() -> None:
    ids = [to_global_id("Locker", "l1"), to_global_id("Locker", "l2"), to_global_id("Owner", "o"), "nonsense"]
    document = """query ($ids: [ID!]!) { nodes(ids: $ids) {
      ... on Locker { owner { name } }
      ... on Owner { lockers(first: 1) { nextCursor } }
      ... on Booking { owner { name } }
    } }"""
    priced = await price(document, ids=ids)
    below = {(step.step.field.name, step.parents) for step in priced.tree[0].children}
    assert below == {("Locker.owner", 2), ("Owner.lockers", 1)}
    assert priced.expected.items == 3 + 2 + 2


async def test_a_calendar_is_priced_by_the_days_of_its_window() -> None:
    document = """query ($to: Date!) { location(locationId: "01HX0000000000000000000000") {
      calendar(window: {from: "2026-03-01", to: $to}) { morning { booking { date } } }
    } }"""
    assert (await price(document, to="2026-03-10")).maximum.items == 1 + 20 + 10
    assert (await price(document, to="2027-03-10")).maximum.items == 1  # refused: more than 92 days


async def test_a_mutation_is_expected_to_succeed_at_once_and_its_maximum_counts_every_round() -> None:
    document = "mutation ($input: CreateReservationInput!) { createReservation(input: $input) { userErrors { code } } }"
    values = {"lockerId": "l", "ownerId": "o", "startAt": "2026-03-01T12:00:00Z", "endAt": "2026-03-01T13:00:00Z"}
    priced = await price(document, input=values)
    assert priced.expected.operations == 4
    assert priced.maximum.operations >= 24 * 4
    assert priced.maximum.write_units == 24 * (CREATE_RESERVATION.write_units + SETTLE_LAST_CHANGE.write_units)
    assert 0 < priced.expected.write_units <= CREATE_RESERVATION.write_units


async def test_mutations_of_one_document_add_up() -> None:
    entry = 'recordAccessEvent(input: {lockerId: "l", action: OPEN, actorId: "a", result: SUCCESS})'
    shown = "{ accessEvent { locker { alias } } }"
    one = await price(f"mutation {{ a: {entry} {shown} }}")
    two = await price(f"mutation {{ a: {entry} {shown} b: {entry} {shown} }}")
    assert (two.expected, two.maximum) == (one.expected * 2, one.maximum * 2)


async def test_a_list_of_an_input_is_priced_by_its_length() -> None:
    few, many = [await price(RECORD_SEVERAL, input={"events": [EVENT] * number}) for number in (2, 25)]
    assert few.expected.operations == many.expected.operations == 2
    assert few.maximum.write_units < many.maximum.write_units
    assert few.maximum.items < many.maximum.items


async def test_fields_selected_below_a_user_error_are_a_fallback() -> None:
    document = """mutation ($input: CancelReservationInput!) { cancelReservation(input: $input) {
      reservation { locker { alias } } userErrors { ... on ReservationOverlapError { reservation { owner { name } } } }
    } }"""
    found = steps(await price(document, input={"lockerId": "l", "reservationId": "r"}))
    (shown,) = found["cancelReservation.reservation.locker"].charges
    (refused,) = found["cancelReservation.userErrors.reservation.owner"].charges
    assert (shown.condition, shown.expected.operations) == (None, 1)
    assert (refused.condition, refused.expected) == ("only where the mutation is refused", NOTHING)


@pytest.mark.parametrize(
    ("expected", "fallbacks", "admitted"),
    [
        (Cost(100, 1000, 200), Cost(), Cost(100, 1000, 200)),
        (Cost(100, 1000, 200), Cost(5, 50, 20), Cost(105, 1000, 220)),
        (Cost(100, 1000, 200), Cost(1000, 10_000, 9000), Cost(125, 1000, 250)),
        (Cost(1, 1, 0.5), Cost(40, 1000, 98, 12), Cost(11, 1, 10.5, 10)),
    ],
)
def test_a_request_is_admitted_with_a_capped_allowance(expected: Cost, fallbacks: Cost, admitted: Cost) -> None:
    assert Price([], expected, fallbacks, expected + fallbacks).admitted == admitted


@pytest.mark.parametrize(
    ("limit", "measure"),
    [
        (Limit(10, MANY, MANY), "41.5 read units, and the limit is 10"),
        (Limit(MANY, 10, MANY), "21 store operations, and the limit is 10"),
        (Limit(MANY, MANY, 10), "911 items, and the limit is 10"),
    ],
)
async def test_a_refusal_names_the_measure_and_the_most_expensive_field(limit: Limit, measure: str) -> None:
    document = OWNER % "name lockers(first: 9) { nodes { alias accessEvents(first: 99) { nodes { action } } } }"
    priced = await price(document)
    with pytest.raises(QueryTooComplexError) as refusal:
        priced.check(limit)
    assert refusal.value.message == (
        f"The request is expected to need {measure}. The most expensive field is `owner.lockers.nodes.accessEvents`: "
        "ask for smaller pages there, or send several requests."
    )


WINDOW = '(window: {from: "2026-03-01", to: "2026-05-31"}) { date }'
SINGLE = "owner { name } location { name } activeReservation { endAt } latestEvent { action }"


@pytest.mark.parametrize(
    ("below", "is_allowed"),
    [
        (f"lockers(first: 100) {{ nodes {{ version {SINGLE} }} }}", True),
        ("lockers(first: 25) { nodes { reservations(first: 25) { nodes { startAt owner { name } } } } }", True),
        ("lockers(first: 100) { nodes { accessEvents(first: 100) { nodes { action } } } }", True),
        (f"lockers(first: 100) {{ nodes {{ location {{ availability{WINDOW} calendar{WINDOW} }} }} }}", False),
        ("lockers(first: 100) { nodes { owner { lockers(first: 100) { nodes { latestEvent { action } } } } } }", False),
    ],
)
async def test_the_default_limits_allow_dashboards_not_lists_of_lists_of_lists(below: str, *, is_allowed: bool) -> None:
    priced = await price(OWNER % below)
    assert (LIMIT.exceeded_by(priced.admitted) is None) is is_allowed
