"""Track of a WebRTC call (aiortc) that carries the anonymized voice of another track."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import av
import numpy

from voicenym.errors import DependencyError
from voicenym.live.constant_rate_frames import ConstantRateFrames
from voicenym.live.frame_anonymizer import FrameAnonymizer

try:
    from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
except ImportError:
    raise DependencyError("WebRTC calls need aiortc: pip install 'voicenym[calls]'") from None

if TYPE_CHECKING:
    from voicenym.anonymizer.stream import Stream

WAIT_SECONDS = 0.25
"""Time after which silence goes out for a frame that is not ready."""
STUCK_SECONDS = 10.0
"""Time of one frame after which the track is silent for good."""


class AnonymizedTrack(MediaStreamTrack):
    """Audio track with the voice of ``source``, anonymized, frame by frame.

    A frame has the length, time and rate of the source's, in one channel. Where the source changes
    its rate, a new stream begins, and its sound is converted to the first rate, as aiortc's senders
    need it. The system computes in a thread; where it is late, fails or hangs, the frame is silent,
    and what was late is dropped.

    Args:
        source: audio track of the person to hide, such as that of a peer connection's ``track``
            event.
        make_stream: makes a stream with one row at a rate in Hz.
        wait: seconds that a frame is waited for.

    Raises:
        DependencyError: on import, without aiortc.
    """

    kind = "audio"

    def __init__(
        self,
        source: MediaStreamTrack,
        make_stream: Callable[[int], Stream],
        wait: float = WAIT_SECONDS,
    ) -> None:
        super().__init__()
        self.voice = FrameAnonymizer(make_stream)
        self._source, self._wait = source, wait
        self._frames = ConstantRateFrames()
        self._floats: dict[tuple[str, str, int], av.AudioResampler] = {}
        self._late: asyncio.Future[numpy.ndarray] | None = None
        self._since = 0.0
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._worker = threading.Thread(target=_work, args=(self._jobs,), daemon=True)
        self._worker.start()

    async def recv(self) -> av.AudioFrame:
        """The next frame.

        Raises:
            MediaStreamError: the source has ended.
        """
        if self.readyState != "live":
            raise MediaStreamError
        try:
            frame = await self._source.recv()
        except MediaStreamError:
            self.stop()
            raise
        samples = await self._anonymized(frame)
        return self._frames.frame(frame, samples)

    def stop(self) -> None:
        """End this track and its source."""
        super().stop()
        self._jobs.put(None)
        self._source.stop()

    async def _anonymized(self, frame: Any) -> numpy.ndarray:
        """``[time]`` float32 of the frame's length: anonymized, or zeros."""
        silence = numpy.zeros(frame.samples, numpy.float32)
        loop = asyncio.get_running_loop()
        if self._late is not None:
            if not self._late.done():
                if loop.time() - self._since > STUCK_SECONDS:
                    self.stop()
                return silence
            self._late = None  # too late: dropped
        samples, rate = self._samples(frame), int(frame.sample_rate)
        future = loop.create_future()
        self._jobs.put((lambda: self.voice.process(samples, rate), loop, future))
        done, _ = await asyncio.wait({future}, timeout=self._wait)
        if not done:
            self._late, self._since = future, loop.time()
            return silence
        found: numpy.ndarray = future.result()[:, 0]
        return found if found.shape == silence.shape else silence

    def _samples(self, frame: Any) -> numpy.ndarray:
        """``[time, channel]`` float32 of a frame of any format; zeros if it cannot be read."""
        try:
            key = (frame.format.name, frame.layout.name, frame.sample_rate)
            if key not in self._floats:
                self._floats = {
                    key: av.AudioResampler(
                        format="fltp", layout=frame.layout.name, rate=frame.sample_rate
                    )
                }
            parts = [one.to_ndarray() for one in self._floats[key].resample(frame)]
            samples = numpy.concatenate(parts, axis=1).T
            if len(samples) == frame.samples:
                return samples
            raise ValueError("libav gave another number of samples")
        except Exception as error:  # such as a format that libav does not convert
            self.voice.note_failure(error)
        return numpy.zeros((frame.samples, 1), numpy.float32)


def _work(jobs: queue.SimpleQueue[Any]) -> None:
    """Compute frames; a daemon, so that a system that hangs does not keep the program."""
    while (job := jobs.get()) is not None:
        compute, loop, future = job
        found = compute()
        try:
            loop.call_soon_threadsafe(_set, future, found)
        except RuntimeError:  # the loop is closed
            return


def _set(future: asyncio.Future[numpy.ndarray], found: numpy.ndarray) -> None:
    if not future.done():
        future.set_result(found)
