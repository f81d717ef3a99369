"""Measures how well the content of a resynthesis system identifies the speaker.

Found: the means of content over a recording identify speakers best (18.3 % EER, 12.9 with
covariances); normalised content with its noise 27.5 (``docs/research/base.md``).

    pip install -e .[evaluate]
    python benchmarks/studies/speakers/content_speakers.py --speech DIR [--weights DIR]
        [--half tune]

The attackers read the content itself, not the output synthesized from it: their EER is a lower
limit for attackers of the output by content (pitch, level and timing are not used). Content is
taken as encoded, with the noise that bounds its bits, and normalised over all speakers
(:mod:`voicenym.resynthesis.bundled.content_normalisation`). Attackers train on every third
recording of speechocean762's train; trials are of the speakers of one half of dev, six enrolment
recordings and five trials, of one sex, pooled. EER in % of three attackers, each a two-covariance
model: of the mean over frames with speech, of mean and covariance, and of supervectors (first-order
statistics of a mixture of 48 Gaussians over content and its slope).
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import torch
from sklearn.mixture import GaussianMixture

from voicenym.metrics.trials.scores import Speakers
from voicenym.metrics.verification.eer import EER, eer
from voicenym.nets.content.bottleneck import EVERY, HOP
from voicenym.resynthesis.bundled.content_normalisation import ContentStatistics, counted
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.resynthesis.common.averages import Sums
from voicenym.systems.base import BUNDLED
from voicenym.verification.plda import PLDA

Array = npt.NDArray[np.float64]
ENROLMENT, TRIED = 6, 5
COMPONENTS, DIMENSIONS, RELEVANCE = 48, 150, 8.0


@dataclass(frozen=True)
class Said:
    """A recording's content.

    Args:
        speaker, sex, tried: the speaker, and whether the recording is for trials or for training.
        numbers: ``[frame, size]``.
        level: ``[frame * 2]``.
    """

    speaker: str
    sex: str
    tried: bool
    numbers: torch.Tensor
    level: torch.Tensor

    @property
    def sums(self) -> torch.Tensor:
        return counted(self.numbers[None], self.level[None])

    def spoken(self, numbers: torch.Tensor) -> Array:
        """Frames with speech."""
        inside = self.sums[0, :, 0] > 0.5
        return (numbers[inside] if inside.sum() > 10 else numbers).double().numpy()


def rows_of(speech: Path, half: str) -> list[dict[str, str]]:
    """Lines of the manifest: every third recording of train, and those of one half of dev."""
    with (speech / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if row["corpus"] == "speechocean762"]
    speakers = sorted({row["speaker"] for row in rows if row["split"] == "dev"})
    tried = speakers[0 if half == "tune" else 1 :: 2]
    learnt = [row for row in rows if row["split"] == "train"][::3]
    return [*learnt, *(row for row in rows if row["speaker"] in tried)]


def heard(speech: Path, parts: Parts, half: str) -> list[Said]:
    """Content without noise of all recordings for training and trials."""
    found = []
    for row in rows_of(speech, half):
        samples, _ = soundfile.read(speech / row["path"], dtype="float32")
        whole = len(samples) // (EVERY * HOP) * EVERY * HOP
        with torch.inference_mode():
            frames = parts.content.front_end(torch.from_numpy(samples[:whole])[None])
            sums = Sums(1, frames.bands.shape[2])
            sums.add_frames(frames, torch.ones_like(frames.power))
            averages = sums.averages()
            numbers = parts.content.encode(frames.bands - averages.bands[:, None])[0]
        level = (frames.power - averages.power[:, None])[0]
        found.append(Said(row["speaker"], row["gender"], row["split"] == "dev", numbers, level))
    return found


def mean(spoken: Array) -> Array:
    average: Array = spoken.mean(0)
    return average


def moments(spoken: Array) -> Array:
    """Mean, and logarithm of the covariance."""
    values, vectors = np.linalg.eigh(np.cov(spoken.T) + 1e-3 * np.eye(spoken.shape[1]))
    logarithm = (vectors * np.log(values)) @ vectors.T
    return np.concatenate([spoken.mean(0), logarithm[np.triu_indices(len(values))]])


def supervectors(learnt: list[Array]) -> Callable[[Array], Array]:
    """Supervector of a recording by a trained mixture."""
    frames = np.concatenate([sloped(one) for one in learnt[::3]])
    mixture = GaussianMixture(
        COMPONENTS, covariance_type="diag", max_iter=25, random_state=0, init_params="k-means++"
    ).fit(frames[::3])

    def statistics(spoken: Array) -> Array:
        x = sloped(spoken)
        shares = mixture.predict_proba(x)
        count = shares.sum(0)[:, None]
        shift = (shares.T @ x - count * mixture.means_) / (count + RELEVANCE)
        scaled: Array = shift / np.sqrt(mixture.covariances_) * np.sqrt(mixture.weights_)[:, None]
        return scaled.ravel()

    vectors = np.array([statistics(one) for one in learnt])
    axes = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)[2][:DIMENSIONS]
    return lambda spoken: axes @ (statistics(spoken) - vectors.mean(0))


def sloped(spoken: Array) -> Array:
    around = np.pad(spoken, ((2, 2), (0, 0)), "edge")
    return np.concatenate([spoken, around[4:] - around[:-4]], axis=1)


def attack(found: list[Said], spoken: list[Array], feature: Callable[[Array], Array]) -> EER:
    """EER of trials of one sex, with its interval over speakers."""
    vectors = np.array([feature(one) for one in spoken])
    known = np.array([not one.tried for one in found])
    centre, scale = vectors[known].mean(0), vectors[known].std(0) + 1e-9
    vectors = (vectors - centre) / scale
    names = [one.speaker for one in found if not one.tried]
    plda = PLDA.train(vectors[known], names, normalise=False)
    own: dict[str, list[int]] = {}
    for place, one in enumerate(found):
        if one.tried:
            own.setdefault(one.speaker, []).append(place)
    who = {speaker: number for number, speaker in enumerate(own)}
    sexes = np.array([found[places[0]].sex for places in own.values()])
    trials = [p for places in own.values() for p in places[ENROLMENT : ENROLMENT + TRIED]]
    scores = plda.score([vectors[p[:ENROLMENT]] for p in own.values()], vectors[trials])
    speaking = np.array([who[found[trial].speaker] for trial in trials])
    models, tried = np.nonzero(sexes[:, None] == sexes[speaking])
    pairs = np.stack([models, speaking[tried]], axis=1)
    same = pairs[:, 0] == pairs[:, 1]
    values = scores[models, tried]
    return eer(values[same], values[~same], Speakers(pairs[same], pairs[~same]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--weights", type=Path, default=BUNDLED)
    parser.add_argument("--half", choices=["tune", "report"], default="tune")
    options = parser.parse_args()
    parts = Parts.load(options.weights)
    found = heard(options.speech, parts, options.half)
    sums = torch.stack([one.sums.sum(1)[0] for one in found])
    everybody = ContentStatistics(parts.content.size)
    everybody.learn(sums[[not one.tried for one in found]])
    features = ("mean", "mean and covariance", "supervectors")
    print(f"{'content':28s} " + " ".join(f"{name:>20s}" for name in features))
    for alike, bounded in itertools.product((False, True), repeat=2):
        spoken = []
        for number, (one, own) in enumerate(zip(found, sums, strict=True)):
            said = one.numbers[None]
            if alike:
                said = everybody(said, everybody.map(own[None]))
            if bounded:
                said = parts.content.noisy(said, torch.tensor([number]))
            spoken.append(one.spoken(said[0]))
        learnt = [s for s, one in zip(spoken, found, strict=True) if not one.tried]
        told = [attack(found, spoken, f) for f in (mean, moments, supervectors(learnt))]
        name = ("alike in everybody" if alike else "as encoded") + (", noisy" if bounded else "")
        rates = [
            f"{100 * t.value:.1f} ({100 * t.interval[0]:.1f}-{100 * t.interval[1]:.1f})"
            for t in told
        ]
        print(f"{name:28s} " + " ".join(f"{rate:>20s}" for rate in rates), flush=True)


if __name__ == "__main__":
    main()
