"""Training of the prosody verifier: standardisation and PLDA of prosody measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.verification.ivector import SpeakerSpace
from voicenym.verification.plda import PLDA
from voicenym.verification.prosody import KIND, METHOD, measure

if TYPE_CHECKING:
    from voicenym.training.speakers.train_ubm import Spoken


def train(
    speech: Sequence[Spoken],
    folder: Path,
    card: Mapping[str, Any],
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Estimate means, deviations and PLDA of prosody measures, and write them to a folder.

    Args:
        speech: of speakers that take part in no trial; copies of one recording, such as under
            several keys, have its name (:class:`voicenym.training.speech.speech_cache.Utterance`).
        folder: for the parameters.
        card: description of the training, stored beside the parameters.
        say: receives progress messages.

    Raises:
        VoicenymError: silence alone, fewer than two speakers, none with two recordings, too little
            speech, or a folder that cannot be written.
    """
    numbers = measure([recording.samples() for recording in speech])
    known = np.isfinite(numbers)
    measured = known.any(1)
    if not measured.any():
        raise VoicenymError("nothing but silence: prosody is estimated from speech")
    speakers = np.array([recording.speaker for recording in speech])[measured]
    names = [_name(speech[place], place) for place in np.flatnonzero(measured).tolist()]
    numbers, known = numbers[measured], known[measured]
    count = known.sum(0).clip(1)
    mean = np.where(known, numbers, 0.0).sum(0) / count
    variance = np.where(known, np.square(numbers - mean), 0.0).sum(0) / count
    scale = np.where(variance > 0.0, np.sqrt(variance), 1.0)
    standard = np.nan_to_num((numbers - mean) / scale)
    plda = PLDA.train(standard, speakers, normalise=False, recordings=names)
    model = plda.model
    space = SpeakerSpace(plda.centre, plda.projection, model.mean, model.within, model.between)
    tensors = {
        "mean": torch.from_numpy(mean),
        "scale": torch.from_numpy(scale),
        **space.tensors(),
    }
    write(folder, tensors, {"kind": KIND, "method": METHOD, "card": dict(card)})
    say(f"prosody of {len(speakers)} recordings of {len(set(speakers))} speakers")


def _name(spoken: Spoken, place: int) -> str:
    """Name of the recording that speech is a copy of; of speech without one, its place."""
    recording = getattr(spoken, "recording", None)
    return str(place) if recording is None else f"recording {recording.name}"
