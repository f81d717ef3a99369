"""The command line: ``voicenym`` and its subcommands."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path
from typing import TextIO

import typer

from voicenym.apps.cli import (
    anonymize,
    audit,
    cache,
    cards,
    compare,
    evaluate,
    key,
    models,
    pool,
    systems,
    train,
    train_autoencoder,
    train_content,
    train_householder,
    train_hybrid,
    train_mixture,
    train_musa,
    train_recogniser,
    train_register,
    train_resynthesis,
    train_statistical,
    train_synthesizer,
    train_tokenizer,
    train_vcloak,
    train_verifier,
    train_word_codes,
)
from voicenym.apps.cli.skipped_files import leaves_out
from voicenym.errors import VoicenymError
from voicenym.isolation import isolate
from voicenym.private import closed

app = typer.Typer(
    name="voicenym",
    help="Hide who speaks in a recording; keep what is said and how.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from voicenym import __version__

        typer.echo(f"voicenym {__version__}")
        raise typer.Exit


OPEN = ("anonymize", "systems", "models", "cards", "cache")
"""Commands whose files are meant for others, and so take the user's umask."""


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    if context.invoked_subcommand not in OPEN:
        context.with_resource(closed())


app.command("anonymize")(anonymize.anonymize)
app.command("systems")(systems.systems)
app.command("evaluate")(evaluate.evaluate)
app.command("audit")(audit.audit)
app.command("compare")(compare.compare)
app.add_typer(cache.app, name="cache")
app.add_typer(key.app, name="key")
app.add_typer(models.app, name="models")
app.add_typer(pool.app, name="pool")
train.app.command("verifier")(leaves_out(train_verifier.verifier))
train.app.command("bottleneck")(leaves_out(train_content.bottleneck))
train.app.command("content")(leaves_out(train_content.content))
train.app.command("units")(leaves_out(train_content.units))
train.app.command("autoencoder")(train_autoencoder.autoencoder)
train.app.command("householder")(leaves_out(train_householder.householder))
train.app.command("hybrid")(leaves_out(train_hybrid.hybrid))
train.app.command("mixture")(train_mixture.mixture)
train.app.command("musa")(leaves_out(train_musa.musa))
train.app.command("recogniser")(leaves_out(train_recogniser.recogniser))
train.app.command("register")(leaves_out(train_register.register))
train.app.command("resynthesis")(leaves_out(train_resynthesis.resynthesis))
train.app.command("synthesizer")(leaves_out(train_synthesizer.synthesizer))
train.app.command("tokenizer")(leaves_out(train_tokenizer.tokenizer))
train.app.command("ubm")(leaves_out(train_statistical.ubm))
train.app.command("ivector")(leaves_out(train_statistical.ivector))
train.app.command("vcloak")(leaves_out(train_vcloak.vcloak))
train.app.command("word-codes")(leaves_out(train_word_codes.word_codes))
app.add_typer(train.app, name="train")
app.add_typer(cards.app, name="cards")


def main() -> None:
    """Run the command; a user's mistake is one line on stderr and a status other than zero."""
    isolate()
    signal.signal(signal.SIGTERM, _terminated)
    warnings.showwarning = _warned
    try:
        app()
    except VoicenymError as error:
        if os.environ.get("VOICENYM_DEBUG"):
            raise
        typer.echo(f"voicenym: error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("voicenym: interrupted; finished files are complete, others not there", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)


PACKAGE = str(Path(__file__).parents[2])
_developers = warnings.showwarning


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What the package warns of is for the user, and needs no line of code; the rest is not."""
    if category is UserWarning and filename.startswith(PACKAGE):
        typer.echo(f"voicenym: warning: {message}", err=True)
    else:
        _developers(message, category, filename, lineno, file, line)


def _terminated(number: int, frame: object) -> None:
    """SIGTERM unwinds like an exception, so that temporary files are removed on the way out."""
    sys.exit(128 + number)
