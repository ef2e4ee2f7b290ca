"""The declaration of the schema: every entity's queries and mutations, merged, with the bindings of all fields."""

from functools import cache
from typing import Any

import strawberry
from graphql.utilities.print_schema import print_schema_definition
from strawberry.printer import print_schema
from strawberry.tools import merge_types

from resolvers.api.payloads import ERROR_TYPES
from resolvers.api.scalars import schema_config
from resolvers.entities.access_codes import AccessCodeMutations
from resolvers.entities.activity import ActivityQueries, ActivitySubscriptions
from resolvers.entities.api_keys import ApiKeyMutations, ApiKeyQueries
from resolvers.entities.base import RECORD_TYPES
from resolvers.entities.bookings import BookingMutations, BookingQueries
from resolvers.entities.budgets import BudgetMutations, BudgetQueries
from resolvers.entities.calendar import CalendarMutations
from resolvers.entities.code_devices import CodeDeviceMutations
from resolvers.entities.events import AccessEventMutations
from resolvers.entities.figures import FiguresQueries
from resolvers.entities.locations import LocationMutations, LocationQueries
from resolvers.entities.lockers import LockerMutations, LockerQueries
from resolvers.entities.nodes import NodeQueries
from resolvers.entities.owners import OwnerMutations, OwnerQueries
from resolvers.entities.reservations import ReservationMutations, ReservationQueries
from resolvers.entities.search import SearchQueries
from resolvers.entities.viewer import ViewerQueries
from resolvers.entities.webhooks import WebhookMutations, WebhookQueries
from resolvers.plan.bound_schema import BoundSchema

Query: Any = merge_types(
    "Query",
    (
        ViewerQueries,
        NodeQueries,
        LockerQueries,
        OwnerQueries,
        ReservationQueries,
        LocationQueries,
        FiguresQueries,
        BookingQueries,
        ApiKeyQueries,
        BudgetQueries,
        ActivityQueries,
        WebhookQueries,
        SearchQueries,
    ),
)
Mutation: Any = merge_types(
    "Mutation",
    (
        OwnerMutations,
        LockerMutations,
        ReservationMutations,
        AccessEventMutations,
        AccessCodeMutations,
        CodeDeviceMutations,
        LocationMutations,
        BookingMutations,
        CalendarMutations,
        ApiKeyMutations,
        WebhookMutations,
        BudgetMutations,
    ),
)
Subscription: Any = merge_types("Subscription", (ActivitySubscriptions,))
Query.__strawberry_definition__.description = "Everything that can be read."
Mutation.__strawberry_definition__.description = (
    "Everything that can be changed. Each mutation takes one input and returns one payload."
)
Subscription.__strawberry_definition__.description = (
    "What happens, as it happens: over WebSocket, or as server-sent events. A client that comes back sends the "
    "`cursor` of the last activity that it has as `after`, and misses nothing."
)

_DESCRIPTION = (
    "The API of SmartLocker: lockers, their locations and owners, reservations, bookings, access codes and access "
    "events. `viewer` shows who you are for the server and what you may do. Lists are read in pages. Mutations return "
    "expected failures as `userErrors`; a mutation that is repeated with the same id or `changeId` has one effect."
)
_PLURALS = {
    "AccessCode": "access codes",
    "Activity": "activities",
    "AccessEvent": "access events",
    "ApiKey": "API keys",
    "CallerBudget": "budgets of callers",
    "LocationFigures": "figures of locations",
    "LocationUsage": "usages of locations",
    "StoredItem": "stored items",
    "WebhookDelivery": "deliveries of webhooks",
    "RecipientReservation": "reservations for a recipient",
    "OverdueReservation": "overdue reservations",
}


@cache
def declared_schema() -> strawberry.Schema:
    """The schema of all types, which is always the same and takes a tenth of a second."""
    schema = strawberry.Schema(
        query=Query, mutation=Mutation, subscription=Subscription, types=ERROR_TYPES, config=schema_config()
    )
    schema._schema.description = _DESCRIPTION  # noqa: SLF001  # Strawberry takes no description of a schema
    _describe_connections(schema)
    return schema


def bound_schema() -> BoundSchema:
    """The schema with its bindings; one without a binding for every field is not built."""
    bound = BoundSchema(declared_schema()._schema)  # noqa: SLF001  # Strawberry has no other way to it
    bound.require_attributes(RECORD_TYPES)
    return bound


def sdl() -> str:
    schema = declared_schema()
    # Strawberry does not print the description of a schema.
    return f"{print_schema_definition(schema._schema)}\n\n{print_schema(schema)}"  # noqa: SLF001  # as above


def _describe_connections(schema: strawberry.Schema) -> None:
    """A page of lockers says that it is one: a description must make sense on its own."""
    types: dict[str, Any] = dict(schema.schema_converter.type_map)
    for name, type_ in types.items():
        for suffix, text in (("Connection", "A page of {}."), ("Edge", "An item of a page of {}, with its cursor.")):
            if name.endswith(suffix):
                entity = name.removesuffix(suffix)
                description = text.format(_PLURALS.get(entity, f"{entity.lower()}s"))
                type_.definition.description = description
                type_.implementation.description = description
