"""Tables and figures of Miao et al. 2023."""

from __future__ import annotations

from voicenym.reproduction import languages
from voicenym.reproduction.bench import BACK_END
from voicenym.reproduction.miao import miao_drawings, miao_speech
from voicenym.reproduction.miao.miao_speech import averages, by_set, words
from voicenym.reproduction.paper_table import NOTHING, SPEECH, WORDS, Compute, Paper, PaperTable

PAPER = Paper(
    "miao-2023",
    "Miao et al. 2023",
    "X. Miao, X. Wang, E. Cooper, J. Yamagishi, N. Tomashenko, Speaker anonymization using "
    "orthogonal Householder neural network, IEEE/ACM TASLP 31, 2023",
)
PIPELINE = (
    "the SSL-based pipeline has bundled weights: word codes of Whisper tiny.en for HuBERT-soft, "
    "ecapa-small, a vocoder of 3.7 million weights, a pool of 318 speakers"
)
OHNN = (
    "S-ROH is ssl-roh with 29,000 and S-LOH ssl-loh with 6,834 of 130,000 steps on 318 speakers; "
    "both also rotate by the key, which the paper's do not; networks of AAM+cos are those of "
    "--pipeline"
)
DATA = "the speech given, where the paper has the sets of the VoicePrivacy Challenge 2022"
MANDARIN = "synthetic Mandarin of espeak-ng where the paper has AISHELL-3"
VERIFIER = "cosines of ecapa-small where the paper has x-vectors and PLDA"
RECOGNISER = (
    "Whisper tiny.en where the paper has a TDNN-F; retrained are those of "
    "--recogniser-anonymized, here after 250 steps on 2,380 anonymized recordings of 119 "
    "speakers, a voice for each recording, from Whisper tiny.en's weights; they learn the accents "
    "of this corpus, too, which that of the originals does not: figures below the original's do "
    "not say that words are clearer"
)
SAME = (PIPELINE, OHNN, DATA, VERIFIER)


def _set(number: int, attacker: str, metric: str = "EER") -> PaperTable:
    what = f"{metric} by data set, {attacker}" if attacker else f"{metric} by data set"
    more = (BACK_END,) if attacker == "semi-informed" else ()
    return PaperTable(PAPER, f"table-{number}", what,
                      by_set(f"table-{number}", attacker, metric),
                      "with --speech, two rows of ours by sex; the averages are computed again",
                      (*SAME, *more), (NOTHING, SPEECH), "minutes")  # fmt: skip


def _words(number: int, title: str) -> PaperTable:
    return PaperTable(PAPER, f"table-{number}", title, words(f"table-{number}"),
                      "with --speech, a row of ours; the averages are computed again",
                      (PIPELINE, OHNN, DATA, RECOGNISER), (NOTHING, SPEECH, WORDS))  # fmt: skip


def _drawn(number: int, title: str, compute: Compute, how: str) -> PaperTable:
    return PaperTable(PAPER, f"figure-{number}", title, compute, how, SAME)


TABLES = (
    PaperTable(PAPER, "table-1", "Notation of the systems", miao_speech.stated, "words", (),
               (NOTHING,), "seconds"),
    PaperTable(PAPER, "table-2", "Averages by loss function", averages("table-2"),
               "attackers and metrics of voicenym evaluate", (*SAME, BACK_END, RECOGNISER),
               (NOTHING, SPEECH, WORDS)),
    PaperTable(PAPER, "table-3", "Averages by system", averages("table-3"),
               "attackers and metrics of voicenym evaluate", (*SAME, BACK_END, RECOGNISER),
               (NOTHING, SPEECH, WORDS)),
    PaperTable(PAPER, "table-4", "Mandarin", languages.mandarin_of_miao,
               "the attackers of table 3 on the corpus espeak-cmn of "
               "benchmarks/studies/languages/other_languages.py",
               (PIPELINE, OHNN, MANDARIN, VERIFIER), (NOTHING, SPEECH)),
    _set(5, "ignorant"), _set(6, "lazy-informed"), _set(7, "semi-informed"),
    PaperTable(PAPER, "table-8", "Comparison of anonymizers in words", miao_speech.stated, "words",
               (), (NOTHING,), "seconds"),
    _set(9, "ignorant"), _set(10, "lazy-informed"), _set(11, "semi-informed"),
    _set(12, "ignorant"), _set(13, "lazy-informed"), _set(14, "semi-informed"),
    _set(15, "", "G_VD"),
    _words(16, "WER by loss function"), _words(17, "WER by loss function, retrained recogniser"),
    _words(18, "WER by system"), _words(19, "WER by system, retrained recogniser"),
    _drawn(5, "t-SNE of vectors before and after", miao_drawings.embeddings,
           "joint t-SNE of up to 50 speakers of the trials, with --output; the paper has 50 of "
           "VoxCeleb2"),
    _drawn(6, "Scores of pairs by attacker", miao_drawings.pair_scores,
           "quartiles; histograms and box plots with --output"),
    _drawn(7, "Voice similarity matrices", miao_drawings.matrices, "means of the blocks; pictures"),
    _drawn(8, "Radar charts", miao_drawings.radar_chart,
           "the values of the axes; the paper does not say how it rescales G_VD"),
    _drawn(9, "Predicted naturalness", miao_drawings.naturalness, "DNSMOS"),
)  # fmt: skip
NOT_HERE = {"figures 1 to 4": "are diagrams: nothing is measured"}
"""Figures without a command, with the reason."""
