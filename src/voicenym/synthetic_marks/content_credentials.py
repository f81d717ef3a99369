"""Content Credentials: a signed statement in a recording that its voices are not the speakers' own.

The format is that of the Coalition for Content Provenance and Authenticity (C2PA, specification
2.2), written and checked by its own library. The statement names the kind of source in the
vocabulary of the IPTC, voicenym and its version, and whoever the certificate names; nothing of the
recording, its input or its time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from voicenym.audio.atomic import AtomicFile, write_failed
from voicenym.corpus.plans.output_target import check_target
from voicenym.errors import AudioError, DependencyError, VoicenymError
from voicenym.libraries import library
from voicenym.private import others_can_open
from voicenym.special_files import refuse_named_pipe, special_kind

_VOCABULARY = "http://cv.iptc.org/newscodes/digitalsourcetype/"
SOURCES: Mapping[str, str] = {
    "changed": "compositeWithTrainedAlgorithmicMedia",
    "synthesised": "trainedAlgorithmicMedia",
}
"""IPTC's digital source type by what was done: voices changed in a recording, or speech made of
text."""
DESCRIPTION = "The voices are not the speakers' own: they were replaced by software."
FORMATS: Mapping[str, str] = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".mp4": "video/mp4",
    ".mov": "video/quicktime",
}
"""Media types of the containers that can take a statement."""
ALGORITHMS = ("es256", "es384", "es512", "ps256", "ps384", "ps512", "ed25519")
SETTINGS: Mapping[str, Any] = {
    # a recording is hostile: nothing named in it is fetched
    "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False},
    "builder": {"thumbnail": {"enabled": False}},
}
MOST_BYTES = 1 << 20
UNTRUSTED = "signingCredential.untrusted"


@dataclass(frozen=True)
class Credential:
    """What signs a statement.

    Args:
        chain: certificates in PEM, the signer's first, without the root's.
        private_key: in PEM (PKCS #8), not encrypted.
        algorithm: of the signature, one of :data:`ALGORITHMS`.
    """

    chain: bytes
    private_key: bytes
    algorithm: str = "es256"


@dataclass(frozen=True)
class Statement:
    """A statement that was found in a recording, and whose signature holds.

    Args:
        source: key of :data:`SOURCES`; empty for a statement of another kind.
        signer: name that the certificate states, which is not looked up in any list of trust.
        intact: whether recording and statement are as they were signed.
    """

    source: str
    signer: str
    intact: bool


def read_credential(chain: Path, private_key: Path, algorithm: str) -> Credential:
    """Reads certificates and private key.

    Raises:
        VoicenymError: a file cannot be read, is no PEM, or others can read the private key.
    """
    if algorithm not in ALGORITHMS:
        raise VoicenymError(f"no algorithm {algorithm!r}; use one of {', '.join(ALGORITHMS)}")
    certificates, key = _pem(chain, b"CERTIFICATE"), _pem(private_key, b"PRIVATE KEY")
    if b"-----BEGIN PRIVATE KEY-----" not in key:
        raise VoicenymError(
            f"{private_key}: is encrypted, or not in PKCS#8; write it so and without a passphrase, "
            "to a file of mode 0600: openssl pkcs8 -in KEY -out PLAIN.pem -topk8 -nocrypt"
        )
    if others_can_open(private_key):
        raise VoicenymError(f"{private_key}: others can read it; close it: chmod 600 {private_key}")
    return Credential(certificates, key, algorithm)


def sign(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    credential: Credential,
    kind: str = "changed",
    *,
    overwrite: bool = False,
) -> Statement:
    """Writes a recording with a signed statement; its sound stays as it is, bit for bit.

    Args:
        source: the recording, in a container of :data:`FORMATS`.
        target: the output, in the same container; it appears when it was read again and checked.
        credential: signs.
        kind: key of :data:`SOURCES`.
        overwrite: whether an existing target may be replaced.

    Returns:
        The statement as it was read from the output.

    Raises:
        AudioError: a recording or target of another kind, or that cannot be read or written.
        VoicenymError: the credential does not sign.
    """
    c2pa = _library()
    if kind not in SOURCES:
        raise VoicenymError(f"no source {kind!r}; use {' or '.join(SOURCES)}")
    media = _media_type(source)
    if Path(target).suffix.lower() != Path(source).suffix.lower():
        raise AudioError(f"{target}: name an output that ends in {Path(source).suffix}")
    check_target(source, target, overwrite)
    if read_statement(source) is not None:
        raise AudioError(f"{source}: has Content Credentials already; mark what anonymize wrote")
    info = c2pa.C2paSignerInfo(
        alg=credential.algorithm.encode(),
        sign_cert=credential.chain,
        private_key=credential.private_key,
        ta_url=None,
    )
    file = AtomicFile(Path(target), overwrite)
    try:
        try:
            with (
                open(source, "rb") as given,
                open(file.temporary, "r+b") as made,
                c2pa.Context(c2pa.Settings.from_dict(SETTINGS)) as context,
                c2pa.Signer.from_info(info) as signer,
                c2pa.Builder(json.dumps(_manifest(kind)), context) as builder,
            ):
                builder.sign(signer, media, given, made)
        except OSError as error:
            raise write_failed(str(target), error) from None
        except c2pa.C2paError as error:
            raise VoicenymError(f"{source}: cannot be signed: {_cause(error)}") from None
        with open(file.temporary, "rb") as made:
            statement = _statement(c2pa, made, media, str(target))
        if statement is None or not statement.intact or statement.source != kind:
            raise VoicenymError(f"{target}: the statement does not hold after writing; report it")
        file.commit()
    finally:
        file.discard()
    return statement


def read_statement(path: str | os.PathLike[str]) -> Statement | None:
    """The statement of a recording; None without one. Nothing is fetched.

    Raises:
        AudioError: another container, or one that cannot be read.
    """
    c2pa, media = _library(), _media_type(path)
    if kind := special_kind(path):
        raise AudioError(f"{path}: is {kind}; save the recording to a file, and give that")
    try:
        with open(path, "rb") as file:
            return _statement(c2pa, file, media, str(path))
    except OSError as error:
        raise AudioError(f"{path}: cannot be read ({error.strerror}); check the name") from None


def _statement(c2pa: Any, file: IO[bytes], media: str, name: str) -> Statement | None:
    try:
        with (
            c2pa.Context(c2pa.Settings.from_dict(SETTINGS)) as context,
            c2pa.Reader(media, file, context=context) as reader,
        ):
            found = json.loads(reader.json())
    except c2pa.C2paError.ManifestNotFound:
        return None
    except c2pa.C2paError as error:
        if "remote manifest" in str(error):
            raise AudioError(
                f"{name}: names Content Credentials on another machine, which are not fetched; "
                "anonymize it first, which drops them"
            ) from None
        raise AudioError(
            f"{name}: is damaged, or not what its name says ({_cause(error)}); check that it "
            "plays, and get a whole copy"
        ) from None
    manifest = found["manifests"][found["active_manifest"]]
    kinds = {f"{_VOCABULARY}{value}": key for key, value in SOURCES.items()}
    source = ""
    for assertion in manifest.get("assertions", []):
        for action in assertion.get("data", {}).get("actions", []):
            source = kinds.get(action.get("digitalSourceType"), source)
    failures = {one["code"] for one in found.get("validation_status") or []} - {UNTRUSTED}
    return Statement(source, manifest["signature_info"].get("common_name", ""), not failures)


def _manifest(kind: str) -> dict[str, Any]:
    from voicenym import __version__

    action = {
        "action": "c2pa.created",
        "digitalSourceType": f"{_VOCABULARY}{SOURCES[kind]}",
        "description": DESCRIPTION,
    }
    return {
        "claim_generator_info": [{"name": "voicenym", "version": __version__}],
        "assertions": [{"label": "c2pa.actions.v2", "data": {"actions": [action]}}],
    }


def _media_type(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise AudioError(
            f"{path}: takes no Content Credentials; use one of {', '.join(sorted(FORMATS))}"
        )
    return FORMATS[suffix]


def _pem(path: Path, what: bytes) -> bytes:
    refuse_named_pipe(path)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    if b"-----BEGIN " not in data or what not in data:
        raise VoicenymError(f"{path}: holds no {what.decode().lower()} in PEM; check the name")
    return data


def _cause(error: BaseException) -> str:
    """First line of a library's message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _library() -> Any:
    try:
        return library("c2pa")
    except ImportError as error:
        raise DependencyError("Content Credentials: pip install 'voicenym[marks]'") from error
