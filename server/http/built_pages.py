"""Pages that the server carries, each with its files, built into server/static/: GraphiQL and the dashboard."""

import asyncio
import gzip
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from server.http.negotiation import choose_coding

_FOLDER: Final = Path(__file__).parent.parent / "static"
# Listed here, since Python's own table depends on the machine.
_TYPES: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".woff2": "font/woff2",
}
_POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "worker-src": "'self'",
    "connect-src": "'self'",
    "font-src": "'self'",
    # The editor's style sheet contains small icons as data URLs.
    "img-src": "'self' data:",
    # The editor creates style elements and attributes while it runs, so neither a hash nor a nonce can allow them.
    "style-src": "'self' 'unsafe-inline'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
# Sent with the files too: a worker obeys the policy of its own script.
_HEADERS: Final = {
    "Content-Security-Policy": "; ".join(f"{directive} {sources}" for directive, sources in _POLICY.items())
}
_CODING: Final = "gzip"


class BuiltPage:
    def __init__(self, name: str) -> None:
        folder = _FOLDER / name
        self._page = (folder / "index.html").read_text(encoding="utf-8")
        self._assets = {path.name.removesuffix(".gz"): path for path in (folder / "assets").glob("*.gz")}

    def page(self) -> Response:
        return HTMLResponse(self._page, headers=_HEADERS)

    async def asset(self, request: Request) -> Response:
        """A file of the page. Its name changes with its content, so clients may cache it forever."""
        name = request.path_params["name"]
        path = self._assets.get(name)
        if path is None:
            raise HTTPException(404)
        media_type = _TYPES[Path(name).suffix]
        headers = _HEADERS | {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
        accepted = ",".join(request.headers.getlist("accept-encoding"))
        if choose_coding(accepted, (_CODING,)) == _CODING:
            return FileResponse(path, headers=headers | {"Content-Encoding": _CODING}, media_type=media_type)
        # All browsers accept gzip; this is for other clients.
        content = await asyncio.to_thread(lambda: gzip.decompress(path.read_bytes()))
        return Response(content, headers=headers, media_type=media_type)
