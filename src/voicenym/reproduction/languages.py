"""Figures by language: each corpus of the speech given is one language.

The corpora of a manifest tell the languages, such as ``espeak-fr-fr`` and ``arabic_cmds``;
``benchmarks/studies/languages/other_languages.py`` makes such a manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from voicenym.corpus.recordings import recordings
from voicenym.errors import CorpusError, VoicenymError
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench
from voicenym.reproduction.counterparts import LOH, ROH, SELECTION, in_pipeline
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, above, absent, all_of, exceeds
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import attacked, compared, filled, mean, original, useful

SYNTHETIC = "espeak-"
"""Prefix of corpora that a synthesiser read."""
MANDARIN = "espeak-cmn"
WORDS = "no recogniser of this language is at hand"
UTMOS = "UTMOS needs its published weights, which are not at hand; DNSMOS stands in the last panel"
NO_SPEECH = (
    "needs speech with a language in each corpus: languages.tsv of "
    "benchmarks/studies/languages/other_languages.py --distinct"
)
NO_MANDARIN = f"the speech given has no corpus {MANDARIN}; {NO_SPEECH}"
RESTS = "rests on synthetic speech: sentences of programs, read by the voices of espeak-ng"
MUSA = "musa:voice=empty"
OF_YAO = {"B1.a": "b1a", "B1.b": "b1b", "B2": "mcadams",
          "ASV-Free": in_pipeline("lookup"), "MUSA_en": MUSA}  # fmt: skip
OF_MIAO = {"B2": "mcadams", "B1.a": "b1a", "S-Select": SELECTION, "S-ROH w-AAM+cos": ROH,
           "S-LOH w-AAM+cos": LOH}  # fmt: skip
CLOAK = "vcloak:epsilon=0.1"


def by_language(bench: Bench) -> dict[str, Bench]:
    """Benches of the languages by corpus; a cache is shared, words are not recognised."""
    if bench.speech is None:
        return {}
    given = bench.speech
    found = recordings(given.source, given.split, given.part, bench.left_out)
    parts = sorted({recording.corpus for recording in found} - {""})
    if not parts:
        raise CorpusError(f"no corpora in {given.source.name}: a table by language {NO_SPEECH}")
    return {
        part: replace(bench, speech=replace(given, part=part), recogniser=None, _kept={})
        for part in parts
    }


def synthetic(names: list[str]) -> tuple[str, ...]:
    """Notes on what the figures of some corpora rest on."""
    read = [name for name in names if name.startswith(SYNTHETIC)]
    real = [name for name in names if not name.startswith(SYNTHETIC)]
    notes = [f"what is measured on {', '.join(read)} {RESTS}"] if read else []
    notes += [f"{name} is real speech" for name in real]
    return tuple(notes)


def _voices(bench: Bench, system: str | None) -> dict[str, Figure]:
    """Figures of a system, or of original speech, by the columns of Yao et al."""
    if system is None:
        rate, opinion = original(bench, "EER"), original(bench, "DNSMOS")
        return {"EER, %, ignorant": rate, "EER, %, lazy-informed": rate, "G_VD, dB": Figure(0.0),
                "DNSMOS": opinion}  # fmt: skip
    return {
        "EER, %, ignorant": attacked(bench, system, IGNORANT, "EER"),
        "EER, %, lazy-informed": attacked(bench, system, LAZY, "EER"),
        **{name: useful(bench, system, metric)
           for name, metric in (("rho_F0", "rho_F0"), ("G_VD, dB", "G_VD"), ("DNSMOS", "DNSMOS"))},
    }  # fmt: skip


def _row(label: str, columns: tuple[str, ...], found: Mapping[str, Figure], beside: str) -> OurRow:
    lacking = {"WER, %": absent(WORDS), "CER, %": absent(WORDS), "UTMOS": absent(UTMOS)}
    return OurRow(label, filled(columns, {**lacking, **found}), beside)


def languages(bench: Bench) -> Ours:
    """Yao et al., table IV: originals and MUSA in each language, and their means."""
    panel = panels_of("yao-2024", "table-4")[0]
    every = by_language(bench)
    if not every:
        return Ours(notes=(NO_SPEECH, UTMOS))
    found = {name: (_voices(own, None), _voices(own, MUSA)) for name, own in every.items()}
    rows, more = [], []
    columns = (*(c for c in panel.columns if c not in ("UTMOS", "WER, %")), "DNSMOS")
    for place, (label, beside) in enumerate((("Orig", "Orig test"), ("MUSA", "MUSA_ml test"))):
        means = {c: mean([both[place].get(c, absent("")) for both in found.values()])
                 for c in columns if c != "rho_F0" or place}  # fmt: skip
        rows.append(_row(f"ours {label}, mean", panel.columns, means, beside))
        more += [OurRow(f"{name}, {label}", filled(columns, both[place], "of anonymized speech"))
                 for name, both in found.items()]  # fmt: skip
    lazy = "EER, %, lazy-informed"
    rates = [(name, both[1][lazy]) for name, both in found.items()]
    errs = all_of([exceeds(both[1][lazy], both[0][lazy]) for both in found.values()])
    claim = "In every language the lazy-informed attacker errs more than on original speech"
    claims = [compared(claim, errs, *rates)]
    panels = (OurPanel(panel.title, panel.columns, tuple(rows), 2),
              OurPanel("by language", columns, tuple(more), 2))  # fmt: skip
    notes = (*synthetic(list(every)), UTMOS, "the bundled codec learned English alone")
    first = next(iter(every.values())).data
    return Ours(panels, tuple(claims), notes, data=f"{len(every)} languages, each as in {first}")


def _mandarin(bench: Bench) -> Bench | None:
    """Bench of Mandarin alone; None without speech."""
    every = by_language(bench)
    if every and MANDARIN not in every:
        raise VoicenymError(NO_MANDARIN)
    return every.get(MANDARIN)


def mandarin_of_yao(bench: Bench) -> Ours:
    """Yao et al., table V: systems on Mandarin."""
    panel = panels_of("yao-2024", "table-5")[0]
    own = _mandarin(bench)
    if own is None:
        return Ours(notes=(NO_SPEECH, UTMOS))
    found = {"Orig": _voices(own, None)}
    found |= {label: _voices(own, system) for label, system in OF_YAO.items()}
    rows = [_row(f"ours {label}", panel.columns, one, label) for label, one in found.items()]
    opinions = [OurRow(label, (one["DNSMOS"],)) for label, one in found.items()]
    pitch = [(label, one["rho_F0"]) for label, one in found.items() if "rho_F0" in one]
    best = dict(pitch)["MUSA_en"]
    holds = all_of([exceeds(best, figure) for _, figure in pitch if figure is not best])
    claim = "MUSA keeps intonation best in Mandarin (rho_F0)"
    panels = (OurPanel(panel.title, panel.columns, tuple(rows), 2),
              OurPanel("predicted opinion", ("DNSMOS, 1 to 5",), tuple(opinions), 2))  # fmt: skip
    return Ours(panels, (compared(claim, holds, *pitch, digits=2),),
                (*synthetic([MANDARIN]), UTMOS), data=own.data)  # fmt: skip


def mandarin_of_miao(bench: Bench) -> Ours:
    """Miao et al., table IV: systems on Mandarin."""
    panel = panels_of("miao-2023", "table-4")[0]
    own = _mandarin(bench)
    if own is None:
        return Ours(notes=(NO_SPEECH,))
    other = "no network trained with AAM+cos is bundled: voicenym train householder makes one"
    lazy: list[tuple[str, Figure]] = []
    rows = []
    for label in panel.labels:
        found = {column: absent(other) for column in panel.columns}
        found["Original"] = original(own, "EER") if "semi" not in label else absent("of anonymized")
        for column, system in OF_MIAO.items():
            found[column] = _attack(own, system, label)
            if "lazy" in label:
                lazy.append((column, found[column]))
        if label.startswith("CER"):
            found = dict.fromkeys(panel.columns, absent(WORDS))
        rows.append(OurRow(f"ours, {label}", filled(panel.columns, found), label))
    holds = exceeds(dict(lazy)["S-LOH w-AAM+cos"], dict(lazy)["S-Select"])
    claim = "Mandarin, lazy-informed: LOH protects more than selection"
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),),
                (compared(claim, holds, *lazy),), synthetic([MANDARIN]), data=own.data)  # fmt: skip


def _attack(bench: Bench, system: str, label: str) -> Figure:
    if "semi" in label and bench.informed not in bench.only:
        return absent("the semi-informed attacker needs other people's speech: give --pool")
    who = {"ignorant": IGNORANT, "lazy-informed": LAZY, "semi-informed": bench.informed}
    name = label.rpartition(", ")[2]
    return attacked(bench, system, who[name], "EER") if name in who else absent(WORDS)


def chinese_of_deng(bench: Bench) -> Ours:
    """Deng et al., table 8: V-Cloak on Chinese."""
    panel = panels_of("deng-2023", "table-8")[0]
    own = _mandarin(bench)
    if own is None:
        return Ours(notes=(NO_SPEECH,))
    figures = {
        "MMR, %": attacked(own, CLOAK, IGNORANT, "MMR"),
        "EER, %": attacked(own, CLOAK, IGNORANT, "EER"),
        "CER increase, points": absent(WORDS),
    }
    row = OurRow(f"ours {CLOAK}", filled(panel.columns, figures), panel.labels[0])
    claims = (
        compared("V-Cloak anonymizes Chinese (MMR of 90 % or more)",
                 above(figures["MMR, %"], 90.0), ("MMR", figures["MMR, %"]),
                 ("EER before", original(own, "EER")), ("EER after", figures["EER, %"])),
    )  # fmt: skip
    return Ours(
        (OurPanel(panel.title, panel.columns, (row,), 1),),
        claims,
        synthetic([MANDARIN]),
        data=own.data,
    )
