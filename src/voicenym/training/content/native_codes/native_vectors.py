"""Vectors that an encoder of native codes gives for a recording, before the codebook."""

from __future__ import annotations

import numpy as np
import torch

from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.silent_groups import spectral_states, states_before_silence
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.speech.speech_cache import Utterance


@torch.inference_mode()
def native_vectors(
    utterance: Utterance, content: WordCodeContent, native: WordCodeEncoder
) -> np.ndarray:
    """Vectors of an utterance as in a pipeline, ``[code, element]`` float16.

    Args:
        utterance: not longer than a window of Whisper.
        content: whose states the encoder reads; on the device where they are computed.
        native: the encoder, on the same device.
    """
    wave = torch.from_numpy(utterance.samples())[None]
    wave = torch.nn.functional.pad(wave, (0, -wave.shape[1] % content.hop))
    wave = wave.to(content.encoder.window.device)
    count = wave.shape[1] // STATE
    spectra = content.encoder.spectra(wave, spectral_states(content.encoder, count))
    states = states_before_silence(content.encoder, spectra, count)
    found = native.encoded(states, torch.tensor([count], device=wave.device))[0]
    return found.half().cpu().numpy()
