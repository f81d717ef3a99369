"""Recognisers of phones, without words and without a language model.

A recogniser of words may guess unclear words from their context. A recogniser of phones cannot: its
graph is a loop of all phones with equal probabilities.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from voicenym.errors import VoicenymError
from voicenym.metrics import normalise
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.words.phone_states.phone_model import SMALL, PhoneModel, holds_phones
from voicenym.recognition.interface import Recording, digest_of
from voicenym.recognition.phones.phone_loop import PhoneLoop
from voicenym.recognition.sphinx_processes.sphinx import known_words


class PhoneRecogniser(Protocol):
    """Recognises the phones of recordings, each independently of the others."""

    @property
    def name(self) -> str:
        """Name in tables and cards."""
        ...

    @property
    def identity(self) -> str:
        """Digest of weights and settings: equal identities mean equal phones."""
        return self.name

    def phones(self, recordings: Sequence[Recording]) -> list[list[str]]:
        """Phones of each recording ``[time]`` at 16 kHz, in CMUdict's names without stress.

        Raises:
            AudioError: a recording of another shape, or with samples that are not finite.
        """
        ...


class FramePhones(PhoneRecogniser):
    """The network of phones of ``voicenym train hybrid``, without its lexicon and its n-gram.

    Args:
        folder: of the training; default: the bundled network.

    Raises:
        VoicenymError: no such folder, or of another recogniser, or one that was trained on
            anonymized speech.
    """

    def __init__(self, folder: Path | str = SMALL) -> None:
        if not holds_phones(folder):
            raise VoicenymError(f"{folder}: no recogniser of phones; give one of train hybrid")
        model, config = PhoneModel.load(folder)
        trained_on = config.get("training", {}).get("anonymized by", "")
        if trained_on:
            raise VoicenymError(
                f"{folder}: was trained on output of {trained_on}; phones are counted by a "
                "recogniser of original speech"
            )
        self._folder, self._loop = Path(folder), PhoneLoop.of_config(model, config)

    @property
    def name(self) -> str:
        return f"{self._folder.resolve().name}, phones alone"

    @functools.cached_property
    def identity(self) -> str:  # type: ignore[override]
        weights = fingerprint(self._loop.model.net.state_dict())
        return f"{self.name} {digest_of(weights, self._loop.settings)}"

    def phones(self, recordings: Sequence[Recording]) -> list[list[str]]:
        return self._loop.phones(recordings)


def pronounced(texts: Iterable[str]) -> list[list[list[str]] | None]:
    """Words of texts with their pronunciations in pocketsphinx's dictionary (CMUdict).

    Returns:
        Of each text its words, of each word its pronunciations; None where a word has none.

    Raises:
        DependencyError: pocketsphinx is not installed.
    """
    lexicon = known_words()
    found: list[list[list[str]] | None] = []
    for text in texts:
        words = normalise(text).split()
        found.append([lexicon[w] for w in words] if all(w in lexicon for w in words) else None)
    return found
