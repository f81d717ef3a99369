"""Recipe ``content``: a content encoder that predicts units (HuBERT-soft)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.content.units.unit_features import CEPSTRA
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.units import Units
    from voicenym.training.content.units.train_hubert_soft import SoftConfig


@dataclass(frozen=True, kw_only=True)
class ContentRecipe(SpeechRecipe):
    """Train a content encoder to predict units: HuBERT-soft.

    Args:
        units: Folder of voicenym train units.
        features: Features whose clusters the units are: cepstra, base (the content of the bundled
            resynthesis), narrow:FOLDER (such content of your own), a HuBERT (safetensors, a folder,
            or a name that was pulled), or wav2vec2:PLACE, such as wav2vec2:xls-r-300m.
        start: HuBERT to go on from: safetensors, a folder, or a name that was pulled.
        batch: Crops in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c hubert-soft-small -o content/ --units units/"
    configuration: ClassVar[str] = "voicenym.training.content.units.train_hubert_soft:SoftConfig"

    units: Path = option(teacher=True)
    features: str | None = option(default=None, teacher=True)
    start: str | None = option("--from", default=None)
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Train and save the encoder."""
        require_training()
        from voicenym.nets.content.content_encoders import save
        from voicenym.nets.content.units import Units
        from voicenym.training.content.units import train_hubert_soft as steps
        from voicenym.training.content.units.unit_features import features_behind
        from voicenym.training.speech.speaker_split import speaker_split

        config = self.configured(steps.SoftConfig, batch=self.batch)
        resources = self.resources(report)
        targets = Units.load(self.units)
        place = self.features
        if place is None and targets.source.get("features") != CEPSTRA:
            place = self.start
        features = features_behind(
            self.units,
            targets.source,
            place,
            resources["machine"],
            by="--features or --from",
        )
        network = initial_network(self.start, config, targets)
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        train, held_out = self.prepared(chosen, kept, report)
        outcome = steps.train(
            network, features, targets, train, held_out, config, self.output, **resources
        )
        card = {
            **self.data_card(train),
            "units": targets.source,
            "steps": outcome.steps,
            "nats a frame on speakers kept out, who decided which checkpoint is the best": (
                outcome.best
            ),
        }
        save(network, self.output, card)
        return self.result(outcome, {"nats a frame on held-out speakers": outcome.best})


def initial_network(start: str | None, config: SoftConfig, targets: Units) -> HubertSoft:
    """A network to train: a new one, HuBERT, or one with weights of an earlier run.

    Raises:
        VoicenymError: an earlier run's network of another number of units.
    """
    from voicenym.nets.checkpoint import configuration, is_ours
    from voicenym.nets.content.content_encoders import load
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.hubert_published import PLAIN, from_hubert
    from voicenym.nets.hub import place_of
    from voicenym.training.content.units.train_hubert_soft import network

    if start is None:
        return network(config, targets)
    path = Path(place_of(start))
    if not is_ours(path) or configuration(path).get("kind") == PLAIN:
        layers = config.layers or None
        return from_hubert(
            path, size=config.size, units=len(targets), layers=layers, seed=config.seed
        )
    found = load(path)
    if not isinstance(found, HubertSoft) or found.units != len(targets):
        raise VoicenymError(f"{start}: no HuBERT-soft of {len(targets)} units; give such a one")
    return found
