"""A tiny Whisper with a tokenizer, for trainings in tests."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.words.whisper.whisper import Whisper, Writing
from voicenym.nets.words.whisper.whisper_published import Published

TINY = {"width": 32, "heads": 2, "layers": 1, "states": 200, "tokens": 24, "positions": 40}
LETTERS = 16


@pytest.fixture(scope="session")
def whisper(tmp_path_factory) -> Published:
    """Random weights; tokens are letters."""
    folder = tmp_path_factory.mktemp("whisper")
    tokenizers = pytest.importorskip("tokenizers")
    letters = {letter: number for number, letter in enumerate(" abcdefghijklmno")}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[]))
    made.decoder = tokenizers.decoders.Fuse()
    (folder / "tokenizer.json").write_text(made.to_str())
    assert len(letters) == LETTERS
    torch.manual_seed(0)
    network = Whisper(**TINY)
    with torch.no_grad():
        for value in network.parameters():
            value.copy_(0.3 * torch.randn(value.shape))
    writing = Writing(begin=(20, 21), end=19, words=LETTERS)
    return Published(network.eval(), writing, folder / "tokenizer.json")
