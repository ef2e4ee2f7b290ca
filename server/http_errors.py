"""Errors that end a whole request with an HTTP status."""

from domain.errors import SmartLockerError, UnavailableError


class HttpError(Exception):
    """The request fails with this HTTP status, whatever the media type of the response."""

    def __init__(
        self, status: int, message: str, code: str = "BAD_USER_INPUT", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers or {}


class GraphQLRequestError(HttpError):
    """The request is well-formed but cannot be executed: as `application/json`, its HTTP status is 200."""


class InvalidCredentialsError(Exception):
    """The credentials are rejected; the message is sent to the client and contains nothing of the credentials."""


def to_http_error(error: SmartLockerError) -> HttpError:
    """The HTTP error of a domain error; a temporary one has a Retry-After header."""
    headers = {"Retry-After": str(error.retry_after_seconds)} if isinstance(error, UnavailableError) else None
    return HttpError(error.status, error.message, error.code, headers)
