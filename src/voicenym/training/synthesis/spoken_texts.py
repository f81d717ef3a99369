"""Whole recordings with texts, whose content a pipeline would give its synthesizer.

A system that draws accents gives its synthesizer codes of a native reading that are moved
(:mod:`voicenym.nets.content.drawn_accent`), which are not those of the recording. Here accent,
voice and F0 of a recording are drawn anew each time, as the pipeline draws them, so that the words
must be understood in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.word_codes.live_word_codes import together
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.private import private_folder
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.content.native_codes.native_vectors import native_vectors
from voicenym.training.content.units.train_units import identity, keep
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer, sentence
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.synthesis.drawn_voices import DrawnVoices
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop

LONGEST_TEXT = 200
"""Tokens of a text; Whisper has room for 448."""


class SpokenText(NamedTuple):
    """A recording with its text.

    Args:
        vectors: a ``.npy`` of the encoder's vectors before the codebook, ``[code, element]``
            float16.
        tokens: of the text.
    """

    vectors: Path
    tokens: list[int]


class SpokenTexts:
    """Recordings with texts, drawn for a step.

    Args:
        texts: the recordings.
        content: encoder with the codebook.
        native: encoder of the vectors, with directions of accents.

    Raises:
        CorpusError: no recordings.
        VoicenymError: an encoder without directions.
    """

    def __init__(
        self, texts: Sequence[SpokenText], content: WordCodeContent, native: WordCodeEncoder
    ) -> None:
        if not texts:
            raise CorpusError("no recording with a text to learn words from; give some with texts")
        if not native.accents:
            raise VoicenymError("the pipeline's encoder of native codes draws no accents")
        self.tokens = [one.tokens for one in texts]
        self._texts, self._content, self._native = list(texts), content, native

    def drawn(
        self,
        rows: int,
        voices: DrawnVoices,
        settings: Settings,
        every: int,
        generator: torch.Generator,
    ) -> tuple[SynthesisCrop, torch.Tensor, list[list[int]]]:
        """Conditions of whole recordings, padded with the last frame of each.

        Args:
            rows: number of recordings.
            voices: of the pipeline.
            settings: with the scale of the speaker vectors.
            every: frames of the synthesizer that share one of content.
            generator: of all draws.

        Returns:
            The conditions, without samples; the frames of each row ``[row]``; the texts.
        """
        device = generator.device
        numbers = torch.randint(len(self._texts), (rows,), generator=generator, device=device)
        some = [self._texts[number] for number in numbers.tolist()]
        vectors = [torch.from_numpy(np.load(one.vectors, allow_pickle=False)) for one in some]
        counts = torch.tensor([len(one) for one in vectors], device=device)
        longest = int(counts.max())
        whole = torch.stack([_extended(one.float(), longest) for one in vectors]).to(device)
        native, content = self._native.to(device), self._content.to(device)
        size = native.accents + native.sizes.code
        normal = torch.randn(rows, size, generator=generator, device=device)
        with torch.no_grad():
            entries, _ = content.spoken(whole, native, native.drawn(normal))
        frames = entries.repeat_interleave(every, 1)
        empty = SynthesisCrop(
            frames.new_zeros(rows, 0),
            frames,
            frames.new_zeros(frames.shape[:2]),
            frames.new_zeros(rows, 0),
        )
        made = voices(empty, settings, every, generator)
        return made, counts * every, [one.tokens for one in some]


def spoken_texts(
    utterances: Sequence[Utterance],
    content: WordCodeContent,
    native: WordCodeEncoder,
    tokenizer: Path,
    folder: Path,
    device: str = "cpu",
    longest: float = 8.0,
    say: Callable[[str], None] = lambda text: None,
) -> list[SpokenText]:
    """Utterances with a text, with the vectors of their content, which are kept in a folder.

    Args:
        utterances: those without a text, or longer, are left out.
        content: whose states the encoder reads.
        native: encoder of the vectors.
        tokenizer: ``tokenizer.json`` of Whisper.
        folder: of the vectors, readable by its owner alone.
        device: where to compute.
        longest: utterance that is used, in seconds.
        say: receives the number that are done.

    Raises:
        DependencyError, VoicenymError: no tokenizer, or vectors cannot be kept.
    """
    words = Tokenizer(tokenizer)
    place = private_folder(folder, "vectors of speech")
    place = place / identity({"encoders": together(content.encoder, native)})
    content.to(device)
    native.to(device)
    found = []
    for done, utterance in enumerate(utterances, 1):
        tokens = words.encode(sentence(utterance.recording.text))[:LONGEST_TEXT]
        if not utterance.recording.text or utterance.length > longest * 16_000:
            continue
        path = place / f"{utterance.path.stem}.npy"
        if not path.is_file():
            keep(path, native_vectors(utterance, content, native))
        found.append(SpokenText(path, tokens))
        if done % 500 == 0:
            say(f"words of {done} of {len(utterances)} recordings")
    content.to("cpu")
    native.to("cpu")
    return found


def _extended(vectors: torch.Tensor, length: int) -> torch.Tensor:
    """Vectors ``[code, element]``, the last one repeated up to a length."""
    return torch.cat([vectors, vectors[-1:].expand(length - len(vectors), -1)])
