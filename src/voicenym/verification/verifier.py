"""What a verifier is: it embeds recordings, scores their vectors, and can be trained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import VoicenymError
from voicenym.verification.scoring import COSINE, Array, Backend

if TYPE_CHECKING:
    from voicenym.training.speech.speech_cache import Utterance

T = TypeVar("T")
CONCENTRATION = 60.0
"""Of a verifier that does not say; chosen for Resemblyzer on half of the speakers of a corpus."""
UNKNOWN = (nan, nan)


@dataclass(frozen=True)
class Teaching:
    """How a verifier is trained.

    Args:
        recipe: what its kind takes: the recipe itself, the name of one that comes with the
            package, or a YAML file; None for the kind's own.
        seconds: time at most; None for no limit. Those whose training ends by itself take no
            notice.
        workers: processes that listen.
        card: what is to be written about the training, beside the weights.
        say: told of progress.
        left_out: told of recordings that cannot be heard; the default raises at the first one.
    """

    recipe: Any = None
    seconds: float | None = None
    workers: int = 1
    card: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)
    left_out: LeftOut = field(default=STRICT, compare=False)

    def chosen(self, kind: type[T], usual: str | None = None) -> T:
        """The recipe of a kind.

        Args:
            kind: dataclass of the recipe.
            usual: name of the one that is taken where none was chosen; None for its defaults.

        Raises:
            VoicenymError: no such recipe.
        """
        wanted = usual if self.recipe is None else self.recipe
        if wanted is None:
            return kind()
        if isinstance(wanted, kind):
            return wanted
        from voicenym.training.run.config import load

        return load(str(wanted), kind)


TEACHING = Teaching()


class Verifier(ABC):
    """Tells whether two voices are one; pickled to worker processes.

    A verifier can stand wherever a :class:`~voicenym.verification.scoring.Backend` is asked for.

    Attributes:
        name: for reports.
        version: changes when the same recording would get another vector.
        concentration: what a unit of score is worth in nats to those who weigh guesses
            (:class:`voicenym.attack.key_search.KeySearch`): of cosines, how closely a speaker's
            vectors lie around their mean; 1 of log-likelihood ratios.
        calibration: slope and offset from the score of two recordings to a log-likelihood ratio
            in nats; NaN where it is not known.
        curve: ``step``, ``seconds`` and ``EER %`` through the training that made it; empty where
            it was read from a file.
    """

    name: str
    version: str
    concentration: float = CONCENTRATION
    calibration: tuple[float, float] = UNKNOWN
    curve: Sequence[Mapping[str, float]] = ()

    @abstractmethod
    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """Vectors ``[recording, dimension]`` of mono float32 recordings ``[time]`` at 16 kHz."""

    def backend(self) -> Backend:
        """What compares its vectors: cosines, unless it has something better."""
        return COSINE

    def score(self, enrolment: Sequence[npt.NDArray[np.floating]], trials: np.ndarray) -> Array:
        """Scores ``[model, trial]`` of vectors; a higher one speaks for the same speaker.

        Args:
            enrolment: vectors ``[n_i, dimension]`` of each model.
            trials: ``[trial, dimension]``.
        """
        return self.backend().score(enrolment, trials)

    def adapted(self, vectors: npt.NDArray[np.floating], speakers: Sequence[str]) -> Backend:
        """A back end for its vectors that was trained on such ones: PLDA, unless it has another.

        Args:
            vectors: ``[recording, dimension]``.
            speakers: of each, who will not be tried.

        Raises:
            VoicenymError: fewer than two speakers, or none with two recordings.
        """
        from voicenym.verification.plda import PLDA

        return PLDA.train(vectors, speakers)

    def train(
        self,
        speech: Sequence[Utterance],
        folder: Path,
        held_out: Sequence[Utterance] = (),
        how: Teaching = TEACHING,
    ) -> Verifier:
        """One of its kind that learnt from speech; this one stays as it is.

        Networks go on from their weights; statistical models are learnt anew.

        Args:
            speech: of speakers who will not be tried.
            folder: for what is learnt.
            held_out: speech of yet others, to see how it goes.
            how: it is done.

        Raises:
            VoicenymError: it cannot be trained, or not on this speech.
        """
        raise VoicenymError(
            f"{self.name} cannot be trained; take ecapa-small, resemblyzer, ecapa:PLACE, "
            "xvector:PLACE, gmm-ubm:FOLDER or ivector:FOLDER"
        )
