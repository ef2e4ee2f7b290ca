"""The command `smartlocker issuer`: an issuer of tokens on this machine, to try the production profile."""

import secrets
import time
from datetime import timedelta
from typing import Annotated

import jwt
import orjson
import typer
import uvloop
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from jwt.algorithms import ECAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from server.auth.claims import claims_of, principal_from
from server.auth.development import is_from_own_page
from server.cli.command import CommandError, read_settings
from server.cli.serve import listen
from server.http.health import Readiness
from server.http_errors import InvalidCredentialsError
from server.process.http_server import HttpServer

_AUDIENCE = "smartlocker"
_LIFETIME = timedelta(hours=12)


def issuer(
    development_only: Annotated[
        bool, typer.Option("--development-only", help="Required: everyone who reaches the issuer gets any token.")
    ] = False,
    port: Annotated[str, typer.Option(help="Port to listen on, on loopback; 0 picks a free port.")] = "8100",
) -> None:
    """Issue tokens, to try the production profile on this machine without an identity provider."""
    if not development_only:
        raise CommandError(
            "this issuer gives any token to everyone who asks: to use it on this machine, add --development-only"
        )
    settings = read_settings(host="127.0.0.1", port=port, drain_seconds="0")
    with listen(settings) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        # What a shell takes is on standard output, what a reader wants on standard error.
        typer.echo(f"export SMARTLOCKER_JWT_ISSUER={address}/ SMARTLOCKER_JWT_AUDIENCE={_AUDIENCE}")
        typer.echo(f"export SMARTLOCKER_JWKS={address}/jwks.json")
        typer.echo(f'Get a token: curl -s {address}/token -d \'{{"role": "admin"}}\'', err=True)
        uvloop.run(HttpServer(_app(f"{address}/"), settings, Readiness()).serve(sockets=[listener]))


def _app(name: str) -> Starlette:
    """The issuer with a new key, which exists for as long as the process runs."""
    key, key_id = generate_private_key(SECP256R1()), secrets.token_hex(8)
    public = ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": key_id, "alg": "ES256", "use": "sig"}

    async def keys(_: Request) -> Response:
        return JSONResponse({"keys": [public]})

    async def token(request: Request) -> Response:
        if not is_from_own_page(request):
            return PlainTextResponse("Ask from this machine.", 403)
        try:
            claims = orjson.loads(await request.body())
            principal = principal_from({"sub": f"local-{claims['role']}", **claims}, {})
        except (ValueError, TypeError, KeyError):
            return PlainTextResponse('Send the claims as a JSON object such as {"role": "admin"}.', 400)
        except InvalidCredentialsError as error:
            return PlainTextResponse(str(error), 400)
        now = int(time.time())
        times = {"iat": now, "exp": now + int(_LIFETIME.total_seconds())}
        content = claims_of(principal) | {"iss": name, "aud": _AUDIENCE, **times}
        return PlainTextResponse(jwt.encode(content, key, "ES256", headers={"kid": key_id}))

    return Starlette(routes=[Route("/jwks.json", keys), Route("/token", token, methods=["POST"])])
