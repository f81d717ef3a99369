"""Results of an evaluation in the forms of the VoicePrivacy Challenges of 2020, 2022 and 2024.

2020 and 2022 collect a ``results.txt``: for each pair of an enrolment and a trial list EER, C_llr,
linkability and ZEBRA's disclosure; for each test set word errors; for each trial list pitch
correlation and gain of voice distinctiveness; and the weighted means. 2024 has a
``result_for_rank`` of columns. The lists of a test set are the conditions of the evaluation
(:mod:`voicenym.evaluation.trial_plans.voiceprivacy`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from voicenym.attack.attackers import Ignorant, Unprotected
from voicenym.errors import VoicenymError
from voicenym.evaluation.reported_metrics import WEIGHTED
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults, cell
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.metrics.verification.zebra import tag

YEARS = (2020, 2022, 2024)
_LIST = re.compile(r"(LibriSpeech|VCTK different|VCTK common)(?: (\S+))? ([fm])")
_CORPORA = {"LibriSpeech": "libri", "VCTK different": "vctk", "VCTK common": "vctk"}
_SPOKEN = {"libri": "LibriSpeech", "vctk": "VCTK"}


@dataclass(frozen=True)
class TrialSet:
    """A trial list, by the challenges' names.

    Args:
        label: of its condition, as in ``EER LABEL``.
        corpus: ``libri`` or ``vctk``.
        subset: ``dev`` or ``test``.
        sex: ``f`` or ``m``.
        common: whether its sentences are those that all speakers of VCTK read.
    """

    label: str
    corpus: str
    subset: str
    sex: str
    common: bool

    @property
    def enrolment(self) -> str:
        return f"{self.corpus}_{self.subset}_enrolls"

    @property
    def trials(self) -> str:
        ending = "_common" if self.common else ""
        return f"{self.corpus}_{self.subset}_trials_{self.sex}{ending}"


@dataclass(frozen=True)
class Challenge:
    """Figures of one system for a challenge.

    Args:
        year: of the challenge.
        system: evaluated.
        sets: its trial lists.
        originals: of original speech: attack, and utility by name.
        utility: of original speech.
        ignorant: trials of anonymized speech against original enrolment; None if it did not run.
        informed: the challenge's attacker with anonymized enrolment; None if it did not run.
        warnings: about the trials.
    """

    year: int
    system: SystemResults
    sets: tuple[TrialSet, ...]
    originals: AttackFigures
    utility: Mapping[str, Measured]
    ignorant: AttackFigures | None
    informed: AttackFigures | None
    warnings: tuple[str, ...] = ()

    @property
    def subsets(self) -> list[str]:
        return list(dict.fromkeys(one.subset for one in self.sets))

    def key(self, subset: str) -> str:
        """Ending of a mean's name: the test set where there are several."""
        return f" {subset}" if len(self.subsets) > 1 else ""


def check_lists(trials: Trials) -> None:
    """Refuses trials of which a challenge's tables would lack all lists, before they are attacked.

    Raises:
        VoicenymError: a list without the name of a data set, or a speaker of unknown sex.
    """
    if trials.parts and all(part.weight is not None for part in trials.parts):
        return
    raise VoicenymError(
        f"{'; '.join(trials.notes)}; name the folders as the challenges do (libri_dev_enrolls, "
        "libri_dev_trials_f, vctk_test_trials_m_common and so on), with the sex of each speaker in "
        "spk2gender, or use voicenym evaluate"
    )


def challenge(evaluation: Evaluation, year: int, subset: str) -> Challenge:
    """The figures of a challenge.

    Args:
        evaluation: of one system, on the challenge's lists.
        year: one of :data:`YEARS`.
        subset: ``dev`` or ``test``, where the lists are of one of them.

    Raises:
        VoicenymError: lists that are not the challenges'.
    """
    sets = []
    for condition in evaluation.conditions:
        found = _LIST.fullmatch(condition.name)
        if condition.kind == "list" and found and not condition.lacking:
            data, own, sex = found.groups()
            common = data == "VCTK common"
            sets.append(TrialSet(condition.name, _CORPORA[data], own or subset, sex, common))
    if not sets:
        raise VoicenymError(
            "no list is named as the VoicePrivacy Challenges name theirs; name the folders "
            "libri_dev_enrolls, libri_dev_trials_f, vctk_test_trials_m_common and so on"
        )
    (system,) = evaluation.systems
    return Challenge(
        year,
        system,
        tuple(sets),
        _attack(evaluation.unprotected, Unprotected.name) or evaluation.unprotected[0],
        evaluation.utility,
        _attack(system.attacks, Ignorant.name),
        _attack(system.attacks, f"asv-eval-{year}"),
        evaluation.warnings,
    )


def _attack(attacks: Iterable[AttackFigures], name: str) -> AttackFigures | None:
    return next((attack for attack in attacks if attack.attacker == name), None)


def results(found: Challenge) -> str:
    """The challenge's file: ``results.txt`` of 2020 and 2022, ``result_for_rank`` of 2024."""
    lines = _ranked(found) if found.year >= 2024 else _collected(found)
    return "\n".join(lines) + "\n"


def _collected(found: Challenge) -> list[str]:
    pairs = ((found.originals, "", ""), (found.ignorant, "", "_anon"))
    lines = []
    for attack, enrolled, tried in (*pairs, (found.informed, "_anon", "_anon")):
        for one in found.sets:
            if attack is not None and f"EER {one.label}" in attack.figures:
                lines.append(f"ASV-{one.enrolment}{enrolled}-{one.trials}{tried}")
                lines += [f"  {line}" for line in _scores(attack.figures, one.label)]
    for corpus, subset in dict.fromkeys((one.corpus, one.subset) for one in found.sets):
        for figures, ending in ((found.utility, ""), (found.system.utility, "_anon")):
            errors = figures.get(_words(found, corpus, subset))
            if errors is not None:
                lines += [f"ASR-{corpus}_{subset}_asr{ending}", f"  %WER {errors.value:.2f}"]
    for one in found.sets:
        rho, gain = (found.system.utility.get(f"{n} {one.label}") for n in ("rho_F0", "G_VD"))
        if rho is not None or gain is not None:
            lines.append(one.trials)
        if rho is not None:
            lines.append(f"  Pitch_correlation: mean={rho.value:.4f}")
        if gain is not None:
            lines.append(f"  Gain of voice distinctiveness : {gain.value:.4f}")
    return lines + _means(found)


def _scores(figures: Mapping[str, Measured], label: str) -> list[str]:
    value = {
        name: figures[f"{name} {label}"].value
        for name in ("EER", "C_llr", "min C_llr", "ROCCH-EER", "D_sys", "D_ECE", "worst case")
        if f"{name} {label}" in figures
    }
    lines = [f"EER: {value['EER']:.3f}%"]
    if {"C_llr", "min C_llr"} <= value.keys():
        lines.append(f"Cllr (min/act): {value['min C_llr']:.3f}/{value['C_llr']:.3f}")
    if "ROCCH-EER" in value:
        lines.append(f"ROCCH-EER: {value['ROCCH-EER']:.3f}%")
    if "D_sys" in value:
        lines.append(f"linkability: {value['D_sys']:.6f}")
    if "D_ECE" in value:
        lines.append(f"Population: {value['D_ECE']:.3f} bit")
    if "worst case" in value:
        lines.append(f"Individual: {value['worst case']:.3f} ({tag(value['worst case'])})")
    return lines


def _words(found: Challenge, corpus: str, subset: str) -> str:
    return f"WER {_SPOKEN[corpus]}{found.key(subset)}"


def _means(found: Challenge) -> list[str]:
    """The lines of the weighted means, without those that were not measured."""
    own = found.system.utility
    informed = {} if found.informed is None else found.informed.figures
    rows = (
        ("Weighted average EER", " orig", found.originals.figures, "EER"),
        ("Weighted average EER", " anon", informed, "EER"),
        ("Average WER", " orig", found.utility, "WER"),
        ("Average WER", " anon", own, "WER"),
        ("Weighted average pitch correlation", "", own, "rho_F0"),
        ("Weighted average gain of voice distinctiveness", "", own, "G_VD"),
    )
    lines = []
    for head, ending, figures, name in rows:
        for subset in found.subsets:
            mean = figures.get(f"{WEIGHTED} {name}{found.key(subset)}")
            if mean is not None:
                lines.append(f"{head} {subset}{ending}: {mean.value:.3f}")
    return lines


def _ranked(found: Challenge) -> list[str]:
    heads = ("dataset", "split", "gender", "enrollment", "trial", "EER")
    lines: list[str] = []
    for title, attack, kind in (
        ("ASV_eval", found.originals, "original"),
        ("ASV_eval^anon", found.informed, "anon"),
    ):
        rows = [
            (_data(one), one.subset, one.sex, kind, kind, f"{measured.value:.3f}")
            for one in found.sets
            if attack is not None and (measured := attack.figures.get(f"EER {one.label}"))
        ]
        lines += _section(f"{title} results", heads, rows)
    words = [
        (corpus, subset, kind, f"{measured.value:.3f}")
        for corpus, subset in dict.fromkeys((one.corpus, one.subset) for one in found.sets)
        for figures, kind in ((found.utility, "original"), (found.system.utility, "anon"))
        if (measured := figures.get(_words(found, corpus, subset)))
    ]
    return lines + _section("ASR results", ("dataset", "split", "asr", "WER"), words)


def _data(one: TrialSet) -> str:
    return (
        one.corpus if one.corpus == "libri" else f"vctk_{'common' if one.common else 'different'}"
    )


def _section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table with columns to the right; nothing without rows."""
    if not rows:
        return []
    table = [("", *heads), *((str(i), *row) for i, row in enumerate(rows))]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads) + 1)]
    body = [
        " ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    return [f"---- {title} ----", *body, ""]


def summary(found: Challenge) -> str:
    """A table in Markdown: each list, and the weighted means of each test set, with intervals."""
    informed = {} if found.informed is None else found.informed.figures
    ignorant = {} if found.ignorant is None else found.ignorant.figures
    own = found.system.utility
    lines = [
        f"# {found.system.name}: VoicePrivacy {found.year}",
        "",
        "| test set | EER %, original | EER %, ignorant | EER %, "
        f"asv-eval-{found.year} | rho_F0 | G_VD, dB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rows = [(one.trials, f"{{}} {one.label}") for one in found.sets]
    for subset in found.subsets:
        rows.append((f"weighted mean, {subset}", f"{WEIGHTED} {{}}{found.key(subset)}"))
    for head, key in rows:
        cells = [
            cell(found.originals.figures.get(key.format("EER"))),
            cell(ignorant.get(key.format("EER"))),
            cell(informed.get(key.format("EER"))),
            cell(own.get(key.format("rho_F0")), 2),
            cell(own.get(key.format("G_VD"))),
        ]
        lines.append(f"| {head} | {' | '.join(cells)} |")
    lines += ["", "| words | WER %, original | WER %, anonymized |", "| --- | --- | --- |"]
    for corpus, subset in dict.fromkeys((one.corpus, one.subset) for one in found.sets):
        key = _words(found, corpus, subset)
        both = f"{cell(found.utility.get(key))} | {cell(own.get(key))}"
        lines.append(f"| {corpus}_{subset} | {both} |")
    lines += ["", *(f"- {note}" for note in _notes(found))]
    return "\n".join(lines) + "\n"


def _notes(found: Challenge) -> list[str]:
    notes = [
        f"originals: {found.originals.verifier}, which is not the challenge's ASV_eval",
        "intervals are of 95 %, over speakers; the challenge prints none",
    ]
    if found.informed is None:
        notes.append(f"asv-eval-{found.year} did not run: give other people's speech and a budget")
    if found.year >= 2024:
        notes.append("recall of emotions is not measured: it needs IEMOCAP and its classifiers")
    if found.informed is not None and math.isnan(found.informed.eer.value):
        notes.append("the attacker's training did not converge")
    return list(dict.fromkeys([*notes, *_outdone(found), *found.warnings, *found.system.notes]))


def _outdone(found: Challenge) -> list[str]:
    """Notes on test sets where the challenge's attacker finds less than one who knows nothing."""
    notes = []
    for subset in found.subsets:
        key = f"{WEIGHTED} EER{found.key(subset)}"
        both = [one.figures.get(key) for one in (found.ignorant, found.informed) if one is not None]
        if len(both) == 2 and both[0] is not None and both[1] is not None:
            knows_less, knows_more = both[0].value, both[1].value
            if knows_more > knows_less:
                notes.append(
                    f"in {subset}, asv-eval-{found.year} finds less than the ignorant attacker "
                    f"({knows_more:.1f} against {knows_less:.1f} %): it learned too little, and "
                    "its figure overstates the protection; give more speech (--pool-size) and time"
                )
    return notes
