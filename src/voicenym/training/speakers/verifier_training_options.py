"""Options and result of a verifier's training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.verification.verifier import Verifier

T = TypeVar("T")


@dataclass(frozen=True)
class TrainingOptions:
    """Options of a verifier's training.

    Args:
        recipe: the verifier kind's configuration, the name of one that comes with the package, or
            a YAML file; None for the kind's default.
        seconds: time limit of an iterative training; None for no limit.
        workers: processes that read recordings.
        card: description of the training, stored beside the weights.
        say: receives progress messages.
        left_out: receives unreadable recordings; the default raises at the first one.
        steps: optimizer steps of an iterative training at most; None for those of the recipe.
    """

    recipe: Any = None
    seconds: float | None = None
    workers: int = 1
    card: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = field(default=lambda text: None, compare=False)
    left_out: LeftOut = field(default=STRICT, compare=False)
    steps: int | None = None

    def config(self, kind: type[T], default: str | None = None) -> T:
        """The configuration that the recipe names.

        Args:
            kind: dataclass of the configuration.
            default: name or file of the configuration where the options hold no recipe; None for
                the dataclass's defaults.

        Raises:
            VoicenymError: no such recipe.
        """
        chosen = default if self.recipe is None else self.recipe
        if chosen is None:
            return kind()
        if isinstance(chosen, kind):
            return chosen
        from voicenym.training.run.config import load

        return load(str(chosen), kind)


DEFAULTS = TrainingOptions()


@dataclass(frozen=True)
class TrainedVerifier:
    """Result of a verifier's training.

    Args:
        verifier: the trained one.
        curve: ``step``, ``seconds`` and ``EER %`` of each validation; empty where the training has
            none.
    """

    verifier: Verifier
    curve: tuple[Mapping[str, float], ...] = ()
