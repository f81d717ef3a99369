"""``voicenym models``: lists, fetches and converts published weights, and assembles pipelines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.commands.assemble import assemble
from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import Column, field
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from collections.abc import Collection

    from voicenym.nets.catalogue import Published

app = new_app("List, fetch, convert and assemble weights.")

command(
    app,
    "voicenym models assemble -o ssl-loh/ --content hubert-soft --speaker ecapa-voxceleb"
    " --synthesizer hifigan/ --loh loh/",
)(assemble)

OFFLINE = typer.Option(False, "--offline", help="Only what was fetched before.")


@command(app, "voicenym models list", name="list")
def listed(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """List published weights: licence, size, whether they are here, what uses them."""
    import dataclasses

    from voicenym.nets.catalogue import CATALOGUE
    from voicenym.nets.hub import pulled

    here = pulled()
    if as_json:
        rows = [{**dataclasses.asdict(p), "here": p.name in here} for p in CATALOGUE]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    columns = (
        field("name"),
        field("licence"),
        field("MB", right=True),
        field("here"),
        Column("what it is; what uses it", _description, prose=True),
    )
    notes = [
        "Here: by hand means that voicenym models pull cannot fetch it; the row says where it is. "
        "Fetch: voicenym models pull NAME"
    ]
    tables.emit([_record(published, here) for published in CATALOGUE], columns, notes=notes)


def _record(published: Published, here: Collection[str]) -> dict[str, Any]:
    fetchable = published.repository or published.package
    return {
        "name": published.name,
        "licence": published.licence + ("" if published.commercial else ", not commercial"),
        "MB": published.megabytes,
        "here": "yes" if published.name in here else "no" if fetchable else "by hand",
        "what": published.what,
        "used by": published.used_by,
        "source": published.source,
    }


def _description(record: tables.Record) -> str:
    source = f"; get {record['source']}" if record["source"] else ""
    return f"{record['what']}; {record['used by']}{source}"


@command(app, "voicenym models pull ecapa-voxceleb")
def pull(
    name: str = typer.Argument(..., help="As in voicenym models list."),
    accept_licence: bool = typer.Option(
        False, "--accept-licence", help="Accept a licence that forbids commercial use."
    ),
    offline: bool = OFFLINE,
) -> None:
    """Fetch weights, convert them, and store the digests of both."""
    from voicenym.nets.catalogue import entry
    from voicenym.nets.weight_pull import pull as fetched

    published = entry(name)
    terms = "" if published.commercial else ", not for commercial use"
    typer.echo(f"{name}: {published.licence}{terms}; {published.megabytes} MB", err=True)
    folder = fetched(name, offline=offline, accept=lambda asked: accept_licence or _asked(asked))
    typer.echo(f"{folder}")


@command(app, "voicenym models convert ./hubert-soft.pt --as hubert-soft -o hubert-soft/")
def convert(
    checkpoint: str = typer.Argument(
        ...,
        help="A published checkpoint or its folder, as ./PATH; a name of models list, or "
        "OWNER/NAME on the hub.",
    ),
    kind: str = typer.Option(
        ...,
        "--as",
        help="hubert-soft, hubert, wav2vec2, whisper, ctranslate2, kokoro, piper, hifigan, ecapa, "
        "xvector, dvector or deepspeech2.",
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Folder to write."),
    layers: int | None = typer.Option(
        None, "--layers", min=1, help="hubert-soft, wav2vec2: layers to keep; default: all."
    ),
    config: Path | None = typer.Option(
        None, "--config", help="hifigan: the config.json of the checkpoint; default: beside it."
    ),
    content: int | None = typer.Option(
        None, "--content", min=1, help="hifigan: numbers of content; default: 200."
    ),
    speaker: int | None = typer.Option(
        None, "--speaker", min=0, help="hifigan: numbers of the speaker; default: 192."
    ),
    pitch: str | None = typer.Option(None, "--pitch", help="hifigan: hertz (default) or log."),
) -> None:
    """Convert a published checkpoint to a folder of config.json and model.safetensors."""
    from voicenym.nets.checkpoint_conversion import convert as converted
    from voicenym.nets.checkpoint_conversion import source_of

    options = {
        "layers": layers,
        "config": config,
        "content": content,
        "speaker": speaker,
        "pitch": pitch,
    }
    _check_output(output)
    done = converted(source_of(checkpoint), kind, output, options)
    typer.echo(f"{output}: {kind}, {done}")


@command(app, "voicenym models formants -o formants/")
def formants(
    output: Path = typer.Option(..., "--output", "-o", help="Folder to write."),
    count: int = typer.Option(4, "--count", min=1, max=5, help="Formants that are measured."),
) -> None:
    """Write the speaker encoder that measures pitch and formants; it has no trained weights.

    For identity=formant-pitch: a synthesizer is trained with it, with --scale octaves.
    """
    from voicenym.nets.speakers.speaker_encoders import make, save

    _check_output(output)
    encoder = make("formant-pitch", {"formants": count})
    save(encoder, output, {"what": "measured medians of F0 and formants in Hz, without training"})
    typer.echo(f"{output}: {encoder.kind}, {encoder.size} frequencies in Hz")


@command(
    app, "voicenym models word-codes -o content/", "voicenym models word-codes --codes my/ -o c/"
)
def word_codes(
    output: Path = typer.Option(..., "--output", "-o", help="Folder to write."),
    whisper: str = typer.Option(
        "whisper-tiny.en",
        "--whisper",
        help="The Whisper of the codes: a name of models list, or a folder as ./FOLDER.",
    ),
    codes: Path | None = typer.Option(
        None, "--codes", help="Of train word-codes; default: the bundled ones, of tiny.en."
    ),
) -> None:
    """Write the content encoder of word codes: Whisper's encoder and the bottleneck behind it."""
    from voicenym.nets.content import content_encoders
    from voicenym.nets.content import word_code_bottleneck as bottlenecks
    from voicenym.nets.hub import place_of
    from voicenym.nets.words.whisper.whisper_published import published
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

    _check_output(output)
    bottleneck = bottlenecks.load(codes or bottlenecks.BUNDLED)
    try:
        content = WordCodeContent.of(published(Path(place_of(whisper))).network, bottleneck)
    except ValueError as error:
        raise VoicenymError(f"{whisper}: not the Whisper of these codes ({error})") from None
    # names, not paths of this machine
    card = {"encoder": Path(whisper).name, "codes": (codes or bottlenecks.BUNDLED).name}
    content_encoders.save(content, output, card, half=True)
    rate, size = bottleneck.rate, bottleneck.sizes.entries
    typer.echo(f"{output}: {content.kind}, {rate:g} codes of {size} a second")


def _check_output(folder: Path) -> None:
    """Refuses a folder with other files than weights, such as a corpus.

    Raises:
        VoicenymError: with the cure.
    """
    from voicenym.nets.checkpoint import CONFIG

    if folder.is_dir() and not (folder / CONFIG).is_file() and any(folder.iterdir()):
        raise VoicenymError(f"{folder}: holds other files than weights; name a new folder with -o")


def _asked(published: Published) -> bool:
    """Whether the user at the terminal accepts the licence; False without a terminal."""
    import sys

    if not sys.stdin.isatty():
        return False
    return typer.confirm(
        f"{published.name} is under {published.licence}: no commercial use. Accept?", err=True
    )
