"""Vocabulary of a Whisper model: tokens to text, and numbers of special tokens.

The vocabulary is GPT-2's byte-level byte-pair encoding (Radford et al. 2019): each character of a
token stands for a byte. Decoding needs the vocabulary alone, no library.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, VoicenymError

TOKENIZER = "tokenizer.json"
SPECIAL = ("<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>")
BLANK = "\u0120"
"""The blank, as the byte-level encoding writes it."""
SILENT = ("<|nospeech|>", "<|nocaptions|>")
"""Names of the token of no speech, in later and earlier releases."""


class Vocabulary:
    """Tokens of a Whisper model.

    Args:
        path: ``tokenizer.json``.

    Raises:
        VoicenymError: it cannot be read, or is no byte-level vocabulary of Whisper.
    """

    def __init__(self, path: Path) -> None:
        try:
            content: Any = json.loads(path.read_text("utf-8"))
            pieces = {int(n): str(piece) for piece, n in content["model"]["vocab"].items()}
            added = {str(one["content"]): int(one["id"]) for one in content["added_tokens"]}
        except OSError as error:
            raise VoicenymError(f"{path}: {error.strerror}; it comes with Whisper") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise VoicenymError(
                f"{path}: no vocabulary of Whisper ({error!r}); take the one that came with the "
                "weights"
            ) from error
        self._special = {piece: n for n, piece in pieces.items() if piece.startswith("<|")} | added
        for name in SPECIAL:
            if name not in self._special:
                raise VoicenymError(f"{path}: has no token {name}; give that of a Whisper")
        self._path = path
        self._encoder: Any = None
        self._bytes = characters_as_bytes()
        numbers = set(self._special.values())
        self._pieces = {n: piece for n, piece in pieces.items() if n not in numbers}

    def number(self, name: str) -> int | None:
        """Number of a special token, such as ``<|en|>``; None without one."""
        return self._special.get(name)

    def languages(self) -> dict[str, int]:
        """Tokens of languages by their codes: those between the start and the tasks."""
        first = self._special["<|startoftranscript|>"]
        last = self._special.get("<|translate|>", first)
        found = sorted((n, name) for name, n in self._special.items() if first < n < last)
        return {name.strip("<|>"): n for n, name in found}

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, after a blank as in the models' training, without prefix and end.

        Raises:
            DependencyError: tokenizers is not installed.
            VoicenymError: the file's pairs of bytes cannot be read.
        """
        if self._encoder is None:
            try:
                import tokenizers
            except ImportError as error:
                raise DependencyError(
                    "texts for Whisper: pip install 'voicenym[recognisers]'"
                ) from error
            try:
                self._encoder = tokenizers.Tokenizer.from_str(self._path.read_text("utf-8"))
            except Exception as error:  # of the tokenizers library, which has no class of its own
                raise VoicenymError(
                    f"{self._path}: cannot be read ({error}); take the one that came with the "
                    "weights"
                ) from error
        return list(self._encoder.encode(f" {text.strip()}", add_special_tokens=False).ids)

    def begins_word(self, token: int) -> bool:
        """Whether the text of a token begins with a blank."""
        return self._pieces.get(token, "").startswith(BLANK)

    def decode(self, tokens: Iterable[int]) -> str:
        """Text of tokens; special tokens are skipped, broken bytes replaced.

        White space at either end is dropped.
        """
        text = "".join(self._pieces.get(token, "") for token in tokens)
        content = bytes(self._bytes[c] for c in text if c in self._bytes)
        return content.decode("utf-8", "replace").strip()


def characters_as_bytes() -> dict[str, int]:
    r"""Bytes by the printable characters that stand for them in the vocabulary.

    Printable bytes of Latin-1 stand for themselves; the others follow from U+0100 on.

    Example:
        >>> found = characters_as_bytes()
        >>> found["a"], found["\N{LATIN CAPITAL LETTER G WITH DOT ABOVE}"], len(found)
        (97, 32, 256)
    """
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(256 + i): b for i, b in enumerate(others)}
