"""Content Credentials: what is signed, what is told, and what is never fetched."""

from __future__ import annotations

import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
import soundfile

from voicenym.errors import AudioError, VoicenymError
from voicenym.synthetic_marks import content_credentials as marks

pytest.importorskip("c2pa")

RATE = 16_000


@pytest.fixture
def talk(tmp_path):
    noise = 0.1 * np.random.default_rng(0).standard_normal(RATE)
    soundfile.write(tmp_path / "talk.wav", noise, RATE, "PCM_16")
    return tmp_path / "talk.wav"


def in_container(talk, suffix):
    path = talk.with_suffix(suffix)
    if suffix != ".wav":
        codec = ["-c:a", "aac"] if suffix in (".m4a", ".mp4", ".mov") else []
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-i", str(talk), *codec, str(path)], check=True
        )
    return path


def sound(path):
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(path), "-f", "f32le", "-"],
        check=True,
        capture_output=True,
    )
    return done.stdout


@pytest.mark.parametrize("suffix", sorted(marks.FORMATS))
def test_a_statement_is_read_again_and_the_sound_stays(talk, credential_files, suffix):
    source = in_container(talk, suffix)
    target = talk.with_name(f"marked{suffix}")
    made = marks.sign(source, target, marks.read_credential(*credential_files, "es256"))
    assert made == marks.Statement("changed", "An Editor", True)
    assert marks.read_statement(target) == made
    assert marks.read_statement(source) is None
    assert sound(target) == sound(source)


def test_the_statement_holds_no_name_and_no_time(talk, credential_files, tmp_path):
    secret = tmp_path / "anna-miller.wav"
    os.replace(talk, secret)
    target = tmp_path / "out.wav"
    marks.sign(secret, target, marks.read_credential(*credential_files, "es256"), "synthesised")
    data = target.read_bytes()
    assert b"anna" not in data
    assert str(tmp_path).encode() not in data
    assert b"trainedAlgorithmicMedia" in data
    assert b"sigTst" not in data  # time stamps of RFC 3161
    assert marks.read_statement(target).source == "synthesised"


def test_another_sound_under_the_statement_is_told(talk, credential_files, tmp_path):
    target = tmp_path / "out.wav"
    marks.sign(talk, target, marks.read_credential(*credential_files, "es256"))
    data = bytearray(target.read_bytes())
    data[1000] ^= 1
    target.write_bytes(data)
    assert not marks.read_statement(target).intact


def test_what_a_recording_names_is_not_fetched(talk, credential_files, tmp_path):
    import c2pa

    asked = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        chain, key = (path.read_bytes() for path in credential_files)
        info = c2pa.C2paSignerInfo(alg=b"es256", sign_cert=chain, private_key=key, ta_url=None)
        with (
            c2pa.Builder(marks._manifest("changed")) as builder,
            c2pa.Signer.from_info(info) as signer,
        ):
            builder.set_no_embed()
            builder.set_remote_url(f"http://127.0.0.1:{server.server_port}/statement")
            with open(talk, "rb") as given, open(tmp_path / "far.wav", "w+b") as made:
                builder.sign(signer, "audio/wav", given, made)
        assert b"/statement" in (tmp_path / "far.wav").read_bytes()
        with pytest.raises(AudioError, match="on another machine, which are not fetched"):
            marks.read_statement(tmp_path / "far.wav")
        assert asked == []
    finally:
        server.shutdown()
        server.server_close()


def test_nothing_is_written_that_does_not_hold(talk, credential_files, tmp_path):
    chain, key = credential_files
    good = marks.read_credential(chain, key, "es256")
    other = marks.Credential(good.chain, good.private_key, "ps256")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(VoicenymError, match="cannot be signed"):
        marks.sign(talk, tmp_path / "out.wav", other)
    with pytest.raises(AudioError, match=r"ends in \.wav"):
        marks.sign(talk, tmp_path / "out.flac", good)
    with pytest.raises(AudioError, match="the input itself"):
        marks.sign(talk, talk, good, overwrite=True)
    with pytest.raises(AudioError, match="takes no Content Credentials"):
        marks.read_statement(tmp_path / "a.ogg")
    assert sorted(os.listdir(tmp_path)) == before
    (tmp_path / "text.wav").write_text("no recording " * 100)
    with pytest.raises(AudioError, match=r"text.wav"):
        marks.sign(tmp_path / "text.wav", tmp_path / "out.wav", good)
    assert not (tmp_path / "out.wav").exists()
    marks.sign(talk, tmp_path / "out.wav", good)
    with pytest.raises(AudioError, match="already"):
        marks.sign(tmp_path / "out.wav", tmp_path / "twice.wav", good)


def test_faulty_credentials_are_named_with_the_file(credential_files, tmp_path):
    chain, key = credential_files
    with pytest.raises(VoicenymError, match="no algorithm"):
        marks.read_credential(chain, key, "rsa")
    with pytest.raises(VoicenymError, match=r"none.pem: cannot be read"):
        marks.read_credential(tmp_path / "none.pem", key, "es256")
    with pytest.raises(VoicenymError, match=r"chain.pem: holds no private key"):
        marks.read_credential(chain, chain, "es256")
    for kind in ("EC", "RSA", "ENCRYPTED"):
        other = tmp_path / f"{kind}.pem"
        other.write_bytes(key.read_bytes().replace(b" PRIVATE", f" {kind} PRIVATE".encode()))
        with pytest.raises(VoicenymError, match=rf"{kind}.pem: .*not in PKCS#8.*openssl pkcs8"):
            marks.read_credential(chain, other, "es256")
    key.chmod(0o644)
    with pytest.raises(VoicenymError, match="chmod 600"):
        marks.read_credential(chain, key, "es256")
