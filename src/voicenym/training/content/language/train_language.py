"""Training of language scores: a content encoder's own language against others.

Half of the crops are of the own language, and each corpus or language is drawn as often as the
others, so that no large one decides. Speakers are split into folds: each is scored by a network of
the others, for the limit and for the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.architectures import options_checked
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.training.content.language.language_examples import MUSIC, NO_SPEECH, Example
from voicenym.training.content.language.language_limits import prefix_means

NO_SIDE = "there is no speech of one of the two sides; give --data and --other"


@dataclass(frozen=True)
class LanguageConfig:
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.content.language_scores.LanguageScores`, without
            ``size``, ``language`` and the limit.
        seconds: length of an example, of joined recordings of a speaker.
        examples: of each speaker at most.
        changed: share of the examples that come once more with noise, room or a narrow band.
        no_speech: examples of noise and tones.
        shortest, longest: seconds of a crop.
        batch: crops in a step.
        steps: number of optimizer steps.
        rate: peak of the learning rate (AdamW), which falls to zero along a cosine.
        decay: of the weights.
        dropout: share of the frames whose states are set to zero.
        folds: parts of the speakers; each is scored by a network of the others.
        alarms: share of the own language's examples above the limit.
        limit_by: corpora whose examples set the limit, such as those of real speech; all of the own
            language unless given.
        seed: of all random draws.
    """

    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 20.0
    examples: int = 2
    changed: float = 0.4
    no_speech: int = 60
    shortest: float = 3.0
    longest: float = 8.0
    batch: int = 32
    steps: int = 400
    rate: float = 3e-3
    decay: float = 1e-2
    dropout: float = 0.1
    folds: int = 4
    alarms: float = 0.01
    limit_by: list[str] = field(default_factory=list)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise VoicenymError(f"folds: 2 at least, not {self.folds}")
        if not 0.0 < self.alarms < 1.0:
            raise VoicenymError(f"alarms: a share between 0 and 1, not {self.alarms:g}")
        if self.examples < 1:
            raise VoicenymError(f"examples: 1 at least, not {self.examples}")
        if not 0.0 < self.shortest <= self.longest or self.seconds <= 0.0:
            raise VoicenymError(
                "seconds, shortest, longest: above 0, and shortest at most as long as longest"
            )

    def sets_limit(self, example: Example) -> bool:
        """Whether an example counts for the limit: speech of the own language, of
        :attr:`limit_by`.
        """
        if example.other or example.group in (NO_SPEECH, MUSIC):
            return False
        return not self.limit_by or example.group in self.limit_by


def check_speakers(own: Mapping[str, str], others: Collection[str], config: LanguageConfig) -> None:
    """Refuses speakers of whom no limit can be found, before their speech is analysed.

    Args:
        own: group by speaker of the own language.
        others: speakers of other languages.
        config: of the training.

    Raises:
        CorpusError: there are none of one of the two sides; one fold would hold all speakers of
            other languages; or their examples are fewer than a limit needs, even if all are long.
    """
    if not own or not others:
        raise CorpusError(NO_SIDE)
    if len({fold_of(name, config.folds, config.seed) for name in others}) < 2:
        raise CorpusError(
            f"{len(others)} speakers in --other all fall into one of {config.folds} folds, so that "
            "no other speaker is left to learn from; give more of them"
        )
    by = config.limit_by
    counted = sum(not by or group in by for group in own.values())
    most = counted * config.examples * (2 if config.changed else 1)
    if most * config.alarms < 1.0:
        raise CorpusError(
            f"{counted} speakers in --data give {most} examples at most, and the limit needs "
            f"{1 / config.alarms:.0f} (1 / alarms); give more speakers, or a configuration with "
            "more examples or alarms"
        )


def fitted(
    size: int,
    examples: Sequence[Example],
    config: LanguageConfig,
    frame_rate: float,
    language: str = "en",
) -> LanguageScores:
    """A network trained on examples.

    Args:
        size: elements of the states.
        examples: of both kinds.
        config: of the training.
        frame_rate: of the content, in Hz.
        language: of the encoder.

    Raises:
        CorpusError: there are no examples of one kind.
    """
    kinds = [_by_group(examples, other) for other in (False, True)]
    if not all(kinds):
        raise CorpusError(NO_SIDE)
    rng = np.random.default_rng(config.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        with options_checked("language, options"):
            network = LanguageScores(size, language, **config.options).train()
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=config.rate, weight_decay=config.decay
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.steps)
        for _ in range(config.steps):
            drawn = [_crop(kinds[row % 2], config, frame_rate, rng) for row in range(config.batch)]
            batch = [torch.stack(parts) for parts in zip(*drawn, strict=True)]
            states, misfit, weight, wanted = batch
            kept = torch.rand(misfit.shape) >= config.dropout
            scores = network(states * kept[:, :, None], misfit * kept)
            means = (scores * weight).sum(1) / weight.sum(1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(means, wanted)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return network.eval().requires_grad_(False)


def _by_group(examples: Sequence[Example], other: bool) -> list[list[Example]]:
    groups: dict[str, list[Example]] = {}
    for example in examples:
        if example.other == other:
            groups.setdefault(example.group, []).append(example)
    return [groups[name] for name in sorted(groups)]


def _crop(
    groups: list[list[Example]], config: LanguageConfig, rate: float, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """States, misfit, weights of speech frames, and the label of a crop, padded."""
    group = groups[rng.integers(len(groups))]
    example = group[rng.integers(len(group))]
    size = round(config.longest * rate)
    count = round(rng.uniform(config.shortest, config.longest) * rate)
    first = int(rng.integers(max(1, len(example.speech) - count + 1)))
    part = slice(first, first + count)
    states = torch.zeros(size, example.states.shape[1])
    misfit, weight = torch.zeros(size), torch.zeros(size)
    own = example.speech[part].float()
    states[: len(own)] = example.states[part]
    misfit[: len(own)] = example.misfit[part]
    weight[: len(own)] = own + 1e-3  # a crop of silence has a mean, too
    return states, misfit, weight, torch.tensor(float(example.other))


def fold_of(speaker: str, folds: int, seed: int) -> int:
    """Fold of a speaker."""
    return int(np.random.default_rng([seed, *speaker.encode()]).integers(folds))


def out_of_fold(
    size: int,
    examples: Sequence[Example],
    config: LanguageConfig,
    frame_rate: float,
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[float, float]]:
    """:func:`prefix_means` of each example, by a network of other speakers."""
    folds = [fold_of(example.speaker, config.folds, config.seed) for example in examples]
    found: list[dict[float, float]] = [{} for _ in examples]
    for fold in range(config.folds):
        train = [e for e, own in zip(examples, folds, strict=True) if own != fold]
        if fold not in folds:
            continue
        network = fitted(size, train, config, frame_rate)
        for place, own in enumerate(folds):
            if own == fold:
                found[place] = prefix_means(network, examples[place], frame_rate)
        say(f"fold {fold + 1} of {config.folds} is scored")
    return found
