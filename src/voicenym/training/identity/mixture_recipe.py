"""Recipe ``mixture``: the distribution of pseudo-speakers, from a pool."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Recipe, Trained, option
from voicenym.training.run.progress_report import Report

SEARCH = "search.jsonl"


@dataclass(frozen=True, kw_only=True)
class MixtureRecipe(Recipe):
    """Fit a Gaussian mixture in principal components of a pool's vectors (Turner et al., 2022).

    Args:
        source: A pool, of voicenym pool build.
        share: Share of the variance that PCA keeps.
        components: Components of the mixture.
        covariance: diag or full.
        any_sex: One mixture for women and men.
        search: Choose share and components by the similarity of pseudo-speakers to each other
            (D_KS) and by entropy; writes all results, and figures of them.
        shares: Values of --share of a search; may be repeated.
        counts: Values of --components of a search; may be repeated.
        seed: Of every draw.
    """

    example: ClassVar[str] = "pool/ -o mixture/ --search"
    configuration: ClassVar[str] = ""

    source: Path = option(positional=True)
    share: float = 0.99
    components: int = option(default=1, minimum=1)
    covariance: str = "diag"
    any_sex: bool = False
    search: bool = False
    shares: tuple[float, ...] = option("--try-share", default=())
    counts: tuple[int, ...] = option("--try-components", default=())
    seed: int = 0

    def run(self, report: Report) -> Trained:
        """Search the sizes if asked for; fit and save the mixture."""
        from voicenym.identity.pools.speaker_pool import opened
        from voicenym.identity.pools.vector_mixture import save
        from voicenym.training.identity import train_mixture as steps

        if self.covariance not in ("diag", "full"):
            raise VoicenymError(f"--covariance is diag or full, not {self.covariance!r}")
        pool = opened(str(self.source))
        sizes: dict[str, Any] = {
            "covariance": self.covariance,
            "by_sex": not self.any_sex,
            "seed": self.seed,
        }
        config = steps.MixtureConfig(self.share, self.components, **sizes)
        tried: list[Any] = []
        if self.search:
            tried = steps.search(
                pool,
                config,
                self.shares or steps.SHARES,
                self.counts or steps.COMPONENTS,
                say=report.say,
            )
            share, components = steps.chosen(tried)
            config = steps.MixtureConfig(share, components, **sizes)
            self.output.mkdir(parents=True, exist_ok=True)
            rows = [json.dumps(asdict(row)) for row in tried]
            (self.output / SEARCH).write_text("\n".join(rows) + "\n", "utf-8")
        found = steps.train(pool, config)
        save(found, self.output, {"speakers": len(pool), **asdict(config)})
        return Trained(self.output, 0, {}, (str(found),), tried)
