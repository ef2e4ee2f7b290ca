"""The secrets of access codes: from the settings or, in development, from a file that is created on first use."""

import base64
import secrets

from domain.access_codes import MIN_SECRET_BYTES, CodeRing
from domain.errors import OperatorError
from server.auth.development import read_or_create_secret
from server.settings import Settings, parse_ring

SECRETS = "secrets for access codes: set SMARTLOCKER_CODE_KEYS, such as k1:$(openssl rand -base64 32)"
_FILE = "codes.secret"


def read_ring(settings: Settings) -> CodeRing:
    """The ring of the settings, which production must have."""
    if settings.code_keys is not None:
        return parse_ring(settings.code_keys.get_secret_value())
    if settings.is_production:
        raise OperatorError(f"the production profile needs {SECRETS}")
    return parse_ring(read_or_create_secret(settings.data_dir / _FILE, _new_ring))


def _new_ring() -> str:
    return f"development:{base64.b64encode(secrets.token_bytes(MIN_SECRET_BYTES)).decode()}"
