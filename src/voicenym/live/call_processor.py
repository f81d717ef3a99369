"""Processor for call platforms: frames in, frames out, without importing a platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from voicenym.live.frame_anonymizer import FrameAnonymizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from voicenym.anonymizer.stream import Stream


class CallProcessor:
    """Anonymizes the audio frames of one participant of a call.

    It has the methods that two kinds of platforms call:

    - LiveKit's ``rtc.FrameProcessor``: ``enabled``, ``_process(frame)``, ``_close()`` and the hooks
      that begin with ``_on``. LiveKit wants a subclass of its own class:
      ``class Hidden(CallProcessor, rtc.FrameProcessor[rtc.AudioFrame]): ...``. A frame has ``data``
      (16-bit samples, interleaved), ``sample_rate``, ``num_channels`` and ``samples_per_channel``.
    - Pipecat's audio filter: ``start(sample_rate)``, ``filter(audio)``, ``stop()`` and
      ``process_frame(frame)``, of 16-bit samples of one channel.

    LiveKit passes the original frame on where a processor raises an exception or is not enabled.
    So it raises none, the samples of the frame itself are overwritten, ``enabled`` is always true,
    and setting it to false gives silence.

    Args:
        make_stream: makes a stream with one row at a rate in Hz.
    """

    def __init__(self, make_stream: Callable[[int], Stream]) -> None:
        self.voice = FrameAnonymizer(make_stream)
        self._rate = 16_000

    # As LiveKit calls it

    @property
    def enabled(self) -> bool:
        """Always true: a platform would send the original of one that is not."""
        return True

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self.voice.mute(not value)

    @property
    def is_enabled(self) -> bool:
        """As :attr:`enabled`, in older releases."""
        return True

    def set_enabled(self, enable: bool) -> None:
        """As :attr:`enabled`, in older releases."""
        self.voice.mute(not enable)

    def _process(self, frame: Any) -> Any:
        """The frame with anonymized samples, or with zeros.

        Raises:
            TypeError: its samples can be neither overwritten nor replaced.
        """
        try:
            out = self.voice.process_pcm(
                bytes(frame.data), int(frame.sample_rate), int(frame.num_channels)
            )
        except Exception:  # no frame as described above
            out = b""
        return _replaced(frame, out)

    def _close(self) -> None:
        self.voice.end("the call ended")

    def _set_context(self, **given: Any) -> None:
        """Names of the room and the participant; not kept."""

    def _on_stream_info_updated(self, **given: Any) -> None:
        """As :meth:`_set_context`."""

    def _on_stream_info_cleared(self) -> None: ...

    def _on_credentials_updated(self, **given: Any) -> None:
        """Access to the platform; not kept."""

    def _on_credentials_cleared(self) -> None: ...

    # As Pipecat calls it

    async def start(self, sample_rate: int) -> None:
        """Rate of the samples that follow, in Hz."""
        self._rate = int(sample_rate)

    async def stop(self) -> None:
        """The call ended."""
        self._close()

    async def process_frame(self, frame: Any) -> None:
        """A control frame; one with ``enable`` false gives silence."""
        if hasattr(frame, "enable"):
            self.voice.mute(not frame.enable)

    async def filter(self, audio: bytes) -> bytes:
        """As many bytes, anonymized, or zeros."""
        return self.voice.process_pcm(audio, self._rate)


def _replaced(frame: Any, out: bytes) -> Any:
    """The frame with other samples, zeros where ``out`` has another length.

    Raises:
        TypeError: it cannot be changed.
    """
    view = memoryview(frame.data).cast("B")
    if len(out) != len(view):
        out = bytes(len(view))
    if not view.readonly:
        view[:] = out
        return frame
    made = type(frame)(
        data=out,
        sample_rate=frame.sample_rate,
        num_channels=frame.num_channels,
        samples_per_channel=frame.samples_per_channel,
    )
    if numpy.array_equal(numpy.frombuffer(made.data, numpy.uint8), numpy.frombuffer(out, "u1")):
        return made
    raise TypeError("a frame whose samples can be neither overwritten nor replaced")
