"""Token files: private, checked, and never shown again."""

from __future__ import annotations

import hmac
import os
import stat
import struct

import pytest

from voicenym.apps.web import bearer_tokens
from voicenym.apps.web.bearer_tokens import BearerTokens, add_token
from voicenym.errors import VoicenymError


def test_a_new_token_is_of_its_owner(tmp_path):
    place = tmp_path / "tokens"
    anna, bert = add_token(place, "anna"), add_token(place, "bert")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    tokens = BearerTokens.load(place)
    assert (tokens.owner(anna), tokens.owner(bert)) == ("anna", "bert")
    assert tokens.owner(anna[:-1]) is None
    assert anna not in repr(vars(tokens))
    with pytest.raises(VoicenymError, match="choose another name"):
        add_token(place, "anna")
    with pytest.raises(VoicenymError, match="letters"):
        add_token(place, "../anna")


def test_a_file_that_an_editor_of_windows_wrote_is_read(tmp_path):
    place = tmp_path / "tokens"
    place.write_bytes(b"\xef\xbb\xbf" + f"anna {'a' * 40}\r\nbert {'b' * 40}\r\n".encode())
    place.chmod(0o600)
    tokens = BearerTokens.load(place)
    assert (tokens.owner("a" * 40), tokens.owner("b" * 40)) == ("anna", "bert")


def test_a_token_that_no_header_can_hold_is_refused(tmp_path):
    place = tmp_path / "tokens"
    place.write_text(f"anna {'ä' * 40}\n", "utf-8")
    place.chmod(0o600)
    with pytest.raises(VoicenymError, match="line 1"):
        BearerTokens.load(place)


ANYBODY = 0xFFFFFFFF
LIST = [(0x01, 4, ANYBODY), (0x04, 0, ANYBODY), (0x10, 4, ANYBODY), (0x20, 0, ANYBODY)]
"""Access control list: the owner reads; its group may not; entries grant reading at most."""


def granted(place, *entries):
    """Sets an access control list, by which systemd gives credentials to a service's user."""
    data = struct.pack("<I", 2)
    for entry in sorted([*LIST, *entries]):
        data += struct.pack("<HHI", *entry)
    try:
        os.setxattr(place, "system.posix_acl_access", data)
    except (OSError, AttributeError):
        pytest.skip("no access control lists here")
    assert stat.S_IMODE(place.stat().st_mode) == 0o440


@pytest.mark.parametrize("tag", [0x02, 0x08], ids=["user", "group"])
def test_tokens_that_a_service_manager_gives_are_read_and_those_that_others_read_are_not(
    tmp_path, tag
):
    place = tmp_path / "tokens"
    anna = add_token(place, "anna")
    granted(place, (0x02, 4, os.geteuid()))
    assert BearerTokens.load(place).owner(anna) == "anna"
    granted(place, (tag, 4, 4711))
    with pytest.raises(VoicenymError, match="others can read"):
        BearerTokens.load(place)
    os.removexattr(place, "system.posix_acl_access")
    place.chmod(0o640)
    with pytest.raises(VoicenymError, match="others can read"):
        BearerTokens.load(place)


@pytest.mark.parametrize("end", ["", "\n", "\n\n", " # desk", "\r\n"])
def test_a_new_token_is_a_line_of_its_own_whatever_the_file_ends_with(tmp_path, end):
    place = tmp_path / "tokens"
    place.write_bytes(f"anna {'a' * 40}{end}".encode())
    place.chmod(0o600)
    bert, carl = add_token(place, "bert"), add_token(place, "carl")
    tokens = BearerTokens.load(place)
    owners = [tokens.owner(token) for token in ("a" * 40, bert, carl)]
    assert owners == ["anna", "bert", "carl"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert place.read_bytes().startswith(f"anna {'a' * 40}{end}".encode())


def test_every_token_is_compared_whichever_matches(monkeypatch):
    tokens = BearerTokens({name: name * 40 for name in "abc"})
    compared, compare = [], hmac.compare_digest
    with monkeypatch.context() as patch:
        patch.setattr(
            bearer_tokens.hmac,
            "compare_digest",
            lambda one, other: compared.append(one) or compare(one, other),
        )
        assert tokens.owner("a" * 40) == "a"
    assert len(compared) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no token"),
        ("# nobody\n", "no token"),
        ("anna short\n", "line 1"),
        (f"anna {'a' * 40} more\n", "line 1"),
        (f"anna {'a' * 40}\nanna {'b' * 40}\n", "line 2"),
        (f"anna {'a' * 40}\nbert {'a' * 40}\n", "line 2"),
    ],
)
def test_a_malformed_file_is_refused_without_its_content(tmp_path, text, message):
    place = tmp_path / "tokens"
    place.write_text(text)
    place.chmod(0o600)
    with pytest.raises(VoicenymError, match=message) as caught:
        BearerTokens.load(place)
    assert "aaaa" not in str(caught.value)


def test_a_file_that_others_read_is_refused(tmp_path):
    place = tmp_path / "tokens"
    place.write_text(f"anna {'a' * 40}\n")
    place.chmod(0o644)
    with pytest.raises(VoicenymError, match="chmod 600"):
        BearerTokens.load(place)
    with pytest.raises(VoicenymError, match="cannot read"):
        BearerTokens.load(tmp_path / "none")
