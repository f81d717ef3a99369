"""Pocketsphinx: a small recogniser with a model of American English.

Its error rate on free text by speakers with an accent is high. With a closed set of sentences or
phrases it is accurate enough to compare systems.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from voicenym.errors import DependencyError, VoicenymError
from voicenym.recognition.interface import RATE, Recogniser, Recording, checked, digest_of
from voicenym.recognition.language_models.closed_vocabulary import (
    Lexicon,
    bigram,
    grammar,
    pronounceable,
    read_lexicon,
    write_lexicon,
)
from voicenym.recognition.sphinx_processes.library_process import Worker

LANGUAGE_WEIGHT = 10.0
WORD_PENALTY = 1e-8
"""Weight of the language model and factor for each word, for a bigram of the sentences: chosen on
originals of speechocean762's training speakers; with pocketsphinx's own (6.5 and 0.65), it inserts
a word in every pause."""
PATIENCE = 60.0
SLOWEST = 20.0
"""Seconds that an utterance may take, and seconds for each of its own, before the worker counts
as hanging."""
WORKER = "voicenym.recognition.sphinx_processes.sphinx_worker"
NO_START = (
    "pocketsphinx does not start; its messages are above. If they mention a word's "
    "pronunciation, correct it"
)


class Sphinx(Recogniser):
    """Pocketsphinx in a separate process, which restarts after a crash.

    Args:
        sentences: define the closed vocabulary and a bigram language model.
        phrases: of which one is recognised, or none; instead of ``sentences``. Without both,
            pocketsphinx's own language model of free text applies.
        pronunciations: words that its dictionary lacks, as phones of CMU's dictionary without
            stress: ``{"snowboy": "S N OW B OY"}``.
        language_weight, word_penalty: of a bigram; see pocketsphinx's ``lw`` and ``wip``.
        patience: time limit of an utterance in seconds, besides 20 for each second of its length.

    Attributes:
        left_out: sentences and phrases with words that the dictionary lacks, and these words. A
            warning lists them; the model lacks them, so exclude them from the measurement.
        crashes: utterances at which the worker crashed or hung; their transcript is empty.

    Raises:
        DependencyError: pocketsphinx is not installed.
        VoicenymError: both sentences and phrases, or none with a pronunciation.

    Example:
        >>> with Sphinx(phrases=["alexa", "computer"]) as sphinx:   # doctest: +SKIP
        ...     sphinx.transcribe([recording])
        ['computer']
    """

    def __init__(
        self,
        sentences: Sequence[str] | None = None,
        *,
        phrases: Sequence[str] | None = None,
        pronunciations: Mapping[str, str] | None = None,
        language_weight: float = LANGUAGE_WEIGHT,
        word_penalty: float = WORD_PENALTY,
        patience: float = PATIENCE,
    ) -> None:
        if sentences is not None and phrases is not None:
            raise VoicenymError("give pocketsphinx sentences or phrases, not both")
        self.left_out: dict[str, list[str]] = {}
        self.crashes = 0
        self._patience = patience
        self._worker: Worker | None = None
        self._phrases: frozenset[str] | None = None
        self._options: dict[str, Any] = {
            "samprate": float(RATE),
            "featparams_text": features(),
        }
        given = sentences if sentences is not None else phrases
        if given is None:
            return
        lexicon = known_words()
        for word, phones in (pronunciations or {}).items():
            lexicon[word.lower()] = [phones]
        kept, self.left_out = pronounceable(given, lexicon)
        if self.left_out:
            words = sorted({word for missing in self.left_out.values() for word in missing})
            warnings.warn(
                f"{len(self.left_out)} of {len(given)} left out, whose words pocketsphinx cannot "
                f"pronounce: {', '.join(words)}; give their pronunciations",
                stacklevel=2,
            )
        if not kept:
            raise VoicenymError(
                "nothing that pocketsphinx can pronounce; give pronunciations of your words"
            )
        words_said = {word for sentence in kept for word in sentence.split()}
        self._options["dict_text"] = write_lexicon(words_said, lexicon)
        if phrases is not None:
            self._phrases = frozenset(kept)
            self._options["jsgf_text"] = grammar(kept)
        else:
            self._options["lm_text"] = bigram(kept)
            self._options |= {"lw": language_weight, "wip": word_penalty}

    @property
    def name(self) -> str:
        if self._phrases is not None:
            return f"pocketsphinx, choice among {len(self._phrases)}"
        return "pocketsphinx" + (", bigram of the sentences" if "lm_text" in self._options else "")

    @property
    def identity(self) -> str:
        """Digest of sentences, pronunciations and settings."""
        return f"{self.name} {digest_of(sorted(self._options.items()))}"

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        return [self._recognise(checked(x, i), i) for i, x in enumerate(recordings)]

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()

    def _recognise(self, samples: Recording, index: int) -> str:
        data = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        if not data:
            return ""
        limit = self._patience + SLOWEST * len(samples) / RATE
        if self._worker is None:
            self._worker = Worker(WORKER, self._options, NO_START)
        answer = self._worker.ask(f"{len(data)}\n".encode() + data, limit)
        if answer is None:
            self.crashes += 1
            self.close()
            warnings.warn(
                f"recording {index}: pocketsphinx crashed or took more than {limit:.0f} s; its "
                f"transcript is empty ({self.crashes} so far)",
                stacklevel=3,
            )
            return ""
        hypothesis: str = json.loads(answer)
        # An incomplete path of the grammar is no result.
        return "" if self._phrases is not None and hypothesis not in self._phrases else hypothesis


def known_words() -> Lexicon:
    """Words of pocketsphinx's dictionary of American English, with their pronunciations.

    Raises:
        DependencyError: pocketsphinx is not installed.
    """
    return dict(_known_words())


@cache
def _known_words() -> Lexicon:
    return read_lexicon((model_folder() / "cmudict-en-us.dict").read_text("utf-8"))


def features() -> str:
    """The model's feature parameters, without noise suppression.

    Noise suppression restarts with each recording and causes errors: on originals of picovoice_ww
    it raises the error rate of command words from 0.7 to 8.7 %.
    """
    text = (model_folder() / "en-us" / "feat.params").read_text("utf-8")
    return text.replace("-remove_noise yes", "-remove_noise no")


def model_folder() -> Path:
    """Folder of pocketsphinx's models of American English.

    Raises:
        DependencyError: pocketsphinx is not installed.
    """
    if find_spec("pocketsphinx") is None:
        raise DependencyError("pocketsphinx is not installed: pip install voicenym[evaluate]")
    pocketsphinx: Any = import_module("pocketsphinx")
    return Path(pocketsphinx.get_model_path()) / "en-us"
