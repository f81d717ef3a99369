"""Training of a regression of F0 statistics on speaker vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.skipped import STRICT, LeftOut, reason
from voicenym.dsp.pitch.contour_changes import Moments
from voicenym.dsp.pitch.trackers import Tracker
from voicenym.errors import CorpusError
from voicenym.nets.checkpoint import DIGEST, configuration
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.speaker_encoders import load
from voicenym.resynthesis.pipeline.f0_regression import Register

LEAST_SPEAKERS = 8
LONGEST_SECONDS = 20.0
"""Part of a recording whose F0 is measured: its beginning suffices."""


def train(
    recordings: Sequence[Recording],
    speaker: Path,
    tracker: Tracker,
    say: Callable[[str], None] = lambda text: None,
    left_out: LeftOut = STRICT,
) -> tuple[Register, float]:
    """Fit the regression to recordings.

    Args:
        recordings: of eight speakers at least.
        speaker: folder of the encoder.
        tracker: of pitch.
        say: receives lines of progress.
        left_out: collects recordings that cannot be read; the default raises at the first one.

    Returns:
        The regression, and the standard deviation of its residuals for speakers' mean ln F0, by
        five-fold cross-validation.

    Raises:
        CorpusError: too few speakers.
        DependencyError, VoicenymError: as :func:`voicenym.nets.speakers.speaker_encoders.load`.
    """
    encoder = load(speaker)
    vectors: dict[str, list[torch.Tensor]] = {}
    pitch: dict[str, Moments] = {}
    for done, recording in enumerate(recordings, 1):
        try:
            samples = torch.from_numpy(recording.samples()[: round(LONGEST_SECONDS * RATE)])
            _f0_and_vector(encoder, tracker, samples, recording.speaker, vectors, pitch)
        except Exception as error:
            left_out.add(recording.name, reason(error, recording.name))
        if done % 100 == 0:
            say(f"{done} of {len(recordings)} recordings analysed")
    if len(vectors) < LEAST_SPEAKERS:
        raise CorpusError(
            f"{len(vectors)} speakers are too few for a regression: give {LEAST_SPEAKERS} or more"
        )
    x = torch.stack([torch.stack(some).mean(0) for some in vectors.values()])
    y = torch.stack([torch.cat(pitch[name].result()) for name in vectors])
    config = configuration(speaker)
    found = Register(encoder.size, str(config["kind"]), str(config.get(DIGEST, ""))[:16])
    left = []
    for fold in range(5):
        out = torch.arange(len(x)) % 5 == fold
        found.learn(x[~out], y[~out])
        left.append(found(x[out])[0] - y[out, 0])
    found.learn(x, y)
    return found, float(torch.cat(left).square().mean().sqrt())


@torch.inference_mode()
def _f0_and_vector(
    encoder: Encoder,
    tracker: Tracker,
    samples: torch.Tensor,
    speaker: str,
    vectors: dict[str, list[torch.Tensor]],
    pitch: dict[str, Moments],
) -> None:
    vector, f0 = encoder.embed([samples])[0], tracker(samples[None], RATE).f0
    vectors.setdefault(speaker, []).append(vector)
    pitch.setdefault(speaker, Moments(1)).add(f0)
