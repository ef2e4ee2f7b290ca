from starlette.applications import Starlette

from server.http.health import Readiness
from server.process.http_server import HttpServer
from server.settings import Settings


def test_no_response_names_the_program_that_sends_it() -> None:
    server = HttpServer(Starlette(), Settings(), Readiness())
    server.config.load()
    assert b"server" not in dict(server.config.encoded_headers)
