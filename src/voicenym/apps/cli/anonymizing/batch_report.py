"""Messages, progress and the final summary of ``voicenym anonymize``."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.measured_systems import measured
from voicenym.apps.cli.measured_systems.protection_steps import step_of
from voicenym.apps.cli.terminal import tables
from voicenym.errors import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from voicenym.anonymizer import Anonymizer, Card, Refusal
    from voicenym.corpus.batches.batch_runner import Job, Outcome, Summary
    from voicenym.corpus.plans.file_plan import Item


MOST_ALIKE = 5
"""Most warnings of the same text that are printed one by one."""


class Messages:
    """Messages for the user, on stderr, so that standard output can carry sound.

    Args:
        quiet: print warnings only.
    """

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(self, text: str) -> None:
        if not self.quiet:
            line = printable(text)
            if sys.stderr.isatty():
                line = tables.wrapped(line, tables.width(), rest="  ")
            typer.echo(line, err=True)

    def warn(self, text: str) -> None:
        typer.echo(printable(f"voicenym: warning: {text}"), err=True)


class BatchProgress:
    """A bar with rate and time left on a terminal, a line per file elsewhere."""

    def __init__(self, total: int, quiet: bool, show_names: bool = False) -> None:
        self._total, self._done, self._failed, self._seconds = total, 0, 0, 0.0
        self._started = time.monotonic()
        self._quiet, self._show_names = quiet, show_names
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> BatchProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("anonymizing", total=self._total)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def within(self, seconds: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=self._rate(self._seconds + seconds))

    def report(self, outcome: Outcome) -> None:
        new = outcome.result is not None and not outcome.skipped
        name = f"{outcome.item.source} -> " if self._show_names else ""
        seconds = outcome.result.duration if outcome.result is not None and new else None
        failed = outcome.result is None and not outcome.skipped
        self.advance(f"{name}{outcome.item.target}", seconds, failed)

    def advance(self, name: str, seconds: float | None, failed: int = 0) -> None:
        """Counts one more output.

        Args:
            name: of the output.
            seconds: of audio in it; None if this run has not written it.
            failed: number of recordings of it that failed.
        """
        self._done += 1
        self._failed += failed
        self._seconds += seconds or 0.0
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=self._rate(self._seconds))
        elif not self._quiet and seconds is not None:
            left = (time.monotonic() - self._started) / self._done * (self._total - self._done)
            typer.echo(
                f"[{self._done}/{self._total}] {printable(name)} "
                f"({self._rate(self._seconds)}, {left:.0f} s left)",
                err=True,
            )

    def _rate(self, seconds: float) -> str:
        rate = f"{seconds / max(1e-3, time.monotonic() - self._started):.0f} x real time"
        return f"{rate}, {self._failed} failed" if self._failed else rate


def summarize(summary: Summary, items: list[Item], job: Job, started: float, say: Messages) -> None:
    """Warnings, failures by name and reason, and a line that counts."""
    warnings, failures = summary.warnings, [_failure(*failed) for failed in summary.failures]
    if job.opaque:  # the order of the run is that of the new names
        targets = {str(item.source): str(item.target) for item in items}
        failures = [_one_name(s, r, targets[s]) for s, r in summary.failures]
        warnings, failures = sorted(warnings), sorted(failures)
    for warning in [*_fallback_sentences(summary, items, job), *_grouped(warnings)]:
        say.warn(warning)
    for text in failures:
        typer.echo(printable(f"voicenym: error: {text}"), err=True)
    if len(items) > 1:
        untried = f", {summary.untried} not tried" if summary.untried else ""
        other = _by_fallback(summary, job)
        say(
            f"{summary.done} anonymized{other}, {summary.skipped} already done, "
            f"{len(summary.failures)} failed{untried}; {summary.seconds / 60:.1f} min of audio in "
            f"{time.monotonic() - started:.1f} s"
        )
        if summary.done and job.log is not None:
            say(f"written to: {job.log.parent}")
    elif summary.done:
        say(f"wrote {items[0].target}")
    elif summary.skipped:
        say(f"{items[0].target}: is there already, as this run would write it")


def fallback_sentence(name: str, refusal: Refusal, system: Card, fallback: Card) -> str:
    """Sentence on a recording that the fall-back anonymized.

    Args:
        name: of the recording.
        refusal: of the system.
        system, fallback: cards of the two.
    """
    return (
        f"{name}: anonymized with {fallback.name} instead of {system.name}: {refusal.reason}; "
        f"{refusal.cure}; {measured.against_attackers(fallback, system)}"
    )


def _grouped(warnings: Sequence[str]) -> list[str]:
    """Warnings, of which many of the same text become one, with the first recording's name."""
    alike: dict[str, list[str]] = {}
    for warning in warnings:
        alike.setdefault(warning.partition(": ")[2] or warning, []).append(warning)
    found = []
    for same in alike.values():
        if len(same) > MOST_ALIKE:
            found.append(f"{same[0]} (and {counted(len(same) - 1, 'more recording')})")
        else:
            found.extend(same)
    return found


def _fallback_sentences(summary: Summary, items: list[Item], job: Job) -> list[str]:
    if not summary.refused or job.fallback is None:
        return []
    from voicenym.anonymizer import system_class

    cards = system_class(job.system).card, system_class(job.fallback.system).card
    found = [fallback_sentence(name, refusal, *cards) for name, refusal in summary.refused]
    return sorted(found) if job.opaque else found


def _by_fallback(summary: Summary, job: Job) -> str:
    if not summary.refused or job.fallback is None:
        return ""
    return f" ({len(summary.refused)} of them with {job.fallback.system})"


def _failure(source: str, reason: str) -> str:
    return reason if source in reason else f"{source}: {reason}"


def _one_name(source: str, reason: str, target: str) -> str:
    """Failure under the name in its reason, the old one or the new one."""
    if source in reason:
        return reason.replace(target, "its output")
    return reason if target in reason else f"{source}: {reason}"


def account(
    inputs: Iterable[Path],
    items: Sequence[Item],
    output: Path | None,
    say: Messages,
    every: bool = False,
) -> bool:
    """Messages on skipped files of folders, and on recordings with a new extension.

    Args:
        inputs: files and folders of the command line.
        items: of these inputs.
        output: file or folder that the command writes to.
        say: the user's messages.
        every: whether to name all files, and not only the first few of a kind.

    Returns:
        Whether all folders could be read: else recordings may be missing.
    """
    from voicenym.corpus.readers import folder_walk

    parts = folder_walk.skipped(inputs, output)
    for line in folder_walk.report(parts, every=every):
        say.warn(line)
    for line in folder_walk.named_as_outputs(item.source for item in items):
        say.warn(line)
    for line in folder_walk.rewritten(item.source for item in items):
        say(line)
    return not any(part.reason.hides for part in parts)


def describe(role: str, anonymizer: Anonymizer, say: Messages) -> None:
    """Prints a system, its protection and price.

    Args:
        role: of the system in the run.
        anonymizer: the system. Figures are of default settings: what differs is named.
        say: the user's messages.
    """
    from voicenym.anonymizer.system_settings import unmeasured

    card, own = anonymizer.card, unmeasured(anonymizer)
    say(f"{role}: {card.name} ({card.title})")
    say(f"protects against: {card.protects}")
    say(f"does not protect: {card.fails[0]}")
    for line in measured.summary(card):
        say(line)
    earned = step_of(card)
    step = "none earned" if earned is None else f"{earned.name}, which stops {earned.stops}"
    whose = " of the default settings" if own else ""
    say(f"step of protection{whose}: {step} (voicenym explain)")
    if own:
        say(f"these figures are of the default settings of {card.name}, not of {own}")
