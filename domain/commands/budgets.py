"""Input of the mutation that sets the budget of a caller."""

from typing import Annotated

from pydantic import AfterValidator, Field

from domain.commands.api_keys import CheckedApiKeyId
from domain.commands.base import Command, optional
from domain.ids import check_subject

Units = Annotated[int, Field(ge=1, le=10_000_000)]


class SetCallerBudget(Command):
    """Input of `setCallerBudget`: an API key or a subject; without units, it has the usual budget again."""

    key_id: CheckedApiKeyId | None = optional("Id of the API key of the caller.")
    subject: Annotated[str, AfterValidator(check_subject)] | None = optional(
        "Subject of the tokens of a caller without an API key, as its `viewer { subject }` shows it; not `key:…`."
    )
    units_per_minute: Units | None = optional("Capacity units that the caller may spend per minute.")
    burst: Units | None = optional("Capacity units that the caller can save up; those of a minute if left out.")
