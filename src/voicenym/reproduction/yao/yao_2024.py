"""Tables and figures of Yao et al. 2024."""

from __future__ import annotations

from voicenym.reproduction import languages
from voicenym.reproduction.paper_table import (
    CODECS,
    NOTHING,
    SPEECH,
    WORDS,
    Compute,
    Paper,
    PaperTable,
)
from voicenym.reproduction.yao import codec_speakers, yao_ablations, yao_speech

PAPER = Paper(
    "yao-2024",
    "Yao et al. 2024",
    "J. Yao, Q. Wang, P. Guo, Z. Ning, Y. Yang, Y. Pan, L. Xie, MUSA: multi-lingual speaker "
    "anonymization via serial disentanglement, 2024",
)
DATA = "the speech given, where the paper has the sets of the VoicePrivacy Challenge 2022"
CODEC = (
    "MUSA is the bundled codec: four codebooks, trained for an hour of one core on 4 hours of "
    "English"
)
SYSTEMS = (
    "ASV-Free is the lookup table in the SSL-based pipeline; it, B1.a and B1.b have bundled "
    f"weights of a laptop's size; {CODEC}"
)
WEIGHTS = (
    "codecs of a laptop's size, trained for minutes on English alone; where none is given with all "
    f"losses, {CODEC}"
)
VERIFIER = "cosines of ecapa-small where the paper has x-vectors and PLDA"
RECOGNISER = "Whisper where the paper has a TDNN-F"
LANGUAGES = (
    "synthetic speech of espeak-ng in each language, but for real Arabic commands, where the paper "
    "has Multilingual LibriSpeech and AISHELL-3",
    SYSTEMS,
    VERIFIER,
)
ALL = (DATA, SYSTEMS, VERIFIER, RECOGNISER)


def _unmeasured(name: str, title: str, compute: Compute) -> PaperTable:
    return PaperTable(PAPER, name, title, compute, "not measured", (), (NOTHING,), "seconds")


TABLES = (
    _unmeasured("table-1", "Requirements and complexity, in words", yao_speech.stated),
    PaperTable(PAPER, "table-2", "Data sets", yao_speech.data_sets, "counted", (DATA,), (SPEECH,),
               "seconds"),
    PaperTable(PAPER, "table-3", "English", yao_speech.english,
               "attackers and metrics of voicenym evaluate", ALL, (NOTHING, SPEECH, WORDS)),
    PaperTable(PAPER, "table-4", "Seven languages", languages.languages,
               "the attackers of table 3 in each corpus of the speech given, such as that of "
               "benchmarks/studies/languages/other_languages.py --distinct", LANGUAGES,
               (NOTHING, SPEECH)),
    PaperTable(PAPER, "table-5", "Mandarin, an unseen language", languages.mandarin_of_yao,
               "the attackers of table 3 on the corpus espeak-cmn of "
               "benchmarks/studies/languages/other_languages.py", LANGUAGES, (NOTHING, SPEECH)),
    PaperTable(PAPER, "table-6", "Ablations", yao_ablations.ablations,
               "codecs trained without a distillation, on English",
               (DATA, WEIGHTS, VERIFIER, RECOGNISER), (SPEECH, WORDS, CODECS)),
    PaperTable(PAPER, "figure-3", "Voice similarity matrices", yao_speech.matrices,
               "means of the blocks, and pictures with --output", ALL),
    PaperTable(PAPER, "figure-4", "t-SNE of the speaker encoder's output",
               codec_speakers.encoder_vectors, "cosines of pairs, and a picture with --output",
               (DATA, CODEC)),
)  # fmt: skip
NOT_HERE = {"figures 1 and 2": "are diagrams: nothing is measured"}
"""Figures without a command, with the reason."""
