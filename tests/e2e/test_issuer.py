import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from domain.authorization import Role
from server.auth.jwks import key_source
from server.auth.tokens import Issuer, TokenVerifier
from tests.e2e.serving import COMMAND, environment


@contextmanager
def issuing() -> Iterator[dict[str, str]]:
    """The settings that `smartlocker issuer` prints, while it runs."""
    program = [str(COMMAND), "issuer", "--development-only", "--port", "0"]
    with subprocess.Popen(program, env=environment({}), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines = process.stdout.readline() + process.stdout.readline()
            yield dict(re.findall(r"SMARTLOCKER_(\w+)=(\S+)", lines))
        finally:
            process.terminate()
    assert process.returncode == 0


async def test_a_server_that_trusts_the_local_issuer_accepts_its_tokens() -> None:
    with issuing() as settings:
        keys = key_source(settings["JWKS"], 10)
        verifier = TokenVerifier(Issuer(settings["JWT_ISSUER"], settings["JWT_AUDIENCE"], keys, {}), None)
        async with keys.refreshing(), httpx.AsyncClient(base_url=settings["JWT_ISSUER"]) as client:
            asked = await client.post("token", json={"role": "owner", "ownerId": "ada", "sub": "Ada"})
            owner = await verifier.principal(asked.text)
            assert (owner.subject, owner.role, owner.owner_id) == ("Ada", Role.OWNER, "ada")
            admin = await verifier.principal((await client.post("token", json={"role": "admin"})).text)
            assert (admin.subject, admin.role) == ("local-admin", Role.ADMIN)
            for wrong, reason in (
                ({"role": "king"}, "The token's claim role must be one of"),
                ({"role": "owner"}, "The token's claim ownerId must be a valid id."),
                ([], "Send the claims as a JSON object"),
            ):
                refused = await client.post("token", json=wrong)
                assert (refused.status_code, refused.text[: len(reason)]) == (400, reason)
            other = await client.post("token", json={"role": "admin"}, headers={"Host": "evil.example.com"})
            assert other.status_code == 403


def test_the_issuer_is_for_development_only() -> None:
    done = subprocess.run([COMMAND, "issuer"], env=environment({}), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "to use it on this machine, add --development-only" in done.stderr
