"""The GraphQL types with their bound fields, one module an entity."""

from resolvers.api import enums

__all__ = ["enums"]  # registered before any type names one of them
