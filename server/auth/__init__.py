"""Authentication: bearer tokens, API keys and development tokens."""
