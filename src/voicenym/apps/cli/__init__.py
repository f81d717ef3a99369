"""The command line: ``voicenym`` and its subcommands."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any, TextIO

import typer

from voicenym.apps.cli.terminal.command_group import Entry, Group, new_app
from voicenym.apps.cli.terminal.interrupts import Interrupts
from voicenym.apps.cli.terminal.standard_output import checked_output, open_closed_streams
from voicenym.ending_signals import ending_signals, ignore_hangups
from voicenym.errors import VoicenymError, of_path, printable
from voicenym.isolation import isolate
from voicenym.thread_spinning import limit_spinning

PACKAGE = str(Path(__file__).parents[2])
USE, MEASURE, BUILD = "Use", "Measure", "Build"


def _entry(name: str, section: str, summary: str) -> Entry:
    return Entry(name, section, f"{__name__}.commands.{name}", summary)


class _Commands(Group):
    """All commands, grouped by purpose."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; an interrupt gives one line with any release of typer."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if ctx.invoked_subcommand != "live":  # which is ended so
                _say_interrupted()
            raise typer.Exit(130) from None

    entries = (
        _entry("anonymize", USE, "Give the voices in recordings a pseudonym."),
        _entry("status", USE, "Print how far a run over a corpus is."),
        _entry("speakers", USE, "Find who speaks when in a recording."),
        _entry(
            "serve",
            USE,
            "Serve the systems to programs and browsers, on this machine unless told otherwise.",
        ),
        _entry(
            "live",
            USE,
            "Anonymize a microphone, a call, a pipe or a telephone line (RTP) while it runs.",
        ),
        _entry("transcribe", USE, "Write what is said in a recording, with the times of words."),
        _entry("redact", USE, "Remove spoken names, numbers and other words from a recording."),
        _entry("mark", USE, "Mark a recording as one whose voices are not the speakers' own."),
        _entry("systems", USE, "List the systems and what they protect against, or show one."),
        _entry("explain", USE, "Explain what protects against whom, and at what price."),
        _entry("key", USE, "Make, show, upgrade, share and destroy key files."),
        _entry("relink", USE, "List the outputs of speakers, for whoever keeps the key."),
        _entry("release", USE, "Verify an anonymized corpus and write it for publication."),
        _entry("models", USE, "List, fetch, convert and assemble weights."),
        _entry("cache", USE, "List or remove what commands keep of speech on disk."),
        _entry("audit", MEASURE, "Attack one anonymized recording and report what was recognised."),
        _entry("evaluate", MEASURE, "Anonymize, attack and measure a corpus; write a report."),
        _entry("challenge", MEASURE, "Evaluate as a VoicePrivacy Challenge does; write its files."),
        _entry("compare", MEASURE, "Compare the systems of several reports."),
        _entry("cards", MEASURE, "Write a report's figures to the systems' cards."),
        _entry(
            "reproduce",
            MEASURE,
            "Print tables and figures of the papers, ours below the published ones.",
        ),
        _entry("listen", MEASURE, "Listening tests: design, serve, analyse, or try one."),
        _entry("train", BUILD, "Train networks on your own speech."),
        _entry("pool", BUILD, "Build pools of speaker vectors."),
    )


app = new_app("Hide who speaks in a recording; keep what is said and how.", _Commands)


def _version(wanted: bool) -> None:
    if wanted:
        from voicenym import __version__

        typer.echo(f"voicenym {__version__}")
        raise typer.Exit


OPEN = (
    "anonymize",
    "mark",
    "release",
    "systems",
    "explain",
    "models",
    "cards",
    "cache",
    "reproduce",
)
"""Commands whose files are meant for others and have the user's umask."""


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    if context.invoked_subcommand not in OPEN:
        from voicenym.private import closed

        context.with_resource(closed())


def main() -> None:
    """Runs the command; a user's error gives one line on stderr and a status other than zero."""
    open_closed_streams()
    isolate()
    limit_spinning()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as a shell does in the background
        signal.signal(signal.SIGINT, Interrupts(main.__code__))
    for number in ending_signals():
        signal.signal(number, _terminated)
    warnings.showwarning = _warned
    try:
        with checked_output():
            app()
    except VoicenymError as error:
        if os.environ.get("VOICENYM_DEBUG"):
            raise
        first, *rest = error.details or (str(error),)
        for line in (f"voicenym: error: {first}", *rest):
            typer.echo(printable(line), err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        _say_interrupted()
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:
        told = of_path(error)
        if told is None or os.environ.get("VOICENYM_DEBUG"):
            raise
        typer.echo(printable(f"voicenym: error: {told}"), err=True)
        sys.exit(1)
    except Exception as error:
        why = _of_other_package(error)
        if why is None or os.environ.get("VOICENYM_DEBUG"):
            raise
        typer.echo(printable(f"voicenym: error: {why}"), err=True)
        sys.exit(1)


def _of_other_package(error: Exception) -> str | None:
    """Message of a defect of another package's system; None of voicenym's own, which is a traceback
    for its report.
    """
    from voicenym.corpus.batches.batch_task import in_words, package_of

    return in_words(error) if package_of(error) else None


def _say_interrupted() -> None:
    typer.echo("voicenym: interrupted; finished files are complete, others not there", err=True)


_developers = warnings.showwarning


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints warnings of the package in one line, and passes all others on."""
    if category is UserWarning and filename.startswith(PACKAGE):
        typer.echo(printable(f"voicenym: warning: {message}"), err=True)
    else:
        _developers(message, category, filename, lineno, file, line)


def _terminated(number: int, frame: object) -> None:
    """Handler of SIGTERM and SIGHUP: raises an exception, so that temporary files are removed."""
    ignore_hangups()
    sys.exit(128 + number)
