"""The command `smartlocker check`, and what a server needs of its settings."""

from pathlib import Path

import typer

from domain.errors import OperatorError
from server.auth.code_keys import SECRETS
from server.cli.command import CommandError, find_settings, unknown_variables, with_others
from server.process.store import is_local
from server.settings import Settings, is_loopback

_PRODUCTION = "the production profile needs "
_ISSUER = "an issuer: set SMARTLOCKER_JWT_ISSUER, SMARTLOCKER_JWT_AUDIENCE and SMARTLOCKER_JWKS"
_STORE = (
    "a store: set SMARTLOCKER_ENDPOINT_URL=aws, or SMARTLOCKER_ALLOW_EMBEDDED_STORE=true to use the embedded one, "
    "although it checks no credentials and runs on one machine"
)


def check() -> None:
    """Name all settings that are missing or wrong, before a server is started. Reads files, but no store or network."""
    settings, wrong = find_settings()
    problems = with_others(wrong, _needs(settings)) + _of_files(settings) + unknown_variables()
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise CommandError(f"{len(problems)} setting{'s need' if len(problems) > 1 else ' needs'} a change")
    typer.echo(f"the settings are complete for the {settings.profile} profile")


def check_profile(settings: Settings) -> None:
    """Checks that production has an issuer, secrets and a store, and that development listens on loopback only."""
    needs = _needs(settings)
    if needs:
        raise CommandError("; and ".join([needs[0], *(need.removeprefix(_PRODUCTION) for need in needs[1:])]))


def _needs(settings: Settings) -> list[str]:
    if settings.is_production:
        missing = {
            _ISSUER: settings.jwks is None,
            SECRETS: settings.code_keys is None,
            _STORE: settings.is_embedded and not settings.allow_embedded_store,
            "the store's time: SMARTLOCKER_TEST_CLOCK is for development": settings.test_clock == "on",
        }
        return [_PRODUCTION + need for need, is_missing in missing.items() if is_missing]
    needs = []
    if settings.has_test_clock and not is_local(settings):
        needs.append("SMARTLOCKER_TEST_CLOCK=on is for the embedded store or a local endpoint only")
    if is_loopback(settings.host):
        return needs
    outside = (
        "in the development profile every caller is an admin, so the server does not listen on "
        f"{settings.host}: set --host 127.0.0.1 or --profile production (SMARTLOCKER_HOST, SMARTLOCKER_PROFILE)"
    )
    return [*needs, outside]


def _of_files(settings: Settings) -> list[str]:
    """Problems of the files that settings name; a server does not start with them."""
    from server.auth.jwks import JwksFile  # noqa: PLC0415  # a server that has no such file needs none of it
    from server.http.persisted_documents import read_manifest  # noqa: PLC0415  # as above

    jwks = None if settings.jwks is None or "://" in settings.jwks else Path(settings.jwks)
    problems = []
    for path, read in ((settings.trusted_documents_file, read_manifest), (jwks, JwksFile)):
        try:
            if path is not None:
                read(path)
        except OperatorError as error:
            problems.append(str(error))
    return problems
