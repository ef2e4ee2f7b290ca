"""Checks of the profile before the server starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.auth.code_keys import read_ring
from server.cli.command import CommandError
from server.settings import is_loopback

if TYPE_CHECKING:
    from server.settings import Settings


def check_profile(settings: Settings) -> None:
    """Checks that production has an issuer, secrets and a store, and that development listens on loopback only."""
    if settings.profile == "production" and settings.jwks is None:
        raise CommandError(
            "the production profile needs an issuer: set SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and "
            "SMARTLOCKER_JWKS"
        )
    if settings.is_production:
        read_ring(settings)
    if settings.is_production and settings.is_embedded and not settings.allow_embedded_store:
        raise CommandError(
            "the embedded store is not for production: it checks no credentials and runs on one machine; set "
            "SMARTLOCKER_ENDPOINT_URL=aws, or SMARTLOCKER_ALLOW_EMBEDDED_STORE=true to use it nevertheless"
        )
    if settings.profile == "development" and not is_loopback(settings.host):
        raise CommandError(
            "in the development profile every caller is an admin, so the server does not listen on "
            f"{settings.host}: set --host 127.0.0.1 or --profile production (SMARTLOCKER_HOST, SMARTLOCKER_PROFILE)"
        )
