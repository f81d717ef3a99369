"""Training of language scores: a content encoder's own language against others.

Examples are joined recordings of a speaker; half of the draws are of the own language, and each
corpus or language is drawn as often as the others, so that no large one decides. Noise and tones
count as the own language: what is no speech is not refused. Speakers are split into folds; scores
of the folds that a network did not learn from give the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.resynthesis.pipeline.language_check import speech_frames
from voicenym.training.speech.augmentation import Surroundings

PREFIXES = (1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
"""Seconds of speech for which the limit is found."""
NO_SPEECH = "no speech"
"""Group of noise and tones."""


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


class Example(NamedTuple):
    """Joined speech of a speaker.

    Args:
        states: ``[frame, element]``, float16, and the following of
            :meth:`voicenym.nets.content.content_encoder.Content.language_evidence`.
        misfit: ``[frame]``.
        speech: ``[frame]`` bool.
        other: whether it is of another language.
        speaker: the speaker.
        group: corpus or language.
    """

    states: torch.Tensor
    misfit: torch.Tensor
    speech: torch.Tensor
    other: bool
    speaker: str
    group: str


def joined(recordings: Iterable[np.ndarray], seconds: float, most: int) -> Iterator[np.ndarray]:
    """Recordings ``[time]`` of a speaker, joined to at most that many signals of so many seconds.

    The last one may be shorter, to a quarter.
    """
    whole, parts, held = round(seconds * RATE), [np.zeros(0, np.float32)], 0
    for samples in recordings:
        parts.append(samples[: whole - held])
        held += len(parts[-1])
        if held >= whole:
            yield np.concatenate(parts)
            most, parts, held = most - 1, [], 0
            if not most:
                return
    if held >= whole // 4:
        yield np.concatenate(parts)


def no_speech(count: int, seconds: float, seed: int) -> Iterator[np.ndarray]:
    """Coloured noise, and chords of tones with an attack, ``[time]`` float32 at 16 kHz."""
    time = np.arange(round(seconds * RATE)) / RATE
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        if number % 2:
            power = np.fft.rfft(rng.standard_normal(len(time)))
            power /= np.maximum(np.fft.rfftfreq(len(time), 1 / RATE), 50.0) ** rng.uniform(0.0, 1.0)
            signal = np.fft.irfft(power, len(time))
            rhythm = rng.uniform(0.5, 6.0)
            signal *= 1.0 + rng.uniform(0.0, 1.0) * np.sin(2 * np.pi * rhythm * time)
        else:
            beat = rng.uniform(0.15, 0.8)
            signal = np.zeros(len(time))
            for start in np.arange(0.0, seconds, beat):
                past = np.clip(time - start, 0.0, None)
                shape = np.exp(-past * rng.uniform(2.0, 8.0)) * (time >= start)
                for note in rng.choice(48, rng.integers(1, 4), replace=False):
                    hertz = 110.0 * 2.0 ** (note / 12.0)
                    for harmonic in range(1, 5):
                        signal += shape * np.sin(2 * np.pi * harmonic * hertz * past) / harmonic**2
        yield (rng.uniform(0.05, 0.5) * signal / np.abs(signal).max()).astype(np.float32)


@torch.inference_mode()
def analysed(
    content: Content, samples: np.ndarray, other: bool, speaker: str, group: str
) -> Example | None:
    """Example of a signal ``[time]``; None without misfits or speech."""
    hop = content.hop
    signal = torch.from_numpy(samples[: len(samples) // hop * hop])[None]
    if not signal.any():
        return None
    states, misfit = content.language_evidence(signal)
    speech = speech_frames(signal, hop)[0]
    if not speech.any():
        return None
    return Example(states[0].half(), misfit[0], speech, other, speaker, group)


def changed(samples: np.ndarray, generator: torch.Generator) -> np.ndarray:
    """The signal ``[time]`` with noise, a room or a narrow band."""
    surroundings = Surroundings(noise=0.5, babble=0.0, room=0.4, band=0.4, snr=(8.0, 25.0))
    return surroundings(torch.from_numpy(samples)[None], generator)[0].numpy()


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
        raise CorpusError("there is no speech of one of the two sides; give --data and --other")
    rng = np.random.default_rng(config.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
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


@torch.inference_mode()
def prefix_means(network: LanguageScores, example: Example, rate: float) -> dict[float, float]:
    """Mean scores of the first :data:`PREFIXES` seconds of an example's speech, as far as it has
    them.
    """
    scores = network(example.states[None].float(), example.misfit[None])[0][example.speech]
    found = {}
    for seconds in PREFIXES:
        count = round(seconds * rate)
        if count <= len(scores):
            found[seconds] = float(scores[:count].mean())
    return found


def limits(means: Sequence[dict[float, float]], alarms: float) -> tuple[float, float]:
    """Limit and spread, so that at most a share of the examples of each length is above.

    Args:
        means: of :func:`prefix_means`, of examples of the own language.
        alarms: the share.

    Returns:
        ``limit`` and ``spread`` of :meth:`LanguageScores.most`: the least squares line through the
        quantiles over 1 / sqrt(seconds), raised above all of them.

    Lengths of fewer than 1 / alarms examples do not count.

    Raises:
        CorpusError: too few examples are long enough.
    """
    quantiles = [
        (seconds**-0.5, float(np.quantile(some, 1.0 - alarms)))
        for seconds in PREFIXES
        if len(some := [one[seconds] for one in means if seconds in one]) * alarms >= 1.0
    ]
    if not quantiles:
        raise CorpusError(
            f"fewer than {1 / alarms:.0f} examples have {PREFIXES[0]} s of speech; give more "
            "speakers"
        )
    x, y = np.array(quantiles).T
    slope = float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else 0.0
    spread = max(0.0, slope)
    return float((y - spread * x).max()), spread


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
