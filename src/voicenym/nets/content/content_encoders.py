"""Content encoders by name, in folders with their configuration and digest."""

from __future__ import annotations

from voicenym.nets.architectures import Kinds
from voicenym.nets.content.content_encoder import Content

KINDS: Kinds[Content] = Kinds(
    "content encoder",
    {
        "hubert-soft": "voicenym.nets.content.hubert:HubertSoft",
        "tdnnf": "voicenym.nets.content.tdnnf:TdnnF",
        "wav2vec2": "voicenym.nets.content.wav2vec:Wav2Vec",
        "word-codes": "voicenym.nets.words.word_codes.word_code_content:WordCodeContent",
    },
)
make, save, load = KINDS.make, KINDS.save, KINDS.load
