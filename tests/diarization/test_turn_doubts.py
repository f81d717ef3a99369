"""Doubts about turns: when they are told, and with what numbers."""

import torch

from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.diarization.turn_doubts import (
    ENOUGH_SECONDS,
    LITTLE,
    LONG,
    LONG_SECONDS,
    OUTSIDE,
    alike,
    doubts_of,
)

RATE = 16_000


def recording(*loud: tuple[float, float], seconds: float = 100.0) -> list[torch.Tensor]:
    """Blocks of noise, 30 dB louder in these spans of seconds."""
    signal = 1e-3 * torch.randn(round(seconds * RATE), generator=torch.Generator().manual_seed(0))
    for start, end in loud:
        signal[round(start * RATE) : round(end * RATE)] *= 30.0
    return list(signal.split(RATE))


def test_nothing_is_doubted_where_speech_is_enough_and_lies_in_turns():
    turns = Diarization([Turn(1.0, 1.0 + ENOUGH_SECONDS, "speaker-1", 1.0)])
    assert list(doubts_of(turns, recording((1.0, 1.0 + ENOUGH_SECONDS)), None)) == []


def test_little_speech_is_doubted_unless_the_number_is_given():
    turns = Diarization([Turn(1.0, 21.0, "speaker-1", 1.0)])
    (doubt,) = doubts_of(turns, recording((1.0, 21.0)), None)
    assert (doubt.kind, doubt.figures) == (LITTLE, {"seconds": 20, "speakers": 1})
    assert str(doubt).startswith("20 s of speech are little")
    assert "--speakers N" in str(doubt)
    assert list(doubts_of(turns, recording((1.0, 21.0)), 1)) == []


def test_the_number_of_speakers_in_much_speech_is_doubted_unless_it_is_given():
    turns = Diarization([Turn(0.0, LONG_SECONDS + 60.0, "speaker-1", 1.0)])
    (doubt,) = doubts_of(turns, recording(), None)
    assert (doubt.kind, doubt.figures) == (LONG, {"minutes": 11, "speakers": 1})
    assert list(doubts_of(turns, recording(), 1)) == []


def test_sound_outside_of_turns_is_counted():
    turns = Diarization([Turn(1.0, 21.0, "speaker-1", 1.0)])
    (doubt,) = doubts_of(turns, recording((1.0, 21.0), (40.0, 50.0)), 1)
    assert doubt.kind == OUTSIDE
    assert abs(doubt.figures["seconds"] - 10) <= 1
    assert doubt.figures["spoken"] == 20
    assert list(doubts_of(turns, recording((1.0, 21.0), (40.0, 42.0)), 1)) == []


def test_speakers_who_sound_alike_are_told_with_their_number():
    assert str(alike(3, 0.678)).startswith("two of the 3 speakers sound alike (cosine 0.68)")
