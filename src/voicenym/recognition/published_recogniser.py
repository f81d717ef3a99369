"""Published recognisers through transformers: wav2vec 2.0 and others with CTC."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import library
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.content.wav2vec import MASK
from voicenym.nets.names_and_paths import as_path, unambiguous
from voicenym.recognition.interface import RATE, Recogniser, Recording, checked, digest_of

SHORTEST = 400
"""Receptive field of wav2vec 2.0's convolutions, in samples."""


class Pretrained(Recogniser):
    """A recogniser with published weights: wav2vec 2.0, HuBERT or WavLM with CTC.

    Recordings are decoded one by one, because padding in a batch would change the transcripts.

    Args:
        weights: a folder with ``config.json``, weights and tokenizer, as ``./FOLDER`` or absolute,
            or a name on the hub such as ``facebook/wav2vec2-base-960h``.
        device: ``cpu``, ``cuda``...
        revision: commit or tag on the hub, for reproducible figures.

    Raises:
        DependencyError: transformers is not installed.
        VoicenymError: no weights there, no network, or a model of another kind.

    Example:
        >>> wav2vec2 = Pretrained("./models/wav2vec2-base-960h", device="cuda")   # doctest: +SKIP
        >>> wav2vec2.transcribe([samples])                                      # doctest: +SKIP
        ['PLEASE CALL STELLA']

    References:
        Baevski et al. (2020), wav2vec 2.0: a framework for self-supervised learning of speech
        representations, NeurIPS.
    """

    def __init__(
        self,
        weights: Path | str,
        *,
        device: str = "cpu",
        revision: str | None = None,
    ) -> None:
        if find_spec("transformers") is None:
            cure = "pip install voicenym[recognisers]"
            raise DependencyError(f"transformers is not installed: {cure}")
        self._weights = unambiguous(weights if isinstance(weights, str) else as_path(weights))
        self._device = device
        transformers: Any = library("transformers")
        config = self._load(transformers.AutoConfig, revision)
        if not any(name.endswith("ForCTC") for name in config.architectures or ()):
            whisper = "; give it as --recogniser whisper" * (config.model_type == "whisper")
            raise VoicenymError(
                f"{weights}: {config.model_type} ({', '.join(config.architectures or ['?'])}) "
                f"writes no words by CTC; give a model ...ForCTC{whisper}"
            )
        self._processor = self._load(transformers.AutoProcessor, revision)
        rate = self._processor.feature_extractor.sampling_rate
        if rate != RATE:
            raise VoicenymError(
                f"{weights}: expects {rate} Hz; only models for {RATE} Hz work here"
            )
        model, found = self._load(
            transformers.AutoModelForCTC, revision, use_safetensors=True, output_loading_info=True
        )
        # transformers gives random weights to what it does not find
        missing = sorted(one for one in found["missing_keys"] if not one.endswith(MASK))
        if missing:
            raise VoicenymError(
                f"{weights}: {missing[0]} is missing in it, without which it writes no words; give "
                "a model with all its weights"
            )
        self._model = model.eval().to(device)

    @property
    def name(self) -> str:
        return self._weights.rstrip("/").rsplit("/", 1)[-1]

    @functools.cached_property
    def identity(self) -> str:  # type: ignore[override]
        """Digest of weights and vocabulary."""
        words = sorted(self._processor.tokenizer.get_vocab().items())
        return f"{self.name} {fingerprint(self._model.state_dict())} {digest_of(words)}"

    def transcribe(self, recordings: Sequence[Recording]) -> list[str]:
        import torch

        with torch.inference_mode():
            return [self._recognise(checked(x, i)) for i, x in enumerate(recordings)]

    def _load(self, kind: Any, revision: str | None, **options: Any) -> Any:
        try:
            return kind.from_pretrained(
                self._weights, revision=revision or "main", trust_remote_code=False, **options
            )
        except (OSError, ValueError, SafetensorError) as error:
            # transformers says the same for an offline hub, a mistyped name and a missing file
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise VoicenymError(
                f"{self._weights}: no usable weights there ({first}). It must be a folder with "
                "config.json, weights and tokenizer, or a name on a hub that can be reached; where "
                "there is no network, `hf download NAME --local-dir FOLDER` on a machine that has "
                "some, and give FOLDER"
            ) from error

    def _recognise(self, samples: Recording) -> str:
        if len(samples) < SHORTEST:
            return ""
        inputs = self._processor(samples, sampling_rate=RATE, return_tensors="pt")
        logits = self._model(inputs.input_values.to(self._device)).logits
        return str(self._processor.batch_decode(logits.argmax(-1))[0]).strip()
