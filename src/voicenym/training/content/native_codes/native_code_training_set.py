"""Training set of native codes: windows of recordings with native readings, and of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper.whisper_published import Published
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.native_codes.native_code_targets import NativeTargets, usual_silence
from voicenym.training.content.native_codes.native_code_windows import NativeCodeFiles
from voicenym.training.content.native_codes.train_native_codes import NativeCodesConfig
from voicenym.training.content.word_codes.speech_windows import (
    Piece,
    by_speaker,
    parted,
    pieces,
)
from voicenym.training.speech.speech_cache import Utterance


@dataclass(frozen=True)
class PairedSpeech:
    """Speech of which a part has native readings.

    Args:
        pairs: recordings and the readings of their texts.
        chosen: recordings with readings to learn from.
        watched: speech with readings of speakers held out.
        others: recordings without a reading to learn from.
        utterances: decoded speech of all, readings among them; what could not be decoded is not
            there.
    """

    pairs: Mapping[Recording, Recording]
    chosen: Sequence[Recording]
    watched: Sequence[Utterance]
    others: Sequence[Recording]
    utterances: Mapping[Recording, Utterance]

    def aligned(self) -> list[tuple[Utterance, Utterance]]:
        """Pairs of which both are decoded."""
        return [
            (self.utterances[one], self.utterances[reading])
            for one, reading in self.pairs.items()
            if one in self.utterances and reading in self.utterances
        ]

    def decoded(self, recordings: Sequence[Recording]) -> list[Utterance]:
        """Utterances of recordings, of those that are decoded."""
        return [self.utterances[one] for one in recordings if one in self.utterances]


@dataclass(frozen=True)
class TrainingSet:
    """Windows to learn from and to validate on, in files.

    Args:
        files: windows to learn from, and their speakers; empty for recordings without a reading.
        held_out: windows for validation.
        silence: code of pauses and quiet places.
        aligned: number of recordings to learn from that are near enough to their readings.
        left_out: number of recordings that are not.
    """

    files: list[tuple[Path, str]]
    held_out: list[Path]
    silence: int
    aligned: int
    left_out: int


class TrainingSetMaker:
    """Makes the windows of a training set from paired speech.

    Args:
        whisper: the recogniser.
        codes: the start, of one book.
        config: of the training.
        folder: of states, targets and windows.
        device: of Whisper and the codes.
        say: receives lines of progress.
    """

    def __init__(
        self,
        whisper: Published,
        codes: WordCodes,
        config: NativeCodesConfig,
        folder: Path,
        device: str,
        say: Callable[[str], None],
    ) -> None:
        self._whisper, self._codes, self._config = whisper, codes, config
        self._folder, self._device, self._say = folder, device, say

    def __call__(self, speech: PairedSpeech) -> TrainingSet:
        """Windows of all speech; files of an earlier call are used again.

        Raises:
            CorpusError: no recording is near enough to its reading.
        """
        config, say = self._config, self._say
        targets, silence, left_out = self._targets(speech.aligned())
        plain, varied = (
            NativeCodeFiles(
                self._whisper, self._codes, targets, silence, self._folder, change, config.seed,
                self._device,
            )
            for change in (False, True)
        )  # fmt: skip
        learners = self._by_speaker(speech.decoded(speech.chosen), targets)
        files: list[tuple[Path, str]] = []
        for speaker, own in learners.items():
            windows = plain(parted(own, config.cut), say)
            windows += varied(parted(own, config.changed()), say) if config.varied else []
            files += [(path, speaker) for path in windows]
        held_out: list[Path] = []
        for own in self._by_speaker(speech.watched, targets).values():
            held_out += plain(parted(own, config.cut), say)
        if not files or not held_out:
            raise CorpusError(
                "no recording is near enough to its reading, on either side of the split; give "
                "more, or raise 'limit' in the configuration"
            )
        rest = self._pieces(speech.decoded(speech.others))
        count = round(len(files) * config.others / max(1e-9, 1.0 - config.others))
        if rest and count:
            cut = parted(rest, config.cut)
            drawn = np.random.default_rng(config.seed).permutation(len(cut))[:count]
            files += [(path, "") for path in plain([cut[i] for i in sorted(drawn)], say)]
        aligned = sum(len(own) for own in learners.values())
        return TrainingSet(files, held_out, silence, aligned, left_out)

    def _targets(
        self, pairs: Sequence[tuple[Utterance, Utterance]]
    ) -> tuple[dict[str, np.ndarray], int, int]:
        """Codes of readings by the recording's file, that of silence, and how many are left out."""
        content = WordCodeContent.of(self._whisper.network, self._codes).to(self._device)
        found = NativeTargets(content, self._folder)(pairs, self._say)
        near = {
            speech.path.stem: target
            for (speech, _), target in zip(pairs, found, strict=True)
            if target.cost <= self._config.limit
        }
        left_out = len(pairs) - len(near)
        if left_out:
            self._say(
                f"{left_out} of {len(pairs)} recordings are too unlike their readings: left out"
            )
        silence = usual_silence(found) if self._config.silence < 0 else self._config.silence
        return {name: target.codes(silence) for name, target in near.items()}, silence, left_out

    def _by_speaker(
        self, utterances: Sequence[Utterance], targets: Mapping[str, np.ndarray]
    ) -> dict[str, list[Piece]]:
        """Speech with targets, by its speakers."""
        return by_speaker(self._pieces([one for one in utterances if one.path.stem in targets]))

    def _pieces(self, utterances: Sequence[Utterance]) -> list[Piece]:
        return pieces(utterances, self._whisper, self._folder, self._say)
