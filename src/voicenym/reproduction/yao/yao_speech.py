"""Yao et al. 2024 on speech: data sets, English, drawings."""

from __future__ import annotations

from voicenym.evaluation.figures import similarities
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench
from voicenym.reproduction.counterparts import B2, in_pipeline
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, absent, all_of, exceeds
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_checks import same_numbers
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import attacked, compared, filled, original, useful

PAPER = "yao-2024"
SYSTEMS = {"B1.a": "b1a", "B1.b": "b1b", "B2": B2, "ASV-Free": in_pipeline("lookup"),
           "Formant": "ssl-select:identity=formant-pitch,f0=moved",
           "MUSA_en": "musa:voice=empty"}  # fmt: skip
UTMOS = "UTMOS needs its published weights, which are not at hand; DNSMOS stands in the last panel"
FORMANT = (
    "Formant (Yao et al. 2023): factors and estimator are not published, and a linear map to "
    "speaker vectors stands for a synthesizer on frequencies"
)
LANGUAGES = (
    "Multilingual LibriSpeech and AISHELL-3 are not at hand; tables 4 and 5 take other speech"
)


def _panel(table: str) -> PublishedPanel:
    return panels_of(PAPER, table)[0]


def stated(bench: Bench) -> Ours:
    """Table I, of words."""
    return Ours(notes=("a table of words: nothing to measure",))


def data_sets(bench: Bench) -> Ours:
    """Table II: the speech at hand."""
    people = {recording.speaker for recording in bench.recordings}
    hours = sum(len(recording.samples()) for recording in bench.recordings) / 16_000 / 3600
    panel = OurPanel("speech at hand", ("speakers", "hours"), (
        OurRow("ours, evaluated", (Figure(float(len(people))), Figure(hours))),), 2)  # fmt: skip
    return Ours((panel,), (), (LANGUAGES,))


def english(bench: Bench) -> Ours:
    """Table III: averages in English."""
    panel = _panel("table-3")
    if bench.speech is None:
        return Ours(findings=(_baselines(),))
    rows, found = [], {}
    opinions = [OurRow("Orig", (original(bench, "DNSMOS"),))]
    for label in panel.labels:
        system = SYSTEMS.get(label, "")
        if label == "Orig":
            figures = {
                "EER, %, ignorant test": original(bench, "EER"),
                "EER, %, lazy-informed test": original(bench, "EER"),
                "WER, % test": original(bench, "WER"),
                "G_VD, dB test": Figure(0.0),
            }
        else:
            figures = {
                "EER, %, ignorant test": attacked(bench, system, IGNORANT, "EER"),
                "EER, %, lazy-informed test": attacked(bench, system, LAZY, "EER"),
                "WER, % test": useful(bench, system, "WER"),
                "rho_F0 test": useful(bench, system, "rho_F0"),
                "G_VD, dB test": useful(bench, system, "G_VD"),
            }
            opinions.append(OurRow(label, (useful(bench, system, "DNSMOS"),)))
        figures.update({f"UTMOS {part}": absent(UTMOS) for part in ("dev", "test")})
        reason = "one set of speech here, in the columns of the test sets"
        found[label] = figures
        rows.append(OurRow(f"ours {label}", filled(panel.columns, figures, reason), label))
    panels = (
        OurPanel(panel.title, panel.columns, tuple(rows), 2),
        OurPanel("predicted opinion", ("DNSMOS, 1 to 5",), tuple(opinions), 2),
    )
    pitch = {n: found[n]["rho_F0 test"] for n in ("B2", "ASV-Free", "MUSA_en")}
    gain = {n: found[n]["G_VD, dB test"] for n in ("B2", "ASV-Free")}
    findings = (
        compared("MUSA keeps intonation best (rho_F0)", all_of(
            [exceeds(pitch["MUSA_en"], pitch[n]) for n in ("B2", "ASV-Free")]), *pitch.items(),
            digits=2),
        compared("ASV-Free loses more distinctiveness than B2 (G_VD)",
                 exceeds(gain["B2"], gain["ASV-Free"]), *gain.items(), digits=2),
        _baselines(),
    )  # fmt: skip
    return Ours(panels, findings, (FORMANT,))


def _baselines() -> Finding:
    """Whether the baselines' figures are those that Miao et al. print."""
    theirs, here = panels_of("miao-2023", "table-3")[0], _panel("table-3")
    metrics = ("EER, %, ignorant", "EER, %, lazy-informed", "WER, %", "G_VD, dB")
    pairs = []
    for metric in metrics:
        row = "WER, %, ASR_eval" if metric == "WER, %" else metric
        for system in ("B1.a", "B1.b", "B2"):
            for part in ("dev", "test"):
                a = here.number(system, f"{metric} {part}")
                b = theirs.number(row, f"{system} {part}")
                pairs.append((f"{metric}, {system} {part}", a, b, 1e-9))
    return same_numbers("The baselines' figures are those of Miao et al. 2023, table III", pairs)


def matrices(bench: Bench) -> Ours:
    """Figure 3: similarity matrices of the systems at hand."""
    columns = ("M_oo own", "M_oo others", "M_aa own", "M_aa others")
    rows, drawings = [], []
    for name in ("B2", "ASV-Free", "MUSA_en"):
        system = SYSTEMS[name]
        rows.append(OurRow(name, tuple(useful(bench, system, metric) for metric in columns)))
        one = bench.measured(system)
        if not isinstance(one, str):
            drawing = similarities({name: one.evidence.matrices[one.name]})
            drawings.append((f"figure-3-{name}.svg", drawing))
    return Ours((OurPanel("mean similarity", columns, tuple(rows), 2),), (), (), tuple(drawings))
