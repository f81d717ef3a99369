"""Whisper as a recogniser: greedy decoding of published or fine-tuned weights, window by window.

Radford et al., "Robust speech recognition via large-scale weak supervision", ICML 2023. The network
is :mod:`voicenym.nets.words.whisper.whisper`, without another library, so that a figure depends
only on the weights. It has no information on the expected texts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets import hub
from voicenym.nets.catalogue import CATALOGUE
from voicenym.nets.checkpoint import configuration, fingerprint
from voicenym.nets.names_and_paths import as_path, is_hub_name, is_path
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.nets.words.whisper.whisper_decoding import MOST_TOKENS, Writing, greedy
from voicenym.nets.words.whisper.whisper_published import ENGLISH, published
from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary
from voicenym.recognition.interface import RATE, Recogniser, Recording, checked
from voicenym.recognition.split_points import split_point
from voicenym.recognition.transcript_cache import loop_notes

NO_SPEECH, DOUBT = 0.6, -1.0
"""Probability of no speech above which a window is silent, if the mean log probability of its text
is below the second number; both as published (Radford et al., section 4.5)."""
QUIET = 1e-5
"""Root mean square below which a window is silent without being decoded."""
TOKENS_PER_SECOND, TOKENS_MORE = 10, 16
"""Largest number of tokens of a window, that of very fast speech: tokens per second, and a
constant."""


class WhisperRecogniser(Recogniser):
    """A Whisper with published weights, or with those of ``voicenym train whisper``.

    Decoding is greedy and runs on one core. Recordings are decoded one by one, so that a transcript
    does not depend on the batch. A recording longer than a window is split at its quietest points.
    A silent window has an empty text. A repeated n-gram ends a window's text and counts once.

    Args:
        weights: a folder as ``./FOLDER`` or absolute (of ours, of the hub or of CTranslate2), a
            name of ``voicenym models list`` that was pulled, or a name on the hub.
        device: ``cpu``, ``cuda``...
        language: of a model of several languages, such as ``en``; None for detection by the model
            from the first window of each recording.
        revision: commit or tag on the hub, for reproducible figures.

    Attributes:
        anonymized_by: system that anonymized its training speech; empty for original speech.
        recordings: that the latest call transcribed.
        loops: those of them with a text that ended in a loop or at the largest number of tokens.

    Raises:
        DependencyError: a library that reads the weights is not installed.
        VoicenymError: no weights there, of another network, or no such language.

    Example:
        >>> with WhisperRecogniser("./models/whisper-small.en") as whisper:   # doctest: +SKIP
        ...     whisper.transcribe([samples])
        ['Please call Stella.']
    """

    def __init__(
        self,
        weights: Path | str = "",
        *,
        device: str = "cpu",
        language: str | None = None,
        revision: str | None = None,
    ) -> None:
        if not weights:
            weights = at_hand()
        if not weights:
            raise VoicenymError(
                "whisper: no weights here; fetch them once (voicenym models pull whisper-tiny.en) "
                "or give a folder (--recogniser-weights ./FOLDER)"
            )
        place = _place(weights if isinstance(weights, str) else as_path(weights), revision)
        model = published(place, languages=True)
        self._digest = fingerprint(model.network.state_dict())
        self._network = model.network.to(device)
        self._known = Vocabulary(model.tokenizer)
        self._device = device
        self._name = str(weights).rstrip("/").rsplit("/", 1)[-1]
        self._writing = model.writing
        english = model.network.sizes.tokens == ENGLISH
        self._detects = not english and language is None
        if language is not None and not english:
            self._writing = self._of_language(language)
        card = configuration(place).get("card", {})
        self.anonymized_by: str = card.get("anonymized by", "") if isinstance(card, dict) else ""
        self.loops = self.recordings = 0

    @property
    def name(self) -> str:
        return self._name

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        self.loops, self.recordings = 0, len(recordings)
        with _one_core():
            return [self._recognise(checked(x, i)) for i, x in enumerate(recordings)]

    @property
    def identity(self) -> str:
        """Digest of weights, language and tokens."""
        return f"whisper {self._digest} {self._writing.begin} {self._detects}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for reports: loops of the latest call."""
        return loop_notes(self.name, self.loops, self.recordings)

    def close(self) -> None:
        """Does nothing: there is no resource to release."""

    @torch.inference_mode()
    def _recognise(self, samples: Recording) -> str:
        texts, how, looped = [], self._writing, False
        for i, window in enumerate(parted(samples, self._network.sizes.states * STATE)):
            if float(np.sqrt(np.mean(np.square(window, dtype=np.float64)))) < QUIET:
                continue
            states = self._network.states(torch.from_numpy(window)[None].to(self._device))
            if self._detects and i == 0:
                how = self._of_language(self._detected(states))
            most = min(MOST_TOKENS, TOKENS_MORE + TOKENS_PER_SECOND * len(window) // RATE)
            found = greedy(self._network, states, how, most)[0]
            if found.no_speech > NO_SPEECH and found.log_prob < DOUBT:
                continue
            looped |= found.looped or found.cut
            texts.append(self._known.decode(found.tokens))
        self.loops += looped
        return " ".join(text for text in texts if text)

    def _of_language(self, language: str) -> Writing:
        """Special tokens with the prefix of a language."""
        known = self._known.languages()
        if language not in known:
            raise VoicenymError(
                f"{self.name}: knows no language {language!r}; it knows {', '.join(sorted(known))}"
            )
        begin = list(self._writing.begin)
        begin[1] = known[language]
        return dataclasses.replace(self._writing, begin=tuple(begin))

    def _detected(self, states: torch.Tensor) -> str:
        """The most probable language of a window, by the token after the start."""
        known = self._known.languages()
        decoder = self._network.decoder
        start = torch.tensor([[self._writing.begin[0]]], device=states.device)
        hidden = decoder(start, decoder.cross_keys_values(states))[0, -1]
        scores = decoder.scores(hidden, torch.tensor(list(known.values()), device=states.device))
        return list(known)[int(scores.argmax())]


def at_hand() -> str:
    """Name of the largest Whisper that was pulled on this machine; empty without one."""
    here = set(hub.pulled())
    found = [p for p in CATALOGUE if p.convert == "whisper" and p.name in here]
    return max(found, key=lambda p: p.megabytes).name if found else ""


def parted(samples: Recording, window: int) -> Iterator[Recording]:
    """Windows of a recording ``[time]``, each at most ``window`` samples long.

    A longer recording is cut in the middle of the quietest frame of the last ten seconds of each
    window, or of its last third where a window is shorter than 30 s.
    """
    while len(samples) > window:
        cut = split_point(samples, window)
        yield samples[:cut]
        samples = samples[cut:]
    if len(samples):
        yield samples


def _place(weights: str, revision: str | None) -> Path:
    """Folder of the weights."""
    if is_hub_name(weights):
        return hub.snapshot(weights, revision)
    place = Path(hub.place_of(weights))
    if is_path(weights) and not place.is_dir():
        raise VoicenymError(f"{weights}: no such folder; give one of a Whisper")
    return place


@contextmanager
def _one_core() -> Iterator[None]:
    """Computes on one core, so that the order of sums does not depend on the machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
