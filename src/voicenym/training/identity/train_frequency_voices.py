"""Training of a map from formants and F0 to speaker vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.skipped import STRICT, LeftOut, reason
from voicenym.errors import CorpusError
from voicenym.nets.checkpoint import DIGEST, configuration
from voicenym.nets.identity.frequency_voices import FrequencyVoices
from voicenym.nets.speakers.formant_pitch_encoder import Formants, octaves
from voicenym.nets.speakers.speaker_encoders import load

LEAST_SPEAKERS = 16
LONGEST_SECONDS = 20.0
"""Part of a recording that is measured: its beginning suffices."""
FOLDS = 5


@torch.inference_mode()
def train(
    recordings: Sequence[Recording],
    speaker: Path,
    formants: int = 4,
    say: Callable[[str], None] = lambda text: None,
    left_out: LeftOut = STRICT,
) -> tuple[FrequencyVoices, float]:
    """Fit the map to recordings.

    Args:
        recordings: of sixteen speakers at least.
        speaker: folder of the encoder of vectors.
        formants: that go with F0.
        say: receives lines of progress.
        left_out: collects recordings that cannot be read; the default raises at the first one.

    Returns:
        The map, and the mean cosine of its vectors to those of held-out speakers, both less the
        mean vector, by five-fold cross-validation.

    Raises:
        CorpusError: too few speakers.
        DependencyError, VoicenymError: as :func:`voicenym.nets.speakers.speaker_encoders.load`.
    """
    encoder, measured = load(speaker), Formants(formants).eval()
    vectors: dict[str, list[torch.Tensor]] = {}
    frequencies: dict[str, list[torch.Tensor]] = {}
    for done, recording in enumerate(recordings, 1):
        try:
            samples = torch.from_numpy(recording.samples()[: round(LONGEST_SECONDS * RATE)])
            vector, frequency = encoder.embed([samples])[0], measured.embed([samples])[0]
        except Exception as error:
            left_out.add(recording.name, reason(error, recording.name))
        else:
            vectors.setdefault(recording.speaker, []).append(vector)
            frequencies.setdefault(recording.speaker, []).append(frequency)
        if done % 100 == 0:
            say(f"{done} of {len(recordings)} recordings analysed")
    if len(vectors) < LEAST_SPEAKERS:
        raise CorpusError(
            f"{len(vectors)} speakers are too few for a regression: give {LEAST_SPEAKERS} or more"
        )
    y = torch.stack([torch.stack(some).mean(0) for some in vectors.values()])
    x = torch.stack([octaves(torch.stack(some)).mean(0) for some in frequencies.values()])
    config = configuration(speaker)
    found = FrequencyVoices(
        encoder.size, formants, str(config["kind"]), str(config.get(DIGEST, ""))[:16]
    )
    unit = torch.nn.functional.normalize(y, dim=1)
    near = []
    for fold in range(FOLDS):
        out = torch.arange(len(x)) % FOLDS == fold
        found.learn(x[~out], y[~out])
        middle = unit[~out].mean(0)
        near.append(torch.cosine_similarity(found(x[out]) - middle, unit[out] - middle))
    found.learn(x, y)
    return found, float(torch.cat(near).mean())
