"""Dataset of synthesizers: speech, and the conditioning that a pipeline extracts from it.

Content, F0 and speaker vectors are extracted once, by the functions that a pipeline uses when it
anonymizes (:mod:`voicenym.resynthesis.pipeline.conditioning`), and stored in a folder that only its
owner can read, because speech can be rebuilt from them.
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
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.training.content.units.train_units import identity, keep
from voicenym.training.speech.epoch_sampling import LongCrops
from voicenym.training.speech.speech_cache import Utterance

LONGEST_SECONDS = 4.0
"""Seconds of a held-out utterance in a validation, from its middle."""


@dataclass(frozen=True)
class ConditionedUtterance:
    """An utterance and its conditioning.

    Args:
        utterance: its samples.
        content: a ``.npy`` of the content encoder's frames, ``[frame, element]`` float32.
        f0: ``[frame]`` float32 in Hz, 0 where unvoiced, at the synthesizer's frames.
        vector: ``[element]`` float32, scaled as the synthesizer's input.
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
        """Full frames of the synthesizer."""
        return self.utterance.length // self.hop


class SynthesisCrop(NamedTuple):
    """A crop, or a batch of crops."""

    samples: torch.Tensor
    """``[time]`` float32."""
    content: torch.Tensor
    """``[frame, element]``."""
    f0: torch.Tensor
    """``[frame]`` in Hz."""
    vector: torch.Tensor
    """``[element]``."""


def conditioned(
    utterances: Sequence[Utterance],
    parts: Assembly,
    folder: Path,
    device: str = "cpu",
    say: Callable[[str], None] = lambda text: None,
) -> list[ConditionedUtterance]:
    """Extract the conditioning of utterances; results of the same weights and tracker are reused.

    Args:
        utterances: of any length; those of silence are left out.
        parts: whose content encoder, tracker, speaker encoder and settings are used; the networks
            are frozen, and back on the processor afterwards.
        folder: of the cached results.
        device: where to compute.
        say: receives lines of progress.

    Raises:
        VoicenymError: results cannot be stored.
    """
    content, speaker, settings = parts.content, parts.speaker, parts.settings
    windows = conditioning.windows_of(parts, 1, "cpu")
    cut = {"step": windows.step, "context": windows.context}
    pitch = {**asdict(settings), "scale": "", "hop": parts.synthesizer.hop}
    places = {
        "content": content_place(parts, folder),
        "pitch": folder / "pitch" / identity({**pitch, **cut}),
        "speaker": folder / "speaker" / identity(_called(speaker)),
    }
    extractors: dict[str, Callable[[Assembly, torch.Tensor], torch.Tensor]] = {
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
                keep(files[name], extractors[name](parts, samples).float().cpu().numpy())
        vector = torch.from_numpy(np.load(files["speaker"], allow_pickle=False))
        made.append(
            ConditionedUtterance(
                utterance,
                files["content"],
                np.load(files["pitch"], allow_pickle=False),
                settings.scaled(vector[None])[0].numpy(),
                parts.synthesizer.hop,
                content.hop // parts.synthesizer.hop,
            )
        )
        if done % 500 == 0:
            say(f"{done} of {len(utterances)} recordings analysed")
    for network in (content, speaker):
        network.to("cpu")
    return made


def content_place(parts: Assembly, folder: Path) -> Path:
    """Folder of the content frames of a pipeline's encoder, one ``.npy`` for each utterance.

    Args:
        parts: with the encoder.
        folder: of the cached results.
    """
    windows = conditioning.windows_of(parts, 1, "cpu")
    cut = {"step": windows.step, "context": windows.context}
    return folder / "content" / identity({**_called(parts.content), **cut})


def _called(network: Network) -> dict[str, Any]:
    """Description of a network: kind, options and weights."""
    return {
        "kind": network.kind,
        "options": network.config(),
        "weights": fingerprint(network.state_dict()),
    }


def crop(item: ConditionedUtterance, first: int, frames: int, peak: float) -> SynthesisCrop:
    """Frames of an item, and their samples.

    Args:
        item: with the conditioning.
        first: of the synthesizer's frames.
        frames: number of frames.
        peak: of the whole utterance after normalisation; 0 for no normalisation.
    """
    of_content = np.load(item.content, mmap_mode="r", allow_pickle=False)
    start, stop = first // item.every, -(-(first + frames) // item.every)
    rows = np.repeat(of_content[start:stop], item.every, axis=0)
    before = first - start * item.every
    samples = item.utterance.samples(first * item.hop, frames * item.hop)
    if peak:
        samples = samples * (peak / max(1e-9, float(np.abs(item.utterance.samples()).max())))
    return SynthesisCrop(
        torch.from_numpy(samples.astype(np.float32)),
        torch.from_numpy(rows[before : before + frames]),
        torch.from_numpy(item.f0[first : first + frames]),
        torch.from_numpy(item.vector),
    )


class SynthesisCrops(LongCrops[ConditionedUtterance, SynthesisCrop]):
    """An epoch of crops; an utterance is drawn in proportion to its length.

    Args:
        items: to crop; those shorter than a crop are left out.
        seconds: length of a crop, which is the nearest whole number of frames.
        peak: of an utterance, see :func:`crop`.
        count: crops in an epoch.
        seed: of the draws.

    Raises:
        CorpusError: nothing is long enough.
    """

    def __init__(
        self,
        items: Sequence[ConditionedUtterance],
        seconds: float,
        peak: float,
        count: int,
        seed: int,
    ) -> None:
        hop = items[0].hop if items else 1
        self._frames = max(1, round(seconds * RATE / hop))
        self._peak = peak
        super().__init__(items, lambda item: item.frames, self._frames, seconds, count, seed)

    def drawn(self, rng: np.random.Generator) -> SynthesisCrop:
        item = self.items[self.picked(rng)]
        first = int(rng.integers(item.frames - self._frames + 1))
        first -= first % item.every  # whole frames of content
        return crop(item, first, self._frames, self._peak)


class CentreCrops(torch.utils.data.Dataset[SynthesisCrop]):
    """Centres of utterances, :data:`LONGEST_SECONDS` at most, for validation.

    Args:
        items: to choose from, evenly in their order.
        peak: of an utterance, see :func:`crop`.
        count: of them, at most.
        least: frames; shorter utterances are left out.
    """

    def __init__(
        self, items: Sequence[ConditionedUtterance], peak: float, count: int, least: int
    ) -> None:
        able = [item for item in items if item.frames >= least]
        chosen = np.linspace(0, len(able) - 1, min(count, len(able))).round().astype(int)
        self._items = [able[i] for i in chosen]
        self._peak = peak

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> SynthesisCrop:
        item = self._items[index]
        frames = min(item.frames, round(LONGEST_SECONDS * RATE / item.hop))
        return crop(item, (item.frames - frames) // 2, frames, self._peak)
