"""Recipe ``householder``: rotations of speaker vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import DataOptions
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training, resources

if TYPE_CHECKING:
    from voicenym.identity.pools.speaker_pool import Pool

VECTORS = "vectors"
"""Folder of the speech's vectors within the output folder."""


@dataclass(frozen=True, kw_only=True)
class HouseholderRecipe(DataOptions):
    """Train a Householder network that rotates speaker vectors (Miao et al., 2023).

    Args:
        vectors: Training vectors, of voicenym pool build --utterances.
        data: Training speech instead, as for other recipes; it is embedded once.
        config: A YAML file as ./FILE, or a bundled one.
        encoder: With --data: verifier that makes the vectors; as --verifier.
        seed: Seed of the weights; users and attackers have different ones (50, 1986).
        budget: Time at most: 25m, 2h. Run again to go on.
        steps: Steps at most.
        batch: Vectors in a step.
        accelerator: cpu, gpu, or auto.
        half: Keep the result in half precision, and a ROH as an equal product of reflections.
        workers: Processes that embed.
    """

    example: ClassVar[str] = "--vectors vectors/ -o rotation/"
    configuration: ClassVar[str] = "voicenym.training.identity.train_householder:HouseholderConfig"

    vectors: Path | None = None
    data: tuple[Path, ...] = option("--data", "-d", default=())
    config: str = option("--config", "-c", default="householder")
    encoder: str = option(default="ecapa-small", teacher=True)
    seed: int | None = None
    budget: str | None = None
    steps: int | None = option(default=None, minimum=1)
    batch: int | None = option(default=None, minimum=2)
    accelerator: str = "cpu"
    half: bool = False
    workers: int = option("--workers", "-j", default=1, minimum=1)

    def run(self, report: Report) -> Trained:
        """Embed the speech if vectors are not given; train and save the network."""
        require_training()
        from voicenym.identity.pools.speaker_pool import load as load_pool
        from voicenym.nets.identity.householder_checkpoint import save
        from voicenym.training.identity import train_householder as steps
        from voicenym.training.run.config import changed, load

        if (self.vectors is None) == (not self.data):
            raise VoicenymError("give either --vectors or --data")
        given = resources(self.budget, report.say, self.accelerator)
        config = changed(
            load(self.config, steps.HouseholderConfig),
            steps=self.steps,
            batch=self.batch,
            seed=self.seed,
        )
        pool = self.embedded(report) if self.vectors is None else load_pool(self.vectors)
        network = steps.network(config, pool.size)
        rotation, outcome = steps.train(network, pool, config, self.output, **given)
        last = outcome.curve[-1] if outcome.curve else {}
        card = {
            "vectors": len(pool),
            "speakers": pool.people,
            "encoder": pool.encoder,
            "loss": config.loss,
            "seed": config.seed,
            "steps": outcome.steps,
            "held-out loss": outcome.best,
            "cosine of a vector and what it becomes": last.get("cosine"),
            "pseudo-speakers classified %": last.get("classified %"),
        }
        save(rotation, self.output, card, half=self.half)
        return self.result(outcome, {"held-out loss": outcome.best})

    def embedded(self, report: Report) -> Pool:
        """Vectors of all utterances; later runs read them from the output folder."""
        import torch

        from voicenym.corpus.embedder import Embedder
        from voicenym.identity.pools.speaker_pool import Pool, load, save
        from voicenym.verification.verifiers import verifier

        model = verifier(self.encoder)
        folder = self.output / VECTORS
        if not folder.is_dir():
            speech = self.recordings(report)
            report.say(f"{len(speech)} recordings are embedded")
            with Embedder(workers=self.workers, left_out=report.skipped) as embedder:
                found, speech = embedder.kept(model, speech)
            vectors = torch.from_numpy(found).float()
            sexes, speakers = tuple(r.sex for r in speech), tuple(r.speaker for r in speech)
            save(Pool(vectors, sexes, speakers, self.encoder, model.version), folder)
        pool = load(folder).made_by(self.encoder, model.version)
        report.say(f"{folder}: {pool}")
        return pool
