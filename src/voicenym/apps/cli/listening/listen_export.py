"""``voicenym listen export``: answers as tables, and studies and answers for other tools."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import VoicenymError, counted

app = new_app()
FORMATS = ("csv", "json", "tsv", "webmushra", "webmushra-config", "p808")


@command(
    app,
    "voicenym listen export study/ -o answers.csv",
    "voicenym listen export study/ --format p808 --address https://example.org/clips -o lists/",
)
def export(
    study: Path = typer.Argument(help="Folder of voicenym listen design."),
    output: Path = typer.Option(..., "--output", "-o", help="File; a folder for p808."),
    form: str = typer.Option(
        "csv",
        "--format",
        help="csv, json, tsv (for voicenym reproduce), webmushra (mushra.csv), webmushra-config, "
        "or p808 (lists of clips).",
    ),
    address: str | None = typer.Option(
        None, "--address", help="Where the other tool finds the clips."
    ),
    test: str = typer.Option("acr", "--test", help="Test for p808: acr or dcr."),
) -> None:
    """Write answers or studies as files of other tools.

    Tables hold ratings of all listeners, without quality control and without practice.
    """
    from voicenym.listening import study as files
    from voicenym.listening.answer_store import AnswerStore
    from voicenym.listening.exchange import answer_tables, other_tools
    from voicenym.listening.ratings import of_study
    from voicenym.private import private_folder, write_private

    if form not in FORMATS:
        raise VoicenymError(f"--format {form}: there are {', '.join(FORMATS)}")
    if output.exists():
        raise VoicenymError(f"{output}: exists already; choose another name")
    found, key = files.load(study), files.load_key(study)
    if form == "p808":
        if address is None:
            raise VoicenymError("--format p808 needs --address, the web folder of the clips")
        lists = other_tools.p808_lists(found, key, test, address)
        private_folder(output)
        for name, text in lists.items():
            write_private(output / name, text)
        typer.echo(f"{output}: {', '.join(lists)}; copy {study / files.STIMULI} to {address}")
        return
    if form == "webmushra-config":
        place = address or other_tools.PLACE
        write_private(output, other_tools.webmushra_config(found, key, place))
        typer.echo(f"{output}: copy {study / files.STIMULI} to {place} below webMUSHRA")
        return
    store = AnswerStore(study / files.ANSWERS)
    ratings, _ = of_study(found, key, store.everything())
    store.close()
    texts = {
        "csv": answer_tables.as_csv,
        "json": answer_tables.as_json,
        "tsv": answer_tables.as_answers,
        "webmushra": other_tools.webmushra_answers,
    }
    write_private(output, texts[form](ratings))
    typer.echo(f"{output}: {counted(len(ratings), 'rating')}")
