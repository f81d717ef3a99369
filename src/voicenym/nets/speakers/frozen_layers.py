"""Hidden states of a frozen speech network: Whisper's encoder, or a self-supervised model.

What the layers of such a network hold of a speaker survives much of what hides a voice from
filterbanks. Its weights stay as they were published, and a folder of a speaker encoder does not
hold them: it names them, with their digest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import gelu, layer_norm, pad

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fingerprint

STATE = 320
"""Samples of a state: 50 states a second at 16 kHz, in all supported networks."""
SOURCES = ("whisper", "wav2vec2", "hubert-soft")


class FrozenLayers(ABC):
    """The states after each layer of a frozen network.

    Attributes:
        count: layers there are; number 0 is what enters the first one.
        width: numbers in a state.
        digest: of the weights.
        most: states of the longest window.
    """

    count: int
    width: int
    digest: str
    most: int

    @torch.inference_mode()
    def __call__(self, waveforms: torch.Tensor, layers: tuple[int, ...]) -> torch.Tensor:
        """States ``[batch, layer, state, width]`` of waveforms ``[batch, time]`` at 16 kHz.

        Each state is normalised to mean 0 and variance 1. There is one for each 320 samples, the
        last ones padded. Recordings longer than a window are processed in windows.

        Args:
            waveforms: of one length, a sample at least.
            layers: numbers of the layers to return.

        Raises:
            VoicenymError: no such layer.
        """
        if bad := [layer for layer in layers if not 0 <= layer <= self.count]:
            raise VoicenymError(f"no layer {bad[0]}: the network has 0 to {self.count}")
        network = self.network()
        device = waveforms.device
        if next(network.parameters()).device != device:
            network.to(device)
        states = -(-waveforms.shape[1] // STATE)
        padded = pad(waveforms, (0, states * STATE - waveforms.shape[1]))
        parts = []
        for window in padded.split(self.most * STATE, dim=1):
            found = self.states(window, max(layers))
            parts.append(torch.stack([found[layer] for layer in layers], dim=1))
        return layer_norm(torch.cat(parts, dim=2), (self.width,))

    @abstractmethod
    def network(self) -> torch.nn.Module:
        """The network."""

    @abstractmethod
    def states(self, waveforms: torch.Tensor, last: int) -> list[torch.Tensor]:
        """States ``[batch, state, width]`` before the first layer and after each up to ``last``.

        Args:
            waveforms: ``[batch, state * 320]``, a window at most.
            last: number of the last layer that is needed.
        """


class WhisperLayers(FrozenLayers):
    """Whisper's encoder on windows as long as the recording, without padding to 30 s."""

    def __init__(self, place: Path) -> None:
        from voicenym.nets.words.whisper.whisper_published import published

        self._encoder = published(place, languages=True).network.encoder.eval()
        self.count = len(self._encoder.layers)
        self.most, self.width = self._encoder.positions.shape
        self.digest = fingerprint(self._encoder.state_dict())[:16]

    def network(self) -> torch.nn.Module:
        return self._encoder

    def states(self, waveforms: torch.Tensor, last: int) -> list[torch.Tensor]:
        count = waveforms.shape[1] // STATE
        spectra = self._encoder.spectra(waveforms)[..., : 2 * count]
        x = gelu(self._encoder.conv2(gelu(self._encoder.conv1(spectra)))).transpose(1, 2)
        found = [x + self._encoder.positions[:count]]
        for layer in self._encoder.layers[:last]:
            found.append(layer(found[-1]))
        return found


class ContentLayers(FrozenLayers):
    """wav2vec 2.0, HuBERT or WavLM, or HuBERT-soft, by the content encoder of a folder."""

    most = 20 * 50

    def __init__(self, kind: str, place: str) -> None:
        network: Any
        if kind == "wav2vec2":
            from voicenym.nets.content.wav2vec import Wav2Vec

            network = Wav2Vec.from_published(place)
            self._layers = network.model.encoder.layers
        else:
            from voicenym.nets.content.content_encoders import load
            from voicenym.nets.hub import place_of

            network = load(Path(place_of(place)))
            self._layers = network.encoder.layers
        self._network = network.eval()
        self.count = len(self._layers)
        self.digest = fingerprint(network.state_dict())[:16]
        self.width = self.states(torch.zeros(1, 10 * STATE), 1)[1].shape[2]

    def network(self) -> torch.nn.Module:
        return self._network

    @torch.inference_mode()
    def states(self, waveforms: torch.Tensor, last: int) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []

        def before(module: Any, inputs: Any) -> None:
            found.append(inputs[0])

        def after(module: Any, inputs: Any, output: Any) -> None:
            found.append(output[0] if isinstance(output, tuple) else output)

        hooks = [self._layers[0].register_forward_pre_hook(before)]
        hooks += [layer.register_forward_hook(after) for layer in self._layers]
        try:
            self._network.encode(waveforms)
        finally:
            for hook in hooks:
                hook.remove()
        return found


@lru_cache(maxsize=2)
def frozen_layers(kind: str, place: str) -> FrozenLayers:
    """The frozen network of a place, one instance a process.

    Args:
        kind: one of :data:`SOURCES`.
        place: name of the catalogue that was pulled, or a folder.

    Raises:
        DependencyError: a library is missing.
        VoicenymError: no such kind, or no such weights there.
    """
    from voicenym.nets.hub import place_of

    if kind == "whisper":
        return WhisperLayers(Path(place_of(place)))
    if kind in SOURCES:
        return ContentLayers(kind, place)
    raise VoicenymError(f"frozen: {kind!r}: choose from {', '.join(SOURCES)}")


def is_here(kind: str, place: str) -> bool:
    """Whether the frozen weights of a place are on this machine; it does not read them."""
    from voicenym.nets.hub import is_pulled

    return kind in SOURCES and (is_pulled(place) or Path(place).is_dir())
