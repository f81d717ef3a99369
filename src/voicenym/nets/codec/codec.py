"""MUSA codec: speech encoder, speaker subtraction, residual quantisation, decoder.

Yao et al., "MUSA" (2024), section III. Frames x of the speech encoder and the speaker vector s have
the same size; r = x - s (equation 3) is quantised, and a speaker vector is added to the result: s
itself, an empty one, or any other. (The paper says "concatenated" in its overview and "added" in
the description of the step; the sizes are those of a sum.)
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from pathlib import Path
from typing import Any, NamedTuple

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.codec.codec_config import CodecConfig, sizes
from voicenym.nets.codec.quantizer import Quantized, ResidualQuantizer
from voicenym.nets.codec.spectral_coder import SpectralDecoder, SpectralEncoder
from voicenym.nets.codec.style_encoder import LEAST_SAMPLES, SpeakerEncoder
from voicenym.nets.codec.waveform_coder import Decoder, SpeechEncoder
from voicenym.nets.identity.householder_network import Householder
from voicenym.nets.streaming import Memory
from voicenym.nets.weights.integer_weights import dequantised, quantised

KIND = "musa"
RATE = 16_000
MOST_SAMPLES = 30 * RATE
"""Longest input of one pass; longer recordings are processed in windows."""
CONTEXT = 2 * RATE
"""Context of a window on either side, in samples."""


class Coded(NamedTuple):
    """Output of the codec in training.

    Args:
        waveform: ``[batch, time]``.
        quantized: frames without the speaker.
        own: ``[batch, size]``, the speaker vector that was subtracted.
    """

    waveform: torch.Tensor
    quantized: Quantized
    own: torch.Tensor


class Codec(torch.nn.Module):
    """Speech encoder, speaker encoder, residual quantiser and decoder.

    Args:
        config: sizes.

    Attributes:
        hop: samples of a frame: 320 as published, 50 frames a second.
        voices: mean and covariance of speakers' vectors in training, a rotation of no layers.

    Example:
        >>> codec = Codec(CodecConfig(channels=2, size=8, entries=4, speaker=8)).eval()
        >>> speech = torch.zeros(1, 16_000)
        >>> own = codec.speaker(speech)
        >>> codec.convert(speech, own, torch.zeros_like(own)).shape
        torch.Size([1, 16000])
    """

    def __init__(self, config: CodecConfig | None = None) -> None:
        super().__init__()
        self.sizes = config = config or CodecConfig()
        self.encoder: SpeechEncoder | SpectralEncoder
        self.decoder: Decoder | SpectralDecoder
        self.encoder, self.decoder = _ends(config)
        self.speakers = SpeakerEncoder(config.size, config.speaker)
        self.quantizer = ResidualQuantizer(
            config.codebooks, config.entries, config.size, config.decay, config.least
        )
        self.voices = Householder("roh", config.size, layers=0, reflections=1)
        self.voices.requires_grad_(False)
        self.hop = self.encoder.hop

    @property
    def size(self) -> int:
        """Elements of a speaker vector."""
        return self.sizes.size

    @functools.cached_property
    def ahead(self) -> int:
        """Look-ahead of a stream in samples, beyond the frame that is being filled."""
        if not self.sizes.spectral:
            return 0
        memory, steps = Memory(), 16
        with torch.inference_mode():
            silence = self.voices.mean.new_zeros(1, steps * self.hop)
            made = self.decoder(self.encoder(silence, memory), memory)
        return silence.shape[1] - made.shape[1]

    def shortened(self, codebooks: int) -> Codec:
        """The same codec, modules shared, with its first few codebooks alone.

        The information of the other codebooks is lost: more of the voice than of the words if the
        first ones encode content; see ``partial`` of
        :class:`voicenym.training.codec.musa_config.MusaConfig`.

        Raises:
            VoicenymError: a number of codebooks out of range.
        """
        if not 1 <= codebooks <= self.sizes.codebooks:
            raise VoicenymError(
                f"codebooks is 1 to {self.sizes.codebooks} with these weights, not {codebooks}"
            )
        made = copy.copy(self)
        made._modules = dict(self._modules)
        made.quantizer = self.quantizer.shortened(codebooks)
        made.sizes = dataclasses.replace(self.sizes, codebooks=codebooks)
        return made

    def speaker(self, waveform: torch.Tensor) -> torch.Tensor:
        """Speaker vectors ``[batch, size]`` of waveforms ``[batch, time]`` at 16 kHz.

        A long recording is embedded in equal parts, whose vectors are averaged.

        Raises:
            VoicenymError: less speech than a window of the encoder.
        """
        samples = waveform.shape[1]
        if samples < LEAST_SAMPLES:
            raise VoicenymError(
                f"{1000 * samples / RATE:.0f} ms are too short for a speaker vector; give "
                f"{1000 * LEAST_SAMPLES / RATE:.0f} ms at least, or join the clip with others of "
                "the speaker"
            )
        parts = waveform.tensor_split(-(-samples // MOST_SAMPLES), dim=1)
        return torch.stack([self.speakers(part) for part in parts]).mean(0)

    def frames(self, waveform: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
        """Frames after speaker subtraction, before quantisation: ``[batch, size, frame]``.

        Args:
            waveform: ``[batch, time]``; zeros fill the last frame.
            own: ``[batch, size]`` of the speakers.
        """
        missing = -waveform.shape[1] % self.hop
        x = self.encoder(torch.nn.functional.pad(waveform, (0, missing)))
        return x - own[:, :, None]

    def encode(self, waveform: torch.Tensor, own: torch.Tensor) -> Quantized:
        """Quantised frames; see :meth:`frames`."""
        quantized: Quantized = self.quantizer(self.frames(waveform, own))
        return quantized

    def decode(self, frames: torch.Tensor, voice: torch.Tensor) -> torch.Tensor:
        """Waveforms ``[batch, frame * hop]`` of frames ``[batch, size, frame]`` in voices ``[batch,
        size]``.
        """
        return self.decoder(frames + voice[:, :, None])

    def forward(self, waveform: torch.Tensor, own: torch.Tensor | None = None) -> Coded:
        """Reconstruction of speech in its own voice.

        Args:
            waveform: ``[batch, time]``.
            own: ``[batch, size]``, speaker vectors of other speech; None to compute them from the
                waveform.

        Raises:
            VoicenymError: as :meth:`speaker`.
        """
        own = self.speaker(waveform) if own is None else own
        quantized = self.encode(waveform, own)
        rebuilt = self.decode(quantized.total, own)
        return Coded(rebuilt[:, : waveform.shape[1]], quantized, own)

    @torch.inference_mode()
    def convert(
        self, waveform: torch.Tensor, own: torch.Tensor, voice: torch.Tensor
    ) -> torch.Tensor:
        """Speech ``[batch, time]`` in other voices, of the same length, in bounded memory.

        A recording longer than :data:`MOST_SAMPLES` is processed in overlapping windows. The LSTMs
        restart in each window; :data:`CONTEXT` lets them settle.

        Args:
            waveform: at 16 kHz.
            own: ``[batch, size]`` of the speakers.
            voice: ``[batch, size]`` of the target voices.

        Raises:
            VoicenymError: vectors of another size.
        """
        self.check(own, voice)
        samples = waveform.shape[1]
        if not samples:
            return waveform.clone()
        if samples <= MOST_SAMPLES:
            return self.decode(self.encode(waveform, own).total, voice)[:, :samples]
        context = -(-CONTEXT // self.hop) * self.hop
        step = max(1, (MOST_SAMPLES - 2 * context) // self.hop) * self.hop
        parts = []
        for start in range(0, samples, step):
            first = max(0, start - context)
            piece = waveform[:, first : start + step + context]
            made = self.decode(self.encode(piece, own).total, voice)
            parts.append(made[:, start - first : min(step, samples - start) + start - first])
        return torch.cat(parts, dim=1)

    def check(self, *vectors: torch.Tensor) -> None:
        """Rejects vectors of another size.

        Raises:
            VoicenymError: of another size.
        """
        for vector in vectors:
            if vector.shape[-1] != self.size:
                raise VoicenymError(
                    f"a voice of {vector.shape[-1]} elements, and the codec's have {self.size}: "
                    "use the codec's own speaker encoder"
                )

    def config(self) -> dict[str, Any]:
        """Sizes that rebuild the network, fit for JSON."""
        return dataclasses.asdict(self.sizes)

    def save(self, folder: Path, *, half: bool = False, bits: int = 0, **about: Any) -> None:
        """Writes the codec to a folder.

        Args:
            folder: made where there is none.
            half: in half precision.
            bits: of a weight of a matrix, 2 to 8
                (:func:`voicenym.nets.weights.integer_weights.quantised`); other numbers are then
                in half precision. 0 for floating point.
            about: kept in the configuration: how it was trained, what it reaches.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        state = quantised(self.state_dict(), bits) if bits else self.state_dict()
        about = {"kind": KIND, "options": self.config(), **about}
        write(folder, state, about, half=half or bits > 0)

    @classmethod
    def load(cls, folder: Path | str) -> tuple[Codec, dict[str, Any]]:
        """Reads a codec written by :meth:`save`, in evaluation mode, and its configuration.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no codec, or weights of another configuration.
        """
        config, state = read(folder)
        if config.get("kind") != KIND or "options" not in config:
            raise VoicenymError(f"{folder}: holds no codec; give one of voicenym train musa")
        with rebuilding(folder):
            codec = cls(sizes(config["options"], str(folder)))
        fill(codec, dequantised(state), folder)
        return codec.eval(), config


def _ends(
    config: CodecConfig,
) -> tuple[SpeechEncoder, Decoder] | tuple[SpectralEncoder, SpectralDecoder]:
    if config.spectral:
        hop = math.prod(config.strides)
        frames = (config.spectral, config.blocks, config.size, hop, config.causal)
        return SpectralEncoder(*frames), SpectralDecoder(*frames)
    samples = (
        config.channels, config.strides, config.size, config.layers, config.kernel,
        config.compress, config.causal,
    )  # fmt: skip
    return SpeechEncoder(*samples), Decoder(*samples)
