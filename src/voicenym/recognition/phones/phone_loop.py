"""Decoding of phones without words: a loop of all phones with equal probabilities.

The loop has no lexicon and no language model. Its two settings are the bonus of a phone, which
balances deletions against insertions, and the exponent of the priors; both are chosen on held-out
speakers and stored with the network.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.metrics.words.phone_error_rate import phone_counts
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.recognition.ctc_recogniser import SHORTEST, note
from voicenym.recognition.interface import Recording, checked
from voicenym.recognition.phones.pronunciation_graph import graph, uniform
from voicenym.recognition.phones.viterbi import best

SETTINGS = "phone search"
"""Key of the settings in a network's configuration."""
BONUSES = (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)
PRIORS = (0.0, 0.3, 0.6, 1.0)
"""Grids of the settings."""

Pronounced = Sequence[Sequence[str]]
"""Of each word of a text its pronunciations, phones with blanks between."""


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the search.

    Args:
        bonus: natural logarithm, added for each phone.
        priors: exponent of the states' priors by which posteriors are divided.
    """

    bonus: float = 0.0
    priors: float = 0.6


class PhoneLoop:
    """Phones of a recording by the best path through the loop.

    Args:
        model: network of phone states.
        settings: of the search.
    """

    def __init__(self, model: PhoneModel, settings: LoopSettings) -> None:
        names = model.states.phones
        self.model, self.settings = model, settings
        self._graph = graph({name: [name] for name in names}, uniform(names), model.states)

    @classmethod
    def of_config(cls, model: PhoneModel, config: Mapping[str, Any]) -> PhoneLoop:
        """The loop with the settings in a folder's configuration.

        A folder without them, of an earlier release, has the priors of its search for words.
        """
        priors = config.get("search", {}).get("priors", LoopSettings.priors)
        return cls(model, LoopSettings(**config.get(SETTINGS, {"priors": priors})))

    def phones(self, recordings: Sequence[Recording]) -> list[list[str]]:
        """Phones of each recording ``[time]`` at 16 kHz, in its own pass.

        Raises:
            AudioError: a recording of another shape, or with samples that are not finite.
        """
        return [self._recognised(checked(x, i)) for i, x in enumerate(recordings)]

    def decoded(self, log_probs: np.ndarray) -> list[str]:
        """Phones of log posteriors ``[frame, state]``."""
        likely = log_probs - self.settings.priors * self.model.priors
        return best(self._graph, likely, bonus=self.settings.bonus)

    def _recognised(self, samples: Recording) -> list[str]:
        if len(samples) < SHORTEST:
            return []
        return self.decoded(self.model.log_probs(torch.from_numpy(samples)))


def tuned(
    model: PhoneModel, held_out: Sequence[tuple[Recording, Pronounced]]
) -> tuple[LoopSettings, float]:
    """The settings with the fewest phone errors, and their phone error rate in percent.

    Args:
        model: network of phone states.
        held_out: recordings ``[time]`` at 16 kHz of speakers that trained nothing, with the
            pronunciations of their texts; at least one phone in all.
    """
    inputs = [model.log_probs(torch.from_numpy(samples)) for samples, _ in held_out]
    references = [words for _, words in held_out]

    def errors(settings: LoopSettings) -> float:
        loop = PhoneLoop(model, settings)
        found = [loop.decoded(frames) for frames in inputs]
        pairs = zip(references, found, strict=True)
        counts = np.array([phone_counts(words, phones) for words, phones in pairs]).sum(0)
        return 100.0 * float(counts[:3].sum() / counts[3])

    chosen, tried = LoopSettings(), dict[LoopSettings, float]()
    for field, values in (("bonus", BONUSES), ("priors", PRIORS), ("bonus", BONUSES)):
        some = [dataclasses.replace(chosen, **{field: value}) for value in values]
        tried |= {settings: errors(settings) for settings in some if settings not in tried}
        chosen = min(tried, key=lambda settings: tried[settings])
    return chosen, tried[chosen]


def attach_settings(
    folder: Path,
    held_out: Sequence[tuple[Recording, Pronounced]],
    *,
    say: Callable[[str], None] = lambda text: None,
) -> float:
    """Choose the settings for a network's folder, as :func:`tuned`, and store them there.

    Args:
        folder: that :meth:`~voicenym.nets.words.phone_states.phone_model.PhoneModel.save` wrote.
        held_out: as of :func:`tuned`.
        say: receives the settings.

    Returns:
        The phone error rate in percent.
    """
    model, _ = PhoneModel.load(folder)
    settings, rate = tuned(model, held_out)
    note(folder, **{SETTINGS: dataclasses.asdict(settings)})
    say(
        f"phones alone: PER {rate:.1f} % with bonus {settings.bonus:g} and priors "
        f"{settings.priors:g}"
    )
    return rate
