"""The `smartlocker` command."""
