"""Payloads of RTP for telephony: G.711 and linear PCM (RFC 3551, section 4.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy

from voicenym.audio import telephone_codecs
from voicenym.errors import VoicenymError

DYNAMIC = range(96, 128)
"""Payload types that the two ends agree on."""
_L16_MONO = 11
"""Payload type of linear PCM at 44.1 kHz in one channel."""
_FULL_SCALE = 32_768.0


@dataclass(frozen=True)
class RtpPayload:
    """How samples of one channel are carried.

    Args:
        payload_type: 0 to 127.
        rate: of the samples and of the clock of timestamps, in Hz.
        width: octets of a sample.
        encode: ``[time]`` float32 within -1 and 1 to octets.
        decode: octets, a multiple of ``width``, to ``[time]`` float32.
    """

    payload_type: int
    rate: int
    width: int
    encode: Callable[[numpy.ndarray], bytes]
    decode: Callable[[bytes], numpy.ndarray]


def payload(name: str, rate: int | None = None, payload_type: int | None = None) -> RtpPayload:
    """The payload of a name.

    Args:
        name: ``pcmu`` (G.711 mu-law), ``pcma`` (G.711 A-law) or ``l16``.
        rate: in Hz; 8000 with G.711. Default: 8000, and 16000 with ``l16``.
        payload_type: default: 0 and 8 with G.711; with ``l16`` 11 at 44.1 kHz, else 96.

    Raises:
        VoicenymError: an unknown name, or a rate or type that it does not have.
    """
    if name not in ("pcmu", "pcma", "l16"):
        raise VoicenymError(f"--rtp-codec is pcmu, pcma or l16, not {name!r}")
    if payload_type is not None and not (0 <= payload_type < 128):
        raise VoicenymError(f"--rtp-type {payload_type}: payload types go from 0 to 127")
    if name == "l16":
        rate = rate or 16_000
        usual = _L16_MONO if rate == 44_100 else DYNAMIC[0]
        kind = usual if payload_type is None else payload_type
        return RtpPayload(kind, rate, 2, _linear, _from_linear)
    if rate not in (None, telephone_codecs.RATE):
        raise VoicenymError(
            f"--rate {rate}: {name} has {telephone_codecs.RATE} Hz; leave --rate out, or use l16"
        )
    law = telephone_codecs.g711_tables("ULAW" if name == "pcmu" else "ALAW")
    kind = payload_type if payload_type is not None else {"pcmu": 0, "pcma": 8}[name]
    return RtpPayload(kind, telephone_codecs.RATE, 1, law.encode, law.decode)


def _linear(samples: numpy.ndarray) -> bytes:
    whole = numpy.clip(numpy.round(samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE - 1)
    return whole.astype(">i2").tobytes()


def _from_linear(data: bytes) -> numpy.ndarray:
    return numpy.frombuffer(data, ">i2").astype(numpy.float32) / numpy.float32(_FULL_SCALE)
