"""A CTC recogniser of characters, from the folder that ``voicenym train recogniser`` wrote."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.words.ctc_networks import ctc
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.recognition.interface import Recogniser, Recording, checked, digest_of
from voicenym.recognition.language_models.arpa import read_arpa
from voicenym.recognition.language_models.ngram import NGram
from voicenym.recognition.language_models.shallow_fusion import CharacterFusion, WordFusion

SHORTEST = 400
"""Samples of one window of the spectrum; shorter recordings have an empty transcript."""


@dataclass(frozen=True)
class Decoding:
    """Decoding parameters.

    Args:
        beam: number of prefixes in the beam search; 0 for the best path.
        language_model: ARPA file within the folder; empty for none.
        units: of the language model: ``words`` or ``characters``.
        weight: of the language model.
        bonus: added for each of its units.
    """

    beam: int = 0
    language_model: str = ""
    units: str = "words"
    weight: float = 0.5
    bonus: float = 1.0


class Trained(Recogniser):
    """A CTC network over characters, with or without an n-gram model.

    Recordings are decoded one by one, so that a result does not depend on the batch.

    Args:
        weights: folder with ``config.json``, ``model.safetensors`` and, if any, an n-gram model.
        device: ``cpu``, ``cuda``...
        beam, weight, bonus: replace those of the folder; see :class:`Decoding`.
        language_model: ARPA file that replaces the folder's.
        units: of that file.

    Attributes:
        anonymized_by: system that anonymized its training speech; empty for original speech.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: no such folder, or weights that do not fit.

    Example:
        >>> with Trained("models/asr") as recogniser:   # doctest: +SKIP
        ...     recogniser.transcribe([samples])
        ['please call stella']
    """

    def __init__(
        self,
        weights: Path | str = "",
        *,
        device: str = "cpu",
        beam: int | None = None,
        language_model: Path | str | None = None,
        units: str | None = None,
        weight: float | None = None,
        bonus: float | None = None,
    ) -> None:
        if not weights:
            raise VoicenymError(
                "ctc: no weights; give the folder that voicenym train recogniser wrote "
                "(--recogniser-weights FOLDER)"
            )
        self._folder = Path(weights)
        self._model, config = CharacterModel.load(self._folder)
        self._model.net.to(device)
        self.anonymized_by: str = config.get("training", {}).get("anonymized by", "")
        own = Decoding(**config.get("decoding", {}))
        if language_model is not None:
            own = dataclasses.replace(own, beam=own.beam or ctc.BEAM)
        given: dict[str, Any] = {"beam": beam, "units": units, "weight": weight, "bonus": bonus}
        self._how = dataclasses.replace(own, **{k: v for k, v in given.items() if v is not None})
        self._ngram: NGram | None = None
        self._model_files: list[Path] = []
        if self._how.beam and (language_model or self._how.language_model):
            place = Path(language_model or self._folder / self._how.language_model)
            self._ngram, self._model_files = read_arpa(place), [place]

    @property
    def name(self) -> str:
        kind = f"{self._folder.resolve().name}, {self._model.kind}"
        if self._ngram is None:
            return kind
        return f"{kind} with {self._ngram.order}-gram of {self._how.units}"

    @functools.cached_property
    def identity(self) -> str:  # type: ignore[override]
        """Digest of weights, decoding parameters and language model."""
        weights = fingerprint(self._model.net.state_dict())
        return f"{self.name} {digest_of(weights, self._how, *self._model_files)}"

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        return [self._recognise(checked(x, i)) for i, x in enumerate(recordings)]

    def close(self) -> None:
        """Does nothing: there is no resource to release."""

    def _recognise(self, samples: Recording) -> str:
        if len(samples) < SHORTEST:
            return ""
        return decode(
            self._model.log_probs(torch.from_numpy(samples)),
            self._model.alphabet,
            self._how,
            self._ngram,
        )


def decode(log_probs: Any, alphabet: ctc.Alphabet, how: Decoding, ngram: NGram | None) -> str:
    """The text of log-probabilities ``[frame, token]`` of a recording."""
    if not how.beam:
        found = ctc.collapse(log_probs.argmax(-1).tolist())
    else:
        scorer: WordFusion | CharacterFusion | None = None
        if ngram is not None:
            fusion = WordFusion if how.units == "words" else CharacterFusion
            scorer = fusion(ngram, alphabet, how.weight, how.bonus)
        found = ctc.search(log_probs, beam=how.beam, scorer=scorer)[0][0]
    return " ".join(alphabet.decode(found).split())


def note(folder: Path, **about: Any) -> None:
    """Add decoding parameters and measured figures to a folder's configuration."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text("utf-8")), **about}
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False), "utf-8")
