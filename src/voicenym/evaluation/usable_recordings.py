"""Selection of recordings that can be read and anonymized, before the attacks.

All systems are evaluated on the same trials, so that a system that fails on difficult recordings
does not look better than others; the report gives the number of failures of each system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from voicenym.corpus.embedder import SILENT, Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.corpus.transforms import Transform
from voicenym.errors import CorpusError, counted
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.verification.verifier import Verifier

MANY = 0.1
"""Share of recordings, or of a system's trials, above which a warning is emphasised."""
MOST = 0.5
"""Share of failed trials above which the system is left out instead of the trials."""


@dataclass(frozen=True)
class Sound:
    """A plan without unusable recordings.

    Args:
        plan: with the remaining trials and pool.
        failed: number of trials on which each system failed.
        dropped: systems that are left out.
        warnings: sentences about both, for the report.
        notes: the sentences about each system.
    """

    plan: Plan
    failed: dict[str, int] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


def sound(
    plan: Plan,
    targets: Mapping[str, Transform],
    verifiers: Sequence[Verifier],
    statistics: Verifier,
    embedder: Embedder,
    say: Callable[[str], None] = lambda text: None,
) -> Sound:
    """Embeds the recordings that every attack of a plan needs, and leaves out those that fail.

    Nothing is computed twice, because the attacks use the same vectors.

    Args:
        plan: with the recordings.
        targets: transform of the trials by each system's name.
        verifiers: of the attackers.
        statistics: the verifier that embeds the pool.
        embedder: computes vectors, and collects what is left out.
        say: receives a line of progress.

    Raises:
        CorpusError: too little is left to compare.
    """
    say("original: embedding the recordings")
    trials, original = plan.trials, Transform(plan.line)
    enrolment = [recording for model in trials.models for recording in model.recordings]
    everything = list(dict.fromkeys([*enrolment, *trials.recordings]))
    bad: set[str] = set()
    for verifier in (*verifiers, statistics):
        usable = [recording for recording in everything if recording.name not in bad]
        bad |= set(embedder.failing(verifier, usable, original))
    unusable = set(embedder.failing(statistics, plan.pool, original))
    pool = tuple(recording for recording in plan.pool if recording.name not in unusable)
    published = [recording for recording in trials.recordings if recording.name not in bad]
    failed: dict[str, int] = {}
    notes: dict[str, str] = {}
    dropped: set[str] = set()
    beyond: set[str] = set()
    lost: set[str] = set()  # also to who only listens
    for name, transform in targets.items():
        say(f"{name}: protecting the trials")
        mine = _failing(verifiers, published, transform, embedder)
        if not mine:
            continue
        failed[name] = len(mine)
        if len(mine) > MOST * len(published):
            dropped.add(name)
        else:
            beyond |= mine.keys()
            lost |= {one for one, why in mine.items() if SILENT not in why}
        notes[name] = _note(name, mine, len(published), name in dropped)
    if targets and len(dropped) == len(targets):
        raise CorpusError("; ".join(notes.values()))
    left = trials.without(bad, bad | beyond)
    if len(left.models) < 2 or not left.target.any() or not left.nontarget.any():
        people = counted(len(left.models), "speaker who enrols", "speakers who enrol")
        raise CorpusError(
            f"too little is left to compare: {people} and "
            f"{len(left.recordings)} trials of {len(trials.recordings)}; give more recordings"
        )
    warnings = [*_warned(embedder.left_out, len(everything) + len(plan.pool)), *notes.values()]
    measured = tuple(recording for recording in published if recording.name not in lost)
    return Sound(
        replace(plan, trials=left, pool=pool, measured=measured),
        failed,
        frozenset(dropped),
        tuple(warnings),
        notes,
    )


def _failing(
    verifiers: Sequence[Verifier],
    recordings: Sequence[Recording],
    transform: Transform,
    embedder: Embedder,
) -> dict[str, str]:
    found: dict[str, str] = {}
    for verifier in verifiers:
        left = [recording for recording in recordings if recording.name not in found]
        found.update(embedder.failing(verifier, left, transform))
    return found


def _note(name: str, failed: Mapping[str, str], count: int, dropped: bool) -> str:
    why = next(iter(failed.values()))
    share = f"{name} failed on {len(failed)} of {count} trials ({100 * len(failed) / count:.1f} %)"
    if dropped:
        return f"{share} and is left out; the first reason: {why}"
    quiet = sum(SILENT in reason for reason in failed.values())
    but = ""
    if quiet:
        but = (
            f", except that the {quiet} silent ones, where they are in the sample for words and "
            "sound, count as words lost and as 0 in rho_F0, and count in SNR and RTF (DNSMOS "
            "cannot rate silence)"
        )
    strong = ""
    if len(failed) > MANY * count:
        strong = (
            "; that is more than a tenth: it may have failed on the hard ones, so do not compare "
            "these figures with others"
        )
    return (
        f"{share}, which are left out for every system: no figure counts them{but}{strong}; the "
        f"first reason: {why}"
    )


def _warned(left_out: LeftOut, used: int) -> list[str]:
    """A warning about recordings that could not be read."""
    missing = len(left_out.named())
    if not missing:
        return []
    sentence = counted(
        missing,
        "recording could not be used and was left out: it is listed below",
        "recordings could not be used and were left out: they are listed below",
    )
    if missing > MANY * max(used, 1):
        sentence += (
            "; that is more than a tenth of the recordings: mend the corpus before you rely on "
            "these figures"
        )
    return [sentence]
