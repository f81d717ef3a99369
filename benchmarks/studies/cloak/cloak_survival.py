r"""Measures how much of a cloak survives codecs, a telephone band and loudness normalisation.

Found: the card of ``vcloak-small`` (``nets/cloak/bundled``) has the table.

    python benchmarks/studies/cloak/cloak_survival.py --speech DIR [--system vcloak] \
        [--speakers 40] [--set ...]

Speakers of a manifest's dev rows enrol with original speech; others of their recordings are tried
as they are and cloaked, both after each channel: MP3 at 64 kbit/s, Opus at 16 and 32, AAC at 32,
the 8 kHz of a telephone, and loudness normalised to -20 dB of full scale with clipping. Printed is
the equal error rate of an ignorant attacker for each verifier, with the 95 % interval over
speakers, beside that of the uncloaked recordings through the same channel, and how near trials lie
to their own speaker's enrolment (mean cosine).
"""

from __future__ import annotations

import argparse
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soxr
import torch

import voicenym
from voicenym.attack.denoisers import mp3
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics import eer
from voicenym.verification.verifiers import installed, verifier

RATE = 16_000
TELEPHONE = 8_000
LOUDNESS = 0.1
AAC_DELAY = 1_024


def coded(samples: np.ndarray, container: str, codec: str, bit_rate: int) -> np.ndarray:
    """``[time]`` at 16 kHz through a codec and back; its delay is the container's affair."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container) as out:
        stream = out.add_stream(codec, rate=RATE, layout="mono")
        stream.bit_rate = bit_rate
        frame = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        frame.sample_rate = RATE
        changer = av.AudioResampler(
            stream.codec_context.format, "mono", RATE, frame_size=stream.frame_size or None
        )
        for part in [*changer.resample(frame), *changer.resample(None)]:
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))
    buffer.seek(0)
    back = av.AudioResampler("fltp", "mono", RATE)
    with av.open(buffer) as source:
        frames = list(source.decode(audio=0))
    early = AAC_DELAY if codec == "aac" else 0  # containers tell the other delays
    parts = [f for frame in [*frames, None] for f in back.resample(frame)]
    whole = np.concatenate([part.to_ndarray()[0] for part in parts])[early:][: len(samples)]
    return np.pad(whole, (0, len(samples) - len(whole))).astype(np.float32)


def telephone(samples: np.ndarray) -> np.ndarray:
    narrow = soxr.resample(samples, RATE, TELEPHONE)
    whole = soxr.resample(narrow, TELEPHONE, RATE)[: len(samples)]
    return np.pad(whole, (0, len(samples) - len(whole))).astype(np.float32)


def loud(samples: np.ndarray) -> np.ndarray:
    level = max(float(np.sqrt(np.mean(samples**2))), 1e-9)
    return np.clip(samples * (LOUDNESS / level), -1.0, 1.0).astype(np.float32)


CHANNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda x: x,
    "MP3 64 kbit/s": lambda x: mp3(x, 64_000),
    "Opus 32 kbit/s": lambda x: coded(x, "ogg", "libopus", 32_000),
    "Opus 16 kbit/s": lambda x: coded(x, "ogg", "libopus", 16_000),
    "AAC 32 kbit/s": lambda x: coded(x, "mp4", "aac", 32_000),
    "8 kHz": telephone,
    "loudness": loud,
}


def chosen(found: list[Recording], count: int) -> list[Recording]:
    """Recordings of ``count`` speakers, half of each sex, in the order of their names."""
    taken: set[str] = set()
    for sex in "fm":
        taken |= set(sorted({r.speaker for r in found if r.sex == sex})[: count // 2])
    return [r for r in found if r.speaker in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True, help="folder with manifest.tsv")
    parser.add_argument("--system", default="vcloak")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--speakers", type=int, default=40)
    parser.add_argument("--corpus", default="speechocean762")
    parser.add_argument("--verifier", action="append", default=[])
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = {k: float(v) for k, v in (pair.split("=") for pair in options.set)}
    system = voicenym.load(options.system, **settings)
    # A benchmark's key is no secret: everyone must get the same figures.
    key = voicenym.Key(hashlib.sha256(b"voicenym benchmark cloak").digest(), None)
    speech = recordings(options.speech / "manifest.tsv", "dev", options.corpus)
    trials = build(chosen(speech, options.speakers), enrolment=4, trials=3)
    original = [recording.samples() for recording in trials.recordings]
    cloaked = [
        system(voicenym.Audio(torch.from_numpy(x), RATE), key.pseudonym(r.speaker)).samples.numpy()
        for x, r in zip(original, trials.recordings, strict=True)
    ]
    print(f"{system}, {options.speakers} speakers, {len(original)} trials")
    names = options.verifier or installed()
    ears = {name: verifier(name) for name in names}
    for name, ear in ears.items():
        models = np.stack(
            [unit(ear.embed([r.samples() for r in m.recordings])).mean(0) for m in trials.models]
        )
        print(f"{name:16s} {'original':>22s} {'cloaked':>22s} {'cosine to own':>20s}")
        for channel, through in CHANNELS.items():
            line, own = f"  {channel:14s}", []
            for signals in (original, cloaked):
                scores = unit(models) @ unit(ear.embed([through(x) for x in signals])).T
                target, other, speakers = split(scores, trials)
                found = eer(target, other, speakers, replicates=500)
                low, high = found.interval
                value = f"{100 * found.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
                line += f" {value:>22s}"
                own.append(float(target.mean()))
            print(f"{line} {own[0]:9.2f} -> {own[1]:.2f}", flush=True)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


if __name__ == "__main__":
    main()
