"""A server is not open by accident."""

from __future__ import annotations

import pytest

from voicenym.apps.web.bind_rules import Binding
from voicenym.errors import VoicenymError


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_the_loopback_needs_nothing(host):
    assert Binding(host).is_local


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_other_addresses_need_tokens_or_mutual_tls(host, tmp_path):
    with pytest.raises(VoicenymError, match="--token-file"):
        Binding(host)
    assert not Binding(host, has_tokens=True).is_local
    for name in ("cert", "key", "ca"):
        (tmp_path / name).touch()
    files = {"certificate": tmp_path / "cert", "private_key": tmp_path / "key"}
    with pytest.raises(VoicenymError, match="--token-file"):
        Binding(host, **files)  # TLS of the server alone lets everybody in
    assert Binding(host, **files, client_authority=tmp_path / "ca").has_tls


def test_a_port_that_is_taken_is_refused():
    with Binding().open_socket() as first:
        port = first.getsockname()[1]
        assert first.getsockname()[0] == "127.0.0.1"
        with pytest.raises(VoicenymError, match="--port"):
            Binding(port=port).open_socket()


@pytest.mark.parametrize("faulty", [{"port": 70_000}, {"port": -1}, {"host": "not a host"}])
def test_what_cannot_be_listened_on_is_refused(faulty):
    with pytest.raises(VoicenymError):
        Binding(**{"has_tokens": True, **faulty}).open_socket()


def test_files_that_are_no_certificates_are_refused(tmp_path):
    place = tmp_path / "pem"
    place.write_text("no certificate")
    with pytest.raises(VoicenymError, match="do not fit"):
        Binding(certificate=place, private_key=place).tls_options()
    with pytest.raises(VoicenymError, match="needs both"):
        Binding(certificate=place)
    with pytest.raises(VoicenymError, match="no such file"):
        Binding(certificate=place, private_key=tmp_path / "none")
