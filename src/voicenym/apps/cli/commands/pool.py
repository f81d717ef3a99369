"""``voicenym pool build``: pools of speaker vectors that identity methods choose from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.options import speaker_level
from voicenym.apps.cli.options.corpus_options import (
    ALLOW_PIPES,
    CORPUS,
    QUIET,
    SPEAKER_FIELD,
    SPLIT,
    progress_printer,
)
from voicenym.apps.cli.options.engine_options import ADDRESS, DEVICE, ENGINE, GPUS
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.skipped_files import current, leaves_out
from voicenym.errors import CorpusError, counted

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.identity.pools.plda_affinity import Affinity
    from voicenym.identity.pools.speaker_pool import Pool

app = new_app("Build pools of speaker vectors.")


app.callback()(speaker_level.group)


@command(app, "voicenym pool build corpus/ -o pool/ --plda")
@leaves_out
def build(
    data: list[Path] = typer.Argument(
        help="Folder of speakers, Kaldi folder, lhotse cuts, TSV manifest, or shards, on this "
        "machine or in an object store; may be several."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Folder of the pool."),
    encoder: str = typer.Option(
        "ecapa-small", "--encoder", help="Speaker encoder, named as --verifier of evaluate."
    ),
    split: str | None = SPLIT,
    corpus: list[str] = CORPUS,
    utterances: bool = typer.Option(
        False,
        "--utterances",
        help="Write a vector per utterance, for evaluate --vectors, instead of a pool.",
    ),
    plda: bool = typer.Option(False, "--plda", help="Also train PLDA, for affinity=plda."),
    clusters: bool = typer.Option(
        False, "--clusters", help="Also find clusters, for dense and sparse selection."
    ),
    most: int | None = typer.Option(
        None, "--most", min=1, help="Utterances per speaker at most, the first by name."
    ),
    speaker_field: str | None = SPEAKER_FIELD,
    allow_pipes: bool = ALLOW_PIPES,
    workers: int | None = typer.Option(
        None,
        "--workers",
        "-j",
        min=1,
        help="Processes; as many as pay unless given, with --engine ray all processors.",
    ),
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    gpus: float | None = GPUS,
    device: str = DEVICE,
    quiet: bool = QUIET,
) -> None:
    """Build a pool: the mean vector of each speaker's utterances."""
    import torch

    from voicenym.anonymizer import check_device
    from voicenym.corpus.batches.engines import engine_of, workers_of
    from voicenym.corpus.embedder import Embedder
    from voicenym.corpus.recordings import check_field, collect
    from voicenym.corpus.shards.stores.private_copies import private_copies
    from voicenym.identity.pools.affinity_propagation import clustered
    from voicenym.identity.pools.speaker_pool import Pool, save
    from voicenym.verification.verifiers import verifier

    torch.set_num_threads(1)  # the same vectors for any number of workers
    say = progress_printer(quiet)
    if engine == "local":
        check_device(device)
    model = verifier(encoder).on(device)
    check_field(speaker_field, data)
    machines = engine_of(engine, address, gpus, device)
    with private_copies():
        everything = collect(
            data,
            split,
            corpus,
            current(),
            level=speaker_level.current(),
            allow_pipes=allow_pipes,
            field=speaker_field,
        )
        speech = _first(everything, most)
        people = _check_sexes(speech)
        say(f"{counted(len(speech), 'recording')} of {counted(people, 'speaker')}")
        count = workers_of(machines, workers, len(speech), device)
        with Embedder(workers=count, left_out=current(), engine=machines) as embedder:
            found, speech = embedder.kept(model, speech)
    vectors = torch.from_numpy(found).float()
    pool = Pool(
        vectors,
        tuple(r.sex for r in speech),
        tuple(r.speaker for r in speech),
        encoder,
        model.version,
    )
    affinity = _plda(pool) if plda else None
    if not utterances:
        pool = pool.per_speaker()
    pool = Pool(pool.vectors, pool.sexes, pool.speakers, encoder, model.version, None, affinity)
    if clusters:
        pool = clustered(pool, "cosine" if affinity is None else "plda")
    save(pool, output)
    typer.echo(f"{output}: {pool}")
    if not any(pool.sexes):
        say(
            "the data do not say who is female or male (column gender of a manifest, spk2gender of "
            "Kaldi): methods that choose by sex need sex=any, and train mixture --any-sex"
        )


def _first(speech: list[Recording], most: int | None) -> list[Recording]:
    """The first recordings of each speaker, up to a number."""
    count: dict[str, int] = {}
    found = []
    for recording in speech:
        count[recording.speaker] = count.get(recording.speaker, 0) + 1
        if most is None or count[recording.speaker] <= most:
            found.append(recording)
    return found


def _check_sexes(speech: list[Recording]) -> int:
    """Number of speakers.

    Raises:
        CorpusError: a speaker is of two sexes.
    """
    sexes: dict[str, set[str]] = {}
    for recording in speech:
        sexes.setdefault(recording.speaker, set()).add(recording.sex)
    torn = sorted(name for name, labels in sexes.items() if len(labels) > 1)
    if torn:
        raise CorpusError(
            f"speaker {torn[0]} is of two sexes in the data: correct the manifest's gender column"
        )
    return len(sexes)


def _plda(pool: Pool) -> Affinity:
    """PLDA of a pool of utterances."""
    from voicenym.identity.pools.plda_affinity import Affinity
    from voicenym.verification.plda import PLDA

    return Affinity.of(PLDA.train(pool.vectors.double().numpy(), pool.speakers))
