"""Texts of recordings for training on Whisper's states: transcripts as sentences and as tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, VoicenymError


class Tokenizer:
    """Texts to Whisper's tokens and back.

    Args:
        path: ``tokenizer.json``.

    Raises:
        DependencyError: tokenizers is not installed.
        VoicenymError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        try:
            import tokenizers
        except ImportError as error:
            raise DependencyError(
                "Whisper's tokens: pip install 'voicenym[recognisers]'"
            ) from error
        try:
            self._inner: Any = tokenizers.Tokenizer.from_str(path.read_text("utf-8"))
        except Exception as error:  # of the tokenizers library, which has no class of its own
            raise VoicenymError(
                f"{path}: cannot be read ({error}); it comes with Whisper"
            ) from error

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without prefix and end."""
        return list(self._inner.encode(f" {text.strip()}", add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self._inner.decode(list(tokens))).strip()


def sentence(text: str) -> str:
    """A transcript in capitals as Whisper would write it: a sentence; other texts as they are."""
    text = " ".join(text.split())
    if not text or text != text.upper():
        return text
    words = ["I" + w[1:] if w == "i" or w.startswith("i'") else w for w in text.lower().split()]
    joined = " ".join(words)
    return joined[0].upper() + joined[1:] + ("" if joined[-1] in ".!?" else ".")
