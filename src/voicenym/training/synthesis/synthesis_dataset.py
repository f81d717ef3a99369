"""What a synthesizer learns from: speech, and what a pipeline would tell it of that speech.

Content, F0 and speaker vectors are heard once, by the functions that hear them when a pipeline
anonymizes (:mod:`voicenym.resynthesis.pipeline.conditioning`), and kept in a folder that only its
owner can read: they are speech in disguise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from voicenym.nets.architectures import Network
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.content.content_encoder import RATE
from voicenym.resynthesis.pipeline import conditioning
from voicenym.resynthesis.pipeline.assembly import Assembly
from voicenym.training.content.train_units import identity, keep
from voicenym.training.speech.epoch_sampling import LongCrops
from voicenym.training.speech.speech_cache import Utterance

LONGEST_SECONDS = 4.0
"""Of an utterance kept out that is listened to in a validation, from its middle."""


@dataclass(frozen=True)
class SpokenTake:
    """An utterance, and what is told of it.

    Args:
        utterance: its samples.
        content: a ``.npy`` of the content encoder's frames, ``[frame, element]`` float32.
        f0: ``[frame]`` float32 in Hz, 0 where unvoiced, at the synthesizer's frames.
        vector: ``[element]`` float32, as the synthesizer hears it.
        hop: samples of the synthesizer's frame.
        every: of these frames, how many share one of content.
    """

    utterance: Utterance
    content: Path
    f0: np.ndarray
    vector: np.ndarray
    hop: int
    every: int

    @property
    def frames(self) -> int:
        """Of the synthesizer, full ones."""
        return self.utterance.length // self.hop


class SpokenCrop(NamedTuple):
    """A crop, or a batch of crops."""

    samples: torch.Tensor
    """``[time]`` float32."""
    content: torch.Tensor
    """``[frame, element]``."""
    f0: torch.Tensor
    """``[frame]`` in Hz."""
    vector: torch.Tensor
    """``[element]``."""


def analysed(
    utterances: Sequence[Utterance],
    parts: Assembly,
    folder: Path,
    device: str = "cpu",
    say: Callable[[str], None] = lambda text: None,
) -> list[SpokenTake]:
    """Hear utterances; what was heard before, by the same weights and tracker, is not heard again.

    Args:
        utterances: of any length; those of silence are left out.
        parts: whose content encoder, tracker, speaker encoder and settings are used; the networks
            are frozen, and back on the processor afterwards.
        folder: where what was heard is kept.
        device: where to compute.
        say: told how far it is.

    Raises:
        VoicenymError: it cannot be kept.
    """
    content, speaker, settings = parts.content, parts.speaker, parts.settings
    windows = conditioning.windows_of(parts, 1, "cpu")
    cut = {"step": windows.step, "context": windows.context}
    pitch = {**asdict(settings), "scale": "", "hop": parts.synthesizer.hop}
    places = {
        "content": folder / "content" / identity({**_called(content), **cut}),
        "pitch": folder / "pitch" / identity({**pitch, **cut}),
        "speaker": folder / "speaker" / identity(_called(speaker)),
    }
    hears: dict[str, Callable[[Assembly, torch.Tensor], torch.Tensor]] = {
        "content": conditioning.whole_content,
        "pitch": conditioning.whole_pitch,
        "speaker": conditioning.whole_vector,
    }
    for network in (content, speaker):
        network.to(device).eval().requires_grad_(False)
    made = []
    for done, utterance in enumerate(utterances, 1):
        files = {name: place / f"{utterance.path.stem}.npy" for name, place in places.items()}
        missing = [name for name, file in files.items() if not file.is_file()]
        if missing:
            samples = torch.from_numpy(utterance.samples()).to(device)
            if not samples.any():
                continue
            for name in missing:
                keep(files[name], hears[name](parts, samples).float().cpu().numpy())
        vector = torch.from_numpy(np.load(files["speaker"], allow_pickle=False))
        made.append(
            SpokenTake(
                utterance,
                files["content"],
                np.load(files["pitch"], allow_pickle=False),
                settings.scaled(vector[None])[0].numpy(),
                parts.synthesizer.hop,
                content.hop // parts.synthesizer.hop,
            )
        )
        if done % 500 == 0:
            say(f"{done} of {len(utterances)} recordings heard")
    for network in (content, speaker):
        network.to("cpu")
    return made


def _called(network: Network) -> dict[str, Any]:
    """What names a network: not its weights alone."""
    return {
        "kind": network.kind,
        "options": network.config(),
        "weights": fingerprint(network.state_dict()),
    }


def crop(take: SpokenTake, first: int, frames: int, peak: float) -> SpokenCrop:
    """Frames of a take, and the samples that they are of.

    Args:
        take: that has them.
        first: of the synthesizer's frames.
        frames: how many.
        peak: that the samples of the whole utterance have; 0 to leave them as they are.
    """
    of_content = np.load(take.content, mmap_mode="r", allow_pickle=False)
    start, stop = first // take.every, -(-(first + frames) // take.every)
    rows = np.repeat(of_content[start:stop], take.every, axis=0)
    before = first - start * take.every
    samples = take.utterance.samples(first * take.hop, frames * take.hop)
    if peak:
        samples = samples * (peak / max(1e-9, float(np.abs(take.utterance.samples()).max())))
    return SpokenCrop(
        torch.from_numpy(samples.astype(np.float32)),
        torch.from_numpy(rows[before : before + frames]),
        torch.from_numpy(take.f0[first : first + frames]),
        torch.from_numpy(take.vector),
    )


class SpokenCrops(LongCrops[SpokenTake, SpokenCrop]):
    """An epoch of crops; an utterance is drawn in proportion to its length.

    Args:
        takes: to crop; those shorter than a crop are left out.
        seconds: length of a crop, which is the nearest whole number of frames.
        peak: of an utterance, see :func:`crop`.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: nothing is long enough.
    """

    def __init__(
        self, takes: Sequence[SpokenTake], seconds: float, peak: float, count: int, seed: int
    ) -> None:
        hop = takes[0].hop if takes else 1
        self._frames = max(1, round(seconds * RATE / hop))
        self._peak = peak
        super().__init__(takes, lambda take: take.frames, self._frames, seconds, count, seed)

    def drawn(self, rng: np.random.Generator) -> SpokenCrop:
        take = self.takes[self.picked(rng)]
        first = int(rng.integers(take.frames - self._frames + 1))
        return crop(take, first, self._frames, self._peak)


class Middles(torch.utils.data.Dataset[SpokenCrop]):
    """Utterances' middles, :data:`LONGEST_SECONDS` at most: what a validation hears.

    Args:
        takes: to choose from, evenly in their order.
        peak: of an utterance, see :func:`crop`.
        count: of them, at most.
        least: frames; shorter takes are left out.
    """

    def __init__(self, takes: Sequence[SpokenTake], peak: float, count: int, least: int) -> None:
        able = [take for take in takes if take.frames >= least]
        chosen = np.linspace(0, len(able) - 1, min(count, len(able))).round().astype(int)
        self._takes = [able[i] for i in chosen]
        self._peak = peak

    def __len__(self) -> int:
        return len(self._takes)

    def __getitem__(self, index: int) -> SpokenCrop:
        take = self._takes[index]
        frames = min(take.frames, round(LONGEST_SECONDS * RATE / take.hop))
        return crop(take, (take.frames - frames) // 2, frames, self._peak)
