"""Containers by file extension, and the codecs written to each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from voicenym.audio.pcm import PCM_BYTES
from voicenym.audio.types import Format
from voicenym.errors import AudioError

_G711 = ("pcm_alaw", "pcm_mulaw")
_BIG_ENDIAN = ("pcm_s16be", "pcm_s24be", "pcm_s32be", "pcm_f32be", "pcm_f64be")
_LOSSLESS = ("flac", "alac", *_G711, *PCM_BYTES, *_BIG_ENDIAN)


@dataclass(frozen=True)
class Container:
    """ffmpeg's name of a container, and its codecs, the default one first."""

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
    "3gp": Container("3gp", ("aac",)),
    "aiff": Container("aiff", _BIG_ENDIAN),
    "au": Container("au", (*_BIG_ENDIAN, *_G711)),
    "caf": Container("caf", ("pcm_s16le", *PCM_BYTES, *_G711)),
    "w64": Container("w64", ("pcm_s16le", *PCM_BYTES, *_G711)),
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
    ".m4b": "mp4",
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".qt": "mov",
    ".mkv": "matroska",
    ".mka": "matroska",
    ".webm": "webm",
    ".weba": "webm",
    ".aac": "adts",
    ".3gp": "3gp",
    ".3g2": "3gp",
    ".aif": "aiff",
    ".aiff": "aiff",
    ".aifc": "aiff",
    ".au": "au",
    ".snd": "au",
    ".caf": "caf",
    ".w64": "w64",
}
"""Extensions that are written, and read."""

_SOUND = (
    ".ac3 .amr .ape .awb .dff .dsf .eac3 .mp1 .mp2 .mpc .mpga .sph .spx .tak .tta .voc .wma .wv"
)
_FILMS = ".asf .avi .flv .m2ts .mpeg .mpg .mts .ts .vob .wmv"
READ_ONLY = dict.fromkeys(_SOUND.split(), ".wav") | dict.fromkeys(_FILMS.split(), ".mkv")
"""Extensions of kinds that can only be read, with the extension of their outputs."""

PICTURE_CONTAINERS = ("mp4", "mov", "matroska", "webm", "3gp")

FLAC_CHANNELS = 8
MOST_FLAC_RATE = 655_350

ENCODERS = {"opus": "libopus", "mp3": "libmp3lame"}
"""ffmpeg's names of encoders that differ from the codec's name."""


def writable() -> str:
    """Extensions that can be written, as text for messages."""
    return ", ".join(EXTENSIONS)


def output_suffix(suffix: str) -> str:
    """Extension of an output: the input's, unless that kind cannot be written."""
    return READ_ONLY.get(suffix.lower(), suffix)


def container_of(path: PurePath, name: str) -> str:
    """Container of an output's extension."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        cure = READ_ONLY.get(extension)
        raise AudioError(
            f"{name}: cannot write files ending in '{extension}'; "
            + (f"name an output that ends in {cure}, or in " if cure else "use ")
            + f"one of {writable()}"
        )
    return EXTENSIONS[extension]


def target(container: str, extension: str, source: Format | None) -> Format:
    """Output format: the source's codec, bits and bit rate if the container supports them.

    Otherwise it is the container's default codec; uncompressed sound keeps its bits.
    """
    if container not in CONTAINERS:
        raise AudioError(f"cannot write the container '{container}'; use one of {writable()}")
    codecs = CONTAINERS[container].codecs
    if source is None:
        source = Format(container, "opus" if extension == ".opus" else codecs[0])
    if container == "wav" and source.container == "rf64":
        container = "rf64"
    bits = source.bits or _bits(source.codec)
    codec = _ordered(source.codec, codecs)
    if extension == ".opus":
        codec = "opus"
    elif codec not in codecs:
        wide = bits is not None and bits > 16
        if wide and codecs[0] in ("pcm_s16le", "pcm_s16be"):
            codec = codecs[0].replace("16", "24")
        else:
            codec = codecs[0]
    if codec == "flac":
        return Format(container, codec, bits=24 if bits and bits > 16 else 16)
    if codec in _LOSSLESS:
        return Format(container, codec, bits=bits if codec == "alac" else None)
    # The bit rate of a lossless source is no guide for that of a lossy codec.
    rate = None if source.codec in _LOSSLESS else source.bit_rate
    return Format(container, codec, bit_rate=rate)


def wav_codec(source: Format) -> str:
    """Uncompressed codec that keeps the bits of a format."""
    codec = target("wav", ".wav", source).codec
    return codec if codec in PCM_BYTES else "pcm_s16le"


def _ordered(codec: str, codecs: tuple[str, ...]) -> str:
    """Codec with the byte order of a container."""
    if codec.startswith("pcm_") and codec[-2:] in ("le", "be") and codec not in codecs:
        other = codec[:-2] + ("be" if codec.endswith("le") else "le")
        return other if other in codecs else codec
    return codec


def _bits(codec: str) -> int | None:
    if codec in _G711:
        return 16
    codec = codec.removesuffix("be") + "le" if codec in _BIG_ENDIAN else codec
    return 8 * PCM_BYTES[codec] if codec in PCM_BYTES else None


def unfit(format: Format, rate: int, channels: int) -> AudioError:
    """Error for a rate or number of channels that a codec lacks; a writer adds the file's name."""
    fits = channels <= FLAC_CHANNELS and rate <= MOST_FLAC_RATE and format.codec != "flac"
    cure = "in .flac or .wav" if fits else "in .wav"
    return AudioError(
        f"{format.codec} cannot hold {channels} channel{'s' * (channels != 1)} at {rate} Hz; "
        f"name an output that ends {cure}"
    )
