"""Certificates of a signer who exists for a test."""

from __future__ import annotations

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def signer_files(folder: Path) -> tuple[Path, Path]:
    """Writes ``chain.pem`` and ``key.pem`` of "An Editor", and gives their paths."""
    root, own = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    chain = _certificate("An Editor", "Root", own, root, False)
    chain += _certificate("Root", "Root", root, root, True)
    (folder / "chain.pem").write_bytes(chain)
    (folder / "key.pem").write_bytes(
        own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    (folder / "key.pem").chmod(0o600)
    return folder / "chain.pem", folder / "key.pem"


def _certificate(subject, issuer, key, signer, authority):
    def name(text):
        return x509.Name(
            [
                x509.NameAttribute(NameOID.COMMON_NAME, text),
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "a test"),
            ]
        )

    start = datetime.datetime(2020, 1, 1)
    public = key.public_key()
    made = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=365 * 60))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False
        )
        .add_extension(
            x509.KeyUsage(
                not authority, False, False, False, False, authority, authority, False, False
            ),
            True,
        )
    )
    if not authority:
        made = made.add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), False
        )
    return made.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM)
