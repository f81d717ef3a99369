"""Inverse-STFT synthesizer: ConvNeXt blocks at the frame rate, magnitude and phase of every bin.

After Siuzdak, "Vocos: closing the gap between time-domain and Fourier-based neural vocoders for
high-quality audio synthesis", ICLR 2024: ConvNeXt blocks (Liu et al., CVPR 2022) at the rate of
frames, a head that gives every bin's magnitude and phase, inverse STFT. All of its work is done a
hundred times a second instead of sixteen thousand times, in products of matrices.

Differences from Vocos: the input is content, F0 and speaker vector instead of mels; the speaker
also scales and shifts every block's normalisation (adaptive layer norm); and F0 enters as an
excitation, because frames alone do not determine the phase of the fundamental. ``excitation``
selects the form.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from voicenym.nets.convnext import Block, in_frames, reaches
from voicenym.nets.stft import InverseStft, Stft
from voicenym.nets.streaming import Conv, Memory, align
from voicenym.nets.synthesis.excitation import Noise, Phase, Pulses
from voicenym.nets.synthesis.synthesizer import Conditions, Synthesizer

HIGHEST_LOG = math.log(1e2)
"""Magnitudes are clipped here, as in Vocos, so that a bad frame cannot ruin training."""
EXCITATIONS = ("none", "phase", "filter")
WHOLE = slice(None)


class IstftVocoder(Synthesizer):
    """Synthesizer from content, F0 and speaker vector to spectra, and by inverse STFT to a
    waveform.

    Args:
        content, speaker: elements of a content frame and of a speaker vector.
        width, inner, blocks, kernel: of the ConvNeXt blocks; 512, 1536, 8, 7 are Vocos's and make
            about 14 million parameters, 256, 768, 4 about 2 million.
        fft, hop: in samples; ``fft`` is a multiple of ``hop``.
        rate: of the waveform, in Hz.
        pitch: see :class:`Conditions`.
        excitation: ``filter``: the head gives a filter for the spectrum of a pulse train and a
            magnitude for that of white noise, so that F0 is exact even for an undertrained network;
            ``phase``: sines and cosines of the running phase of the first ``harmonics`` at every
            frame, beside the content; ``none``, as Vocos.
        harmonics: for ``phase``.
        speaker_width: elements that the speaker is projected to beside the content; 0 to leave it.
        adaptive: whether the speaker scales and shifts every block's normalisation.
        lookahead: frames of content that the network looks ahead; None for as many as symmetric
            convolutions do. The inverse STFT needs :attr:`InverseStft.side` more.

    Raises:
        ValueError: if the settings do not fit each other.
    """

    kind = "istft-vocoder"

    def __init__(
        self,
        content: int,
        speaker: int,
        width: int = 512,
        inner: int = 1536,
        blocks: int = 8,
        kernel: int = 7,
        fft: int = 640,
        hop: int = 160,
        rate: int = 16_000,
        pitch: str = "log",
        excitation: str = "filter",
        harmonics: int = 16,
        speaker_width: int = 64,
        adaptive: bool = True,
        lookahead: int | None = None,
    ) -> None:
        super().__init__()
        if excitation not in EXCITATIONS:
            raise ValueError(f"excitation {excitation!r}: choose from {', '.join(EXCITATIONS)}")
        if lookahead is not None and not 0 <= lookahead < kernel:
            raise ValueError(f"lookahead {lookahead} must be less than the kernel {kernel}")
        self._config = {
            "content": content,
            "speaker": speaker,
            "width": width,
            "inner": inner,
            "blocks": blocks,
            "kernel": kernel,
            "fft": fft,
            "hop": hop,
            "rate": rate,
            "pitch": pitch,
            "excitation": excitation,
            "harmonics": harmonics,
            "speaker_width": speaker_width,
            "adaptive": adaptive,
            "lookahead": lookahead,
        }
        self.rate, self.hop = rate, hop
        self.noisy = excitation == "filter"
        self.harmonics = harmonics
        self.conditions = Conditions(content, speaker, pitch, speaker_width)
        self.inverse = InverseStft(fft, hop)
        inputs, parts = self.conditions.size, 2
        if excitation == "phase":
            self.phase = Phase(rate, hop)
            inputs += 2 * harmonics
        elif excitation == "filter":
            self.pulses, self.noise = Pulses(rate, hop), Noise()
            self.forward_pulses, self.forward_noise = Stft(fft, hop), Stft(fft, hop)
            parts = 3
        self.excitation = excitation
        self.enter = Conv(inputs, width, kernel, ahead=lookahead)
        self.first_norm = torch.nn.LayerNorm(width, eps=1e-6)
        ahead = None if lookahead is None else 0
        of_speaker = speaker if adaptive else 0
        self.blocks = torch.nn.ModuleList(
            Block(width, inner, kernel, of_speaker, ahead, 1.0 / blocks) for _ in range(blocks)
        )
        self.last_norm = torch.nn.LayerNorm(width, eps=1e-6)
        self.head = torch.nn.Linear(width, parts * (fft // 2 + 1))
        for part in self.modules():
            if isinstance(part, (torch.nn.Linear, torch.nn.Conv1d)) and part.bias is not None:
                torch.nn.init.trunc_normal_(part.weight, std=0.02)
                torch.nn.init.zeros_(part.bias)
        if excitation == "filter":
            # pulses and noise of unit power: begin at the level of speech
            torch.nn.init.constant_(self.head.bias, math.log(0.03))
            self.head.bias.data[fft // 2 + 1 : fft + 2] = 0.0  # but for the angles

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def use_bfloat16(self) -> IstftVocoder:
        """Stores the large matrices in bfloat16, for inference.

        Half of the memory, and up to twice as fast where the processor has instructions for it
        (AVX512-BF16, AMX); slower where it has not.
        """
        for block in self.blocks:
            block.widen.bfloat16()
            block.narrow.bfloat16()
        self.head.bfloat16()
        return self

    def synthesize(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        seed: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        return self._rendered(self._filters(content, f0, speaker, memory), f0, seed, memory)

    @property
    def has_filters(self) -> bool:
        """Whether :meth:`filters` and :meth:`rendered` are there."""
        return self.excitation == "filter"

    def filters(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        wanted: slice = WHOLE,
    ) -> torch.Tensor:
        """Filters ``[batch, frame, element]`` of the excitation in the frames of a window, which
        do not depend on its phase, so that windows of a stream can be computed by themselves.

        Args:
            content, f0, speaker: as of :meth:`forward`, of the window with its context.
            wanted: the frames that filters are wanted of; each layer computes no more than these
                depend on.
        """
        first, end, _ = wanted.indices(content.shape[1])
        behind, ahead = reaches([self.enter, *self.blocks])[0]
        start = max(0, first - behind)
        own = slice(start, min(content.shape[1], end + ahead))
        x = self._entered(content[:, own], f0[:, own], speaker, None)
        found = in_frames(self.blocks, x, speaker[:, None], slice(first - start, end - start))
        return self._output(self.last_norm(found))

    def rendered(
        self, filters: torch.Tensor, f0: torch.Tensor, seed: torch.Tensor, memory: Memory
    ) -> torch.Tensor:
        """Finished samples ``[batch, time]`` of the next frames of a stream.

        Args:
            filters: of these frames, of :meth:`filters`.
            f0: ``[batch, frame]`` of the same frames.
            seed: as of :meth:`forward`.
            memory: of the stream; its end, with ``last``, may have no frames.
        """
        return self._rendered(filters, f0, seed, memory)

    @property
    def rendering_latency(self) -> int:
        """Samples that :meth:`rendered` holds back."""
        return self.forward_pulses.wait + self.inverse.side * self.hop

    def _filters(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        """Output ``[batch, frame, element]`` of the network, late by its look-ahead in a stream."""
        return self._output(self.hidden(content, f0, speaker, memory))

    def hidden(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        memory: Memory | None = None,
    ) -> torch.Tensor:
        """Frames ``[batch, frame, width]`` before the output layer, late by the look-ahead of the
        blocks in a stream; arguments as of :meth:`synthesize`.
        """
        x = self._entered(content, f0, speaker, memory)
        voice = speaker[:, None]
        for block in self.blocks:
            x = block(x, voice, memory)
        return self.last_norm(x)  # type: ignore[no-any-return]

    def _entered(
        self,
        content: torch.Tensor,
        f0: torch.Tensor,
        speaker: torch.Tensor,
        memory: Memory | None,
    ) -> torch.Tensor:
        """``[batch, frame, width]`` before the blocks."""
        frames = self.conditions(content, f0, speaker)
        if self.excitation == "phase":
            frames = torch.cat([frames, self._phases(f0, memory)], dim=2)
        x = self.enter(frames.transpose(1, 2), memory).transpose(1, 2)
        return self.first_norm(x)  # type: ignore[no-any-return]

    def _output(self, hidden: torch.Tensor) -> torch.Tensor:
        """Filters, or magnitudes and angles, of :meth:`hidden`."""
        return self.head(hidden.to(self.head.weight.dtype)).float()  # type: ignore[no-any-return]

    def _rendered(
        self, x: torch.Tensor, f0: torch.Tensor, seed: torch.Tensor, memory: Memory | None
    ) -> torch.Tensor:
        """Waveform of the network's output."""
        if self.excitation == "filter":
            spectra = self._filtered(x, f0, seed, memory)
        else:
            size, angle = x.chunk(2, dim=2)
            spectra = torch.polar(size.clamp_max(HIGHEST_LOG).exp(), angle)
        return self.inverse(spectra, memory)

    def _phases(self, f0: torch.Tensor, memory: Memory | None) -> torch.Tensor:
        """Cosines and sines of the harmonics' phases at frame centres; 0 where unvoiced."""
        phase = self.phase(f0, memory)[:, self.hop // 2 :: self.hop, None]
        number = torch.arange(1, self.harmonics + 1, device=f0.device)
        turns = (2.0 * math.pi * (phase * number % 1.0)).float()
        there = (f0[:, :, None] > 0) & (f0[:, :, None] * number < self.rate / 2)
        return torch.cat([torch.cos(turns) * there, torch.sin(turns) * there], dim=2)

    def _filtered(
        self, x: torch.Tensor, f0: torch.Tensor, seed: torch.Tensor, memory: Memory | None
    ) -> torch.Tensor:
        """Spectra of pulses and noise, multiplied by the filters of the output layer."""
        pulses = self.pulses(f0, memory)
        noise = self.noise(pulses.shape[1], seed, memory)
        x, pulses, noise = align(
            memory,
            self,
            x,
            self.forward_pulses(pulses, memory),
            self.forward_noise(noise, memory),
            dim=1,
        )
        size, angle, breath = x.chunk(3, dim=2)
        tone = torch.polar(size.clamp_max(HIGHEST_LOG).exp(), angle)
        return tone * pulses + breath.clamp_max(HIGHEST_LOG).exp() * noise
