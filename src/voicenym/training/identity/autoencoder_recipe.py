"""Recipe ``autoencoder``: hides sex, accent and speaker in speaker vectors."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from voicenym.errors import CorpusError
from voicenym.training.recipe import Recipe, Trained, option
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training, resources


@dataclass(frozen=True, kw_only=True)
class AutoencoderRecipe(Recipe):
    """Train the adversarial autoencoder of the challenge's S1 and S2.

    Args:
        source: Vectors, of voicenym pool build --utterances.
        config: A YAML file, as ./FILE.
        accents: TSV with the columns speaker and accent (or language).
        budget: Time at most: 25m, 2h. Run again to go on.
        accelerator: cpu, gpu, or auto.
    """

    example: ClassVar[str] = "vectors/ -o autoencoder/"
    configuration: ClassVar[str] = "voicenym.training.identity.train_autoencoder:AutoencoderConfig"

    source: Path = option(positional=True)
    config: str | None = option("--config", "-c", default=None)
    accents: Path | None = None
    budget: str | None = None
    accelerator: str = "cpu"

    def run(self, report: Report) -> Trained:
        """Train and save the autoencoder."""
        require_training()
        from voicenym.identity.pools.speaker_pool import load
        from voicenym.nets.identity.vector_autoencoder import save
        from voicenym.training.identity import train_autoencoder as steps
        from voicenym.training.run.config import load as load_config

        config = steps.AutoencoderConfig()
        if self.config is not None:
            config = load_config(self.config, steps.AutoencoderConfig)
        vectors = load(self.source)
        network, outcome = steps.train(
            vectors,
            config,
            self.output,
            accents=None if self.accents is None else accents(self.accents, vectors.speakers),
            **resources(self.budget, report.say, self.accelerator),
        )
        card = {"vectors": len(vectors), "steps": outcome.steps, **asdict(config)}
        save(network, self.output, vectors.encoder, vectors.version, card)
        return self.result(outcome, {"objective": outcome.best})


def accents(path: Path, speakers: tuple[str, ...]) -> list[str]:
    """Accent of each speaker from a TSV file; empty if the file has none.

    Raises:
        CorpusError: the file cannot be read, or lacks a column.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        known = {row["speaker"]: row["accent"] or "" for row in rows}
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read ({error})") from None
    except KeyError as error:
        raise CorpusError(f"{path}: needs a column {error} in its first line") from None
    return [known.get(name, "") for name in speakers]
