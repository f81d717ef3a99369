"""``voicenym listen design``: a study from original and anonymized folders."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import VoicenymError, counted

app = new_app()
test_option = partial(typer.Option, rich_help_panel="Tests")
listener_option = partial(typer.Option, rich_help_panel="Listeners")


@command(
    app,
    "voicenym listen design corpus/ --system mine=anon/ --test acr --listeners 24 -o study/",
    "voicenym listen design corpus/ --system a=anon-a/ --system b=anon-b/ "
    "--test voiceprivacy --test linkage -o study/",
)
def design(
    originals: Path = typer.Argument(
        help="Original recordings: folder of speakers, Kaldi data folder, or manifest."
    ),
    systems: list[str] = typer.Option(
        [], "--system", help="NAME=FOLDER of anonymized recordings, named as the originals."
    ),
    alike: list[str] = typer.Option(
        [],
        "--sounds-alike",
        metavar="NAME",
        help="System that is meant to sound like the originals: not compared with them.",
    ),
    output: Path = typer.Option(..., "--output", "-o", help="New folder for the study."),
    tests: list[str] = test_option(
        ["acr"],
        "--test",
        help="naturalness, intelligibility, verifiability, voiceprivacy, acr, dcr, abx, mushra, "
        "same, words or linkage; may be repeated.",
    ),
    ratings: int = test_option(
        12, "--ratings", help="Rated pages of each test and listener at least."
    ),
    training: int = test_option(
        3, "--training", min=0, help="Pages for practice before each test."
    ),
    checks: bool = test_option(
        True, "--checks/--no-checks", help="Gold and trapping items, and comparisons of noise."
    ),
    level: float | None = test_option(
        None, "--level", help="LUFS of all clips; default: the highest that suits all."
    ),
    seed: int = test_option(0, "--seed", min=0, help="Of orders and choices."),
    skip: bool = test_option(
        False, "--allow-skipping", help="Accept answers before clips were played to their ends."
    ),
    listeners: int = listener_option(24, "--listeners", help="Links to make."),
    difference: float | None = listener_option(
        None,
        "--difference",
        help="Refuse too few listeners to find this difference, in points of a scale.",
    ),
    headphones: str = listener_option(
        "huggins", "--headphones", help="Check of headphones: huggins, antiphase or none."
    ),
    need_headphones: bool = listener_option(
        False, "--need-headphones", help="End the session of a listener who fails the check twice."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print no progress."),
    title: str = listener_option("Listening test", "--title", help="Title of the page."),
    consent: Path | None = listener_option(
        None, "--consent", help="Text file to agree to, instead of ours."
    ),
) -> None:
    """Design a study from original and anonymized folders.

    The study is blinded, counterbalanced by Williams' Latin squares, and level-normalised after
    ITU-R BS.1770. secret/key.json in it says what each clip is, and is never served.
    """
    from voicenym.listening.design import study_design
    from voicenym.listening.design.material import gather
    from voicenym.listening.design.sessions import Plan
    from voicenym.listening.study import check_new

    check_new(output)
    if need_headphones and headphones == "none":
        raise VoicenymError(
            "--need-headphones needs a check of headphones; give --headphones huggins or antiphase"
        )
    words = study_design.CONSENT_TEXT if consent is None else _text(consent)
    with Progress(quiet) as progress:
        progress(f"reading {originals}")
        material = gather(originals, _folders(systems), alike)
    if difference is not None:
        found = study_design.require_power(
            tuple(tests), listeners, ratings, len(material.systems), difference
        )
        for test, needed in found:
            typer.echo(f"{test}: {needed} of {listeners} listeners find {difference:g}", err=True)
    plan = Plan(
        tuple(tests), listeners, ratings, training, checks,
        "" if headphones == "none" else headphones,
    )  # fmt: skip
    with Progress(quiet, "clips") as progress:
        made = study_design.design(
            material, plan, seed=seed, title=title, consent=words,
            level=level, whole=not skip, need_headphones=need_headphones,
            tell=progress, done=progress.done,
        )  # fmt: skip
        made.save(output)
    for test, (low, high) in made.balance.items():
        often = counted(low, "rating") if low == high else f"{low} to {high} ratings"
        typer.echo(f"{test}: {often} of each recording of a system that is asked", err=True)
    if listeners < len(material.systems):
        typer.echo(
            f"{counted(listeners, 'listener is', 'listeners are')} fewer than "
            f"{len(material.systems)} systems, so that "
            "recordings and systems are not balanced; take a multiple",
            err=True,
        )
    typer.echo(
        f"{output}: {counted(listeners, 'session')} of about "
        f"{counted(round(made.minutes), 'minute')}, {counted(len(made.clips), 'clip')} at "
        f"{made.level:g} LUFS. Serve it: voicenym listen serve {output}",
        err=True,
    )


def _folders(pairs: list[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for pair in pairs:
        name, mark, folder = (part.strip() for part in pair.partition("="))
        if not mark or not name or not folder or name in found:
            raise VoicenymError(f"--system {pair}: give NAME=FOLDER, each name once")
        found[name] = Path(folder)
    return found


def _text(path: Path) -> str:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise VoicenymError(f"{path}: cannot be read as text ({error})") from None
    if not text:
        raise VoicenymError(f"{path}: is empty; write what listeners agree to")
    return text
