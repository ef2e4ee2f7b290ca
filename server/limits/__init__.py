"""Limits on requests and callers."""
