"""The GraphQL schema: thin resolvers that call a read, a write or a loader and shape the answer."""

from resolvers import enums

__all__ = ["enums"]  # registered before any type names one of them
