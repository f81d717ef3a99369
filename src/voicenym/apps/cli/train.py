"""``voicenym train``: one command per trainable part; options and steps that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import typer

from voicenym.apps.cli import speaker_level
from voicenym.apps.cli.command_group import new_app
from voicenym.apps.cli.skipped_files import current
from voicenym.errors import CorpusError, DependencyError, VoicenymError
from voicenym.private import private_folder
from voicenym.training.run.cpu_count import cores

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.training.run.fit import Machine
    from voicenym.training.speech.speech_cache import Rendering, Utterance

app = new_app("Train networks on your own speech.")
app.callback()(speaker_level.group)

DATA = typer.Option(
    ..., "--data", "-d",
    help="Folder of speakers, Kaldi folder, lhotse cuts, or TSV manifest; may be repeated.",
)  # fmt: skip
CONFIG = typer.Option(..., "--config", "-c", help="A YAML file as ./FILE, or a bundled one.")
OUTPUT = typer.Option(..., "--output", "-o", help="Folder of weights, checkpoints and logs.")
SPLIT = typer.Option(None, "--split", help="Rows of a manifest to use.")
CORPUS = typer.Option([], "--corpus", help="Corpora of a manifest to use; may be repeated.")
BUDGET = typer.Option(None, "--budget", help="Time at most: 25m, 2h. Run again to go on.")
STEPS = typer.Option(None, "--steps", min=1, help="Steps at most.")
BATCH = typer.Option(None, "--batch", min=2, help="Crops in a step.")
ACCELERATOR = typer.Option("auto", "--accelerator", help="cpu, gpu, or auto.")
DEVICES = typer.Option(1, "--devices", min=1, help="How many train together.")
PRECISION = typer.Option(
    None, "--precision", help="32-true, bf16-mixed, ...; default: bf16 on CUDA, single elsewhere."
)
WORKERS = typer.Option(None, "--workers", "-j", min=0, help="Processes that prepare speech.")
SHELF = typer.Option(
    None, "--shelf", help="Folder for decoded speech; default: within the output folder."
)
SYSTEM = typer.Option(None, "--system", "-s", help="Anonymize the speech first, as attackers do.")
PER = typer.Option("utterance", "--per", help="With --system: a voice per speaker or utterance.")
QUIET = typer.Option(False, "--quiet", "-q", help="Only errors.")
TEST_SPLIT = typer.Option(None, "--test-split", help="Rows of its manifest.")
TEST_CORPUS = typer.Option([], "--test-corpus", help="Corpora of its manifest.")


class Means(TypedDict):
    """What every recipe is given to work with, by its parameters' names."""

    seconds: float | None
    machine: Machine
    say: Callable[[str], None]


def needs_lightning() -> None:
    """Refuse, with the cure, where training cannot work."""
    from importlib.util import find_spec

    for name in ("lightning", "yaml", "safetensors"):
        if find_spec(name) is None:
            raise DependencyError("training: pip install 'voicenym[train]'")


def gathered(sources: Sequence[Path], split: str | None, corpora: Sequence[str]) -> list[Recording]:
    """All recordings of all sources; names may recur between them.

    Rows without a file are left out (:func:`voicenym.apps.cli.skipped_files.current`).
    """
    from voicenym.corpus.recordings import recordings

    return [
        recording
        for source in sources
        for corpus in (corpora or [""])
        for recording in recordings(
            source, split, corpus or None, current(), level=speaker_level.current()
        )
    ]


def others(speech: Sequence[Recording], judged: Sequence[Recording]) -> None:
    """Refuse to judge on somebody who is learnt from.

    Raises:
        CorpusError: a speaker is in both.
    """
    shared = sorted({r.speaker for r in speech} & {r.speaker for r in judged})
    if shared:
        raise CorpusError(
            f"speaker {shared[0]} is both in the data and in the test ({len(shared)} such); judge "
            "on others"
        )


def named(source: Path, split: str | None, corpora: Sequence[str]) -> str:
    """A source of speech, in words."""
    return " ".join([source.name, *([split] if split else []), *corpora])


def learnt_from(
    recordings: Sequence[Recording | Utterance],
    sources: Sequence[Path],
    split: str | None,
    corpora: Sequence[str],
) -> dict[str, object]:
    """What a card says of the speech that was learnt from."""
    return {
        "data": ", ".join(named(source, split, corpora) for source in sources),
        "speakers": len({recording.speaker for recording in recordings}),
        "recordings": len(recordings),
    }


def rendering(system: str | None, per: str, folder: Path) -> Rendering:
    """Speech as it is, or anonymized as an attacker would, with a key kept in the folder."""
    from voicenym.anonymizer import load
    from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
    from voicenym.pseudonym import Key

    if per not in ("speaker", "utterance"):
        raise VoicenymError(f"--per is speaker or utterance, not {per!r}")
    if system is None:
        return ORIGINAL
    load(system)
    # Going on with a training needs the voices that it began with.
    path = folder / "attacker.key"
    if not path.exists():
        private_folder(folder)
        Key.generate().save(path)
    return Transform((Anonymize(system, Key.load(path), per),))


def shelved(
    folder: Path, recordings: Sequence[Recording], how: Rendering, say: Callable[[str], None]
) -> list[Utterance]:
    """Recordings decoded, or anonymized, into a folder; those that fail are left out and named."""
    found = _in_places(folder, recordings, how, say)
    return [utterance for utterance in found if utterance is not None]


def _in_places(
    folder: Path, recordings: Sequence[Recording], how: Rendering, say: Callable[[str], None]
) -> list[Utterance | None]:
    """An utterance of each recording; None where it fails."""
    from voicenym.training.speech.speech_cache import Shelf

    done = 0

    def progress(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        if before // 500 != done // 500:
            say(f"{done} of {len(recordings)} recordings prepared")

    return Shelf(folder).in_places(recordings, how, cores(), progress, current())


def prepared(
    folder: Path,
    learnt: Sequence[Recording],
    kept: Sequence[Recording],
    say: Callable[[str], None],
    how: Rendering | None = None,
) -> tuple[list[Utterance], list[Utterance]]:
    """Recordings to learn from and recordings kept out, in a folder; as they are, unless told.

    Recordings that fail are in neither.

    Raises:
        CorpusError: no recording is left of those to learn from, or of those that were kept out.
    """
    from voicenym.corpus.transforms import ORIGINAL

    utterances = _in_places(folder, [*learnt, *kept], how or ORIGINAL, say)
    heard = [one for one in utterances[: len(learnt)] if one is not None]
    held_out = [one for one in utterances[len(learnt) :] if one is not None]
    for wanted, found, what in ((learnt, heard, "learn from"), (kept, held_out, "judge by")):
        if wanted and not found:
            raise CorpusError(f"of {len(wanted)} recordings to {what} none can be used; give more")
    return heard, held_out


def seconds(budget: str | None) -> float | None:
    """Of ``25m`` and the like."""
    from voicenym.training.run.schedule import duration

    try:
        return None if budget is None else duration(budget)
    except ValueError:
        raise VoicenymError(f"--budget {budget}: give a time such as 90s, 25m or 2h") from None


def on(accelerator: str, devices: int, precision: str | None, workers: int | None) -> Machine:
    """The machine, where it is there.

    Raises:
        VoicenymError: an accelerator that there is not.
    """
    import torch

    from voicenym.training.run.fit import Machine

    if accelerator not in ("auto", "cpu", "gpu"):
        raise VoicenymError(f"--accelerator is auto, cpu or gpu, not {accelerator!r}")
    if accelerator == "gpu" and not torch.cuda.is_available():
        raise VoicenymError("no GPU that torch can use; take --accelerator cpu")
    return Machine(accelerator, devices, precision, workers)


def means(
    budget: str | None,
    quiet: bool,
    accelerator: str = "cpu",
    devices: int = 1,
    precision: str | None = None,
    workers: int | None = 0,
) -> Means:
    """Time, machine and where to say what is being done.

    Raises:
        VoicenymError: no such time, or an accelerator that there is not.
    """
    machine = on(accelerator, devices, precision, workers)
    return {"seconds": seconds(budget), "machine": machine, "say": telling(quiet)}


def telling(quiet: bool) -> Callable[[str], None]:
    """Where to say what is being done."""

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    return say
