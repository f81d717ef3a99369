"""Tables and figures of Turner et al. 2022."""

from __future__ import annotations

from voicenym.reproduction import listening, published_checks
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.panel_drawings import pictured
from voicenym.reproduction.paper_table import (
    ANSWERS,
    NOTHING,
    SPEECH,
    WORDS,
    Compute,
    Ours,
    Paper,
    PaperTable,
)
from voicenym.reproduction.turner import (
    turner_resultant,
    turner_speech,
    turner_theta,
    turner_vectors,
)

PAPER = Paper(
    "turner-2022",
    "Turner et al. 2022",
    "H. Turner, G. Lovisotto, I. Martinovic, Generating identities with mixture models for speaker "
    "anonymization, Computer Speech & Language 72, 2022",
)
SYSTEM = (
    "the system is ssl-gmm and the baseline ssl-select: the paper's choices of a voice in the "
    "SSL-based pipeline with bundled weights, not in x-vectors, TDNN-F and NSF"
)
PEOPLE = (
    "the mixture is of the bundled pool, without VoxCeleb (7,363 speakers) and LibriTTS (1,160)"
)
VERIFIER = "cosines of ecapa-small where the paper has x-vectors and PLDA of LibriSpeech"
TRIALS = "trials of the speech given, where the paper has 20,653 and 26,314 pairs and more"
VECTORS = (
    "vectors of ecapa-small (192 numbers) of the bundled pool without its warped voices, half of "
    "it for the pool and half as originals; the paper has x-vectors (512) of VoxCeleb"
)
WHISPER = "Whisper where the paper has a TDNN-F with a trigram"
LISTENERS = "listeners of your own; the paper has 100 files and 6 or more ratings of each"


def _opinions(bench: Bench) -> Ours:
    """Table 6: mean opinion scores."""
    panel = PAPER_TABLES["table-6"].published[0]
    ours = listening.opinions(bench, panel.title, panel.columns, "MOS")
    return Ours((ours,), tuple(published_checks.opinions()[:1]))


def _tests(bench: Bench) -> Ours:
    """Table B.7: tests of the scores, ranked by listener and then by utterance."""
    ours = listening.pair_tests(bench, "MOS", items=True)
    return Ours((ours,), tuple(published_checks.opinions()[1:]))


def _spoken(
    name: str,
    title: str,
    compute: Compute,
    how: str,
    *differs: str,
    words: bool = False,
    options: str = "",
) -> PaperTable:
    needs = (SPEECH, WORDS) if words else (SPEECH,)
    about = (SYSTEM, PEOPLE, *differs)
    return PaperTable(PAPER, name, title, compute, how, about, needs, options=options)


TABLES = (
    _spoken("table-1", "EER and min C_llr by data set, sex and scenario",
            turner_speech.verifiability,
            "ignorant attacker (O-A) and lazy-informed attacker (A-A); brackets are differences to "
            "the baseline", VERIFIER, TRIALS),
    _spoken("table-2", "Numbers of trials", turner_speech.numbers,
            "trials that the budget draws from the speech", TRIALS),
    _spoken("table-3", "Word error rates", turner_speech.words,
            "word errors of originals and of anonymized speech; brackets are differences to the "
            "baseline", WHISPER, words=True),
    _spoken("table-4", "ZEBRA and linkability", turner_speech.additional,
            "metrics of the same scores as table 1", VERIFIER, TRIALS),
    _spoken("table-5", "De-identification and gain of voice distinctiveness",
            turner_speech.similarity, "similarity matrices of the trials' vectors", VERIFIER),
    PaperTable(PAPER, "table-6", "Mean opinion scores", _opinions,
               "means of the answers to the question MOS in --answers", (LISTENERS,),
               (NOTHING, ANSWERS), "seconds"),
    PaperTable(PAPER, "table-b7", "Mann-Whitney tests of opinion scores", _tests,
               "normalised ranks by listener, then by utterance; two-sided tests", (LISTENERS,),
               (NOTHING, ANSWERS), "seconds"),
    PaperTable(PAPER, "figure-2", "Similarities of originals and of the baseline's voices",
               turner_vectors.baseline, "cosines of all pairs", (VECTORS,), (NOTHING,), "seconds"),
    PaperTable(PAPER, "figure-3", "D_KS and entropy by the number of components",
               turner_vectors.by_components, "two splits, two fits and 2,000 draws, as published",
               (VECTORS,), (NOTHING,), "minutes"),
    PaperTable(PAPER, "figure-4", "D_KS and entropy by the share of variance",
               turner_vectors.by_variance, "as figure 3, with both bounds of the entropy",
               (VECTORS,), (NOTHING,), "minutes"),
    PaperTable(PAPER, "figure-5", "Distributions of similarities", turner_vectors.distributions,
               "cosines of all pairs, and D_KS with its interval", (VECTORS,), (NOTHING,),
               "seconds"),
    _spoken("figure-6", "Another verifier: i-vectors", pictured(turner_speech.other_verifier),
            "the attacks of table 1 with every --verifier", TRIALS,
            options="--verifier ecapa-small --verifier ivector:IVECTOR"),
    _spoken("figure-7", "min C_llr by theta", turner_theta.forced,
            "the budget's values of theta, with the attackers of table 1", VERIFIER, TRIALS,
            "theta is a cosine of ecapa-small's vectors, where different speakers have about 0.2, "
            "and of x-vectors in the paper, where they are more alike; attackers use the user's "
            "theta"),
    _spoken("figure-8", "WER by theta", turner_theta.forced_words,
            "the budget's values of theta", WHISPER, words=True),
    _spoken("figure-9", "Resultant vectors", turner_resultant.resultant,
            "cosines of ecapa-small's vectors of output, target and original", VERIFIER),
)  # fmt: skip
PAPER_TABLES = {table.name: table for table in TABLES}
NOT_HERE = {"figure-1": "is a diagram: nothing is measured"}
"""Figures without a command, with the reason."""
