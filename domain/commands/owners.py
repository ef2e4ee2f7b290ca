"""Inputs of the owner mutations."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from domain.commands.base import CheckedOwnerId, Command, Name
from domain.models import OwnerKind, OwnerRole
from domain.text import check_email, check_phone

__all__ = ["CreateOwner", "UpdateOwner"]

Email = Annotated[str, AfterValidator(check_email)]
Phone = Annotated[str, AfterValidator(check_phone)]


class CreateOwner(Command):
    """Create an owner."""

    owner_id: CheckedOwnerId | None = None
    kind: OwnerKind
    name: Name
    email: Email | None = None
    phone: Phone | None = None
    role: OwnerRole = OwnerRole.USER


class UpdateOwner(Command):
    """Update the fields of an owner that are set; null removes the email address or phone number."""

    owner_id: CheckedOwnerId
    expected_version: int
    name: Name = ""
    email: Email | None = None
    phone: Phone | None = None
    role: OwnerRole = OwnerRole.USER
