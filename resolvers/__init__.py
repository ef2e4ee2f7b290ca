"""The GraphQL schema: types with bound fields, and the plan that prices, runs and explains documents."""

from resolvers.api import enums

__all__ = ["enums"]  # registered before any type names one of them
