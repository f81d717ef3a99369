"""Measures whether resynthesis sounds like the speaker in a copy and like the target otherwise.

Found: it does; most of the words are lost in a copy already (``docs/research/base.md``).

    pip install -e .[evaluate]
    python benchmarks/studies/synthesis/copy_synthesis.py --speech DIR [--speakers 20]
        [--weights DIR]

On speakers of speechocean762's dev, whom the bundled model did not learn from, two utterances each.

Copy synthesis: an utterance is rebuilt with its own speaker's vector and pitch. Mel distance to the
original (mean absolute difference of natural logarithms), median error of F0 in cents where both
are voiced, share of frames voiced in one only, cosine of speaker vectors between copy and original,
beside that of two utterances of the speaker. The same figures without content (zeros) and with the
average speaker's vector show the effect of content and vector.

Resultant vectors (Turner et al., "Generating identities with mixture models for speaker
anonymization", 2022, section 4.4): an utterance is synthesized in drawn voices. Cosine of the
output's vector to the target's, to the source's, and, for chance, to another target's. Vectors are
less the mean of the training's speakers, so that chance is about zero.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile
import torch

from voicenym import Key
from voicenym.dsp.pitch.online import track
from voicenym.nets.content.bottleneck import EVERY, HOP, RATE
from voicenym.nets.synthesis import synthesis_losses
from voicenym.resynthesis.bundled.analysis import AveragesReader
from voicenym.resynthesis.bundled.base_core import ResynthesisCore, Voice
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.resynthesis.common.averages import Averages
from voicenym.systems.base import Base
from voicenym.verification.verifiers import encoder_of

REPLICATES = 1000


def utterances(speech: Path, speakers: int) -> dict[str, list[torch.Tensor]]:
    """Two utterances ``[1, time]`` of each speaker, of at least two seconds."""
    found: dict[str, list[torch.Tensor]] = defaultdict(list)
    with (speech / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["corpus"] != "speechocean762" or row["split"] != "dev":
                continue
            own = found[row["speaker"]]
            if len(own) < 2:
                samples, _ = soundfile.read(speech / row["path"], dtype="float32")
                if len(samples) >= 2 * RATE:
                    whole = len(samples) // (EVERY * HOP) * EVERY * HOP
                    own.append(torch.from_numpy(samples[:whole])[None])
    able = [name for name in sorted(found) if len(found[name]) == 2]
    return {able[i]: found[able[i]] for i in np.linspace(0, len(able) - 1, speakers).astype(int)}


def spoken(parts: Parts, signal: torch.Tensor, voice: Voice, known: Averages) -> torch.Tensor:
    core = ResynthesisCore(parts, voice, known)
    return torch.cat([core.push(signal), core.flush()], dim=1)


def of(signal: torch.Tensor, parts: Parts) -> Averages:
    reader = AveragesReader(parts, 1, None)
    reader.push(signal)
    return reader.result()


def own(vector: torch.Tensor, known: Averages) -> Voice:
    """A speaker's vector ``[element]`` with the pitch of a recording."""
    seed = torch.zeros(1, dtype=torch.int64)
    return Voice(vector[None], known.log_f0, known.log_f0_std, seed)


def pitch_errors(real: torch.Tensor, fake: torch.Tensor) -> tuple[float, float]:
    """Median error in cents, and percent of frames that are voiced in one only."""
    one, other = track(real[0].numpy(), RATE), track(fake[0].numpy(), RATE)
    both = (one > 0) & (other > 0)
    cents = 1200 * np.abs(np.log2(one[both] / other[both]))
    return float(np.median(cents)), 100 * float(((one > 0) != (other > 0)).mean())


def told(name: str, values: list[float]) -> None:
    """Mean and its interval by bootstrap over speakers."""
    table = np.array(values)
    drawn = table[np.random.default_rng(0).integers(0, len(table), (REPLICATES, len(table)))]
    low, high = np.percentile(drawn.mean(1), [2.5, 97.5])
    print(f"{name:60s} {table.mean():8.3f} ({low:.3f} to {high:.3f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--speakers", type=int, default=20)
    parser.add_argument("--weights", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    system = Base(weights=options.weights)
    parts, encoder, mel = system.parts, encoder_of("ecapa-small"), synthesis_losses.LogMel()
    key = Key(bytes(32), None)
    figures: dict[str, list[float]] = defaultdict(list)
    middle = parts.voices.mean

    def centred(signal: torch.Tensor) -> torch.Tensor:
        return unit(encoder.embed([signal[0]])[0]) - middle

    def unit(vector: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vector, dim=0) * len(vector) ** 0.5

    def cosine(one: torch.Tensor, other: torch.Tensor) -> float:
        return float(torch.nn.functional.cosine_similarity(one, other, dim=0))

    for name, (signal, again) in utterances(options.speech, options.speakers).items():
        known, source = of(signal, parts), centred(signal)
        copy = spoken(parts, signal, own(source + middle, known), known)
        cents, flips = pitch_errors(signal, copy)
        nobody = spoken(parts, signal, own(unit(middle), known), known)
        figures["copy: mel distance"].append(
            float(synthesis_losses.mel_distance(signal, copy, mel))
        )
        figures["average speaker's vector: mel distance"].append(
            float(synthesis_losses.mel_distance(signal, nobody, mel))
        )
        figures["copy: F0 error, cents"].append(cents)
        figures["copy: frames voiced in one only, %"].append(flips)
        figures["copy: cosine to the original"].append(cosine(centred(copy), source))
        figures["another utterance: cosine to the original"].append(cosine(centred(again), source))
        drawn = system.voice([key.pseudonym(name), key.pseudonym(f"not {name}")])
        one = Voice(drawn.vectors[:1], drawn.log_f0[:1], drawn.log_f0_std[:1], drawn.seeds[:1])
        result = centred(spoken(parts, signal, one, known))
        figures["drawn voice: cosine to its target"].append(
            cosine(result, drawn.vectors[0] - middle)
        )
        figures["drawn voice: cosine to the source"].append(cosine(result, source))
        figures["drawn voice: cosine to another target"].append(
            cosine(result, drawn.vectors[1] - middle)
        )
    for name, values in figures.items():
        told(name, values)


if __name__ == "__main__":
    main()
