"""Files of a system that is only known by its output, for ``voicenym evaluate``.

A submission to a VoicePrivacy Challenge has anonymized trials, an enrolment under other keys, and
anonymized training speech; attackers use these files in place of running the system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.errors import CorpusError

if TYPE_CHECKING:
    from voicenym.apps.cli.evaluating.evaluate_request import Request
    from voicenym.corpus.anonymized_files import Submission
    from voicenym.corpus.recording import Recording
    from voicenym.corpus.skipped import LeftOut
    from voicenym.corpus.transforms import File
    from voicenym.evaluation.trial_plans.trials import Trials


@dataclass(frozen=True)
class Pool:
    """Speech of other people.

    Args:
        recordings: originals, or anonymized recordings if only these are given.
        files: their anonymized files under the attackers' keys, by name.
        is_original: whether the recordings are original speech.
    """

    recordings: tuple[Recording, ...] = ()
    files: Mapping[str, File] = field(default_factory=dict)
    is_original: bool = True


@dataclass(frozen=True)
class Files:
    """Anonymized files of the evaluated speakers.

    Args:
        published: under the user's keys; None if no files are evaluated.
        attackers: of the enrolment under the attackers' keys.
        published_enrolment: whether ``published`` holds the enrolment too.
        trials: without enrolment recordings that have no file.
        notes: for the report.
    """

    published: Mapping[str, File] | None
    attackers: Mapping[str, File]
    published_enrolment: bool
    trials: Trials
    notes: tuple[str, ...] = ()


def submission_of(request: Request) -> Submission:
    """Folders of a submission in the layout of the challenges, by their purpose.

    Raises:
        CorpusError: no folder has the suffix.
    """
    from voicenym.corpus import anonymized_files

    root = request.anonymized_root
    if root is None:
        return anonymized_files.Submission()
    return anonymized_files.submission(root, request.anonymized_suffix)


def pool_of(request: Request, submission: Submission, left_out: LeftOut) -> Pool:
    """Speech of other people: originals, anonymized, or both; at most ``--pool-size`` of it.

    Raises:
        CorpusError: no recordings, or no common names of originals and anonymized files.
    """
    from voicenym.corpus.anonymized_files import labelled, matched
    from voicenym.corpus.readers.recording_subsets import pool_of
    from voicenym.corpus.recordings import recordings

    originals: list[Recording] = []
    if request.pool is not None:
        originals = recordings(
            request.pool,
            request.pool_split,
            request.pool_part,
            left_out,
            level=request.speaker_level,
            field=request.speaker_field,
            allow_pipes=request.allow_pipes,
        )
    places = request.anonymized_pool or list(submission.training)
    if not places:
        return Pool(tuple(pool_of(originals, request.pool_size)))
    if request.pool is None:
        anonymized = labelled(
            places, left_out, level=request.speaker_level, allow_pipes=request.allow_pipes
        )
        chosen = pool_of(anonymized, request.pool_size)
        return Pool(tuple(chosen), {one.name: one for one in chosen}, is_original=False)
    files = matched(
        originals,
        places,
        left_out,
        allow_pipes=request.allow_pipes,
        cure="give originals of the same utterances with --pool, or leave --pool out",
        few=True,
    )
    both = [one for one in originals if one.name in files]
    if len(both) < len(originals) and not request.quiet:
        typer.echo(
            f"--pool: {len(both)} of {len(originals)} recordings have an anonymized file, and are "
            "used",
            err=True,
        )
    chosen = pool_of(both, request.pool_size)
    return Pool(tuple(chosen), {one.name: files[one.name] for one in chosen})


def files_of(
    request: Request, submission: Submission, trials: Trials, pool: Pool, left_out: LeftOut
) -> Files:
    """Anonymized files of trials and enrolment.

    Raises:
        CorpusError: no files, or a name of two recordings.
    """
    from voicenym.corpus.anonymized_files import matched

    root = request.anonymized_root
    if root is None:
        return Files(None, {}, True, trials)
    pipes = request.allow_pipes
    enrolment = [recording for model in trials.models for recording in model.recordings]
    places = list(submission.trials) or [root]
    theirs = request.anonymized_enrolment or list(submission.enrolment)
    if not theirs:
        everything = list(dict.fromkeys([*enrolment, *trials.recordings]))
        published = matched(everything, places, left_out, allow_pipes=pipes)
        return Files(published, {}, True, trials, _copies(everything, published))
    published = matched(
        trials.recordings,
        places,
        left_out,
        allow_pipes=pipes,
        cure="anonymize it under the user's key",
    )
    if not submission.trials:
        published.update(_those_there(enrolment, places, pipes))
    attackers = matched(
        enrolment,
        theirs,
        left_out,
        allow_pipes=pipes,
        cure="anonymize it under the attackers' key",
    )
    _check_names(attackers, pool.files)
    absent = {recording.name for recording in enrolment if recording.name not in attackers}
    trials = trials.without(absent, ())
    return Files(
        published,
        {**attackers, **pool.files},
        all(name in published for name in attackers),
        trials,
        (*_copies([*enrolment, *trials.recordings], published), *_notes(published, attackers)),
    )


def _those_there(
    recordings: Sequence[Recording], places: Sequence[Path], allow_pipes: bool
) -> dict[str, File]:
    """Existing files of recordings; the enrolment need not be published."""
    from voicenym.corpus.anonymized_files import matched

    try:
        return matched(recordings, places, allow_pipes=allow_pipes, few=True)
    except CorpusError:  # there is none
        return {}


def _check_names(enrolment: Mapping[str, File], pool: Mapping[str, File]) -> None:
    both = sorted(enrolment.keys() & pool.keys())
    if both:
        raise CorpusError(
            f"{both[0]} names a recording of the enrolment and another one of --anonymized-pool "
            f"({len(both)} such names); give the recordings of the pool other names"
        )


def _copies(originals: Sequence[Recording], published: Mapping[str, File]) -> tuple[str, ...]:
    """Warning if published files are the originals."""
    given = {one.name: one for one in originals if one.name in published}
    same = [name for name, one in given.items() if _digest(published[name]) == one.digest()]
    if not same:
        return ()
    return (
        f"{len(same)} of {len(given)} anonymized files are their originals themselves ({same[0]}): "
        "nothing was done to them",
    )


def _notes(published: Mapping[str, File], attackers: Mapping[str, File]) -> tuple[str, ...]:
    """Warning if the attackers' enrolment is the user's."""
    same = [
        name for name, file in attackers.items() if _digest(published.get(name)) == _digest(file)
    ]
    if not same:
        return ()
    return (
        f"{len(same)} of {len(attackers)} files of --anonymized-enrolment are the published files "
        f"themselves ({same[0]}): attackers without the key have the user's voices there, as if "
        "they held it",
    )


def _digest(file: File | None) -> str | None:
    """Digest of a file's sound as a recording; None without a file."""
    from voicenym.corpus.recording import Recording

    if file is None:
        return None
    return (file if isinstance(file, Recording) else Recording("", "", file)).digest()
