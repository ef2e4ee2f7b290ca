"""The query contracts, one module an entity: every access pattern of the product."""
