"""The two profiles: what each needs before it may serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.command import CommandError
from server.development import is_loopback

if TYPE_CHECKING:
    from server.settings import Settings

__all__ = ["check_profile"]


def check_profile(settings: Settings) -> None:
    """Refuses to serve strangers without knowing them."""
    if settings.profile == "production" and settings.jwks is None:
        raise CommandError(
            "the production profile needs an issuer: set SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and "
            "SMARTLOCKER_JWKS"
        )
    if settings.profile == "development" and not is_loopback(settings.host):
        raise CommandError(
            f"the development profile takes everybody for an admin, so it does not listen on {settings.host}: set "
            "SMARTLOCKER_HOST=127.0.0.1, or SMARTLOCKER_PROFILE=production"
        )
