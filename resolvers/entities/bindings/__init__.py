"""How particular fields of entities are read, where no general binding does it."""
