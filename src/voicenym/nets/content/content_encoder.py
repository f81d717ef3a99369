"""Interface of content encoders: a waveform to one vector per frame, for speech of any length.

Frame ``i`` covers the samples from ``i * hop`` to ``(i + 1) * hop``; the last frame is padded with
zeros, so that a synthesizer of the same hop gives no fewer samples than the input.
"""

from __future__ import annotations

from abc import abstractmethod

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.architectures import Network
from voicenym.nets.content.drawn_accent import DrawnAccent
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.nets.masked_batch import valid

RATE = 16_000


class Content(Network):
    """Network from waveforms to content frames.

    Attributes:
        size: elements of a frame.
        rate: of waveforms, in Hz.
        hop: samples of a frame.
        reach: receptive field on either side of a frame in samples; None if it is the whole
            recording, as with attention. Encoders with a finite reach stream.
        most_samples: longest input of one pass; :meth:`extract` processes longer recordings in
            windows.
        context: context of a window on either side in samples; a multiple of the hop.
        state_size: elements of the states of :meth:`states_and_misfits`; None if there are none.
        has_codes: whether frames are vectors of a codebook, which can be soft.
        language: of the speech that the weights learned from, as a code such as ``en``; empty where
            that is unknown.
        language_scores: network of the scores of :meth:`with_language_score`; None without one.
        most_misfit: without :attr:`language_scores`, the mean score of speech above which it is
            likely of a language that the encoder does not know; None where that is not known.
    """

    size: int
    rate = RATE
    hop = 320
    reach: int | None = None
    most_samples = 30 * RATE
    context = 3 * RATE
    precision: str = "single"
    most_misfit: float | None = None
    state_size: int | None = None
    has_codes: bool = False
    language: str = ""
    _scores: tuple[LanguageScores, ...] = ()  # in a tuple no module is registered

    @property
    def language_scores(self) -> LanguageScores | None:
        return self._scores[0] if self._scores else None

    def score_languages(self, scores: LanguageScores | None) -> None:
        """Sets :attr:`language_scores`, which do not become a part of the network."""
        self._scores = () if scores is None else (scores,)

    @abstractmethod
    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Content frames ``[batch, frame, size]`` of whole frames ``[batch, frame * hop]``,
        differentiable.

        Args:
            waveforms: zeros after the end of a shorter one; a frame at least.
            lengths: ``[batch]`` in samples, multiples of the hop; None where all are whole. Frames
                within a row's length do not depend on the padding or on other rows, except for
                batch statistics in training.
        """

    def with_language_score(
        self, waveforms: torch.Tensor, coarse_silence: bool = False, soft: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Content frames of ``[batch, time]``, and scores ``[batch, frame, kind]``. The first is
        high where the speech is of another language than the encoder's, a second one where the
        sound is music or noise.

        Scores are log odds of :attr:`language_scores`, or without them misfits alone: the share of
        the power that the codebook does not hold, 0 to 1, to be compared with :attr:`most_misfit`.
        None where the encoder has neither.

        Args:
            waveforms: of speech.
            coarse_silence: of an encoder that fills windows with silence, whether that is computed
                in groups: a recording of 4 s costs Whisper's a fifth, and the frames are near the
                others, but not the same (:mod:`voicenym.nets.words.whisper.silent_groups`).
            soft: of an encoder of codes, whether frames are soft units
                (:mod:`voicenym.nets.content.soft_units`). Others have no codes to be soft.
        """
        return self(waveforms), None

    def native(
        self,
        waveforms: torch.Tensor,
        accent: str = "native",
        drawn: DrawnAccent | None = None,
        coarse_silence: bool = False,
        soft: bool = False,
    ) -> torch.Tensor:
        """Content frames of ``[batch, time]`` as a native reading of the same words has them, with
        the encoder of :meth:`take_native`.

        Args:
            waveforms: of speech.
            accent: which encoder.
            drawn: accents of the rows, of the encoder's
                :meth:`~voicenym.nets.content.word_code_encoder.WordCodeEncoder.drawn`; None for
                none.
            coarse_silence, soft: as of :meth:`with_language_score`.

        Raises:
            VoicenymError: this encoder has none.
        """
        raise VoicenymError(
            f"{self.kind}: knows no codes of a native reading; set accent=kept, or add them to the "
            f"pipeline: voicenym models assemble --{accent} DIR"
        )

    def take_native(self, encoder: Network, accent: str = "native") -> None:
        """Sets the encoder of :meth:`native` for an accent; it does not become a part of the
        network.

        Raises:
            VoicenymError: it does not fit.
        """
        raise VoicenymError(
            f"{encoder.kind}: gives codes of words, which {self.kind} does not have; give a "
            "content encoder of word codes"
        )

    def states_and_misfits(self, waveforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Input of language scores: for ``[batch, time]`` the states ``[batch, frame, element]``
        and the misfits ``[batch, frame]``, the share of the power that the codebook does not hold.

        Raises:
            VoicenymError: this encoder has none.
        """
        raise VoicenymError(
            f"{self.kind}: has no codebook of words, so that it cannot tell languages; give a "
            "content encoder of word codes"
        )

    def frames_of(self, samples: int) -> int:
        """Number of frames of so many samples, the last one padded."""
        return -(-samples // self.hop)

    def forward(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Content frames ``[batch, ceil(time / hop), size]`` of ``[batch, time]``.

        Args:
            waveforms: anything after the end of a shorter one.
            lengths: ``[batch]`` in samples; None where all are whole. Frames after
                ``ceil(length / hop)`` are zeros.

        Raises:
            ValueError: if waveforms are not ``[batch, time]``.
        """
        if waveforms.ndim != 2:
            raise ValueError(f"waveforms {tuple(waveforms.shape)} are not [batch, time]")
        rows, samples = waveforms.shape
        frames = self.frames_of(samples)
        if not frames:
            return waveforms.new_zeros(rows, 0, self.size)
        waveforms = torch.nn.functional.pad(waveforms, (0, frames * self.hop - samples))
        if lengths is None:
            return self.encode(waveforms)
        counts = lengths.add(self.hop - 1).div(self.hop, rounding_mode="floor")
        waveforms = waveforms * valid(lengths, waveforms.shape[1])
        # An empty row keeps a frame for the normalisation; it is removed again.
        found = self.encode(waveforms, counts.clamp_min(1) * self.hop)
        return found * valid(counts, frames)[:, :, None]

    @torch.inference_mode()
    def extract(self, waveform: torch.Tensor) -> torch.Tensor:
        """Content frames ``[frame, size]`` of a recording ``[time]`` of any length, in bounded
        memory.

        A recording longer than ``most_samples`` is processed in windows of at most that length,
        which overlap by twice the context. The frames equal those of the whole up to rounding if
        the context is at least the reach; with an infinite reach they are close.
        """
        samples = len(waveform)
        if samples <= self.most_samples:
            return self(waveform[None])[0]
        step = (self.most_samples - 2 * self.context) // self.hop * self.hop
        if step <= 0 or self.context % self.hop:
            raise ValueError(f"windows of {self.most_samples} with a context of {self.context}")
        parts = []
        for start in range(0, samples, step):
            first = max(0, start - self.context)
            found = self(waveform[None, first : start + step + self.context])[0]
            kept = (start - first) // self.hop
            parts.append(found[kept : kept + step // self.hop].clone())
        return torch.cat(parts)

    def stream(self, rows: int = 1) -> ContentStream:
        """Starts a stream of so many rows.

        Raises:
            ValueError: if a frame depends on the whole recording.
        """
        return ContentStream(self, rows)


class ContentStream:
    """Streaming content frames, equal to those of the whole recording up to rounding.

    The samples within reach are recomputed with every block: blocks much longer than the reach cost
    little more than the whole.

    Args:
        network: encoder with a finite reach.
        rows: recordings side by side.

    Attributes:
        latency: in samples; after ``n`` samples, ``(n - latency) // hop`` frames are finished.

    Raises:
        ValueError: if the network has no reach.
    """

    def __init__(self, network: Content, rows: int = 1) -> None:
        if network.reach is None:
            raise ValueError(f"{network.kind} needs a recording as a whole and does not stream")
        self.latency = network.reach
        self._network = network
        parameter = next(network.parameters(), torch.zeros(0))
        self._buffer = torch.zeros(rows, 0, device=parameter.device)
        self._past = 0  # frames at the beginning of _buffer that were given already

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``, of any length; returns finished frames ``[row, frame, size]``."""
        self._buffer = torch.cat([self._buffer, block.to(self._buffer)], dim=1)
        hop = self._network.hop
        ready = max(0, self._buffer.shape[1] - self.latency) // hop
        if ready <= self._past:
            return self._nothing()
        found = self._network(self._buffer)[:, self._past : ready]
        self._drop(ready)
        return found

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining frames ``[row, frame, size]``; the stream ends here."""
        found = self._network(self._buffer)[:, self._past :]
        self._buffer = self._buffer[:, :0]
        self._past = 0
        return found

    def _drop(self, ready: int) -> None:
        """Discards samples that no later frame depends on."""
        hop = self._network.hop
        kept = -(-self.latency // hop)
        forgotten = max(0, ready - kept)
        self._buffer = self._buffer[:, forgotten * hop :].clone()
        self._past = ready - forgotten

    def _nothing(self) -> torch.Tensor:
        return self._buffer.new_zeros(len(self._buffer), 0, self._network.size)
