"""Conventions of the API: scalars, enums, Relay types, payloads and user errors."""
