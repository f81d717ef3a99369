"""Block by block: the interface of a system's core, and the code around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from voicenym.anonymizer.checked_input import checked
from voicenym.anonymizer.core_output import CoreOutput, without_exit
from voicenym.anonymizer.profile_origin import Origin, remember
from voicenym.errors import AudioError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

MIN_WORKING_RATE = 8_000
MAX_WORKING_RATE = 16_000
KNEE = 0.9
"""Magnitude above which the output is bent toward full scale instead of cut off."""


def working_rate(rate: int) -> int:
    """The rate at which a recording of ``rate`` Hz is processed: itself, within 8 to 16 kHz.

    Above 8 kHz the spectrum still identifies speakers and none of the systems processes it, so a
    recording of a higher rate is processed at 16 kHz and its upper band is left silent.
    """
    return min(max(rate, MIN_WORKING_RATE), MAX_WORKING_RATE)


class Core(Protocol):
    """The signal processing of a system at the working rate.

    After ``n`` samples were pushed at least ``n - latency`` were given back; ``flush`` gives the
    rest, and ends the core. In total exactly as many samples come out as went in, aligned in time.
    A core may have ``finish(block)``, which does both at less cost than one after the other.
    """

    latency: int

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """``[row, time]`` float32 in, ``[row, time']`` float32 out."""

    def flush(self) -> torch.Tensor:
        """``[row, time']``: what is left."""


class Profiler(Protocol):
    """First pass of a system that must know a recording as a whole (its F0 range, its formants)."""

    def push(self, block: torch.Tensor) -> None:
        """``[row, time]`` float32 at the working rate."""

    def result(self) -> Any:
        """The profile, handed to the core."""


class Stream:
    """Anonymizes a signal block by block, at any sample rate.

    Pushed in blocks of any size, it gives the same signal as in one block. Made by
    :meth:`Anonymizer.stream`; not to be shared between threads.

    Attributes:
        latency: in samples at the stream's rate: after ``n`` pushed samples at least
            ``n - latency`` were given back.
    """

    def __init__(
        self,
        core: Core,
        rate: int,
        working: int,
        rows: int,
        device: str,
        low_delay: bool = False,
        system: str = "",
    ) -> None:
        from voicenym.dsp.low_delay_resampling import LowDelayRateChanger
        from voicenym.dsp.resampling import RateChanger

        self.rate = rate
        self.rows = rows
        self._core = core
        self._system = system
        self._made = CoreOutput(core, system, rows, working)
        self._device = device
        changer = LowDelayRateChanger if low_delay else RateChanger
        self._down = changer(rate, working, rows)
        self._up = changer(working, rate, rows)
        self._pushed = 0
        self._returned = 0
        self._ended = False
        self._flat = False
        self._working = working
        # Only a core that changes the speaking rate says how long its rows become.
        self._core_lengths: Callable[[int], list[int]] | None = getattr(core, "lengths", None)
        # Some cores process their end together with the last block.
        self._finish_core: Callable[[torch.Tensor], torch.Tensor] | None = getattr(
            core, "finish", None
        )
        # As many zeros before the signal as the conversion holds back: the core's frames end with
        # the blocks, as without conversion, and need not wait for the next block.
        self._lead = self._unwanted = self._down.held
        inner = -(-core.latency * rate // working)
        self.latency = self._down.latency + inner + -(-self._up.latency * rate // working)

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Give samples, get those that are ready.

        Args:
            block: ``[channel, time]``, or ``[time]`` for one channel; float32 in [-1, 1].

        Returns:
            Anonymized samples in the shape of ``block`` but for their number, which may be zero.
        """
        return self._shaped(self._through(self._accepted(block)))

    def flush(self) -> torch.Tensor:
        """End the stream and get what is left; in total as many samples as were pushed."""
        self._check_open()
        return self._end(self._down.flush())

    def finish(self, block: torch.Tensor) -> torch.Tensor:
        """Give the last samples, and end the stream: ``push`` and ``flush`` at less cost.

        The end of the signal is processed together with the block; a few frames alone cost as much
        as hundreds.
        """
        import torch

        samples = self._accepted(block)
        return self._end(torch.cat([self._down.push(samples), self._down.flush()], dim=1))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user about what was pushed so far, where the system has any."""
        return tuple(getattr(self._core, "warnings", ()))

    def lengths(self, pushed: Sequence[int]) -> list[int]:
        """Samples that each row gives in all for so many: the same, unless its tempo changes."""
        if self._core_lengths is None:
            return list(pushed)
        found = []
        for row, samples in enumerate(pushed):
            inside = self._core_lengths(round(samples * self._working / self.rate))[row]
            same = inside == round(samples * self._working / self.rate)
            found.append(samples if same else round(inside * self.rate / self._working))
        return found

    def _check_open(self) -> None:
        if self._ended:
            raise AudioError("this stream has ended; make a new one for another recording")

    def _accepted(self, block: torch.Tensor) -> torch.Tensor:
        """``[channel, time]`` of a block that fits the stream."""
        self._check_open()
        samples = checked(block)
        if samples.shape[0] != self.rows:
            raise AudioError(
                f"this stream has {counted(self.rows, 'channel')}, the block has {samples.shape[0]}"
            )
        self._flat = block.ndim == 1
        self._pushed += samples.shape[1]
        return samples

    def _end(self, working: torch.Tensor) -> torch.Tensor:
        """What is left after the last samples ``[row, time]`` at the working rate."""
        import torch

        self._ended = True
        working = self._made.got(self._with_lead(working))
        with without_exit(self._system):
            if self._finish_core is None:
                tail = self._made.checked(self._core.push(working))
                tail = torch.cat([tail, self._made.checked(self._core.flush(), last=True)], dim=1)
            else:
                tail = self._made.checked(self._finish_core(working), last=True)
        tail = torch.cat([self._up.push(self._without_lead(tail)), self._up.flush()], dim=1)
        # Two conversions of rate round the length twice: at most a few samples too many or few.
        missing = max(self.lengths([self._pushed] * self.rows)) - self._returned
        tail = torch.nn.functional.pad(tail[:, :missing], (0, max(0, missing - tail.shape[1])))
        return self._shaped(self._limited(tail))

    def _through(self, samples: torch.Tensor) -> torch.Tensor:
        working = self._made.got(self._with_lead(self._down.push(samples)))
        with without_exit(self._system):
            made = self._made.checked(self._core.push(working))
        out = self._up.push(self._without_lead(made))
        if self._core_lengths is None:
            out = out[:, : self._pushed - self._returned]
        self._returned += out.shape[1]
        return self._limited(out)

    def _limited(self, samples: torch.Tensor) -> torch.Tensor:
        """Within [-1, 1] without memory: identity below the knee, tanh above, smooth at the knee.

        Raises:
            AudioError: NaN or infinity.
        """
        import torch

        if not samples.numel():
            return samples
        largest = float(torch.stack(torch.aminmax(samples)).abs().max())
        self._made.check_finite(largest)
        if largest <= KNEE:
            return samples
        loud = samples.abs() > KNEE
        beyond = samples[loud]
        bent = KNEE + (1.0 - KNEE) * torch.tanh((beyond.abs() - KNEE) / (1.0 - KNEE))
        return samples.masked_scatter(loud, torch.copysign(bent, beyond))

    def _with_lead(self, working: torch.Tensor) -> torch.Tensor:
        """Samples for the core: zeros before the first ones."""
        import torch

        if self._lead:
            working = torch.nn.functional.pad(working, (self._lead, 0))
            self._lead = 0
        return working.to(self._device)

    def _without_lead(self, out: torch.Tensor) -> torch.Tensor:
        """Samples of the core without those of the zeros before the signal."""
        unwanted = min(self._unwanted, out.shape[1])
        self._unwanted -= unwanted
        return out[:, unwanted:]

    def _shaped(self, samples: torch.Tensor) -> torch.Tensor:
        import torch

        if samples.is_inference() and not torch.is_inference_mode_enabled():
            # a caller could neither change it nor train on it
            samples = samples.clone()
        return samples[0] if self._flat else samples


class Profiling:
    """First pass over a recording at any rate; :meth:`result` is what ``stream`` wants."""

    def __init__(
        self,
        profiler: Profiler,
        rate: int,
        working: int,
        rows: int,
        device: str,
        origin: Origin,
    ) -> None:
        from voicenym.dsp.resampling import RateChanger

        self.rows = rows
        self._profiler, self._system, self._origin = profiler, origin.system, origin
        self._down = RateChanger(rate, working, rows)
        self._device = device
        self._found: tuple[Any, ...] = ()

    def push(self, block: torch.Tensor) -> None:
        """``[channel, time]`` or ``[time]``, float32 in [-1, 1].

        Raises:
            AudioError: as of :meth:`Stream.push`, or after :meth:`result`.
        """
        if self._found:
            raise AudioError("this first pass has ended; make a new one for another recording")
        checked_block = checked(block)
        if len(checked_block) != self.rows:
            raise AudioError(
                f"this first pass has {counted(self.rows, 'channel')}, the block has "
                f"{len(checked_block)}"
            )
        samples = self._down.push(checked_block).to(self._device)
        with without_exit(self._system):
            self._profiler.push(samples)

    def result(self) -> Any:
        """The profile of all that was pushed; ends the pass. Asked again, the same one."""
        if not self._found:
            with without_exit(self._system):
                self._profiler.push(self._down.flush().to(self._device))
                self._found = (self._profiler.result(),)
            remember(self._found[0], self._origin)
        return self._found[0]
