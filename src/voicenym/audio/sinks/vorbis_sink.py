"""Writes Vorbis in Matroska and WebM: libsndfile encodes it, and its packets are muxed unchanged.

ffmpeg's own Vorbis encoder is experimental and supports only two channels.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO, cast

import av
import numpy as np

from voicenym.audio import pcm
from voicenym.audio.sinks.av_sink import AvSink, discard
from voicenym.audio.sinks.sndfile_sink import SndfileSink
from voicenym.audio.sources import libav
from voicenym.audio.types import Format
from voicenym.temporary import folder_for_temporary_files

_IN_MEMORY = 32 << 20
"""Bytes of encoded sound in memory; longer output is kept in an unnamed temporary file."""


class VorbisSink(AvSink):
    """Encodes into a temporary Ogg, whose packets are muxed when the recording is complete."""

    def __init__(self, *arguments: Any) -> None:
        self._files = ExitStack()
        super().__init__(*arguments)

    def _open_encoder(self, channels: int) -> None:
        rate = self._encoder_rate
        form = Format("ogg", "vorbis", bit_rate=self._format.bit_rate)
        # The headers depend on rate, channels and quality alone: an empty recording has them.
        example = io.BytesIO()
        headers = SndfileSink(example, form, rate, channels)
        headers.write(np.zeros((channels, 1), np.float32))
        headers.finish()
        example.seek(0)
        template = self._files.enter_context(libav.open_input(example, "ogg")).streams.audio[0]
        self._stream = self._container.add_stream_from_template(template, opaque=True)
        self._stream.metadata.clear()
        self._stream.time_base = self._time_base
        folder = str(folder_for_temporary_files())
        self._ogg = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=folder)  # noqa: SIM115 - see close()
        self._files.callback(self._ogg.close)
        self._encoder = SndfileSink(self._ogg, form, rate, channels)
        self._files.callback(self._encoder.close)

    def write(self, block: pcm.Block) -> None:
        self._encoder.write(block)
        self._sent += block.shape[1]

    def finish(self) -> None:
        self._encoder.finish()
        self._ogg.seek(0)
        for packet in self._trimmed():
            self._mux(packet)
        self._finish_picture()

    def _trimmed(self) -> Iterator[Any]:
        """Packets up to the last sample; the last one is marked with its padding.

        Decoding a packet gives its length: ffmpeg's own count is wrong where long blocks change to
        short ones, and at the end.
        """
        decoded = 0
        with libav.open_input(cast(BinaryIO, self._ogg), "ogg") as ogg:
            decoder: Any = av.CodecContext.create("vorbis", "r")
            decoder.extradata = ogg.streams.audio[0].codec_context.extradata
            for packet in ogg.demux(ogg.streams.audio[0]):
                if not packet.size or decoded >= self._sent:
                    continue
                samples = sum(f.samples for f in decoder.decode(av.Packet(bytes(packet))))
                packet.time_base = self._time_base
                packet.pts = packet.dts = decoded + self._offset
                packet.duration = samples
                decoded += samples
                discard(packet, max(0, decoded - self._sent))
                yield packet

    def close(self) -> None:
        self._files.close()
        super().close()
