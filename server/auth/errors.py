"""Errors of authentication."""

from __future__ import annotations


class InvalidCredentialsError(Exception):
    """The credentials are rejected; the message is sent to the client and contains nothing of the credentials."""
