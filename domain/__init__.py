"""Entities and business rules: pure Python without I/O."""
