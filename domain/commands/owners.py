"""Inputs of the owner mutations."""

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import CHOSEN_ID, Change, CheckedOwnerId, Command, Name, optional
from domain.models import OwnerKind, OwnerRole
from domain.text import check_email, check_phone

Email = Annotated[str, AfterValidator(check_email)]
Phone = Annotated[str, AfterValidator(check_phone)]


class CreateOwner(Command):
    owner_id: CheckedOwnerId | None = optional(CHOSEN_ID)
    kind: OwnerKind = Field(description="Whether the owner is a person or an organization.")
    name: Name = Field(description="Name of the owner.")
    email: Email | None = optional("Email address, which no other owner may have.")
    phone: Phone | None = optional("Telephone number.")
    role: OwnerRole = Field(default=OwnerRole.USER, description="Role of the owner.")


class EraseOwner(Command):
    owner_id: CheckedOwnerId = Field(description="Id of the owner.")
    subjects: list[Name] = Field(
        default_factory=list,
        max_length=10,
        description="Subjects of credentials that belong to the owner, and that are erased, too: those under which the "
        "owner acted so long ago that its history does not tell. An erased owner is erased again if there are any.",
    )


class UpdateOwner(Change):
    """Input of `updateOwner`. Fields that are left out stay as they are."""

    owner_id: CheckedOwnerId = Field(description="Id of the owner.")
    name: Name = optional("New name.")
    email: Email | None = optional("New email address; null removes the present one.")
    phone: Phone | None = optional("New telephone number; null removes the present one.")
    role: OwnerRole = optional("New role. Only admins can change it.")
