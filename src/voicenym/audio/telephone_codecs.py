"""Telephone codecs: speech encoded at 8 kHz and decoded again.

G.711 is the codec of fixed lines and of most call centres: companding to 8 bits by A-law (Europe)
or mu-law (North America, Japan), 64 kbit/s (ITU-T G.711). GSM 06.10 full rate (13 kbit/s, ETSI EN
300 961) and AMR-NB (3GPP TS 26.071) are those of mobile phones. libsndfile encodes the first two,
libav AMR.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from voicenym.errors import DependencyError

RATE = 8000
"""Sample rate of all codecs, in Hz."""
AMR_DELAY = 40
"""Look-ahead and delay of AMR-NB in samples: 5 ms (3GPP TS 26.090, 4.2)."""
_AMR_FRAME = 160
_FULL_SCALE = 32_767

Codec = Callable[[np.ndarray], np.ndarray]


def a_law(samples: np.ndarray) -> np.ndarray:
    """G.711 A-law.

    Args:
        samples: ``[time]`` at 8 kHz in [-1, 1].

    Returns:
        ``[time]`` float32, decoded.
    """
    return _by_sndfile(samples, "ALAW")


def mu_law(samples: np.ndarray) -> np.ndarray:
    """G.711 mu-law; arguments as of :func:`a_law`."""
    return _by_sndfile(samples, "ULAW")


def gsm(samples: np.ndarray) -> np.ndarray:
    """GSM 06.10 full rate, 13 kbit/s; arguments as of :func:`a_law`."""
    return _by_sndfile(samples, "GSM610")


def amr(samples: np.ndarray, bit_rate: int = 12_200) -> np.ndarray:
    """AMR-NB with compensated delay.

    Args:
        samples: as of :func:`a_law`.
        bit_rate: 12200, 10200, 7950, 7400, 6700, 5900, 5150 or 4750.

    Raises:
        DependencyError: libav has no AMR-NB encoder.
    """
    import av

    try:
        encoder: Any = av.CodecContext.create("libopencore_amrnb", "w")
        decoder: Any = av.CodecContext.create("amrnb", "r")
    except av.codec.codec.UnknownCodecError as error:
        raise DependencyError(
            f"this build of PyAV has no AMR-NB ({error}); install the one from PyPI: pip install "
            "av, or choose the line gsm"
        ) from None
    for context in (encoder, decoder):
        context.sample_rate, context.layout = RATE, "mono"
    encoder.format, encoder.bit_rate = "s16", bit_rate
    # whole frames, and one more for the delay
    length = -(-(len(samples) + AMR_DELAY) // _AMR_FRAME) * _AMR_FRAME
    pcm = np.zeros(length, dtype=np.int16)
    pcm[: len(samples)] = _pcm(samples)
    packets = []
    for start in range(0, length, _AMR_FRAME):
        block = pcm[None, start : start + _AMR_FRAME]
        frame = av.AudioFrame.from_ndarray(block, format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, start
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    decoded = [
        frame.to_ndarray().reshape(-1) for packet in packets for frame in decoder.decode(packet)
    ]
    whole = np.concatenate(decoded).astype(np.float32)[AMR_DELAY:]
    found: np.ndarray = np.clip(whole[: len(samples)], -1.0, 1.0)
    return found


def amr_lowest(samples: np.ndarray) -> np.ndarray:
    """AMR-NB at its lowest bit rate, 4.75 kbit/s, for bad reception."""
    return amr(samples, 4750)


@dataclass(frozen=True)
class G711:
    """One law of G.711 as tables, for blocks of any length.

    Args:
        levels: ``[256]`` float32, what each octet stands for.
        octets: ``[65536]`` uint8, of the 16-bit values from -32768 up.
    """

    levels: np.ndarray
    octets: np.ndarray

    def decode(self, data: bytes) -> np.ndarray:
        """``[time]`` float32 of as many octets."""
        found: np.ndarray = self.levels[np.frombuffer(data, np.uint8)]
        return found

    def encode(self, samples: np.ndarray) -> bytes:
        """One octet for each of the samples ``[time]`` in [-1, 1]."""
        return bytes(self.octets[_pcm(samples).astype(np.int32) + 32_768])


@cache
def g711_tables(subtype: str) -> G711:
    """Tables of ``ULAW`` or ``ALAW``, as libsndfile codes."""
    import soundfile

    file = io.BytesIO()
    values = np.arange(-32_768, 32_768).astype(np.int16)
    soundfile.write(file, values, RATE, format="RAW", subtype=subtype)
    every = io.BytesIO(bytes(range(256)))
    levels, _ = soundfile.read(
        every, dtype="float32", format="RAW", subtype=subtype, samplerate=RATE, channels=1
    )
    return G711(levels, np.frombuffer(file.getvalue(), np.uint8))


CODECS: dict[str, tuple[str, Codec]] = {
    "g711": ("G.711 A-law", a_law),
    "g711-mulaw": ("G.711 mu-law", mu_law),
    "gsm": ("GSM 06.10", gsm),
    "amr": ("AMR-NB 12.2 kbit/s", amr),
    "amr-4.75": ("AMR-NB 4.75 kbit/s", amr_lowest),
}
"""Title and function of each codec, by name."""


def _pcm(samples: np.ndarray) -> np.ndarray:
    whole: np.ndarray = np.rint(np.clip(samples, -1.0, 1.0) * _FULL_SCALE)
    return whole.astype(np.int16)


def _by_sndfile(samples: np.ndarray, subtype: str) -> np.ndarray:
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, _pcm(samples), RATE, format="WAV", subtype=subtype)
    file.seek(0)
    decoded, _ = soundfile.read(file, dtype="float32")
    return np.asarray(decoded[: len(samples)])  # GSM fills its last frame
