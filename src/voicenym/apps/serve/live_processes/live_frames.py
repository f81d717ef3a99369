"""Frames of a live session: a header and PCM samples, from the client and back to it."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from voicenym.apps.web.problem_details import Problem
from voicenym.live.live_state import State

_FROM_CLIENT = struct.Struct("<III")
_TO_CLIENT = struct.Struct("<IIB3x")
WRAP = 1 << 32
"""Positions are counted modulo this number."""
NO_SOURCE = WRAP - 1
"""Source of a frame that is silence."""
SAMPLE_BYTES = 2
LONGEST_FRAME = 0.1
"""Seconds of a frame at most."""
STATES = tuple(State)
"""States by their numbers in frames to the client."""


@dataclass(frozen=True)
class SoundFrame:
    """Sound of a client.

    Args:
        at: position of its first sample, counted from the start of the session.
        rate: sample rate in Hz, that of the start.
        heard: ``at`` of the last answer that the client has received.
        pcm: samples of one channel, 16 bits, little-endian.
    """

    at: int
    rate: int
    heard: int
    pcm: bytes

    @property
    def samples(self) -> int:
        return len(self.pcm) // SAMPLE_BYTES


class FrameReader:
    """Reads the frames of one client, and refuses what does not follow from the last one.

    Args:
        rate: sample rate of the session in Hz.

    Attributes:
        received: samples so far.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self.received = 0

    def read(self, data: bytes) -> SoundFrame:
        """A frame.

        Raises:
            Problem: 400 for a malformed frame, or one that does not follow the last one; 422 for
                another sample rate.
        """
        frame = read_sound(data)
        if frame.rate != self._rate:
            raise Problem(
                422,
                f"The sample rate changed from {self._rate} to {frame.rate} Hz.",
                "Start a new session with the new rate.",
            )
        if not frame.pcm or len(frame.pcm) % SAMPLE_BYTES:
            raise _malformed("A frame holds no whole number of samples.")
        if frame.samples > LONGEST_FRAME * self._rate:
            raise _malformed(f"A frame is longer than {LONGEST_FRAME:g} s.")
        if frame.at != self.received % WRAP:
            raise _malformed("A frame does not follow the last one.")
        if (frame.at - frame.heard) % WRAP > self.received:
            raise _malformed("A frame answers to sound that was not sent.")
        self.received += frame.samples
        return frame


def sound(frame: SoundFrame) -> bytes:
    """Bytes of a client's frame."""
    return _FROM_CLIENT.pack(frame.at, frame.rate, frame.heard) + frame.pcm


def read_sound(data: bytes) -> SoundFrame:
    """What :func:`sound` was given.

    Raises:
        Problem: 400 for fewer bytes than the header has.
    """
    if len(data) < _FROM_CLIENT.size:
        raise _malformed("A frame is shorter than its header.")
    at, rate, heard = _FROM_CLIENT.unpack_from(data)
    return SoundFrame(at, rate, heard, data[_FROM_CLIENT.size :])


def answer(at: int, source: int | None, state: State, pcm: bytes) -> bytes:
    """Bytes of an answer: as many samples as the frame has to which it answers.

    Args:
        at: position of that frame.
        source: position of the sound from which its first sample was made; None for silence.
        state: of the session.
        pcm: anonymized samples, or zeros.
    """
    where = NO_SOURCE if source is None else source % WRAP
    return _TO_CLIENT.pack(at, where, STATES.index(state)) + pcm


def read_answer(data: bytes) -> tuple[int, int | None, State, bytes]:
    """What :func:`answer` was given.

    Raises:
        Problem: 400 for malformed bytes.
    """
    if len(data) < _TO_CLIENT.size:
        raise _malformed("An answer is shorter than its header.")
    at, source, state = _TO_CLIENT.unpack_from(data)
    if state >= len(STATES):
        raise _malformed("An answer has no state.")
    return at, None if source == NO_SOURCE else source, STATES[state], data[_TO_CLIENT.size :]


def _malformed(detail: str) -> Problem:
    return Problem(400, detail, "Send frames as docs/serve.md describes them.")
