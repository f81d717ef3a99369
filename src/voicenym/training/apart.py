"""Who is learnt from, and who is kept out to judge by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError


def apart(
    recordings: Sequence[Recording], share: float, seed: int, what: str = "recordings"
) -> tuple[list[Recording], list[Recording]]:
    """Recordings to train on, and those of speakers who are kept out; of a single one, some.

    Args:
        recordings: in any order, which does not matter.
        share: of the speakers who are kept out; one at least, and not all.
        seed: of the draw.
        what: they are, for the error.

    Raises:
        CorpusError: a single recording.
    """
    spoken = sorted(recordings)
    speakers = sorted({recording.speaker for recording in spoken})
    rng = np.random.default_rng((seed, 72))
    names = speakers if len(speakers) > 1 else [recording.name for recording in spoken]
    if len(names) < 2:
        raise CorpusError(
            f"{len(names)} {what} are too few to learn from and to keep one out to judge by; give "
            "more"
        )
    count = min(len(names) - 1, max(1, round(share * len(names))))
    out = {names[i] for i in rng.permutation(len(names))[:count]}
    who = {r.name: r.speaker if len(speakers) > 1 else r.name for r in spoken}
    train = [recording for recording in spoken if who[recording.name] not in out]
    return train, [recording for recording in spoken if who[recording.name] in out]
