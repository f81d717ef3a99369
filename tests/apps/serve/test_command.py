"""The command: who may ask, and where it listens."""

from __future__ import annotations

import shutil
import ssl
import stat
import subprocess

import click
import httpx
import pytest
import typer

from voicenym.apps.cli import app


def test_another_address_needs_tokens_or_mutual_tls(command):
    found = command("serve", "--host", "0.0.0.0", "--port", "0")
    assert found.returncode == 1
    assert b"--token-file" in found.stderr
    assert b"Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--new-token", "desk"], b"--token-file"),
        (["--token-file", "none"], b"cannot read"),
        (["--token-file", "."], b".: is a folder; name a file"),
        (["--tls-certificate", "none"], b"--tls-key"),
        (["--port", "99999"], b"65535"),
    ],
)
def test_what_does_not_fit_is_one_line(command, arguments, word):
    found = command("serve", *arguments)
    assert found.returncode == 1
    assert word in found.stderr
    assert found.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "option",
    ["--max-minutes", "--max-job-minutes", "--max-seconds", "--max-live-minutes", "--rate"],
)
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_a_limit_is_a_number(option, value):
    """An infinite one made each request fail."""
    group = typer.main.get_command(app)
    command = group.get_command(click.Context(group), "serve")
    with pytest.raises(Exception, match="Input should be"):
        command.make_context("serve", [option, value])


def test_a_new_token_is_printed_once(command, tmp_path):
    found = command("serve", "--token-file", "tokens", "--new-token", "desk")
    token = found.stdout.decode().strip()
    assert found.returncode == 0
    assert len(token) == 43
    assert (tmp_path / "tokens").read_text() == f"desk {token}\n"
    assert stat.S_IMODE((tmp_path / "tokens").stat().st_mode) == 0o600


@pytest.fixture
def certificates(tmp_path):
    """An authority, and certificates of a server and a client."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(  # Python 3.13 and later accept no authority without a key usage
        "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority",
        "-addext", "keyUsage=critical,keyCertSign",
    )  # fmt: skip
    (tmp_path / "names").write_text("subjectAltName=IP:127.0.0.1")
    for name in ("server", "client"):
        openssl(
            "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"
        )
        openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-out", f"{name}.pem", "-extfile", "names",
        )  # fmt: skip
    return tmp_path


def test_mutual_tls_lets_in_who_has_a_certificate(start, certificates, speech):
    files = {"certificate": "server.pem", "key": "server.key", "client-ca": "ca.pem"}
    line = [word for name, file in files.items() for word in (f"--tls-{name}", certificates / file)]
    trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
    trusted.load_cert_chain(certificates / "client.pem", certificates / "client.key")
    trusted.verify_flags |= ssl.VERIFY_X509_STRICT  # as from Python 3.13 on
    stranger = ssl.create_default_context(cafile=certificates / "ca.pem")
    with start(certificates / "server", *line, verify=trusted) as found:
        assert found.url.startswith("https://")
        with httpx.Client(base_url=found.url, verify=trusted, timeout=600) as client:
            answer = client.post(
                "/v1/anonymize", files={"file": speech}, data={"system": "mcadams"}
            )
            assert answer.status_code == 200
            assert "strict-transport-security" in answer.headers
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{found.url}/health", verify=stranger)
