"""Recipe ``units``: clusters of frames of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.training.content.units.unit_features import CEPSTRA
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import CacheOptions, DataOptions
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training, resources


@dataclass(frozen=True, kw_only=True)
class UnitsRecipe(CacheOptions, DataOptions):
    """Find units of speech without texts: clusters of frames (mini-batch k-means).

    Args:
        config: ./FILE of YAML; 100 units without.
        features: Features to cluster: cepstra, base (the content of the bundled resynthesis),
            narrow:FOLDER (such content of your own), a HuBERT (safetensors, a folder, or a name
            that was pulled), or wav2vec2:PLACE, such as wav2vec2:xls-r-300m.
        layer: Of the network, whose output is clustered.
        count: Number of units.
        budget: Time at most: 25m, 2h. Run again to go on.
        accelerator: cpu, gpu, or auto.
    """

    example: ClassVar[str] = "-d corpus/ -o units/ --units 100"
    configuration: ClassVar[str] = "voicenym.training.content.units.train_units:UnitsConfig"

    config: str | None = option("--config", "-c", default=None)
    features: str = CEPSTRA
    layer: int = option(default=7, minimum=1)
    count: int | None = option("--units", default=None, minimum=2)
    budget: str | None = None
    accelerator: str = "auto"

    def run(self, report: Report) -> Trained:
        """Cluster and save the units."""
        require_training()
        from voicenym.training.content.units import train_units as steps
        from voicenym.training.content.units.unit_features import features_of
        from voicenym.training.run.config import changed, load
        from voicenym.training.speech.preparation import prepared

        config = steps.UnitsConfig()
        if self.config is not None:
            config = load(self.config, steps.UnitsConfig)
        config = changed(config, units=self.count)
        given = resources(self.budget, report.say, self.accelerator)
        features, source = features_of(self.features, self.layer, given["machine"])
        recordings = self.recordings(report)
        utterances, _ = prepared(self.cache_folder, recordings, [], report)
        found = steps.train(
            features,
            source,
            utterances,
            config,
            self.output,
            seconds=given["seconds"],
            say=report.say,
        )
        figures = {
            "share of the variance between units": round(found.explained, 4),
            "perplexity of units": round(found.perplexity, 2),
        }
        counts = {"frames": found.frames, "recordings": found.utterances}
        found.units.save(self.output, {**self.data_card(utterances), **counts, **figures})
        lines = [f"{len(found.units)} units of {found.frames} frames"]
        lines += [f"{name} {value:g}" for name, value in list(figures.items())[1:]]
        return Trained(self.output, 0, figures, tuple(lines))
