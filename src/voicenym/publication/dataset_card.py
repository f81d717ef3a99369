"""Data-set card: README.md for the Hugging Face hub, with a section on the anonymization."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from voicenym.evaluation.reported_metrics import named
from voicenym.evaluation.reports.text_summary import figure
from voicenym.evaluation.results import AttackFigures, Measured, by_strength
from voicenym.publication import claim_meter
from voicenym.publication.claim_meter import Claim
from voicenym.publication.corpus_description import Description
from voicenym.publication.croissant import SPDX
from voicenym.publication.data_labels import Entry
from voicenym.publication.own_results import OwnResults

CARD = "README.md"
REMAINS = (
    "The words: spoken names, places and events may tell who speaks.",
    "Accent, rhythm, choice of words and habits of speech, which attackers can learn.",
    "Background sounds and the acoustics of the room.",
    "The durations of the recordings, and how many there are of each speaker: whoever has the "
    "originals can link them by these.",
)
SIZES = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
WORDS = ("WER", "CER", "PER", "DNSMOS", "emotion UAR", "accent UAR")
"""Figures of what is kept, in their order."""


@dataclass(frozen=True)
class Facts:
    """What a card states besides the description.

    Args:
        entries: of the publication.
        processing: sentence on the systems that made it.
        names: sentence on the names of speakers and files.
        checks: sentences on the verification.
        results: figures on these files, then figures of the system on others.
        formats: manifests.
    """

    entries: Sequence[Entry]
    processing: str
    names: str
    checks: Sequence[str]
    results: Sequence[OwnResults]
    formats: Sequence[str]

    @property
    def claims(self) -> list[Claim]:
        """Claims of all figures."""
        return [claim for one in self.results for claim in claim_meter.claims(one.system)]


def card(about: Description, facts: Facts) -> str:
    """Text of the card."""
    parts = [
        _front_matter(about, facts),
        f"# {about.title}\n\n{about.description}\n",
        _summary(about, facts),
        "## Claim meter\n",
        _meter(facts),
        "## Anonymized data\n",
        _anonymized(about, facts),
        *map(_figures, facts.results),
        "## Licence, consent and uses\n",
        _rights(about),
        "## Files\n",
        _files(facts),
    ]
    return "\n".join(parts)


def _front_matter(about: Description, facts: Facts) -> str:
    """YAML of the hub; texts are quoted as in JSON, which YAML includes."""
    spdx = SPDX.fullmatch(about.licence)
    count = len(facts.entries)
    size = next((name for most, name in SIZES if count < most), "n>1M")
    lines = ["---", f"pretty_name: {json.dumps(about.title, ensure_ascii=False)}"]
    if spdx:
        lines.append(f"license: {about.licence.lower()}")
    else:
        lines += ["license: other", "license_name: see-link"]
        lines.append(f"license_link: {json.dumps(about.licence)}")
    lines += ["language:", *(f"- {json.dumps(one)}" for one in about.languages)]
    lines += ["tags:", "- audio", "- speech", "- speaker-anonymization", "- voicenym"]
    lines += ["size_categories:", f"- {size}"]
    if "parquet" in facts.formats:
        lines += ["configs:", "- config_name: default", "  data_files:", "  - split: train"]
        lines += ['    path: "data/train-*.parquet"']
    return "\n".join([*lines, "---", ""])


def _summary(about: Description, facts: Facts) -> str:
    hours = sum(entry.verified.seconds for entry in facts.entries) / 3600
    speakers = len({entry.speaker for entry in facts.entries})
    rows = [
        ("version", f"{about.version}, {about.date.isoformat()}"),
        ("recordings", f"{len(facts.entries):,}, {hours:.2f} hours"),
        ("speakers", f"{speakers:,}"),
        ("languages", ", ".join(about.languages)),
        ("creators", ", ".join(about.creators)),
        ("licence", about.licence),
        ("report a re-identification to", about.contact),
        ("cite as", about.cited),
    ]
    return _table(("", ""), rows)


def _meter(facts: Facts) -> str:
    intro = (
        "What the figures of each attacker support, by the three tests of the Article 29 Working "
        "Party's Opinion 05/2014 (WP216). A failed attack supports only that "
        "this attacker failed.\n"
    )
    text = f"{intro}\n{claim_meter.overall(facts.claims)}\n"
    if not facts.results:
        return text
    stands = "\n".join(f"- **{m.test}**: {m.stands}." for m in claim_meter.MEASURES)
    text += f"\nThe measures that stand for the tests:\n\n{stands}\n"
    head = ("attacker, strongest first", "test", "figures", "risk", "what the figures support")
    for results in facts.results:
        rows = [_claim_row(claim) for claim in claim_meter.claims(results.system)]
        text += f"\n{results.sentence} {results.grade}\n\n{_table(head, rows)}"
    return text


def _claim_row(claim: Claim) -> tuple[str, ...]:
    figures = "; ".join(f"{name} {value}" for name, value in claim.figures.items()) or "–"
    who = f"{claim.attacker}, {claim.verifier}"
    return who, claim.test, figures, f"**{claim.verdict}**", claim.sentence


def _anonymized(about: Description, facts: Facts) -> str:
    lines = [facts.processing, "", "**Threat models.** " + _threats(facts), ""]
    lines += ["**What remains in the recordings:**", "", *(f"- {one}" for one in REMAINS)]
    lines += [f"- {one}" for one in about.limitations]
    lines += [f"- {facts.names}", ""]
    key = {
        "destroyed": "The key was destroyed. Nobody can recompute who has which voice; attacks on "
        "the recordings stay possible, and copies of the key that its holder forgot are not "
        "excluded.",
        "kept": "The key is kept. Whoever holds it can link voices with names: for them the "
        "recordings are pseudonymized personal data, and a leak of the key exposes all speakers.",
        "never stored": "The key was drawn for the run and never stored.",
    }[about.key]
    lines += [f"**The key.** {key} {about.key_custody}", ""]
    lines += [
        "**If you recognise somebody**, do not tell or publish who it is; write to "
        f"{about.contact} with the name of the file and how you found out. Do not send the "
        "recording itself.",
        "",
        "**Verification before publication.**",
        "",
        *(f"- {one}" for one in facts.checks),
        "",
    ]
    return "\n".join(lines)


def _threats(facts: Facts) -> str:
    if not facts.results:
        return "No attacker was run on this corpus: against each of them its protection is unknown."
    lines = ["These attackers were run:", ""]
    for results in facts.results:
        where = "these files" if results.tied else f"other outputs of {results.system.name}"
        for attack in by_strength(results.system.attacks):
            lines.append(f"- on {where}: {attack.attacker} ({attack.verifier}): {attack.knows}")
    notes = {note: None for results in facts.results for note in results.system.notes}
    if notes:
        lines += ["", "Limits of the attacks:", "", *(f"- {note}" for note in notes)]
    return "\n".join(lines)


def _figures(results: OwnResults) -> str:
    """Section on the figures of the strongest attacker, of words, and of subgroups."""
    title = "this corpus" if results.tied else f"the system {results.system.name} on other outputs"
    text = [f"## Figures of {title}\n", results.sentence, ""]
    conditions = results.evaluation.conditions
    ways = {one.name: one.words for one in conditions if not one.lacking}
    head = ("figure", "all", *ways.values())
    if results.system.attacked:
        top = results.system.strongest
        text += [f"Strongest attacker without the key: {top.attacker}, {top.verifier}.", ""]
        text += [_table(head, _attack_rows(top, tuple(ways)))]
    rows = [
        (f"{name}, {which}", *cells)
        for which, utility in (
            ("anonymized", results.system.utility),
            ("original", results.evaluation.utility),
        )
        for name, *cells in _subgroups(utility, WORDS, tuple(ways))
    ]
    text += ["Words and sound:", "", _table(head, rows)] if rows else []
    if not any(row[0].startswith(("WER", "PER")) for row in rows):
        text += ["Words were not measured.", ""]
    text += [f"- {one.words}: no figures, {one.lacking}" for one in conditions if one.lacking]
    if not conditions:
        text += [
            "Subgroups (sex, age) were not measured: all speakers are of one, or the report has "
            "no labels of them.",
            "",
        ]
    return "\n".join([*text, ""])


def _attack_rows(top: AttackFigures, ways: tuple[str, ...]) -> list[tuple[str, ...]]:
    names = tuple(name for measure in claim_meter.MEASURES for name in measure.metrics)
    return _subgroups(top.figures, (*names, "worst speaker"), ways)


def _subgroups(
    figures: Mapping[str, Measured], names: Sequence[str], ways: Sequence[str]
) -> list[tuple[str, ...]]:
    """A row for each metric that was measured: all, then each subgroup."""
    rows = []
    for name in names:
        if name in figures:
            cells = [
                _cell(name, figures.get(key)) for key in (name, *(f"{name} {w}" for w in ways))
            ]
            rows.append((name, *cells))
    return rows


def _cell(name: str, value: Measured | None) -> str:
    metric = named(name)
    return "–" if value is None or metric is None else figure(metric, value)


def _rights(about: Description) -> str:
    lines = [f"- **Licence:** {about.licence}", f"- **Consent:** {about.consent}"]
    lines += [f"- **Collection:** {about.collection}"]
    lines += [f"- **Personal and sensitive contents:** {about.sensitive}"]
    lines += [f"- **Intended uses:** {' '.join(about.uses)}"]
    lines += [f"- **Excluded uses:** {' '.join(about.forbidden_uses)}"]
    if about.biases:
        lines += [f"- **Biases:** {' '.join(about.biases)}"]
    return "\n".join([*lines, ""])


def _files(facts: Facts) -> str:
    what = {
        "kaldi": "`kaldi/`: a data folder, with paths relative to this folder",
        "lhotse": "`lhotse/`: recordings and supervisions, with paths relative to this folder",
        "webdataset": "`webdataset/`: shards of tar, which hold the sound too",
        "parquet": "`data/`: Parquet, with the sound in the column `audio`",
    }
    lines = ["- `audio/`: the recordings", "- `metadata.csv`: a line for each recording"]
    lines += [f"- {text}" for name, text in what.items() if name in facts.formats]
    lines += ["- `croissant.json`: description by Croissant 1.1 with RAI fields"]
    lines += ["- `claims.json`, `verification.json`: the claim meter and the checks, for programs"]
    lines += ["- `SHA256SUMS`: check with `sha256sum -c SHA256SUMS`"]
    return "\n".join([*lines, ""])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(_plain(cell) for cell in row) + " |" for row in rows]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
