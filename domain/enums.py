"""The base of enums that are part of the API."""

from enum import StrEnum
from typing import Self


class DescribedEnum(StrEnum):
    """An enum of the API: its docstring describes it in the schema, and each value comes with its description."""

    description: str

    def __new__(cls, value: str, description: str = "") -> Self:
        """Creates a member; a look-up by value does not come here."""
        if not description:
            raise TypeError(f"{cls.__name__} has no description of {value}")
        member = str.__new__(cls, value)
        member._value_ = value
        member.description = description
        return member
