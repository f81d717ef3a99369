"""Hidden states of wav2vec 2.0, XLS-R, HuBERT or WavLM as content features, through transformers.

Baevski et al., "wav2vec 2.0", NeurIPS 2020; Babu et al., "XLS-R", Interspeech 2022: pre-trained on
128 languages, hence usable for many. These layers also carry speaker information, which is not
removed: a synthesizer conditioned on them gets the speaker twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import pad

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import library
from voicenym.nets.allocation_limit import limited
from voicenym.nets.checkpoint import MISMATCHES, fill, is_ours, read
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.hub import place_of, snapshot
from voicenym.nets.names_and_paths import is_hub_name
from voicenym.nets.weights.safetensors_file import refuse_pickles

HOP = 320
EDGE = 40
"""Zeros on either side, as for HuBERT."""
LEAST_VARIANCE = 1e-7
"""Added to the variance in the normalisation of a waveform, as in transformers."""
MASK = "masked_spec_embed"
"""Parameter that is used in training alone, and is missing in some models."""
MODELS = ("wav2vec2", "hubert", "wavlm", "unispeech", "unispeech-sat")


class Wav2Vec(Content):
    """Hidden states of a layer of a self-supervised model.

    Rows of different lengths are processed one by one, because padding affects models that
    normalise over time.

    Args:
        model: configuration of transformers' model, as in its ``config.json``.
        layer: index of the transformer layer, from 1; None for the last. Later layers are
            discarded.
        normalise: waveforms at mean 0 and deviation 1, as the model's preprocessor says.

    Raises:
        DependencyError: transformers is not installed.
        ValueError: no such layer, or a model of another kind, or with other frames.
    """

    kind = "wav2vec2"
    hop = HOP

    def __init__(
        self, model: Mapping[str, Any], layer: int | None = None, normalise: bool = False
    ) -> None:
        super().__init__()
        transformers = _transformers()
        made = dict(model)
        kind = made.pop("model_type", "")
        if kind not in MODELS:
            raise ValueError(f"model_type {kind!r}: choose from {', '.join(MODELS)}")
        config = transformers.AutoConfig.for_model(kind, **made)
        there = int(config.num_hidden_layers)
        layer = there if layer is None else layer
        if not 0 < layer <= there:
            raise ValueError(f"no layer {layer}: there are {there}")
        if math.prod(config.conv_stride) != HOP or _window(config) != HOP + 2 * EDGE:
            raise ValueError(f"frames of {math.prod(config.conv_stride)} samples, not {HOP}")
        config.num_hidden_layers = layer
        config.layerdrop = 0.0  # a layer that is dropped gives nothing
        self.size = int(config.hidden_size)
        self.layer, self.normalise = layer, normalise
        self.model = transformers.AutoModel.from_config(config).eval()
        kept = config.to_dict()
        self._config = {
            "model": {n: v for n, v in kept.items() if n not in ("transformers_version", "dtype")},
            "layer": layer,
            "normalise": normalise,
        }

    def config(self) -> dict[str, Any]:
        return dict(self._config)

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is None or bool((lengths == waveforms.shape[1]).all()):
            return self._whole(waveforms)
        rows = [self._whole(row[None, :n])[0] for row, n in zip(waveforms, lengths, strict=True)]
        frames = waveforms.shape[1] // HOP
        return torch.stack([pad(row, (0, 0, 0, frames - len(row))) for row in rows])

    def _whole(self, waveforms: torch.Tensor) -> torch.Tensor:
        if self.normalise:
            centred = waveforms - waveforms.mean(1, keepdim=True)
            variance = centred.square().mean(1, keepdim=True)
            waveforms = centred * (variance + LEAST_VARIANCE).rsqrt()
        caught: list[torch.Tensor] = []

        def catch(module: Any, inputs: Any, output: Any) -> None:
            caught.append(output[0] if isinstance(output, tuple) else output)

        # Some models normalise their output once more; the layer's output is not normalised.
        hook = self.model.encoder.layers[self.layer - 1].register_forward_hook(catch)
        try:
            self.model(pad(waveforms, (EDGE, EDGE)))
        finally:
            hook.remove()
        return caught[0]

    @classmethod
    def from_published(
        cls, place: str, layer: int | None = None, revision: str | None = None
    ) -> Wav2Vec:
        """Published model in evaluation mode.

        Args:
            place: a folder that ``voicenym models convert`` wrote; a folder in transformers' layout
                with ``config.json`` and ``model.safetensors``; a name of the catalogue that was
                pulled, such as ``xls-r-300m``; or one on the hub, ``owner/name``, with such files:
                with ``HF_HUB_OFFLINE=1`` in the environment, only the cache is asked.
            layer: as of the constructor; of a folder of ours, one of the layers that it has.
            revision: commit or tag on the hub.

        Raises:
            DependencyError: transformers is not installed.
            VoicenymError: no weights there, or not all of them, or only a checkpoint that torch
                wrote; no network; or a model of another kind.
        """
        transformers = _transformers()
        place = place_of(place)
        folder = snapshot(place, revision) if is_hub_name(place) else Path(place)
        if is_ours(folder):
            return cls._cut(folder, layer)
        refuse_pickles(folder, cls.kind)
        try:
            with limited(folder):
                model, found = transformers.AutoModel.from_pretrained(
                    str(folder.absolute()),
                    use_safetensors=True,
                    trust_remote_code=False,
                    output_loading_info=True,
                )
                network = cls(model.config.to_dict(), layer, _normalised(str(folder.absolute())))
        except VoicenymError:
            raise
        except Exception as error:  # of transformers and the libraries it reads with
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise VoicenymError(
                f"{place}: no usable weights there ({first}). It must be a folder with config.json "
                "and weights, or a name on a hub that can be reached; where there is no network, "
                "give a folder, or a name that was fetched before"
            ) from error
        own = network.model.state_dict()
        # transformers gives random weights to what it does not find
        missing = sorted(name for name in found["missing_keys"] if name in own and name != MASK)
        if missing:
            raise VoicenymError(
                f"{place}: of another architecture: {missing[0]} is missing in it; give a model of "
                f"one of the kinds {', '.join(MODELS)}, with all its weights"
            )
        state = {name: value.float() for name, value in model.state_dict().items() if name in own}
        network.model.load_state_dict(state)
        return network.eval()

    @classmethod
    def _cut(cls, folder: Path, layer: int | None) -> Wav2Vec:
        """Model of a folder of ours, cut after a layer."""
        config, state = read(folder)
        if config.get("kind") != cls.kind:
            raise VoicenymError(f"{folder}: holds a {config.get('kind')}; give a {cls.kind}")
        try:
            with limited(folder):
                given = {} if layer is None else {"layer": layer}
                network = cls(**{**config["options"], **given})
        except MISMATCHES as error:
            raise VoicenymError(f"{folder}: {error}") from error
        own = network.state_dict()
        fill(network, {name: value for name, value in state.items() if name in own}, folder)
        return network.eval()


def _normalised(place: str) -> bool:
    """Whether the model's preprocessor normalises waveforms; by default it does, as in
    transformers.
    """
    reader = _transformers().Wav2Vec2FeatureExtractor
    try:
        settings, _ = reader.get_feature_extractor_dict(place)
    except OSError:
        return True
    return bool(settings.get("do_normalize", True))


def _window(config: Any) -> int:
    """Receptive field of a frame of the convolutions, in samples."""
    window = 1
    for kernel, stride in zip(config.conv_kernel[::-1], config.conv_stride[::-1], strict=True):
        window = (window - 1) * stride + kernel
    return window


def _transformers() -> Any:
    if find_spec("transformers") is None:
        raise DependencyError("wav2vec 2.0: pip install 'voicenym[recognisers]'")
    return library("transformers")
