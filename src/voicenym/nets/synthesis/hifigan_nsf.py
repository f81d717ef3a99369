"""HiFi-GAN with a harmonic excitation: the synthesizer of baseline B1.b.

The source of the neural source-filter model (:mod:`voicenym.nets.synthesis.excitation`), 8
harmonics merged to one signal, is downsampled to the rate of every stage of HiFi-GAN by a
convolution and added there. VoicePrivacy 2022 evaluation plan, baseline B1.b: 256 elements of
content, 512 of the speaker, F0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.functional import leaky_relu

from voicenym.nets.streaming import Conv, Memory, align
from voicenym.nets.synthesis.excitation import Sines
from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.hifigan_generator import SLOPE, Generator, GeneratorSize
from voicenym.nets.weights.weight_norm import normalize_weights


class Source(torch.nn.Module):
    """Harmonics merged to one excitation by learned weights, within [-1, 1].

    Args:
        rate: in Hz.
        hop: samples of a frame.
        harmonics: the fundamental included.
    """

    def __init__(self, rate: int, hop: int, harmonics: int = 8) -> None:
        super().__init__()
        self.sines = Sines(rate, hop, harmonics)
        self.l_linear = torch.nn.Linear(harmonics, 1)

    def forward(
        self, f0: torch.Tensor, seed: torch.Tensor, memory: Memory | None = None
    ) -> torch.Tensor:
        """Excitation ``[batch, 1, frame * hop]`` of F0 ``[batch, frame]`` in Hz."""
        weight, bias = self.l_linear.weight, self.l_linear.bias
        sines = self.sines(f0, seed, memory).to(weight)
        return torch.tanh(torch.matmul(weight, sines) + bias)


def source_convolutions(size: GeneratorSize, inputs: int = 1) -> torch.nn.ModuleList:
    """Convolutions of an excitation to the rate and channels of each stage of a generator.

    Args:
        size: of the generator.
        inputs: signals of the excitation.
    """
    found = torch.nn.ModuleList()
    for i in range(len(size.rates)):
        step = math.prod(size.rates[i + 1 :])
        channels = size.channels >> (i + 1)
        # twice the step, so that neighbours overlap; at the last stage the sample itself
        kernel = 2 * step if step > 1 else 1
        found.append(Conv(inputs, channels, kernel, stride=step))
    return found


def generated(
    generator: Generator,
    convolutions: torch.nn.ModuleList,
    frames: torch.Tensor,
    source: torch.Tensor,
    memory: Memory | None,
) -> torch.Tensor:
    """Waveform ``[batch, time]`` of a generator to whose stages an excitation is added.

    Args:
        generator: of HiFi-GAN.
        convolutions: of :func:`source_convolutions`.
        frames: ``[batch, input, frame]``; in a stream the source may be ahead of them.
        source: ``[batch, signal, time]``.
        memory: of a stream.
    """
    x = generator.conv_pre(frames, memory)
    for i, merge in enumerate(convolutions):
        x = generator.ups[i](leaky_relu(x, SLOPE), memory)
        x, excitation = align(memory, (merge, "excitation"), x, merge(source, memory))
        x = generator.refine(i, x + excitation, memory)
    return generator.finish(x, memory)


class HifiGanNsf(HifiGan):
    """HiFi-GAN with a harmonic excitation; see :class:`HifiGan` for the arguments.

    Args:
        content, speaker: elements; the baseline's are 256 and 512.
        harmonics: of the source.
    """

    kind = "hifigan-nsf"
    noisy = True

    def __init__(
        self,
        content: int = 256,
        speaker: int = 512,
        size: GeneratorSize | Mapping[str, Any] | None = None,
        rate: int = 16_000,
        pitch: str = "hertz",
        width: int = 0,
        weight_norm: bool = False,
        harmonics: int = 8,
    ) -> None:
        super().__init__(content, speaker, size, rate, pitch, width, weight_norm)
        self._config["harmonics"] = harmonics
        self.m_source = Source(rate, self.hop, harmonics)
        self.noise_convs = source_convolutions(self.generator.size)
        if weight_norm:
            normalize_weights(self.noise_convs)

    def synthesize(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        source = self.m_source(f0, seed, memory)
        frames = self.conditions(content, f0, speaker).transpose(1, 2)
        return generated(self.generator, self.noise_convs, frames, source, memory)
