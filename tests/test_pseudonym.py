"""Derivation of pseudonyms, pinned by known answers: a change would change every user's voices."""

from __future__ import annotations

import hashlib
import hmac
import math
import stat
import statistics
import struct

import pytest

from voicenym.anonymizer import revisions, system_class
from voicenym.errors import KeyFileError
from voicenym.pseudonym import DERIVATION_VERSION, Key, Pseudonym, readable_by_others

KEY = Key(bytes(range(32)))


def field(text: bytes) -> bytes:
    return struct.pack(">Q", len(text)) + text


def mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def test_derivation_is_the_documented_one():
    secret = mac(bytes(range(32)), field(b"voicenym/pseudonym/1") + field(b"speaker-1"))
    assert secret.hex() == "7216e0dd9b5fc1ac7662613f884b71ec829cac135113c050aa19487be5623573"
    word = struct.unpack(
        ">Q",
        mac(secret, field(b"voicenym/stream/1") + field(b"mcadams.alpha") + bytes(8))[:8],
    )[0]
    expected = 0.5 + 0.4 * ((word >> 11) * 2.0**-53)
    assert KEY.pseudonym("speaker-1").uniform("mcadams.alpha", 0.5, 0.9) == expected


def test_draws_are_those_of_every_release():
    assert DERIVATION_VERSION == 1
    pseudonym = KEY.pseudonym("speaker-1")
    assert pseudonym.uniform("mcadams.alpha", 0.5, 0.9) == 0.6196011781645449
    assert pseudonym.uniforms("x", 3) == [
        0.5009985746441942,
        0.0990104530248187,
        0.7750696663324634,
    ]
    assert pseudonym.normals("x", 2) == pytest.approx([0.9554511298904019, 0.6104986446928022])
    assert pseudonym.index("x", 10) == 2
    assert pseudonym.rng("n").bit_generator.random_raw(2).tolist() == [
        6342230650123449423,
        4908597725743105737,
    ]
    assert pseudonym.torch_rng("n").initial_seed() == 5774980449262294456
    one_utterance = KEY.pseudonym("speaker-1", "utt-1")
    assert one_utterance.uniform("mcadams.alpha", 0.5, 0.9) == 0.505501828285476
    assert KEY.tag("key check") == "002d8b17bc8b44070b8288eb2ab9c3ed"


def test_fields_cannot_be_confused():
    pseudonyms = [
        KEY.pseudonym("ab"), KEY.pseudonym("a", "b"), KEY.pseudonym("a"), KEY.pseudonym("", "ab"),
        KEY.pseudonym("ab", ""), Key(bytes(32)).pseudonym("ab"),
    ]  # fmt: skip
    assert len({p.uniform("x") for p in pseudonyms}) == len(pseudonyms)


def test_streams_of_different_purposes_are_independent():
    first = [KEY.pseudonym(str(i)).uniform("one") for i in range(2000)]
    second = [KEY.pseudonym(str(i)).uniform("two") for i in range(2000)]
    assert abs(statistics.correlation(first, second)) < 0.08
    assert statistics.mean(first) == pytest.approx(0.5, abs=0.03)
    assert statistics.pstdev(first) == pytest.approx(math.sqrt(1 / 12), abs=0.02)


def test_normals_are_normal():
    draws = KEY.pseudonym("a").normals("x", 5000, mean=2.0, std=3.0)
    assert statistics.mean(draws) == pytest.approx(2.0, abs=0.15)
    assert statistics.pstdev(draws) == pytest.approx(3.0, abs=0.15)


def test_names_may_be_any_text():
    assert KEY.pseudonym("Žofie 語") != KEY.pseudonym("Zofie 語")


def test_secrets_are_not_in_reprs():
    assert bytes(range(32)).hex() not in repr(KEY)
    assert "7216e0dd" not in repr(KEY.pseudonym("speaker-1"))


def test_keys_are_saved_privately_and_loaded_again(tmp_path):
    path = tmp_path / "p.key"
    key = Key.generate()
    key.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Key.load(path) == key
    assert not readable_by_others(path)
    path.chmod(0o644)
    assert readable_by_others(path)


def test_a_key_is_never_overwritten(tmp_path):
    path = tmp_path / "p.key"
    KEY.save(path)
    with pytest.raises(KeyFileError, match="never overwritten"):
        Key.generate().save(path)
    assert Key.load(path) == KEY


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "not a voicenym key"), (b"voicenym-key-1 abcd\n", "too short"),
     (b"voicenym-key-1 " + b"zz" * 32, "hex digits"), (b"\xff" * 64, "not a voicenym key")],
)  # fmt: skip
def test_bad_key_files_say_what_is_wrong(content, word, tmp_path):
    path = tmp_path / "bad.key"
    path.write_bytes(content)
    with pytest.raises(KeyFileError, match=word) as caught:
        Key.load(path)
    assert "bad.key" in str(caught.value)


def test_missing_key_files_and_short_secrets(tmp_path):
    with pytest.raises(KeyFileError, match="voicenym key new"):
        Key.load(tmp_path / "none")
    with pytest.raises(KeyFileError, match="32 bytes"):
        Key(b"short")


def test_generated_keys_differ():
    assert Key.generate() != Key.generate()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"mcadams": 2}, {"mcadams": 2}, True),
        ({}, {"mcadams": 1}, True),  # a system that is not named is at revision 1
        ({"mcadams": 1}, {"mcadams": 2}, False),
        ({}, {"mcadams": 2}, False),
        ({"mcadams": 2}, {"vtln": 2}, False),
        (None, None, True),
        (None, revisions(), True),  # of the day: what save() writes
        (None, {}, False),  # mcadams and others have later ones
    ],
)
def test_equal_keys_give_the_same_voices(one, other, same):
    keys = KEY.with_revisions(one), KEY.with_revisions(other)
    assert (keys[0] == keys[1]) is (keys[1] == keys[0]) is same
    assert (keys[0].pseudonym("a") == keys[1].pseudonym("a")) is same
    voices = [system_class("mcadams")().revision_for(key) for key in keys]
    assert voices[0] == voices[1] or not same
    assert len(set(keys)) == len({key.pseudonym("a") for key in keys}) == (1 if same else 2)


def test_keys_of_other_secrets_are_unequal_whatever_their_revisions():
    assert Key(bytes(32)) != KEY
    assert KEY.with_revisions(None) != Key(bytes(32), None)
    assert bytes(range(32)) != KEY


def test_secrets_are_compared_in_constant_time(monkeypatch):
    compared, compare = [], hmac.compare_digest
    monkeypatch.setattr(
        hmac, "compare_digest", lambda *both: compared.append(both) or compare(*both)
    )
    other = Key(bytes(32))
    assert other != KEY
    assert [set(both) for both in compared] == [{bytes(range(32)), bytes(32)}]


@pytest.mark.parametrize("secret", ["k" * 32, 32, None, [0] * 32])
def test_a_secret_is_bytes(secret):
    """bytes(32) are zeros, which anybody knows."""
    with pytest.raises(KeyFileError, match=f"32 bytes, not {type(secret).__name__}"):
        Key(secret)
    with pytest.raises(TypeError, match="secret is bytes"):
        Pseudonym(secret)


@pytest.mark.parametrize(
    "revisions",
    [{"mcadams": 0}, {"mcadams": "1"}, {"mcadams": 1.5}, {"mcadams": True}, {"a b": 1}, {"": 1},
     {"derivation": 2}, {3: 1}, [("mcadams", 1)], {"mcadams": 10**12}],
)  # fmt: skip
def test_a_key_has_only_revisions_that_its_file_can_hold(revisions, tmp_path):
    """Else it would be saved, and lost."""
    with pytest.raises(KeyFileError):
        Key(b"k" * 32, revisions)
    with pytest.raises(KeyFileError):
        KEY.with_revisions(revisions)


def test_a_label_with_a_half_of_a_character_is_named():
    with pytest.raises(KeyFileError, match=r"'a\\ud800b' has a half of a character .* at 1"):
        KEY.pseudonym("a\ud800b")
    with pytest.raises(KeyFileError, match="half of a character"):
        KEY.pseudonym("a", "\udfff")
    assert KEY.pseudonym("a\udcff") != KEY.pseudonym("a")  # a byte of a file's name


@pytest.mark.parametrize("number", [-1, 1 << 64])
def test_variants_are_numbered_from_zero(number):
    with pytest.raises(ValueError, match="0 or more"):
        KEY.pseudonym("a").variant(number)


def test_nothing_is_drawn_from_nothing():
    with pytest.raises(ValueError, match="one possibility or more, not 0"):
        KEY.pseudonym("a").index("x", 0)
