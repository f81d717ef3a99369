"""What the nodes of a Ray cluster must have: GPUs, life, the same release and its packages."""

from __future__ import annotations

import voicenym
from voicenym.corpus.workers.ray_session import imported
from voicenym.errors import CorpusError


def gpu_places(gpus: float) -> int:
    """Number of actors for which the nodes have GPUs; Ray itself waits for more without end.

    Raises:
        CorpusError: there are none.
    """
    most = [node["Resources"].get("GPU", 0.0) for node in imported().nodes() if node["Alive"]]
    found = sum(int(own / gpus + 1e-6) for own in most)
    if not found:
        raise CorpusError(
            f"--gpus {gpus:g}: no node of the cluster has so many GPUs (the most are "
            f"{max(most, default=0.0):g}); start nodes that have them, or leave out --gpus"
        )
    return found


def check_nodes() -> None:
    """Checks that the cluster has a node; Ray itself waits for one without end.

    Raises:
        CorpusError: it has none, or does not answer.
    """
    ray = imported()
    try:
        alive = any(node["Alive"] for node in ray.nodes())
    except Exception:
        alive = False
    if not alive:
        raise CorpusError(
            "all nodes of the cluster are gone (killed, or out of memory?); what is written is "
            "whole: run the same command again, with --engine local if it happens again"
        )


def same_release(release: str) -> bool:
    """True.

    Raises:
        CorpusError: a node has another release.
    """
    if release != voicenym.__version__:
        raise CorpusError(
            f"a node of the cluster has voicenym {release}, and this is {voicenym.__version__}: "
            "other releases may write other voices; install the same one on each node"
        )
    return True


def lacks_package(error: BaseException) -> CorpusError:
    """The error of an actor whose class its node cannot import, with its cure."""
    return CorpusError(
        f"a node of the cluster lacks a package ({last_line(error)}); install "
        f"voicenym {voicenym.__version__} with the same extras on each node"
    )


def last_line(error: BaseException) -> str:
    """The last line of an error of Ray, which says what happened; its traceback stands before."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]
