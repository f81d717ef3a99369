"""``voicenym train``: one command per trainable part."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.errors import CorpusError, DependencyError, VoicenymError

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.training.fit import Machine
    from voicenym.training.shelf import Rendering, Utterance

app = typer.Typer(help="Train networks on speech of your own.", no_args_is_help=True)

DATA = typer.Option(
    ..., "--data", "-d",
    help="Folder of speakers, Kaldi folder, lhotse cuts, or TSV manifest; may be repeated.",
)  # fmt: skip
CONFIG = typer.Option(..., "--config", "-c", help="A YAML file, or a bundled configuration.")
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


@app.command()
def verifier(
    data: list[Path] = DATA,
    config: str = CONFIG,
    output: Path = OUTPUT,
    split: str | None = SPLIT,
    corpus: list[str] = CORPUS,
    test: Path | None = typer.Option(
        None, "--test", help="Speech of speakers to be judged on at the end."
    ),
    test_split: str | None = typer.Option(None, "--test-split", help="Rows of its manifest."),
    test_corpus: list[str] = typer.Option([], "--test-corpus", help="Corpora of its manifest."),
    start: str | None = typer.Option(
        None, "--from", help="Verifier to go on from: a folder, or a name as in evaluate."
    ),
    budget: str | None = BUDGET,
    steps: int | None = STEPS,
    batch: int | None = BATCH,
    accelerator: str = ACCELERATOR,
    devices: int = DEVICES,
    precision: str | None = PRECISION,
    workers: int | None = WORKERS,
    shelf: Path | None = SHELF,
    system: str | None = SYSTEM,
    per: str = PER,
    quiet: bool = QUIET,
) -> None:
    """Train a speaker encoder to tell the speakers of a corpus apart."""
    needs_lightning()
    from voicenym.attack.verifier import encoder_of
    from voicenym.nets.speakers.weights import save
    from voicenym.training import verifier as recipe
    from voicenym.training.apart import kept_out
    from voicenym.training.config import changed, load

    chosen = changed(load(config, recipe.VerifierConfig), steps=steps, batch=batch)
    speech = gathered(data, split, corpus)
    judged = [] if test is None else gathered([test], test_split, test_corpus)
    learnt, kept = kept_out(speech, chosen.held_out, chosen.seed)
    _apart(speech, judged)
    say = telling(quiet)
    encoder = recipe.encoder(chosen) if start is None else encoder_of(start)
    place = shelf or output / "shelf"
    how = rendering(system, per, output)
    limit = seconds(budget)
    machine = on(accelerator, devices, precision, workers)
    utterances = shelved(place, [*learnt, *kept], how, say)
    outcome = recipe.train(
        encoder,
        utterances[: len(learnt)],
        utterances[len(learnt) :],
        chosen,
        output,
        seconds=limit,
        machine=machine,
        say=say,
    )
    figures = {}
    if judged:
        heard = shelved(place, judged, how, say)
        figures = recipe.judge(encoder, heard)
    meaning = recipe.calibrated(encoder, utterances[len(learnt) :])
    save(
        encoder,
        output,
        card={
            "data": ", ".join(" ".join([path.name, split or "", *corpus]) for path in data),
            "speakers": len({r.speaker for r in learnt}),
            "recordings": len(learnt),
            "anonymized by": system or "",
            "steps": outcome.steps,
            "EER % on speakers kept out, who decided which checkpoint is the best": outcome.best,
            **{f"EER % on {test.name if test else ''}, {k}": v for k, v in figures.items()},
        },
        calibration=(meaning.slope, meaning.offset),
    )
    for name, (value, low, high) in figures.items():
        typer.echo(f"EER {name}: {value:.2f} % ({low:.2f} to {high:.2f})")
    typer.echo(f"{output}: {outcome.steps} steps, EER {outcome.best:.2f} % on speakers kept out")


def needs_lightning() -> None:
    """Refuse, with the cure, where training cannot work."""
    from importlib.util import find_spec

    for name in ("lightning", "yaml", "safetensors"):
        if find_spec(name) is None:
            raise DependencyError("training: pip install 'voicenym[train]'")


def gathered(sources: Sequence[Path], split: str | None, corpora: Sequence[str]) -> list[Recording]:
    """All recordings of all sources; names may recur between them."""
    from voicenym.corpus.recordings import recordings

    return [
        recording
        for source in sources
        for corpus in (corpora or [""])
        for recording in recordings(source, split, corpus or None)
    ]


def _apart(speech: Sequence[Recording], judged: Sequence[Recording]) -> None:
    shared = sorted({r.speaker for r in speech} & {r.speaker for r in judged})
    if shared:
        raise CorpusError(
            f"speaker {shared[0]} is both in the data and in the test ({len(shared)} such); judge "
            "on others"
        )


def rendering(system: str | None, per: str, folder: Path) -> Rendering:
    """Speech as it is, or anonymized as an attacker would, with a key kept in the folder."""
    from voicenym.attack.transform import ORIGINAL, Anonymize, Transform
    from voicenym.pseudonym import Key
    from voicenym.system import load

    if per not in ("speaker", "utterance"):
        raise VoicenymError(f"--per is speaker or utterance, not {per!r}")
    if system is None:
        return ORIGINAL
    load(system)
    # Going on with a training needs the voices that it began with.
    path = folder / "attacker.key"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        Key.generate().save(path)
    return Transform((Anonymize(system, Key.load(path), per),))


def shelved(
    folder: Path, recordings: Sequence[Recording], how: Rendering, say: Callable[[str], None]
) -> list[Utterance]:
    """Recordings decoded, or anonymized, into a folder."""
    from voicenym.training.shelf import Shelf

    done = 0

    def progress(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        if before // 500 != done // 500:
            say(f"{done} of {len(recordings)} recordings prepared")

    return Shelf(folder).fill(recordings, how, os.cpu_count() or 1, progress)


def seconds(budget: str | None) -> float | None:
    """Of ``25m`` and the like."""
    from voicenym.training.pace import duration

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

    from voicenym.training.fit import Machine

    if accelerator not in ("auto", "cpu", "gpu"):
        raise VoicenymError(f"--accelerator is auto, cpu or gpu, not {accelerator!r}")
    if accelerator == "gpu" and not torch.cuda.is_available():
        raise VoicenymError("no GPU that torch can use; take --accelerator cpu")
    return Machine(accelerator, devices, precision, workers)


def telling(quiet: bool) -> Callable[[str], None]:
    """Where to say what is being done."""

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    return say
