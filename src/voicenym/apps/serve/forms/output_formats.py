"""Formats that clients of voice services ask for by name, such as ``mp3_44100_128``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.errors import AudioError

if TYPE_CHECKING:
    import numpy as np

RATES = (8000, 16000, 22050, 24000, 32000, 44100, 48000)
NAMES = (
    *(f"mp3_44100_{kbit}" for kbit in (32, 64, 96, 128, 192)),
    "mp3_22050_32",
    "mp3_24000_48",
    *(f"opus_48000_{kbit}" for kbit in (32, 64, 96, 128, 192)),
    *(f"pcm_{rate}" for rate in RATES),
    *(f"wav_{rate}" for rate in RATES),
    "ulaw_8000",
    "alaw_8000",
)
"""Names of formats: coding, rate in Hz, and kilobits a second."""
USUAL = "mp3_44100_128"
"""Format where none is named, as clients expect it."""
_KINDS = {
    "mp3": (".mp3", "mp3", "mp3"),
    "opus": (".opus", "ogg", "opus"),
    "wav": (".wav", "wav", "pcm_s16le"),
    "pcm": (".wav", "wav", "pcm_s16le"),
    "ulaw": (".wav", "wav", "pcm_mulaw"),
    "alaw": (".wav", "wav", "pcm_alaw"),
}
_HEADERLESS = ("pcm", "ulaw", "alaw")
_BLOCK = 1 << 16


def check(name: str) -> str:
    """A format's name.

    Raises:
        AudioError: there is no such format.
    """
    if name not in NAMES:
        raise AudioError(f"output_format is not known; use one of {', '.join(NAMES)}")
    return name


def converted(path: Path, name: str) -> Path:
    """Writes a recording in a format of one channel; returns the new file, removes the old one.

    Args:
        path: of the recording.
        name: of the format.

    Raises:
        AudioError: no such format, or the recording cannot be read or written.
    """
    import numpy as np
    import soxr

    from voicenym.audio import open_reader, open_writer
    from voicenym.audio.types import Format
    from voicenym.dsp.downmix import downmix

    kind, rate, *rest = check(name).split("_")
    suffix, container, codec = _KINDS[kind]
    target = path.with_name(f"converted{suffix}")
    wanted = Format(container, codec, None, 1000 * int(rest[0]) if rest else None)
    with open_reader(path) as reader:
        resampler = soxr.ResampleStream(reader.rate, int(rate), 1, dtype="float32")
        with open_writer(target, wanted, int(rate), 1) as writer:
            for block in reader.blocks(_BLOCK):
                writer.write(_row(resampler.resample_chunk(downmix(block))))
            writer.write(_row(resampler.resample_chunk(np.zeros(0, np.float32), last=True)))
    path.unlink()
    return _without_header(target, kind) if kind in _HEADERLESS else target


def _row(samples: np.ndarray) -> np.ndarray:
    """Samples as a block of one channel, within full scale, which resampling may exceed."""
    return samples.clip(-1.0, 1.0)[None]


def _without_header(path: Path, kind: str) -> Path:
    """The samples of a WAV file alone."""
    data = path.read_bytes()
    begin = data.index(b"data") + 8
    raw = path.with_name(f"converted.{kind}")
    raw.write_bytes(data[begin : begin + int.from_bytes(data[begin - 4 : begin], "little")])
    path.unlink()
    return raw
