"""Training of a Householder network, which rotates speaker vectors to pseudo-speakers.

The recipe of Miao et al. (2023, sections III-D and IV-A): a cosine loss between a vector and its
pseudo-speaker, and a classification of speakers and pseudo-speakers, each a class of its own, by
AAM or w-AAM softmax; Adam under one cycle of the learning rate over 130,000 steps. Users and
attackers differ in the seed, of the first weights and of the order of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import lightning.pytorch as pl
import numpy as np
import torch

from voicenym.errors import CorpusError, VoicenymError, counted
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.nets.identity.householder_checkpoint import Rotation
from voicenym.nets.identity.householder_network import Householder
from voicenym.training.identity.paired_losses import PairedMargin, likeness
from voicenym.training.run.fit import Limits, Outcome, fit
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical
from voicenym.training.speech.epoch_sampling import Epoch

LOSSES = ("w-aam", "aam")


@dataclass(frozen=True)
class HouseholderConfig:
    """Configuration of the training; values that Miao et al. (2023) do not state are marked "ours".

    Args:
        form: ``roh`` or ``loh``.
        layers: L.
        reflections: q of a layer; 0 for the paper's, the size in ``roh`` and 50 in ``loh``.
        reading, sees: of ``loh``, see :class:`Householder`.
        whitened: equation 7 rather than 8.
        loss: ``w-aam`` (equation 14) or ``aam`` (13).
        scale, margin, pair_margin: s, m1 and m2.
        weight: lambda of the cosine loss. The paper's "20" with a footnote's 8 reads as 20.
        batch: originals in a step, N/2 of the paper; ours.
        rate: peak of the learning rate.
        schedule: of the learning rate: 1e-8 to 1e-3 and back.
        steps: of the cycle.
        every: steps from one validation to the next; ours.
        held_out: share of each speaker's vectors for validation; ours.
        seed: of all random draws; the paper has 50 for users and 1986 for attackers.
    """

    FORMER_NAMES: ClassVar[Mapping[str, str]] = {"apart": "pair_margin"}
    """Fields of earlier configurations, see :func:`voicenym.training.run.config.build`."""

    form: str = "loh"
    layers: int = 12
    reflections: int = 0
    reading: str = "positions"
    sees: str = "input"
    whitened: bool = False
    loss: str = "w-aam"
    scale: float = 30.0
    margin: float = 0.2
    pair_margin: float = 0.2
    weight: float = 20.0
    batch: int = 64
    rate: float = 1e-3
    schedule: Cyclical = field(default_factory=lambda: Cyclical(cycles=1, rise=0.5, floor=1e-5))
    steps: int = 130_000
    every: int = 1_000
    held_out: float = 0.05
    seed: int = 50

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise VoicenymError(f"loss: {self.loss!r} is none of {', '.join(LOSSES)}")
        if not 0.0 < self.held_out < 1.0:
            raise VoicenymError("held_out: a share of each speaker's vectors, between 0 and 1")


class Drawn(Epoch[tuple[torch.Tensor, torch.Tensor]]):
    """An epoch of batches: vectors ``[row, size]`` and their speakers ``[row]``.

    Args:
        vectors, labels: to draw from, with replacement.
        batch: rows.
        count: batches in an epoch.
        seed: of the draws.
    """

    def __init__(
        self, vectors: torch.Tensor, labels: torch.Tensor, batch: int, count: int, seed: int
    ) -> None:
        super().__init__(count, seed)
        self._vectors, self._labels, self._batch = vectors, labels, batch

    def drawn(self, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        rows = torch.from_numpy(rng.integers(len(self._vectors), size=self._batch))
        return self._vectors[rows], self._labels[rows]


class Pseudonymisation(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        speakers: C.
        config: of the training.
    """

    def __init__(self, network: Householder, speakers: int, config: HouseholderConfig) -> None:
        super().__init__()
        self.network = network
        pair_margin = config.pair_margin if config.loss == "w-aam" else 0.0
        self.head = PairedMargin(network.size, speakers, config.scale, config.margin, pair_margin)
        self.recipe, self.speakers = config, speakers

    def configure_optimizers(self) -> torch.optim.Optimizer:
        # Adam as in the paper; the fused form reads the weights once.
        return torch.optim.Adam(self.parameters(), self.recipe.rate, fused=True)

    def objective(
        self, vectors: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss (equation 5), and rotated vectors ``[row, size]``."""
        turned = self.network(vectors)
        both = torch.cat((vectors, turned))
        classes = torch.cat((labels, labels + self.speakers))
        return self.recipe.weight * likeness(vectors, turned) + self.head(both, classes), turned

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> torch.Tensor:
        loss, _ = self.objective(*batch)
        self.log("loss", loss, on_step=True, on_epoch=False, prog_bar=True)
        return loss

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> None:
        vectors, labels = batch
        loss, turned = self.objective(vectors, labels)
        cosine = torch.nn.functional.cosine_similarity(vectors, turned, dim=1).mean()
        found = self.head.logits(turned).argmax(1) == labels + self.speakers
        shared = self.trainer.world_size > 1
        self.log("held-out loss", loss, sync_dist=shared)
        self.log("cosine", cosine, sync_dist=shared)
        self.log("classified %", 100.0 * found.float().mean(), sync_dist=shared)


def network(config: HouseholderConfig, size: int) -> Householder:
    """A new network, whose weights depend on the seed alone.

    Args:
        config: of the training.
        size: elements of a speaker vector.

    Raises:
        VoicenymError: invalid options.
    """
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            return Householder(
                config.form,
                size,
                config.layers,
                config.reflections or None,
                config.reading,
                config.sees,
                config.whitened,
            )
    except ValueError as error:
        raise VoicenymError(f"householder: {error}") from None


def kept_out(pool: Pool, share: float, seed: int) -> torch.Tensor:
    """Mask of held-out vectors ``[row]``: a share of each speaker's, never all, and one at least.

    Raises:
        CorpusError: one speaker, or a vector of each.
    """
    rng = np.random.default_rng((seed, 17))
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(pool.speakers):
        rows.setdefault(name, []).append(row)
    out = torch.zeros(len(pool), dtype=torch.bool)
    for own in rows.values():
        # Rounded at random, so that speakers with few vectors are held out as well.
        count = min(len(own) - 1, int(share * len(own) + rng.random()))
        out[rng.permutation(own)[:count]] = True
    most = max(rows.values(), key=len)
    if not out.any() and len(most) > 1:
        out[rng.permutation(most)[0]] = True
    if len(rows) < 2 or not out.any():
        raise CorpusError(
            f"{counted(len(pool), 'vector')} of {counted(len(rows), 'speaker')} are too few: two "
            "speakers at least, and "
            "several vectors of one; build the pool with --utterances"
        )
    return out


def train(
    net: Householder,
    pool: Pool,
    config: HouseholderConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[Rotation, Outcome]:
    """Train a network; afterwards it has the weights of its best validation.

    Args:
        net: new, or with weights to continue from.
        pool: vectors of utterances, several a speaker.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: as :func:`kept_out`.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`, and vectors of another size.
    """
    machine = machine or Machine()
    if pool.size != net.size:
        raise VoicenymError(f"vectors have {pool.size} elements, the network {net.size}")
    index = {name: i for i, name in enumerate(sorted(set(pool.speakers)))}
    labels = torch.tensor([index[name] for name in pool.speakers])
    vectors = pool.vectors.float()
    out = kept_out(pool, config.held_out, config.seed)
    net.learn_statistics(vectors[~out])
    every = min(config.every, config.steps)
    drawn = Drawn(vectors[~out], labels[~out], config.batch, every, config.seed)
    loader = torch.utils.data.DataLoader(drawn, batch_size=None)
    whole = torch.utils.data.TensorDataset(vectors[out], labels[out])
    aside = torch.utils.data.DataLoader(whole, batch_size=len(whole))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed + 1)
        module = Pseudonymisation(net, len(index), config)
    outcome = fit(
        module,
        loader,
        aside,
        folder,
        Limits(config.steps, every, seconds),
        monitor="held-out loss",
        schedule=config.schedule,
        machine=machine,
        clip=None,
        seed=config.seed,
        say=say,
    )
    return Rotation(net.cpu().eval(), pool.encoder, pool.version), outcome
