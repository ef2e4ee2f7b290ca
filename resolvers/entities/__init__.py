"""The GraphQL types with their bound fields, one module an entity."""
