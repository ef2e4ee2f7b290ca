import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from jwt.algorithms import ECAlgorithm

from domain.errors import UnavailableError
from server.auth.jwks import JwksError, JwksFile, parse_keys
from tests.issuer import jwk, key_of, write_keys


def found(*entries: Any) -> set[str | None]:
    return set(parse_keys(json.dumps({"keys": entries}).encode()))


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_a_public_key_of_an_allowed_algorithm_counts_whether_or_not_it_names_it(algorithm: str) -> None:
    for entry in (
        jwk(algorithm),
        jwk(algorithm, alg=None),
        jwk(algorithm, use=None),
        jwk(algorithm, key_ops=["verify"]),
    ):
        keys = parse_keys(json.dumps({"keys": [entry]}).encode())
        assert {key.algorithm_name for key in keys.values()} == {algorithm}


@pytest.mark.parametrize(
    "entry",
    [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "first", "alg": "HS256"},
        jwk("RS256", alg="RS512"),
        jwk("RS256", alg="HS256"),
        jwk("ES256", alg="RS256"),
        jwk("ES384"),
        jwk("short RS256"),
        jwk(use="enc"),
        jwk(key_ops=["sign"]),
        jwk() | {"key_ops": None},
        jwk(key_ops=5),
        jwk(key_ops="verify"),
        jwk(crv=5),
        jwk(crv=[]),
        jwk(kty=[]),
        jwk(kty={}),
        jwk(alg=[]),
        jwk(use={}),
        jwk("RS256", n=5),
        jwk("RS256", e={}),
        jwk("EdDSA", x=[]),
        [],
        5,
        {**ECAlgorithm.to_jwk(key_of("ES256"), as_dict=True), "kid": "first"},  # the private half too
        jwk(x="AAAA"),
        jwk(x=5),
        jwk(kty="XYZ"),
        jwk(kty=None),
        "text",
        None,
    ],
)
def test_no_other_key_counts(entry: Any) -> None:
    assert found(entry, jwk(name="good"), jwk(name="other")) == {"good", "other"}
    with pytest.raises(JwksError, match=r"^has no public key for RS256, ES256, EdDSA$"):
        found(entry)


def test_only_a_key_that_is_alone_is_found_without_an_id() -> None:
    assert found(jwk(kid=None)) == {None}
    assert found(jwk()) == {"first", None}
    assert found(jwk(), jwk(kid=None)) == {"first"}
    assert found(jwk(), jwk("RS256", "second")) == {"first", "second"}


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'"keys"', b'{"keys": {}}', b'{"keys": []}', b"\xff"])
def test_an_invalid_key_set_is_refused(content: bytes) -> None:
    with pytest.raises(JwksError):
        parse_keys(content)


async def test_a_changed_file_is_read_again_unless_damaged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_keys(tmp_path / "keys.json", jwk())
    keys = JwksFile(path)
    assert await keys.find("first") is not None
    assert await keys.find("second") is None
    write_keys(path, jwk(), jwk(name="second"))
    assert await keys.find("second") is not None
    path.write_text("{")
    assert [await keys.find("second") is not None for _ in range(3)] == [True] * 3
    path.unlink()
    assert [await keys.find("second") is not None for _ in range(3)] == [True] * 3
    assert [record.getMessage() for record in caplog.records] == [
        f'the key set {path} must be JSON of the form {{"keys": [...]}}; the last keys stay in use',
        f"the key set {path} cannot be read (No such file or directory); the last keys stay in use",
    ]
    write_keys(path, jwk(name="third"))
    assert await keys.find("third") is not None
    assert await keys.find("second") is None


async def test_a_key_that_is_known_is_looked_for_ten_times_a_second(tmp_path: Path) -> None:
    now = 0.0
    path = write_keys(tmp_path / "keys.json", jwk())
    keys = JwksFile(path, lambda: now)
    write_keys(path, jwk(name="second"))
    assert keys.cached("first") is not None
    now = 0.1
    assert keys.cached("first") is None
    assert keys.cached("second") is not None


async def test_a_key_that_is_not_known_is_looked_for_at_once(tmp_path: Path) -> None:
    path = write_keys(tmp_path / "keys.json", jwk())
    keys = JwksFile(path, lambda: 0)
    write_keys(path, jwk(name="second"))
    assert keys.cached("second") is None
    assert await keys.find("second") is not None
    assert keys.cached("first") is None


async def test_a_file_that_could_not_be_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_keys(tmp_path / "keys.json", jwk())
    keys = JwksFile(path)
    write_keys(path, jwk(name="second"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", Mock(side_effect=PermissionError))
        with pytest.raises(UnavailableError, match=r"^The issuer's keys cannot be read: try again in a moment\.$"):
            await keys.find("second")
    assert await keys.find("second") is not None


def test_a_file_that_cannot_be_used_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(JwksError, match=r"cannot be read \(No such file or directory\)$"):
        JwksFile(tmp_path / "nothing")
    (tmp_path / "empty").write_text('{"keys": []}')
    with pytest.raises(JwksError, match=r"empty has no public key for RS256, ES256, EdDSA$"):
        JwksFile(tmp_path / "empty")
