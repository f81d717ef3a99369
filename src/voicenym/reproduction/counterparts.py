"""Systems of the papers and their counterparts here.

A counterpart is a text for ``--system``, such as ``ssl-gmm:theta=0.2``. Systems whose weights are
not at hand have one too: it runs as soon as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import voicenym.resynthesis.pipeline

BUNDLED = Path(next(iter(voicenym.resynthesis.pipeline.__path__))) / "bundled" / "ssl"
"""Bundled weights of the SSL-based pipeline."""


def in_pipeline(identity: str) -> str:
    """The SSL-based pipeline with another identity method, which chooses from the bundled pool."""
    return f"ssl-select:identity=({identity}:pool={BUNDLED / 'pool'})"


def half(part: str) -> str:
    """``b1a`` with the voice of B1 in one of its two models, and the speaker's in the other."""
    return f"b1a:identity=(half:part={part},of=(selection:pool={BUNDLED / 'pool'}))"


MIXTURE, SELECTION, ROH, LOH = "ssl-gmm", "ssl-select", "ssl-roh", "ssl-loh"
COPY = "ssl-select:identity=copy"
AUTOENCODER = "autoencoder:model=autoencoder-small"
B2 = "mcadams"

CHALLENGE = {
    "A1": in_pipeline("regression"),
    "A2": in_pipeline("singular-values"),
    "B1": SELECTION,
    "B2": B2,
    "D1": "mcadams-radius",
    "I1": "formant",
    "K2": in_pipeline("indistinguishable"),
    "M1c2": COPY,
    "M1c3": half("acoustic"),
    "M1c4": half("vocoder"),
    "O1": MIXTURE,
    "O1c1": f"{MIXTURE}:theta=0.2",
    "S1": f"ssl-select:identity=({AUTOENCODER},of=(selection:pool={BUNDLED / 'pool'}))",
    "S1c1": f"ssl-select:identity=({AUTOENCODER})",
}
"""Systems of the VoicePrivacy Challenge 2020 (Tomashenko et al. 2022)."""
OWN_RECOGNISER = ("M1", "M1c1")
"""Systems of that challenge whose counterpart is ``b1b`` with a pipeline of one's own, since their
recognisers are not B1's."""
AAM = {"S-ROH": ROH, "S-LOH": LOH}
"""Systems of Miao et al. whose network learns by AAM and the cosine loss, where the bundled ones
learn by w-AAM: the systems that run them, with a pipeline of one's own."""
GIVEN = (*OWN_RECOGNISER, *AAM)
"""Names of ``--pipeline NAME=FOLDER``."""
NO_COUNTERPART = {
    "M1": "no bottleneck of an end-to-end recogniser is bundled: train one with voicenym train "
    "bottleneck, then --pipeline M1=FOLDER",
    "M1c1": "no bottleneck that was trained against the speaker is bundled: train one with "
    "voicenym train phone-bottleneck --adversary, then --pipeline M1c1=FOLDER",
    "S2": "S2's tuned parameters are not published",
    "S2c1": "S2's tuned parameters are not published",
}
"""Systems of that challenge without a counterpart, with the reason."""


def of_challenge(names: Sequence[str], given: Mapping[str, Path]) -> dict[str, str]:
    """Counterparts of some of the challenge's systems, in the papers' order.

    Args:
        names: of systems that the budget measures.
        given: folders of pipelines of one's own, by the system's name.
    """
    found = {name: system for name, system in CHALLENGE.items() if name in names}
    own = {name: given[name] for name in OWN_RECOGNISER if name in given}
    found |= {name: f"b1b:weights={place}" for name, place in own.items()}
    return dict(sorted(found.items()))


def without(names: Sequence[str], budget: str) -> dict[str, str]:
    """Reasons of systems that are not measured: no counterpart, or left out by the budget."""
    small = f"the budget {budget} leaves it out: a larger one measures it"
    return NO_COUNTERPART | {name: small for name in CHALLENGE if name not in names}


IDENTITIES = (
    "A1, A2, B1, K2, M1c2, O1, O1c1, S1 and S1c1 are these choices of a voice in the SSL-based "
    "pipeline with bundled weights (word codes of Whisper tiny.en, 3.7 million weights of a "
    "vocoder), M1c3 and M1c4 in b1a's bundled weights, not in x-vectors, TDNN-F and NSF"
)
"""What differs in the counterparts of x-vector systems."""
DEFINED = (
    "A1, A2, S1 and S1c1 are approximations: the papers on them leave sizes open; theta of O1c1 is "
    "not published, here it is 0.2"
)
"""What the papers leave open."""
