"""Documents that clients name instead of sending: trusted ones from a manifest, and those that clients sent before."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING

import orjson

from server.incoming import RefusedError, RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from server.incoming import Operation

__all__ = ["Documents", "ManifestError", "read_manifest"]

_SHA256 = "sha256:"
_KEPT_BYTES = 8 * 1024 * 1024


class ManifestError(Exception):
    """The manifest of trusted documents cannot be used; the message says why."""


class Documents:
    """Finds the text of what a client asks for.

    Args:
        trusted: texts by id, as a manifest has them.
        only_trusted: whether nothing else is run.
        most_kept: how many texts are kept for automatic persisted queries; 0 turns these off.
    """

    def __init__(self, trusted: Mapping[str, str], *, only_trusted: bool, most_kept: int) -> None:
        self._trusted = {_SHA256 + _hash(text): text for text in trusted.values()} | dict(trusted)
        self._only_trusted = only_trusted
        self._kept = _Kept(most_kept)
        self._knows_hashes = bool(trusted) or only_trusted or most_kept > 0

    def text_of(self, operation: Operation) -> str:
        """The document that is asked for, in whatever way; refused where it is unknown or not to be run here."""
        if operation.document_id is not None:
            return self._known(operation.document_id, operation.document_id.removeprefix(_SHA256))
        if not operation.query:
            sha = operation.sha256 or ""
            if not self._knows_hashes:
                raise RequestError(400, "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")
            # A client with a manifest of its own sends the manifest's id in the place of the hash.
            return self._trusted.get(sha) or self._known(_SHA256 + sha, sha)
        if operation.sha256 is not None and operation.sha256 != _hash(operation.query):
            raise RefusedError(400, "provided sha does not match query")
        if self._only_trusted and _SHA256 + _hash(operation.query) not in self._trusted:
            raise RequestError(403, "Only trusted documents are run here: send the documentId of one.", "FORBIDDEN")
        return operation.query

    def keep(self, operation: Operation) -> None:
        """Remembers a document that came with its hash, once it has proved to be valid."""
        if operation.query is not None and operation.sha256 is not None:
            self._kept.put(operation.sha256, operation.query)

    def _known(self, document_id: str, sha: str) -> str:
        text = self._trusted.get(document_id)
        if text is None and document_id.startswith(_SHA256):
            text = self._kept.get(sha)
        if text is None:
            raise RequestError(404, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
        return text


class _Kept:
    """Texts by their hash, bounded in number and in bytes; the one unused for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0

    def get(self, sha: str) -> str | None:
        if sha in self._texts:
            self._texts.move_to_end(sha)
        return self._texts.get(sha)

    def put(self, sha: str, text: str) -> None:
        if sha not in self._texts:
            self._texts[sha] = text
            self._bytes += len(text.encode())
        self._texts.move_to_end(sha)
        while len(self._texts) > self._most or self._bytes > _KEPT_BYTES:
            _, oldest = self._texts.popitem(last=False)
            self._bytes -= len(oldest.encode())


def read_manifest(path: Path) -> dict[str, str]:
    """The trusted documents of a file as relay-compiler and graphql-codegen write it: one object of texts by id."""
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ManifestError(f"the trusted documents {path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ManifestError(f"the trusted documents {path} are not JSON") from error
    if not isinstance(content, dict) or not all(isinstance(text, str) and text.strip() for text in content.values()):
        raise ManifestError(f"the trusted documents {path} must be one JSON object of documents by their id")
    for document_id, text in content.items():
        if document_id.startswith(_SHA256) and document_id != _SHA256 + _hash(text):
            raise ManifestError(f"the trusted documents {path} have another document under the hash {document_id}")
    return content


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
