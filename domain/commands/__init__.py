"""Validated mutation inputs, one module per entity."""
