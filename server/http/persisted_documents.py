"""Documents that clients send by id or hash: trusted documents and automatic persisted queries."""

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import orjson

from domain.errors import OperatorError
from server.http.request import GraphQLRequest
from server.http_errors import GraphQLRequestError, HttpError

_SHA256 = "sha256:"


class ManifestError(OperatorError):
    """The manifest of trusted documents cannot be used; the message says why."""


class PersistedDocuments:
    """Finds the document of a request: among the trusted ones, or in the cache for automatic persisted queries.

    A `cache_size` of 0 turns the latter off.
    """

    def __init__(
        self, trusted: Mapping[str, str], *, only_trusted: bool, cache_size: int, cache_bytes: int = 8 * 1024 * 1024
    ) -> None:
        self._trusted = {_SHA256 + _hash(text): text for text in trusted.values()} | dict(trusted)
        self._only_trusted = only_trusted
        self._cache = _DocumentCache(cache_size, cache_bytes)
        self._supports_hashes = bool(trusted) or only_trusted or cache_size > 0

    def find(self, request: GraphQLRequest) -> str:
        if request.document_id is not None:
            return self._lookup(request.document_id, request.document_id.removeprefix(_SHA256))
        if not request.query:
            sha = request.sha256 or ""
            if not self._supports_hashes:
                raise GraphQLRequestError(400, "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")
            # A client with its own manifest sends the manifest's id in place of the hash.
            return self._trusted.get(sha) or self._lookup(_SHA256 + sha, sha)
        if request.sha256 is not None and request.sha256 != _hash(request.query):
            raise HttpError(400, "provided sha does not match query")
        if self._only_trusted and _SHA256 + _hash(request.query) not in self._trusted:
            raise GraphQLRequestError(
                403, "Only trusted documents are allowed: send the documentId of one.", "FORBIDDEN"
            )
        return request.query

    def add(self, request: GraphQLRequest) -> None:
        """Caches a valid document that was sent with its hash."""
        if request.query is not None and request.sha256 is not None:
            self._cache.put(request.sha256, request.query)

    def _lookup(self, document_id: str, sha: str) -> str:
        text = self._trusted.get(document_id)
        if text is None and document_id.startswith(_SHA256):
            text = self._cache.get(sha)
        if text is None:
            raise GraphQLRequestError(404, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
        return text


class _DocumentCache:
    """Documents by their hash; the least recently used one is dropped first."""

    def __init__(self, max_size: int, max_bytes: int) -> None:
        self._max_size = max_size
        self._max_bytes = max_bytes
        self._documents: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0

    def get(self, sha: str) -> str | None:
        if sha in self._documents:
            self._documents.move_to_end(sha)
        return self._documents.get(sha)

    def put(self, sha: str, text: str) -> None:
        if sha not in self._documents:
            self._documents[sha] = text
            self._bytes += len(text.encode())
        self._documents.move_to_end(sha)
        while len(self._documents) > self._max_size or self._bytes > self._max_bytes:
            _, oldest = self._documents.popitem(last=False)
            self._bytes -= len(oldest.encode())


def read_manifest(path: Path) -> dict[str, str]:
    """The documents by id of a manifest as relay-compiler and graphql-codegen write it."""
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ManifestError(f"the manifest {path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ManifestError(f"the manifest {path} is not valid JSON") from error
    if not isinstance(content, dict) or not all(isinstance(text, str) and text.strip() for text in content.values()):
        raise ManifestError(f"the manifest {path} must be a JSON object from ids to documents")
    for document_id, text in content.items():
        if document_id.startswith(_SHA256) and document_id != _SHA256 + _hash(text):
            raise ManifestError(f"the manifest {path} has a document whose hash is not its id {document_id}")
    return content


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
