"""What a system is: Anonymizer, Card, Stream, the registry and :func:`load`.

A system is one module in :mod:`voicenym.systems` that holds one subclass of :class:`Anonymizer`.
Its module name is its name (``pv_tsm.py`` is ``pv-tsm``); nothing else has to be registered.

A subclass says how one *core* is made: an object that eats blocks ``[row, time]`` at the working
rate and gives back blocks of the same rows, in total as long as the input. A row is one channel of
one recording, with its own pseudonym, so that channels and utterances are batched alike. All that
surrounds the core (sample rates, channels, exact length, range, chunking) is done here, once.
"""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module, resources
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from voicenym.errors import AudioError, UnknownSystemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch

    from voicenym.audio import Audio
    from voicenym.pseudonym import Pseudonym

MIN_WORKING_RATE = 8_000
MAX_WORKING_RATE = 16_000
BLOCK_SECONDS = 40.0
"""Whole recordings are fed to their stream in blocks of this length, whatever reads them."""


def working_rate(rate: int) -> int:
    """The rate at which a recording of ``rate`` Hz is processed: itself, within 8 to 16 kHz.

    Above 8 kHz the spectrum still tells speakers apart and none of the systems treats it, so a
    recording of a higher rate is processed at 16 kHz and its upper band is left silent.
    """
    return min(max(rate, MIN_WORKING_RATE), MAX_WORKING_RATE)


@dataclass(frozen=True)
class Figure:
    """One measured figure of a system, written by a benchmark, never by hand."""

    metric: str
    condition: str
    value: float
    low: float | None
    high: float | None
    unit: str
    data: str
    date: str


@dataclass(frozen=True)
class Card:
    """What a system is, needs, promises, and where it fails.

    Args:
        name: as typed by a user.
        title: one line.
        paper: citation of the publication that defines it.
        year: of that publication.
        equations: which equations or steps of it are implemented, one string each.
        needs: weights, rate, device.
        protects: against whom, in one line for the table of systems.
        promises: what holds.
        fails: where it does not hold; never empty.
        approximations: where the published description is silent and what is done instead.
    """

    name: str
    title: str
    paper: str
    year: int
    equations: tuple[str, ...]
    needs: str
    protects: str
    promises: tuple[str, ...]
    fails: tuple[str, ...]
    approximations: tuple[str, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Figures measured by ``benchmarks/``; empty if none was measured."""
        return _figures().get(self.name, ())


@cache
def _figures() -> dict[str, tuple[Figure, ...]]:
    file = resources.files("voicenym.systems") / "figures.json"
    if not file.is_file():
        return {}
    rows = json.loads(file.read_text("utf-8"))
    return {name: tuple(Figure(**row) for row in figures) for name, figures in rows.items()}


class Core(Protocol):
    """The signal processing of a system at the working rate.

    After ``n`` samples were pushed at least ``n - latency`` were given back; ``flush`` gives the
    rest, and ends the core. In total exactly as many samples come out as went in, aligned in time.
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


@dataclass(frozen=True)
class Anonymizer(ABC):
    """A system: hides who speaks, keeps what is said and how.

    Subclasses are frozen dataclasses whose fields are the system's parameters, so that the repr
    rebuilds the object; all are keyword arguments of :func:`load`.

    Args:
        device: where torch computes: ``cpu``, ``cuda``, ``cuda:1`` ...

    Example:
        >>> import torch, voicenym
        >>> anonymize = voicenym.load("mcadams")
        >>> audio = voicenym.Audio(torch.zeros(16000), 16000)
        >>> anonymize(audio, voicenym.Key.generate().pseudonym("speaker-1"))
        Audio(1.000 s, 16000 Hz, 1 channel)
    """

    device: str = field(default="cpu", kw_only=True)

    card: ClassVar[Card]
    streams: ClassVar[bool] = True
    """Whether it works live. A system with a profile hears the whole recording first."""

    def __call__(self, audio: Audio, pseudonym: Pseudonym) -> Audio:
        """Anonymize a recording in memory.

        Args:
            audio: samples ``[time]`` or ``[channel, time]``; channels share the pseudonym.
            pseudonym: whose voice to give.

        Returns:
            Audio of the same rate, channels and length, at the same level within 1 dB.

        Raises:
            AudioError: if samples are not finite or the shape is not one of the above.
        """
        return self.batch([audio], [pseudonym])[0]

    def batch(self, audios: Sequence[Audio], pseudonyms: Sequence[Pseudonym]) -> list[Audio]:
        """Anonymize several recordings of one rate together; the result is that of each alone.

        Args:
            audios: recordings of one sample rate, of any lengths and channel counts.
            pseudonyms: one for each recording.
        """
        import torch

        if len(audios) != len(pseudonyms):
            raise AudioError(f"{len(audios)} recordings but {len(pseudonyms)} pseudonyms")
        if not audios:
            return []
        rates = {audio.rate for audio in audios}
        if len(rates) != 1:
            raise AudioError(f"recordings of one batch need one sample rate, not {sorted(rates)}")
        rate = rates.pop()
        rows: list[torch.Tensor] = []
        row_pseudonyms: list[Pseudonym] = []
        for audio, pseudonym in zip(audios, pseudonyms, strict=True):
            samples = _checked(audio.samples)
            rows.extend(samples)
            row_pseudonyms.extend([pseudonym] * samples.shape[0])
        lengths = [row.shape[-1] for row in rows]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        block = round(BLOCK_SECONDS * rate)
        profile = None
        if self.needs_profile:
            profiling = self.profiling(rate, len(rows), lengths=lengths)
            for part in padded.split(block, dim=1):
                profiling.push(part)
            profile = profiling.result()
        stream = self._stream(row_pseudonyms, rate, profile)
        parts = [stream.push(part) for part in padded.split(block, dim=1)]
        parts.append(stream.flush())
        whole = torch.cat(parts, dim=1)
        totals = stream.lengths(lengths)
        result, start = [], 0
        for audio in audios:
            stop = start + audio.channels
            length = max(totals[start:stop])  # channels share a tempo
            samples = whole[start:stop, :length].clone()
            result.append(
                replace(audio, samples=samples[0] if audio.samples.ndim == 1 else samples)
            )
            start = stop
        return result

    def stream(
        self, pseudonym: Pseudonym, rate: int, channels: int = 1, profile: Any = None
    ) -> Stream:
        """Anonymize block by block: live, or with bounded memory.

        Args:
            pseudonym: whose voice to give.
            rate: sample rate of the blocks, in Hz.
            channels: rows of the blocks ``[channel, time]``; they share the pseudonym.
            profile: result of :meth:`profiling`, where :attr:`needs_profile`.
        """
        return self._stream([pseudonym] * channels, rate, profile)

    def profiling(
        self, rate: int, channels: int = 1, lengths: Sequence[int] | None = None
    ) -> Profiling:
        """The first pass over a recording, for a system that needs one.

        Args:
            rate: sample rate of the blocks, in Hz.
            channels: rows of the blocks ``[channel, time]``.
            lengths: samples per row where rows are padded at their end (batches).
        """
        working = working_rate(rate)
        scaled = None if lengths is None else [-(-n * working // rate) for n in lengths]
        return Profiling(self.profiler(channels, working, scaled), rate, channels, self.device)

    @property
    def needs_profile(self) -> bool:
        """Whether the system hears the whole recording before it changes it."""
        return False

    @property
    def profile_optional(self) -> bool:
        """Whether it can work live without a profile, adapting as it hears more."""
        return False

    def _stream(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Stream:
        if self.needs_profile and profile is None and not self.profile_optional:
            raise AudioError(
                f"{self.card.name} must hear the whole recording first: pass profile= from "
                f"{self.card.name}.profiling(rate, channels), or choose a system that streams"
            )
        working = working_rate(rate)
        core = self.core(pseudonyms, working, profile)
        return Stream(core, rate, working, len(pseudonyms), self.device)

    @abstractmethod
    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        """The signal processing for these rows at the working ``rate`` (8 to 16 kHz)."""

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        """The first pass at the working ``rate``; only where :attr:`needs_profile`."""
        raise NotImplementedError(f"{self.card.name} needs no profile")

    def parameters(self) -> dict[str, Any]:
        """The parameters by name: none of them tells anything about a key."""
        return dataclasses.asdict(self)


def _checked(samples: torch.Tensor) -> torch.Tensor:
    """``[channel, time]`` float32, finite, or an :class:`AudioError`."""
    import torch

    if samples.ndim not in (1, 2):
        raise AudioError(
            f"samples need the shape [time] or [channel, time], not {list(samples.shape)}"
        )
    if samples.ndim == 2 and samples.shape[0] == 0:
        raise AudioError("samples have no channel")
    if not samples.is_floating_point():
        raise AudioError(
            f"samples need floats in [-1, 1], not {samples.dtype}; divide by full scale"
        )
    if not torch.isfinite(samples).all():
        raise AudioError("samples contain NaN or infinity; repair the recording first")
    flat = samples.detach().to("cpu", torch.float32)
    return flat[None] if flat.ndim == 1 else flat


class Stream:
    """Anonymizes a signal block by block, at any sample rate.

    Pushed in blocks of any size, it gives the same signal as in one block. Made by
    :meth:`Anonymizer.stream`; not to be shared between threads.

    Attributes:
        latency: in samples at the stream's rate: after ``n`` pushed samples at least
            ``n - latency`` were given back.
    """

    def __init__(self, core: Core, rate: int, working: int, rows: int, device: str) -> None:
        from voicenym.dsp.rates import RateChanger

        self.rate = rate
        self.rows = rows
        self._core = core
        self._device = device
        self._down = RateChanger(rate, working, rows)
        self._up = RateChanger(working, rate, rows)
        self._pushed = 0
        self._returned = 0
        self._ended = False
        self._flat = False
        self._working = working
        # Only a core that changes the speaking rate says how long its rows become.
        self._core_lengths: Callable[[int], list[int]] | None = getattr(core, "lengths", None)
        inner = -(-core.latency * rate // working)
        self.latency = self._down.latency + inner + -(-self._up.latency * rate // working)

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Give samples, get those that are ready.

        Args:
            block: ``[channel, time]``, or ``[time]`` for one channel; float32 in [-1, 1].

        Returns:
            Anonymized samples in the shape of ``block`` but for their number, which may be zero.
        """
        if self._ended:
            raise AudioError("this stream has ended; make a new one for another recording")
        samples = _checked(block)
        if samples.shape[0] != self.rows:
            raise AudioError(
                f"this stream has {self.rows} channels, the block has {samples.shape[0]}"
            )
        self._flat = block.ndim == 1
        self._pushed += samples.shape[1]
        return self._shaped(self._through(samples))

    def flush(self) -> torch.Tensor:
        """End the stream and get what is left; in total as many samples as were pushed."""
        import torch

        if self._ended:
            raise AudioError("this stream has ended; make a new one for another recording")
        self._ended = True
        parts = [self._core.push(self._down.flush().to(self._device)), self._core.flush()]
        tail = torch.cat(parts, dim=1).to("cpu")
        tail = torch.cat([self._up.push(tail), self._up.flush()], dim=1)
        # Two conversions of rate round the length twice: at most a few samples too many or few.
        missing = max(self.lengths([self._pushed] * self.rows)) - self._returned
        tail = torch.nn.functional.pad(tail[:, :missing], (0, max(0, missing - tail.shape[1])))
        return self._shaped(_limited(tail))

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

    def _through(self, samples: torch.Tensor) -> torch.Tensor:
        working = self._down.push(samples).to(self._device)
        out = self._up.push(self._core.push(working).to("cpu"))
        if self._core_lengths is None:
            out = out[:, : self._pushed - self._returned]
        self._returned += out.shape[1]
        return _limited(out)

    def _shaped(self, samples: torch.Tensor) -> torch.Tensor:
        return samples[0] if self._flat else samples


class Profiling:
    """First pass over a recording at any rate; :meth:`result` is what ``stream`` wants."""

    def __init__(self, profiler: Profiler, rate: int, rows: int, device: str) -> None:
        from voicenym.dsp.rates import RateChanger

        self._profiler = profiler
        self._down = RateChanger(rate, working_rate(rate), rows)
        self._device = device

    def push(self, block: torch.Tensor) -> None:
        """``[channel, time]`` or ``[time]``, float32 in [-1, 1]."""
        self._profiler.push(self._down.push(_checked(block)).to(self._device))

    def result(self) -> Any:
        """The profile of all that was pushed."""
        self._profiler.push(self._down.flush().to(self._device))
        return self._profiler.result()


KNEE = 0.9
"""Magnitude above which the output is bent toward full scale instead of cut off."""


def _limited(samples: torch.Tensor) -> torch.Tensor:
    """Within [-1, 1] without memory: identity below the knee, tanh above, smooth at the knee."""
    import torch

    magnitude = samples.abs()
    if not bool((magnitude > KNEE).any()):
        return samples
    bent = KNEE + (1.0 - KNEE) * torch.tanh((magnitude - KNEE) / (1.0 - KNEE))
    return torch.where(magnitude > KNEE, torch.copysign(bent, samples), samples)


def available() -> list[str]:
    """Names of all systems, in alphabetical order; imports none of them."""
    package = import_module("voicenym.systems")
    return sorted(module.name.replace("_", "-") for module in iter_modules(package.__path__))


def system_class(name: str) -> type[Anonymizer]:
    """The class of a system.

    Raises:
        UnknownSystemError: with the names there are.
    """
    if name not in available():
        raise UnknownSystemError(f"no system {name!r}; there are: {', '.join(available())}")
    module = import_module(f"voicenym.systems.{name.replace('-', '_')}")
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, Anonymizer)
            and value.__module__ == module.__name__
        ):
            return value
    raise TypeError(f"{module.__name__} holds no Anonymizer")


def load(name: str, **parameters: Any) -> Anonymizer:
    """A system by name.

    Args:
        name: one of :func:`available`.
        parameters: fields of the system, such as ``order=20`` or ``device="cuda"``.

    Raises:
        UnknownSystemError: for an unknown name or parameter, or a value out of range.

    Example:
        >>> load("mcadams", low=0.7, high=0.9).low
        0.7
    """
    cls = system_class(name)
    known = [item.name for item in dataclasses.fields(cls)]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise UnknownSystemError(
            f"{name} has no parameter {', '.join(unknown)}; it has: {', '.join(sorted(known))}"
        )
    return cls(**parameters)


def cards() -> Iterable[Card]:
    """The cards of all systems, in alphabetical order."""
    return (system_class(name).card for name in available())
