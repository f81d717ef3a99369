"""Tables and figures of the supplement to Tomashenko et al. 2022."""

from __future__ import annotations

from voicenym.reproduction.bench import BACK_END, Bench
from voicenym.reproduction.counterparts import DEFINED, IDENTITIES
from voicenym.reproduction.panel_drawings import pictured
from voicenym.reproduction.paper_table import (
    ANSWERS,
    NOTHING,
    SPEECH,
    Compute,
    Ours,
    Paper,
    PaperTable,
)
from voicenym.reproduction.tomashenko import (
    challenge_listening,
    deidentification,
    listener_curves,
    retrained_matrices,
)
from voicenym.reproduction.tomashenko.challenge_speech import bars, drawing, scores, similarity
from voicenym.reproduction.tomashenko.metric_correlations import ATTACKS, against

PAPER = Paper(
    "tomashenko-2022",
    "Tomashenko et al. 2022, supplement",
    "N. Tomashenko et al., Supplementary material to the paper The VoicePrivacy 2020 Challenge: "
    "results and findings, HAL hal-03335126v4, 2021",
)
DATA = (
    "two rows of ours, women and men of the speech given, for the paper's six data sets; the same "
    "rows stand in the tables of development and of test data"
)
VERIFIER = "cosines of ecapa-small where the paper has x-vectors and PLDA of LibriSpeech"
COSTS = "C_llr is of cosines, which are no log-likelihood ratios: compare min C_llr"
LOST = "a dash in the paper's rows is a figure that is illegible in the text at hand"
LISTENERS = "listeners of your own; the paper's answers are not published in the text"
ONE_SYSTEM = "one system, all speakers; the paper has several systems, and women"
SIDES = (
    "the paper does not say which pairs of originals stand against a system's in the two tasks of "
    "similarity: here pairs of the other kind"
)
PARTS = {0: "development data", 1: "test data"}


def _scores(number: int, title: str, *differs: str) -> PaperTable:
    where = PARTS[number % 2]
    return PaperTable(PAPER, f"table-{number}", f"{title}, {where}", scores(f"table-{number}"),
                      "attackers and metrics of voicenym evaluate, by sex",
                      (DATA, VERIFIER, IDENTITIES, DEFINED, LOST, *differs))  # fmt: skip


def _similar(number: int) -> PaperTable:
    where = PARTS[number % 2]
    return PaperTable(PAPER, f"table-{number}", f"G_VD and DeID, {where}",
                      similarity(f"table-{number}"),
                      "similarity matrices of the trials' vectors, calibrated by PAV",
                      (DATA, VERIFIER, IDENTITIES, DEFINED, LOST))  # fmt: skip


def _drawn(number: int, title: str, sex: str = "f") -> PaperTable:
    return PaperTable(PAPER, f"figure-{number}", title, drawing(number, sex),
                      "drawn for selection, mcadams and ssl-gmm (--output)",
                      (DATA, VERIFIER, IDENTITIES))  # fmt: skip


def _against(number: int, title: str, compute: Compute) -> PaperTable:
    return PaperTable(PAPER, f"figure-{number}", title, compute,
                      "Pearson's correlation over systems, data sets and sexes, in the printed "
                      "numbers and, with --speech, in ours", (DATA, VERIFIER, IDENTITIES),
                      (NOTHING, SPEECH), "seconds")  # fmt: skip


def _rates(number: int, metric: str, compute: Compute) -> PaperTable:
    ours = number > 28  # the other two are about the printed numbers alone
    needs = (NOTHING, SPEECH, ANSWERS) if ours else (NOTHING,)
    differs = (DATA, VERIFIER, IDENTITIES, LISTENERS) if ours else ()
    return PaperTable(PAPER, f"figure-{number}", f"Objective against subjective {metric}", compute,
                      "correlations of the printed numbers of table 18, where they are legible",
                      differs, needs, "seconds")  # fmt: skip


STRONG = "(|r| of 0.8 or more)"


def strong(r: float) -> bool:
    """Whether a correlation is strong; the paper states no number."""
    return abs(r) >= 0.8


def _stated(bench: Bench) -> Ours:
    """Table 1, of words."""
    return Ours(notes=("a table of words: nothing to measure",))


TABLES = (
    PaperTable(PAPER, "table-1", "Systems that were submitted, in words", _stated,
               "the counterparts of the systems stand in the other tables", (), (NOTHING,),
               "seconds"),
    _scores(2, "EER, C_llr and min C_llr", COSTS),
    _scores(3, "EER, C_llr and min C_llr", COSTS),
    _scores(4, "ZEBRA"),
    _scores(5, "ZEBRA"),
    _scores(6, "Linkability"),
    _scores(7, "Linkability"),
    _similar(8),
    _similar(9),
    _scores(10, "EER, C_llr and min C_llr, semi-informed", BACK_END, COSTS),
    _scores(11, "EER, C_llr and min C_llr, semi-informed", BACK_END, COSTS),
    _scores(12, "ZEBRA, semi-informed", BACK_END),
    _scores(13, "ZEBRA, semi-informed", BACK_END),
    _scores(14, "Linkability, semi-informed", BACK_END),
    _scores(15, "Linkability, semi-informed", BACK_END),
    PaperTable(PAPER, "table-16", "Tests of listeners' similarity scores",
               challenge_listening.similarity_tests,
               "two-sided Mann-Whitney tests of normalised ranks", (LISTENERS,),
               (NOTHING, ANSWERS), "seconds"),
    PaperTable(PAPER, "table-17", "Tests of naturalness and intelligibility",
               challenge_listening.quality_tests,
               "two-sided Mann-Whitney tests of normalised ranks", (LISTENERS, LOST),
               (NOTHING, ANSWERS), "seconds"),
    PaperTable(PAPER, "table-18", "Objective and subjective metrics",
               challenge_listening.objective_and_subjective,
               "the ignorant attacker (with --speech), and similarity scores of --answers",
               (DATA, VERIFIER, IDENTITIES, LISTENERS,
                "C_llr and min C_llr of this table are illegible in the text at hand, and left "
                "out; the last digit of K2 may be cut off there"),
               (NOTHING, SPEECH, ANSWERS), "seconds"),
    PaperTable(PAPER, "figure-1", "EER by system, ignorant and lazy-informed",
               pictured(bars(("ignorant", "lazy-informed"))), "as tables 2 and 3",
               (DATA, VERIFIER, IDENTITIES)),
    PaperTable(PAPER, "figure-2", "min C_llr by system",
               pictured(scores("table-3"), by_column=True), "as table 3",
               (DATA, VERIFIER, IDENTITIES)),
    *(_drawn(n, f"ECE profiles, {'women' if n % 2 else 'men'}", "f" if n % 2 else "m")
      for n in range(3, 7)),
    _drawn(7, "Linkability plots"),
    *(_drawn(n, "Voice similarity matrices") for n in range(8, 12)),
    PaperTable(PAPER, "figure-12", "Voice similarity matrices of a retrained verifier",
               retrained_matrices.retrained,
               "matrices of ssl-select with the first --verifier and with the last one, "
               "which you train on the system's output; pictures with --output",
               (DATA, VERIFIER, IDENTITIES, ONE_SYSTEM)),
    PaperTable(PAPER, "figure-13", "Gain of voice distinctiveness",
               pictured(similarity("table-9"), by_column=True),
               "as table 9", (DATA, VERIFIER, IDENTITIES)),
    PaperTable(PAPER, "figure-14", "De-identification",
               pictured(similarity("table-9"), by_column=True), "as table 9",
               (DATA, VERIFIER, IDENTITIES)),
    PaperTable(PAPER, "figure-15", "EER under three attackers",
               pictured(bars(("ignorant", "lazy-informed", "semi-informed"))), "as tables 3 and 11",
               (DATA, VERIFIER, IDENTITIES, BACK_END)),
    PaperTable(PAPER, "figure-16", "Mean EER by sex",
               pictured(bars(("ignorant", "lazy-informed", "semi-informed"))),
               "as figure 15: there is one data set here", (DATA, VERIFIER, IDENTITIES, BACK_END)),
    _against(17, "EER against min C_llr", against(
        "EER", "min C_llr", ("EER", "min C_llr"),
        f"EER and min C_llr are correlated under informed attackers {STRONG}", strong)),
    _against(18, "Linkability against min C_llr", against(
        "D_sys", "min C_llr", ("D_sys", "min C_llr"),
        f"Linkability and min C_llr are correlated under informed attackers {STRONG}", strong)),
    _against(19, "EER against C_llr", against("EER", "C_llr", ("EER", "C_llr"))),
    _against(20, "EER against linkability", against(
        "EER", "D_sys", ("EER", "D_sys"),
        f"EER and linkability are correlated under informed attackers {STRONG}", strong)),
    _against(21, "Expected disclosure against min C_llr", against(
        "D_ECE", "min C_llr", ("D_ECE", "min C_llr"),
        "Expected disclosure depends linearly on min C_llr (|r| of 0.99 or more)",
        lambda r: abs(r) >= 0.99, ATTACKS)),
    _against(22, "Worst-case disclosure against min C_llr", against(
        "worst case", "min C_llr", ("worst case", "min C_llr"),
        "The worst case differs from min C_llr (|r| below 0.95)", lambda r: abs(r) < 0.95,
        ATTACKS)),
    PaperTable(PAPER, "figure-23", "De-identification against G_VD, EER and min C_llr",
               deidentification.figure,
               "Pearson's correlation over systems, data sets and sexes, in the printed numbers "
               "and, with --speech, in ours; scatter plots with --output",
               (DATA, VERIFIER, IDENTITIES), (NOTHING, SPEECH), "seconds"),
    PaperTable(PAPER, "figure-24", "Normalised scores of listeners", challenge_listening.violins,
               "means and quartiles of normalised ranks", (LISTENERS,), (ANSWERS,), "seconds"),
    PaperTable(PAPER, "figure-25", "DET curves of listeners", listener_curves.pooled,
               "equal error rates of four tasks with intervals over listeners, and DET curves with "
               "--output; with --speech, also those of our attackers",
               (LISTENERS, SIDES), (ANSWERS,), "seconds"),
    PaperTable(PAPER, "figure-26", "DET curves of listeners by test set", listener_curves.by_set,
               "as figure 25, for each value of the column set of --answers",
               (LISTENERS, SIDES), (ANSWERS,), "seconds"),
    _rates(27, "EER", challenge_listening.printed("EER, %")),
    _rates(28, "ROCCH-EER", challenge_listening.printed("ROCCH-EER, %")),
    _rates(29, "C_llr", challenge_listening.illegible("C_llr")),
    _rates(30, "min C_llr", challenge_listening.illegible("min C_llr")),
)  # fmt: skip
