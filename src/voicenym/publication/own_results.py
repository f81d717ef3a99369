"""Results of ``voicenym evaluate`` that belong to a corpus: tied to its files by their SHA-256."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from voicenym.anonymizer import SYSTEMS
from voicenym.anonymizer.system_settings import label
from voicenym.errors import CorpusError
from voicenym.evaluation import results_file
from voicenym.evaluation.grades import grade
from voicenym.evaluation.results import Evaluation, SystemResults


@dataclass(frozen=True)
class OwnResults:
    """Results that a card may show.

    Args:
        evaluation: the report.
        system: of it, that concerns the corpus.
        files: of the corpus that were evaluated; 0 if the report does not say which.
        of: files of the corpus.
        corpus_made_by: systems with settings that made the corpus, where these are others than
            those of the figures.
    """

    evaluation: Evaluation
    system: SystemResults
    files: int
    of: int
    corpus_made_by: tuple[str, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether the figures are of files of this corpus."""
        return self.files > 0

    @property
    def grade(self) -> str:
        """Verdict of the report, by the lower end of the strongest attacker's interval."""
        return f"Verdict on the strongest attacker that ran: {grade(self.system)[1]}."

    @property
    def sentence(self) -> str:
        """What the figures are of."""
        when = f"by voicenym {self.evaluation.version} on {self.evaluation.date}"
        if self.tied:
            return (
                f"Measured {when} on {self.files} of the {self.of} files of this corpus "
                "(their SHA-256 were compared)."
            )
        return (
            f"NOT MEASURED ON THESE FILES: figures of the system {self.system.name} {when} on "
            f"other outputs ({self.evaluation.data}). Other keys and speakers have other "
            f"figures.{self._settings}"
        )

    @property
    def _settings(self) -> str:
        if not self.corpus_made_by:
            return ""
        return (
            f" OF OTHER SETTINGS: they are of {with_voices(self.system.name, self.system.per)}, "
            f"and this corpus was made by {' and '.join(self.corpus_made_by)}; they say nothing of "
            "its protection."
        )


def with_voices(name: str, per: str) -> str:
    """``mcadams with a voice for each speaker``."""
    return f"{name} with a voice for each {per}"


def settings_of(line: Mapping[str, Any]) -> str:
    """Name of a system with the settings that differ from its defaults, by a line of a log.

    Values are compared as JSON has them, and paths by their last part: weights may lie elsewhere.
    """
    name, given = str(line.get("system")), line.get("parameters")
    settings = given if isinstance(given, dict) else {}
    if name in SYSTEMS:
        defaults = {
            one.name: json.loads(json.dumps(one.default, default=str))
            for one in SYSTEMS.parameters(name)
            if not one.required
        }
        settings = {k: v for k, v in settings.items() if k not in defaults or v != defaults[k]}
    return label(name, settings)


def of_files(report: Path, digests: Collection[str]) -> OwnResults:
    """Results of a report that were measured on files of a corpus.

    Args:
        report: folder of ``voicenym evaluate``, or its ``results.json``.
        digests: SHA-256 of the files of the corpus.

    Raises:
        VoicenymError: no report, or figures of other files.
    """
    evaluation = results_file.load(report)
    own = set(digests)
    known = [one for one in evaluation.systems if one.files]
    for one in known:
        if own.issuperset(one.files):
            return OwnResults(evaluation, one, len(set(one.files)), len(own))
    if known:
        foreign = set(known[0].files) - own
        raise CorpusError(
            f"{report}: {len(foreign)} of its {len(known[0].files)} evaluated files are not in "
            "this corpus, so that its figures are not of it; evaluate the corpus as it is now with "
            "voicenym evaluate --original ORIGINALS --anonymized CORPUS -o REPORT"
        )
    raise CorpusError(
        f"{report}: does not say which files it was measured on (it evaluated systems on "
        "originals, or is of an earlier release), so that its figures cannot be tied to this "
        "corpus; run voicenym evaluate --original ORIGINALS --anonymized CORPUS -o REPORT, or give "
        "it with --system-report, which marks them as figures of other outputs"
    )


def of_system(
    report: Path,
    made_by: Collection[str],
    system: str | None,
    of: int,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> OwnResults:
    """Results of the system that made a corpus, on other outputs; a card marks them.

    Args:
        report: as of :func:`of_files`.
        made_by: systems that made the corpus, by its log; empty if there is none.
        system: name in the report; None if it holds one that made the corpus.
        of: files of the corpus.
        settings: of the corpus, as of :func:`settings_of`, with whom a voice is for (``speaker``);
            empty if its log does not say them.

    Raises:
        VoicenymError: no report, no such system, or one that did not make the corpus.
    """
    evaluation = results_file.load(report)
    names = [one.name for one in evaluation.systems]
    fit = [s for s in evaluation.systems if system in (None, s.name) and not s.files]
    fit = [s for s in fit if not made_by or s.system in made_by]
    if not fit:
        by = f" by {', '.join(sorted(made_by))}" if made_by else ""
        raise CorpusError(
            f"{report}: holds no figures of {system or 'the system'} that made the corpus{by}; it "
            f"has {', '.join(names)}"
        )
    if len(fit) > 1:
        raise CorpusError(
            f"{report}: holds several systems; say which with --system: {', '.join(names)}"
        )
    (chosen,) = fit
    measured = settings_of({"system": chosen.system, "parameters": chosen.parameters})
    others = {name: per for name, per in settings.items() if (name, per) != (measured, chosen.per)}
    made = tuple(with_voices(name, per) for name, per in sorted(others.items()))
    return OwnResults(evaluation, chosen, 0, of, made)
