"""Tables and figures of Yao et al. 2024."""

from __future__ import annotations

from voicenym.reproduction import yao_speech
from voicenym.reproduction.paper_table import NOTHING, SPEECH, WORDS, Compute, Paper, PaperTable

PAPER = Paper(
    "yao-2024",
    "Yao et al. 2024",
    "J. Yao, Q. Wang, P. Guo, Z. Ning, Y. Yang, Y. Pan, L. Xie, MUSA: multi-lingual speaker "
    "anonymization via serial disentanglement, 2024",
)
DATA = "the speech given, where the paper has the sets of the VoicePrivacy Challenge 2022"
SYSTEMS = (
    "ASV-Free is the lookup table in the SSL-based pipeline with bundled weights; B1.a, B1.b and "
    "MUSA run where their weights are (voicenym train musa)"
)
VERIFIER = "cosines of ecapa-small where the paper has x-vectors and PLDA"
RECOGNISER = "Whisper where the paper has a TDNN-F"
ALL = (DATA, SYSTEMS, VERIFIER, RECOGNISER)


def _unmeasured(name: str, title: str, compute: Compute) -> PaperTable:
    return PaperTable(PAPER, name, title, compute, "not measured", (), (NOTHING,), "seconds")


TABLES = (
    _unmeasured("table-1", "Requirements and complexity, in words", yao_speech.stated),
    PaperTable(PAPER, "table-2", "Data sets", yao_speech.data_sets, "counted", (DATA,), (SPEECH,),
               "seconds"),
    PaperTable(PAPER, "table-3", "English", yao_speech.english,
               "attackers and metrics of voicenym evaluate", ALL, (NOTHING, SPEECH, WORDS)),
    _unmeasured("table-4", "Seven languages", yao_speech.languages),
    _unmeasured("table-5", "Mandarin, an unseen language", yao_speech.mandarin),
    PaperTable(PAPER, "table-6", "Ablations", yao_speech.ablations,
               "the codec of your own musa folder, if there is one", ALL, (SPEECH, WORDS)),
    PaperTable(PAPER, "figure-3", "Voice similarity matrices", yao_speech.matrices,
               "means of the blocks, and pictures with --output", ALL),
    _unmeasured("figure-4", "t-SNE of the speaker encoder's output", yao_speech.encoder_vectors),
)  # fmt: skip
