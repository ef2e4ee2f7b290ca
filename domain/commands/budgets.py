"""Input of the mutation that sets the budget of a caller."""

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.base import Command, optional
from domain.ids import matching

Subject = Annotated[str, AfterValidator(matching(r"[ -~]{1,255}", "must have 1 to 255 printable ASCII characters"))]
Units = Annotated[int, Field(ge=1, le=1_000_000_000)]


class SetCallerBudget(Command):
    """Input of `setCallerBudget`: without units, the caller has the usual budget again."""

    subject: Subject = Field(
        description="Subject of the caller, as its `viewer { subject }` shows it: that of its tokens, or `key:` and "
        "the id of its API key."
    )
    units_per_minute: Units | None = optional("Capacity units that the caller may spend per minute.")
    burst: Units | None = optional("Capacity units that the caller can save up; those of a minute if left out.")
