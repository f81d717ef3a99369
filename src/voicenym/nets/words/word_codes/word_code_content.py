"""Content encoder of word codes: Whisper's encoder and the bottleneck that quantises its states.

A frame is the codebook vector of a word code (:mod:`voicenym.nets.content.word_code_bottleneck`),
so that a synthesizer gets what Whisper's decoder needs to know the words, at about 215 bits a
second, and nothing else of the recording.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from voicenym.errors import VoicenymError
from voicenym.nets import matrix_precision
from voicenym.nets.architectures import Network, sizes
from voicenym.nets.content import drawn_accent
from voicenym.nets.content.content_encoder import RATE, Content
from voicenym.nets.content.drawn_accent import DrawnAccent
from voicenym.nets.content.soft_units import soft_units
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.silent_groups import spectral_states, states_before_silence
from voicenym.nets.words.whisper.whisper import STATE, Encoder, Whisper, WhisperSizes
from voicenym.nets.words.word_codes.code_memory import CodeMemory

STEPS = 10.0
"""Vectors that accents are drawn for, and soft units, are kept in steps of 0.1; their elements are
within 12.7."""

SOFT = "soft units"
"""Name of soft units among the vectors of a window."""


class LiveFrames(NamedTuple):
    """Content of a window of a live stream.

    Args:
        entries: ``[frame, element]``, codebook vectors, or soft units.
        silent: ``[frame]`` bool, the code of silent places; false where there is none.
        scores: ``[frame, kind]``, as of :meth:`WordCodeContent.with_language_score`.
    """

    entries: torch.Tensor
    silent: torch.Tensor
    scores: torch.Tensor


class _Found(NamedTuple):
    """Codes of windows ``[row, book, code]``, scores ``[row, code, kind]``, and natives (soft units
    among them, if asked for) as of :class:`~voicenym.nets.words.word_codes.code_memory.Known`, with
    a row more.
    """

    codes: torch.Tensor
    scores: torch.Tensor
    natives: Mapping[str, torch.Tensor]


class WordCodeContent(Content):
    """Codebook vectors of word codes, 25 a second by default.

    Args:
        whisper: options of :class:`~voicenym.nets.words.whisper.whisper.WhisperSizes`.
        codes: options of :class:`~voicenym.nets.content.word_code_bottleneck.WordCodes`.
        most_misfit: see :class:`~voicenym.nets.content.content_encoder.Content`; measured for each
            training.

    Raises:
        ValueError: sizes that do not fit each other.

    Attributes:
        precision: of the encoder's matrix products, one of
            :data:`~voicenym.nets.matrix_precision.PRECISIONS`.
    """

    kind = "word-codes"
    has_codes = True

    def __init__(
        self,
        whisper: Mapping[str, Any] | None = None,
        codes: Mapping[str, Any] | None = None,
        most_misfit: float | None = None,
    ) -> None:
        super().__init__()
        self._sizes = sizes(WhisperSizes, whisper or {}, "whisper", "a Whisper")
        self.encoder = Encoder(self._sizes)
        self.codes = WordCodes(**(codes or {}))
        own = self.codes.sizes
        if own.states != self._sizes.width or own.window != self._sizes.states:
            raise ValueError(
                f"codes of {own.states} elements in windows of {own.window}, and a Whisper of "
                f"{self._sizes.width} in windows of {self._sizes.states}"
            )
        self.most_misfit = most_misfit
        self.size, self.state_size = own.code, own.states
        self.hop = own.every * STATE
        # attention is over the whole window, beyond which Whisper has no positions
        self.most_samples = self._sizes.states * STATE // self.hop * self.hop
        self.context = min(3 * RATE, self.most_samples // 4) // self.hop * self.hop
        self._memories = {kind: CodeMemory() for kind in itertools.product((False, True), repeat=2)}
        self._natives: dict[str, WordCodeEncoder] = {}  # in a dict no module is registered
        self.precision = matrix_precision.SINGLE

    @classmethod
    def of(cls, whisper: Whisper, codes: WordCodes) -> WordCodeContent:
        """The encoder of a trained bottleneck, with copies of the weights of both."""
        made = cls(dataclasses.asdict(whisper.sizes), codes.config())
        made.encoder.load_state_dict(whisper.encoder.state_dict())
        made.codes.load_state_dict(codes.state_dict())
        return made.eval()

    @property
    def whisper_sizes(self) -> WhisperSizes:
        """Sizes of the encoder."""
        return self._sizes

    def config(self) -> dict[str, Any]:
        found = {"whisper": dataclasses.asdict(self._sizes), "codes": self.codes.config()}
        return found if self.most_misfit is None else {**found, "most_misfit": self.most_misfit}

    def with_language_score(
        self, waveforms: torch.Tensor, coarse_silence: bool = False, soft: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        if not self.frames_of(waveforms.shape[1]):
            return self(waveforms), waveforms.new_zeros(len(waveforms), 0, 1)
        found = self._found(self._whole(waveforms), coarse_silence, soft)
        if soft:
            return found.natives[SOFT].float() / STEPS, found.scores
        return self._entries(found.codes), found.scores

    def native(
        self,
        waveforms: torch.Tensor,
        accent: str = "native",
        drawn: DrawnAccent | None = None,
        coarse_silence: bool = False,
        soft: bool = False,
    ) -> torch.Tensor:
        encoder = self._natives.get(accent)
        if encoder is None:
            return super().native(waveforms, accent, drawn, coarse_silence, soft)
        if not self.frames_of(waveforms.shape[1]):
            return self(waveforms)
        found = self._found(self._whole(waveforms), coarse_silence).natives[accent]
        if not encoder.accents:
            return self._entries(found.transpose(1, 2).long())
        return self.spoken(found.float() / STEPS, encoder, drawn, soft)[0]

    def spoken(
        self,
        vectors: torch.Tensor,
        encoder: WordCodeEncoder,
        drawn: DrawnAccent | None = None,
        soft: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Codebook vectors ``[row, frame, element]`` nearest to an encoder's vectors, and whether
        frames are silent ``[row, frame]``; they are not where the encoder has no code of silence.

        Args:
            vectors: ``[row, frame, element]``.
            encoder: that they are of.
            drawn: the accent of the rows; silent frames stay as they are.
            soft: whether frames that are not silent are soft units
                (:mod:`voicenym.nets.content.soft_units`) in place of the nearest vectors.
        """
        codes = self._nearest(vectors)
        silent = torch.zeros_like(codes, dtype=torch.bool)
        moved = vectors
        if encoder.accents:
            silent = codes == encoder.silence
            if drawn is not None:
                moved = drawn_accent.changed(vectors, encoder.centre, drawn)
        if soft:
            entries = soft_units(moved, self.codes.quantizer.vectors)
        else:
            entries = self._entries(codes if moved is vectors else self._nearest(moved))
        # silence stays as it is, whatever the accent
        found = torch.where(silent[:, 0, :, None], self._entries(codes), entries)
        return found, silent[:, 0]

    def take_native(self, encoder: Network, accent: str = "native") -> None:
        if not isinstance(encoder, WordCodeEncoder):
            super().take_native(encoder, accent)
            return
        own, given = self.codes.sizes, encoder.sizes
        if (own.states, own.every, own.code) != (given.states, given.every, given.code):
            raise VoicenymError(
                f"{accent}: gives {given.code} numbers from {given.every} states of "
                f"{given.states}, and the codebook has {own.code} from {own.every} of "
                f"{own.states}; train it again from these codes"
            )
        if encoder.codebook and encoder.codebook != self.codes.codebook_digest():
            raise VoicenymError(
                f"{accent}: was trained for another codebook than the content's; train it again "
                "from these codes, or give the content that it was trained for"
            )
        self._natives[accent] = encoder

    def _whole(self, waveforms: torch.Tensor) -> torch.Tensor:
        """Waveforms padded to whole frames."""
        return torch.nn.functional.pad(waveforms, (0, -waveforms.shape[1] % self.hop))

    def _found(
        self, padded: torch.Tensor, coarse_silence: bool = False, soft: bool = False
    ) -> _Found:
        """Codes, scores and, if ``soft``, soft units of whole frames, from the memory where they
        are known.
        """
        exact = not torch.is_autocast_enabled(padded.device.type)
        remembers = exact and not (torch.is_grad_enabled() or self.training)
        memory = self._memories[coarse_silence, soft]
        known = memory.find(padded, self._stamp()) if remembers else None
        if known is not None:

            def joined(codes: list[torch.Tensor]) -> torch.Tensor:
                return torch.stack(codes).to(padded.device, torch.int64).transpose(1, 2)

            return _Found(
                joined([one.codes for one in known]),
                torch.stack([one.scores for one in known]).to(padded.device),
                {
                    name: torch.stack([one.natives[name] for one in known]).to(padded.device)
                    for name in known[0].natives
                },
            )
        states, lengths = self._states(padded, coarse_silence=coarse_silence)
        means, codes, misfit = self._analysed(states, lengths)
        scores = self._scored(means, misfit)
        natives = {}
        for name, encoder in self._natives.items():
            given = encoder.encoded(states, lengths)
            if encoder.accents:
                natives[name] = _rounded(given)
            else:
                natives[name] = self._nearest(given).transpose(1, 2).short()
        if soft:
            vectors = self.codes.encoded(states, lengths)
            natives[SOFT] = _rounded(soft_units(vectors, self.codes.quantizer.vectors))
        found = _Found(codes, scores, natives)
        if remembers:
            memory.keep(padded, *found)
        return found

    def states_and_misfits(self, waveforms: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        states, _, misfit = self._analysed(*self._states(self._whole(waveforms)))
        return states, misfit

    @torch.inference_mode()
    def live(
        self,
        waveform: torch.Tensor,
        accent: str = "kept",
        drawn: DrawnAccent | None = None,
        soft: bool = False,
    ) -> LiveFrames:
        """Content of a window ``[time]`` of a live stream, in whole frames.

        No silence follows the window, which need not be as long as one of Whisper's: 5 s cost a
        sixth of that, and the codes are near those of :meth:`native`, but not the same.

        Args:
            waveform: of whole frames, up to :attr:`most_samples`.
            accent: which encoder, of :meth:`take_native`; ``kept``: the recording's own codes.
            drawn: the accent, ``[1, element]`` each; None for none.
            soft: as of :meth:`spoken`.

        Raises:
            VoicenymError: no such encoder.
        """
        count = len(waveform) // STATE
        spectra = self.encoder.spectra(waveform[None], count)
        with matrix_precision.products_in(self.precision, waveform.device):
            states = self.encoder(spectra, count).float()
        counts = torch.tensor([count], device=waveform.device)
        means, codes, misfit = self._analysed(states, counts)
        scores = self._scored(means, misfit)
        if accent == "kept":
            silent = torch.zeros_like(codes[0, 0], dtype=torch.bool)
            entries = self._entries(codes)
            if soft:
                vectors = self.codes.encoded(states, counts)
                entries = soft_units(vectors, self.codes.quantizer.vectors)
            return LiveFrames(entries[0], silent, scores[0])
        encoder = self._natives.get(accent)
        if encoder is None:
            super().native(waveform[None], accent, drawn)  # raises
            raise AssertionError
        entries, silence = self.spoken(encoder.encoded(states, counts), encoder, drawn, soft)
        return LiveFrames(entries[0], silence[0], scores[0])

    def scores_by_layer(self, waveforms: torch.Tensor) -> Iterator[torch.Tensor]:
        """Scores ``[row, frame, kind]`` of :meth:`with_language_score` of windows as those of
        :meth:`live`: the last item. The items before are empty; each follows a layer.

        Args:
            waveforms: ``[row, time]``, of whole frames.
        """
        count = waveforms.shape[1] // STATE
        x = self.encoder.embedded(self.encoder.spectra(waveforms, count))
        for layer in self.encoder.layers:
            yield x.new_zeros(0)
            x = layer(x)
        yield x.new_zeros(0)
        lengths = torch.full((len(x),), count, device=x.device)
        means, _, misfit = self._analysed(self.encoder.norm(x), lengths)
        yield self._scored(means, misfit)

    def _scored(self, means: torch.Tensor, misfit: torch.Tensor) -> torch.Tensor:
        """Scores ``[row, code, kind]`` of mean states and misfits."""
        network = self.language_scores
        each = [misfit if network is None else network(means, misfit)]
        if network is not None and network.of_music is not None:
            each.append(network.music(means))
        return torch.stack(each, 2)

    def _analysed(
        self, states: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Mean states ``[row, code, state]``, codes ``[row, book, code]`` and misfits ``[row,
        code]`` of states.
        """
        vectors = self.codes.encoded(states, lengths)
        found = self._nearest(vectors)
        lost = (vectors - self._entries(found)).square().sum(2)
        misfit = lost / vectors.square().sum(2).clamp_min(1e-12)
        return states.unflatten(1, (-1, self.codes.sizes.every)).mean(2), found, misfit

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        found = self.codes.quantizer(self._vectors(waveforms, lengths).transpose(1, 2))
        if torch.is_grad_enabled():
            return found.total.transpose(1, 2)
        return self._entries(found.codes)

    def _entries(self, codes: torch.Tensor) -> torch.Tensor:
        """Codebook vectors ``[row, code, element]`` of codes ``[row, book, code]``: as they are,
        without the rounding errors of a straight-through estimate, which depend on its input.
        """
        return self.codes.quantizer.looked_up(codes).transpose(1, 2)

    def _nearest(self, vectors: torch.Tensor) -> torch.Tensor:
        """Codes ``[row, book, code]`` of vectors ``[row, code, element]``."""
        return self.codes.quantizer(vectors.transpose(1, 2)).codes

    def _stamp(self) -> Hashable:
        """Changes when a weight does."""
        values = [*self.parameters(), *self.buffers()]
        if self.language_scores is not None:
            values += self.language_scores.parameters()
        for native in self._natives.values():
            values += [*native.parameters(), *native.buffers()]
        return tuple((v.data_ptr(), 0 if v.is_inference() else v._version) for v in values)

    def _vectors(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Input of the quantiser, as :meth:`encode`."""
        return self.codes.encoded(*self._states(waveforms, lengths))

    def _states(
        self,
        waveforms: torch.Tensor,
        lengths: torch.Tensor | None = None,
        coarse_silence: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Whisper's states ``[row, state, element]``, and how many each row has."""
        if waveforms.shape[1] > self.most_samples:
            raise ValueError(
                f"{waveforms.shape[1]} samples are longer than a window of {self.most_samples}"
            )
        if lengths is None:
            lengths = torch.full((len(waveforms),), waveforms.shape[1], device=waveforms.device)
        count = waveforms.shape[1] // STATE
        needed = spectral_states(self.encoder, count) if coarse_silence else None
        spectra = self.encoder.spectra(waveforms, needed)
        with matrix_precision.products_in(self.precision, waveforms.device):
            if coarse_silence:
                states = states_before_silence(self.encoder, spectra, count)
            else:
                states = self.encoder(spectra, count)
        if self.precision != matrix_precision.SINGLE:
            states = states.float()
        return states, lengths // STATE


def _rounded(vectors: torch.Tensor) -> torch.Tensor:
    """Vectors as the memory keeps them, also where nothing is remembered."""
    return (STEPS * vectors).round().clamp(-127, 127).to(torch.int8)
