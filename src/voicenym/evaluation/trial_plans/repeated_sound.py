"""The same sound under two names, which attackers recognise without knowing the voice."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.corpus.recording import Recording
from voicenym.evaluation.trial_plans.trials import Trials


def repeated(trials: Trials, pool: Sequence[Recording] = ()) -> tuple[str, ...]:
    """Sentences on recordings that are enrolled and tried, or evaluated and learned from.

    A corpus may hold a recording twice, under two names or in two lists. Its trial then compares a
    recording with itself; in the attackers' pool it is speech that they are tested on. Files that
    are equal byte by byte are found, not copies in another format.

    Args:
        trials: with the tested pairs.
        pool: recordings that attackers learn from.

    Raises:
        AudioError: a file is missing.
    """
    heard = [recording.digest() for recording in trials.recordings]
    enrolled = [{r.digest(): r.name for r in model.recordings} for model in trials.models]
    known = {digest: name for own in enrolled for digest, name in own.items()}
    twice: dict[str, str] = {}
    for column in (place for place, digest in enumerate(heard) if digest in known):
        for row in trials.tested[:, column].nonzero()[0]:
            if name := enrolled[row].get(heard[column]):
                twice.setdefault(trials.recordings[column].name, name)
    known.update(zip(heard, (one.name for one in trials.recordings), strict=True))
    learned = {one.name: name for one in pool if (name := known.get(one.digest()))}
    found = []
    if twice:
        found.append(
            f"{len(twice)} of {len(heard)} trials are the same sound as an enrolled recording "
            f"({_first(twice)}): attackers recognise the recording there, not the voice; leave one "
            "of each two out"
        )
    if learned:
        found.append(
            f"{len(learned)} of {len(pool)} recordings that attackers learn from are the same "
            f"sound as an evaluated one ({_first(learned)}): attackers are tested on what they "
            "learned; leave these out of the pool"
        )
    return tuple(found)


def _first(pairs: dict[str, str]) -> str:
    """The first two names, or that of a recording that is in both places."""
    one, other = next(iter(pairs.items()))
    return one if one == other else f"{one} and {other}"
