"""The GraphQL schema: thin resolvers that call a read, a write or a loader and shape the answer."""
