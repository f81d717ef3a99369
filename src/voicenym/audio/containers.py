"""Which extension means which container, and which codecs a container takes from us."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from voicenym.audio.pcm import PCM_BYTES
from voicenym.audio.types import Format
from voicenym.errors import AudioError

_G711 = ("pcm_alaw", "pcm_mulaw")
_LOSSLESS = ("flac", "alac", *_G711, *PCM_BYTES)


@dataclass(frozen=True)
class Container:
    """How ffmpeg calls a container, and its codecs, the default one first."""

    muxer: str
    codecs: tuple[str, ...]


CONTAINERS = {
    "wav": Container("wav", ("pcm_s16le", *PCM_BYTES, *_G711)),
    "rf64": Container("wav", ("pcm_s16le", *PCM_BYTES)),
    "flac": Container("flac", ("flac",)),
    "ogg": Container("ogg", ("vorbis", "opus", "flac")),
    "mp3": Container("mp3", ("mp3",)),
    "mp4": Container("mp4", ("aac", "alac", "opus", "flac", "ac3", "eac3")),
    "mov": Container("mov", ("aac", "alac", *PCM_BYTES)),
    "matroska": Container(
        "matroska", ("opus", "vorbis", "aac", "mp3", "flac", "alac", "ac3", "eac3", *PCM_BYTES)
    ),
    "webm": Container("webm", ("opus", "vorbis")),
    "adts": Container("adts", ("aac",)),
}

EXTENSIONS = {
    ".wav": "wav",
    ".wave": "wav",
    ".bwf": "wav",
    ".rf64": "rf64",
    ".flac": "flac",
    ".ogg": "ogg",
    ".oga": "ogg",
    ".opus": "ogg",
    ".mp3": "mp3",
    ".m4a": "mp4",
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".mkv": "matroska",
    ".mka": "matroska",
    ".webm": "webm",
    ".aac": "adts",
}

PICTURE_CONTAINERS = ("mp4", "mov", "matroska", "webm")

FLAC_CHANNELS = 8
MOST_FLAC_RATE = 655_350

ENCODERS = {"opus": "libopus", "mp3": "libmp3lame"}
"""ffmpeg's name of the encoder where it is not that of the codec."""


def writable() -> str:
    """The extensions that can be written, for messages."""
    return ", ".join(EXTENSIONS)


def container_of(path: PurePath, name: str) -> str:
    """The container that an output's extension asks for."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        raise AudioError(
            f"{name}: cannot write files ending in '{extension}'; use one of {writable()}"
        )
    return EXTENSIONS[extension]


def target(container: str, extension: str, source: Format | None) -> Format:
    """The format to write: the source's codec, bits and bit rate where the container takes them.

    Where it does not, the container's usual codec is taken; uncompressed sound keeps its bits.
    """
    if container not in CONTAINERS:
        raise AudioError(f"cannot write the container '{container}'; use one of {writable()}")
    codecs = CONTAINERS[container].codecs
    if source is None:
        source = Format(container, "opus" if extension == ".opus" else codecs[0])
    if container == "wav" and source.container == "rf64":
        container = "rf64"
    bits = source.bits or _bits(source.codec)
    codec = source.codec
    if extension == ".opus":
        codec = "opus"
    elif codec not in codecs:
        wide = bits is not None and bits > 16
        codec = "pcm_s24le" if wide and codecs[0] == "pcm_s16le" else codecs[0]
    if codec == "flac":
        return Format(container, codec, bits=24 if bits and bits > 16 else 16)
    if codec in _LOSSLESS:
        return Format(container, codec, bits=bits if codec == "alac" else None)
    # The bit rate of a lossless source says nothing about the one a lossy codec needs.
    rate = None if source.codec in _LOSSLESS else source.bit_rate
    return Format(container, codec, bit_rate=rate)


def wav_codec(source: Format) -> str:
    """The uncompressed codec that keeps the bits of a format."""
    codec = target("wav", ".wav", source).codec
    return codec if codec in PCM_BYTES else "pcm_s16le"


def _bits(codec: str) -> int | None:
    if codec in _G711:
        return 16
    return 8 * PCM_BYTES[codec] if codec in PCM_BYTES else None


def unfit(format: Format, rate: int, channels: int) -> AudioError:
    """Say that a codec has no such rate or number of channels; a writer adds the file's name."""
    fits = channels <= FLAC_CHANNELS and rate <= MOST_FLAC_RATE and format.codec != "flac"
    cure = "in .flac or .wav" if fits else "in .wav"
    return AudioError(
        f"{format.codec} cannot hold {channels} channel{'s' * (channels != 1)} at {rate} Hz; "
        f"name an output that ends {cure}"
    )
