"""The names that API keys were promised to have."""

from __future__ import annotations

__all__ = ["ENUMS", "FIELDS", "INPUTS", "MUTATIONS", "QUERIES"]

QUERIES: dict[str, tuple[str, list[str]]] = {
    "apiKey": ("ApiKey", ["keyId: ID!"]),
    "apiKeys": ("ApiKeyConnection", ["first: Int", "after: String", "last: Int", "before: String"]),
}
FIELDS: dict[str, dict[str, tuple[str, list[str]]]] = {
    "ApiKey": {
        "keyId": ("ID!", []),
        "name": ("String!", []),
        "role": ("ApiKeyRole!", []),
        "ownerIds": ("[ID!]!", []),
        "lockerId": ("ID", []),
        "scopes": ("[Scope!]!", []),
        "createdAt": ("DateTime!", []),
        "createdBy": ("String!", []),
        "expiresAt": ("DateTime", []),
        "revokedAt": ("DateTime", []),
    }
}
MUTATIONS = {"createApiKey": "apiKey: ApiKey, secret: String", "revokeApiKey": "apiKey: ApiKey"}
INPUTS = {
    "CreateApiKeyInput": [
        "keyId: ID",
        "name: String!",
        "role: ApiKeyRole!",
        "ownerIds: [ID!]! = []",
        "lockerId: ID",
        "scopes: [Scope!]! = []",
        "expiresAt: DateTime",
    ],
    "RevokeApiKeyInput": ["keyId: ID!"],
}
ENUMS = {
    "ApiKeyRole": ["PARTNER", "DEVICE"],
    "Scope": [
        f"{what}_{how}"
        for what in ("OWNERS", "LOCKERS", "RESERVATIONS", "EVENTS", "BOOKINGS")
        for how in ("READ", "WRITE")
    ],
}
