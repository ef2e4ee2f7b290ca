import asyncio
import socket

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from server.http.health import Readiness
from server.process.http_server import HttpServer
from server.settings import Settings


async def hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


APP = Starlette(routes=[Route("/", hello)])


def test_no_response_names_the_program_that_sends_it() -> None:
    server = HttpServer(APP, Settings(), Readiness())
    server.config.load()
    assert b"server" not in dict(server.config.encoded_headers)


async def test_a_connection_that_is_not_accepted_yet_when_the_server_stops_is_served() -> None:
    server = HttpServer(APP, Settings(), Readiness())
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        await server.startup([listener])
        with socket.create_connection(listener.getsockname()) as client:  # the event loop has no time to accept it
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            await server.shutdown([listener])
            client.settimeout(0)
            answer = await asyncio.get_running_loop().sock_recv(client, 65536)
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert listener.fileno() == -1
