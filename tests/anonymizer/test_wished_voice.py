"""Wishes for the drawn voice: fitting, deterministic under the key, part of the settings."""

import pytest
import torch

from voicenym import Audio, load
from voicenym.anonymizer.wished_voice import REGISTERS, VOICE_KINDS
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Key

KEY = Key(bytes(range(32)))


@pytest.mark.parametrize("kind", REGISTERS)
@pytest.mark.parametrize("name", ["recast", "formant"])
def test_the_voice_fits_the_wish_and_is_the_same_again(name, kind):
    system = load(name, voice_kind=kind)
    low, high = REGISTERS[kind]
    voices = [system.drawn(KEY.pseudonym(who)) for who in "abcdefgh"]
    assert all(low <= system.median_f0(voice) < high for voice in voices)
    assert voices == [load(name, voice_kind=kind).drawn(KEY.pseudonym(who)) for who in "abcdefgh"]
    assert len(set(voices)) == 8


def test_a_voice_that_fits_already_is_kept():
    who = next(
        KEY.pseudonym(name)
        for name in "abcdefgh"
        if load("recast").median_f0(KEY.pseudonym(name)) > 200
    )
    assert load("recast", voice_kind="high").drawn(who) == who
    assert load("recast").drawn(who) == who


def test_variants_are_other_voices_that_fit_too():
    system = load("recast", voice_kind="female")
    drawn = [
        load("recast", voice_kind="female", voice_variant=n).drawn(KEY.pseudonym("a"))
        for n in range(4)
    ]
    assert len(set(drawn)) == 4
    assert all(system.median_f0(one) >= REGISTERS["female"][0] for one in drawn)
    plain = [load("mcadams", voice_variant=n).drawn(KEY.pseudonym("a")) for n in range(3)]
    assert plain[0] == KEY.pseudonym("a")
    assert len(set(plain)) == 3


def test_the_wish_changes_what_is_written():
    time = torch.arange(8000) / 16_000
    audio = Audio(0.05 * torch.sin(2 * torch.pi * 150 * time).sign(), 16_000)
    made = [load("mcadams", voice_variant=n)(audio, KEY.pseudonym("a")).samples for n in (0, 1, 0)]
    assert torch.equal(made[0], made[2])
    assert not torch.equal(made[0], made[1])


def test_a_wish_is_a_setting_and_its_absence_is_none():
    assert "voice_kind" not in load("recast").parameters()
    assert "voice_variant" not in load("recast").parameters()
    wished = load("recast", voice_kind="low", voice_variant=2)
    assert wished.parameters()["voice_kind"] == "low"
    assert wished.parameters()["voice_variant"] == 2
    assert load("recast", **wished.parameters()) == wished


def test_impossible_wishes_are_refused():
    with pytest.raises(UnknownSystemError, match=r"depend on the speaker's own.*--voice-like"):
        load("vtln", voice_kind="female")
    with pytest.raises(UnknownSystemError, match=f"a voice is {', '.join(VOICE_KINDS)}"):
        load("recast", voice_kind="squeaky")
    with pytest.raises(UnknownSystemError, match=r"below 2\^63, not -1"):
        load("recast", voice_variant=-1)
    with pytest.raises(UnknownSystemError, match=r"below 2\^63, not 9"):
        load("recast", voice_variant=2**63)
    load("recast", voice_variant=2**63 - 1)
    narrow = load("recast", register_low=90.0, register_high=100.0, voice_kind="high")
    with pytest.raises(UnknownSystemError, match="of the first 2000 voices 0 are high"):
        narrow.drawn(KEY.pseudonym("a"))
    copying = load("ssl-loh", voice_kind="male")
    with pytest.raises(UnknownSystemError, match="depend on the speaker's own"):
        copying.drawn(KEY.pseudonym("a"))


def test_variants_of_a_pseudonym_are_known_by_the_key_alone():
    who = KEY.pseudonym("a")
    assert who.variant(0) == who
    assert who.variant(3) == KEY.pseudonym("a").variant(3)
    assert who.variant(3) != KEY.pseudonym("b").variant(3)
    assert who.variant(1).uniform("x") != who.variant(2).uniform("x")
    assert who.variant(1).revision("recast") == who.revision("recast")
