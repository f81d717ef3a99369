"""Options of ``voicenym anonymize`` about the system, its settings and its voices."""

from __future__ import annotations

import typer

from voicenym.corpus import DEFAULT_FALLBACK

PANEL = "System"
SETTINGS = typer.Option(
    [],
    "--set",
    metavar="NAME=VALUE",
    rich_help_panel=PANEL,
    help="A parameter of the system; may be repeated.",
)
WEIGHTS = typer.Option(
    None,
    "--weights",
    rich_help_panel=PANEL,
    help="Folder of the system's weights; short for --set weights=DIR.",
)
STRENGTH = typer.Option(
    None,
    "--strength",
    rich_help_panel=PANEL,
    help="Strength of the change; short for --set strength=NUMBER.",
)
EPSILON = typer.Option(
    None,
    "--epsilon",
    rich_help_panel=PANEL,
    help="Largest change of a sample (vcloak); short for --set epsilon=NUMBER.",
)
TARGET = typer.Option(
    None,
    "--target",
    rich_help_panel=PANEL,
    help=(
        "Recording of the voice that verifiers shall recognise (vcloak); short for "
        "--set target=FILE."
    ),
)
DEVICE = typer.Option("cpu", "--device", rich_help_panel=PANEL, help="cpu or cuda.")
LANGUAGE = typer.Option(
    None,
    "--language",
    metavar="CODE",
    rich_help_panel=PANEL,
    help=(
        "Language of the speech, such as en, for systems whose weights know one (word-codes); "
        "detected unless given. Short for --set language=CODE."
    ),
)
FALLBACK = typer.Option(
    DEFAULT_FALLBACK,
    "--fallback",
    metavar="NAME",
    rich_help_panel=PANEL,
    help=(
        "System for recordings that the system refuses, such as speech of another language "
        "than its weights know; none: such a recording is an error."
    ),
)
VOICE = typer.Option(
    None,
    "--voice",
    metavar="KIND",
    rich_help_panel=PANEL,
    help=(
        "Wish for the new voice: female, male, low, high or any. Fewer voices are left to choose "
        "from. Short for --set voice_kind=KIND."
    ),
)
VOICE_LIKE = typer.Option(
    None,
    "--voice-like",
    metavar="N",
    min=0,
    rich_help_panel=PANEL,
    help=(
        "Number of the voice among those that the key draws and --voice wishes for; 0 is the "
        "first. Short for --set voice_variant=N."
    ),
)
PREVIEW = typer.Option(
    None,
    "--preview",
    metavar="DURATION",
    rich_help_panel=PANEL,
    help=(
        "Anonymize only so much of the first recording, such as 10s, into NAME.preview.EXT or -o "
        "FILE, to hear the voice before a long run. Needs a key."
    ),
)
