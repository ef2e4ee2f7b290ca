"""Certificates of an authority that exists in one test."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

__all__ = ["certify"]


def certify(directory: Path, host: str) -> Path:
    """Writes `ca.pem`, and returns the file of a host's key and certificate that this authority has signed."""
    authority, key = (generate_private_key(SECP256R1()) for _ in range(2))
    root = _certificate(
        "test authority", "test authority", authority, authority, x509.BasicConstraints(ca=True, path_length=0)
    )
    names = x509.SubjectAlternativeName([x509.DNSName(host)])
    certificate = _certificate(host, "test authority", key, authority, names)
    (directory / "ca.pem").write_bytes(root.public_bytes(Encoding.PEM))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = directory / "host.pem"
    file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    return file


def _certificate(
    subject: str,
    issuer: str,
    key: EllipticCurvePrivateKey,
    authority: EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.now(UTC)
    usage = dict.fromkeys(
        (
            *("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
            *("crl_sign", "encipher_only", "decipher_only"),
        ),
        False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(extension, critical=True)
        # From 3.13 on Python wants what the standard asks of certificates.
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=key is authority, **usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
        .sign(authority, SHA256())
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
