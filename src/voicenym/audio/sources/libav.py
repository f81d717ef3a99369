"""The only access to libav: opens an open file with a demuxer that is already chosen.

libav opens files and hosts by names: those of its caller (``http:clip.mp4``), and those inside a
recording (playlists, references to other files). This module never passes it a name, chooses the
demuxer itself, and refuses all further requests of libav.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

import av

from voicenym.audio.container_files.container_detection import DEMUXERS
from voicenym.audio.sources.nameless_file import Written, reading

MOST_STREAMS = 64
MOST_FRAME = 1 << 21
"""Most samples per channel of a packet; only files that are meant to fill the memory have more."""
_INDEX_BYTES = 64 << 20
_MOST_FIRST_BYTES = 8 << 20
"""Most bytes for probing the content of a recording."""
_NAMES = (
    "aac aac_latm ac3 eac3 alac amrnb amrwb libopencore_amrnb libopencore_amrwb ape dca "
    "dsd_lsbf dsd_lsbf_planar dsd_msbf dsd_msbf_planar flac g722 g726 g726le gsm gsm_ms ilbc mace3 "
    "mace6 mlp mp1 mp1float mp2 mp2float mp3 mp3float mpc7 mpc8 nellymoser opus libopus qcelp qdm2 "
    "qdmc speex tak truehd tta vorbis libvorbis wavpack wmalossless wmapro wmav1 wmav2 wmavoice "
    "adpcm_g722 adpcm_g726 adpcm_g726le adpcm_ima_qt adpcm_ima_wav adpcm_ms adpcm_swf adpcm_yamaha "
    "adpcm_ct adpcm_sbpro_2 adpcm_sbpro_3 adpcm_sbpro_4 adpcm_ima_ws "
    "h264 hevc av1 libdav1d libaom-av1 vp8 vp9 mpeg4 mpeg1video mpeg2video mjpeg prores ffv1"
)
DECODERS = frozenset(_NAMES.split()) | {
    n for n in av.codecs_available if n.startswith("pcm_") and "s64" not in n
}
"""Permitted decoders: those of sound, and of copied pictures. PyAV gives no 64-bit integers."""
_LIMITS = {
    "codec_whitelist": ",".join(sorted(DECODERS)),
    "max_streams": str(MOST_STREAMS),
    "indexmem": str(_INDEX_BYTES),
    "probesize": str(_MOST_FIRST_BYTES),
    "protocol_whitelist": "file",
    "format_whitelist": ",".join(sorted(DEMUXERS | {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"})),
}
_OF_DEMUXERS = {"mov": {"enable_drefs": "0", "use_absolute_path": "0"}}


def _refuse(url: str, flags: int, options: Mapping[str, str]) -> Any:
    raise PermissionError("a recording may not have another file opened")


def open_input(file: BinaryIO, demuxer: str) -> Any:
    """A PyAV container that reads an open file from its beginning.

    Args:
        file: stays open when the container is closed.
        demuxer: a name in :data:`~voicenym.audio.container_files.container_detection.DEMUXERS`.

    Raises:
        av.error.FFmpegError, OSError, ValueError: another kind of recording, damaged, or one that
            refers to another file.
    """
    if demuxer not in DEMUXERS:
        raise ValueError(f"the demuxer {demuxer} may not be used")
    file.seek(0)
    return av.open(
        reading(file),
        "r",
        format=demuxer,
        container_options=_LIMITS | _OF_DEMUXERS.get(demuxer, {}),
        metadata_errors="ignore",
        io_open=_refuse,
    )


def open_output(file: Written, muxer: str, options: Mapping[str, str]) -> Any:
    """A PyAV container that writes to an open file, which stays open when it is closed."""
    return av.open(
        file,
        "w",
        format=muxer,
        options=dict(options),
        io_open=_refuse,
    )


def limit(context: Any) -> None:
    """Limits the frame length of a decoder, which few bytes could make very long."""
    if context.name != "ape":  # which has a limit of its own by the same name
        context.options = {**(context.options or {}), "max_samples": str(MOST_FRAME)}
