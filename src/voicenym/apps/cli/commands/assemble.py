"""``voicenym models assemble``: the folder of a pipeline from separately trained parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from voicenym.errors import VoicenymError


def assemble(
    output: Path = typer.Option(
        ...,
        "--output",
        "-o",
        help="Folder of the pipeline; parts that lie in it already stay. In "
        "~/.local/share/voicenym, or $VOICENYM_WEIGHTS, systems find ssl, b1a and b1b themselves.",
    ),
    base: str | None = typer.Option(
        None,
        "--base",
        help="Another pipeline, to whose parts the folder refers where none is given: a folder as "
        "./FOLDER, or ssl, b1a or b1b for the bundled ones.",
    ),
    content: str | None = typer.Option(
        None,
        "--content",
        help="Of train content, train bottleneck or models convert; or a name of models list.",
    ),
    speaker: str | None = typer.Option(
        None,
        "--speaker",
        help="Of train verifier, models convert or models formants; a name of models list; or "
        "ecapa-small.",
    ),
    synthesizer: Path | None = typer.Option(
        None, "--synthesizer", help="Of train synthesizer or models convert."
    ),
    pool: Path | None = typer.Option(None, "--pool", help="Of pool build: select, b1a, b1b."),
    roh: Path | None = typer.Option(None, "--roh", help="Of train householder -c householder-roh."),
    loh: Path | None = typer.Option(None, "--loh", help="Of train householder."),
    mixture: Path | None = typer.Option(None, "--mixture", help="Of train mixture."),
    register: Path | None = typer.Option(
        None, "--register", help="Of train register, for systems that move pitch."
    ),
    f0: Path | None = typer.Option(
        None, "--f0", help="Of train f0-predictor, for systems with f0=predicted."
    ),
    language: Path | None = typer.Option(
        None, "--language", help="Of train language, to refuse recordings of other languages."
    ),
    durations: Path | None = typer.Option(
        None, "--durations", help="Of train durations, for systems with timing=drawn."
    ),
    native: Path | None = typer.Option(
        None, "--native", help="Of train native-codes, for systems with accent=native."
    ),
    drawn: Path | None = typer.Option(
        None,
        "--drawn",
        help="Of train native-codes --accents, for systems with accent=drawn.",
    ),
    live: Path | None = typer.Option(
        None, "--live", help="Of train live-codes, for live streams with accent=drawn."
    ),
    tracker: str | None = typer.Option(
        None,
        "--tracker",
        help="Of pitch: yaapt, live, praat, dio or harvest. Default of this and the following: as "
        "train synthesizer wrote it beside the synthesizer; else as before; else yaapt.",
    ),
    lowest: float | None = typer.Option(None, "--lowest", help="Of F0 in Hz; else: 60."),
    highest: float | None = typer.Option(None, "--highest", help="Of F0 in Hz; else: 400."),
    scale: str | None = typer.Option(
        None,
        "--scale",
        help="Of speaker vectors, as the synthesizer learnt them: none, unit or root; octaves of "
        "those of models formants; else: none.",
    ),
    share: list[str] = typer.Option(
        [], "--share", help="A part to refer to where it lies, instead of copying; may be repeated."
    ),
) -> None:
    """Assemble a pipeline from its parts, after checking that they fit each other."""
    from voicenym.nets.encoder_folders import folder_of
    from voicenym.resynthesis.pipeline import assembly

    given: dict[str, Any] = {
        "content": content,
        "speaker": speaker,
        "synthesizer": synthesizer,
        "pool": pool,
        "roh": roh,
        "loh": loh,
        "mixture": mixture,
        "register": register,
        "f0": f0,
        "language": language,
        "durations": durations,
        "native": native,
        "drawn": drawn,
        "live": live,
    }
    chosen = {"tracker": tracker, "lowest": lowest, "highest": highest, "scale": scale}
    given_settings = {name: value for name, value in chosen.items() if value is not None}
    settings = assembly.adjusted(output, given_settings, synthesizer)
    places = {name: str(place) for name, place in given.items() if place is not None}
    card = {name: Path(place).name for name, place in places.items()}
    parts = {name: folder_of(name, place) for name, place in places.items()}
    if lacking := sorted(set(share) - set(parts)):
        raise VoicenymError(f"--share {lacking[0]}: give that part as well, --{lacking[0]} DIR")
    if base is not None:
        others = assembly.parts_of(assembly.folder_of(base), parts)
        settings = assembly.adjusted(assembly.folder_of(base), given_settings, synthesizer)
        parts, share = {**others, **parts}, [*share, *others]
    assembly.assemble(output, parts, settings, card, share)
    there = assembly.opened(output)
    choices = [name for name in assembly.there_are(output) if name in assembly.CHOICES]
    lacks = "without target speakers: add --pool, --roh, --loh or --mixture"
    if there.speaker.hertz:
        lacks = "for identity=formant-pitch"
    typer.echo(
        f"{output}: {there.content.kind}, {there.speaker.kind}, {there.synthesizer.kind}; "
        f"{', '.join(choices) or lacks}"
    )
