"""Request of ``voicenym evaluate``: its options, with checks that need neither speech nor
weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from voicenym.apps.cli.options import evaluate_options as options
from voicenym.apps.cli.options.refused_options import refuse_options
from voicenym.errors import VoicenymError

CACHE = "cache.sqlite"
TRANSCRIPTS = "transcripts.jsonl"
OF_VECTORS = (
    "vectors", "pool", "identities", "attacker_identities", "output", "enrolment", "tried", "per",
    "replicates", "seed", "quiet",
)  # fmt: skip
"""Fields of a request that an evaluation of vectors uses."""


@dataclass(frozen=True)
class Request:
    """The arguments and options of ``voicenym evaluate``; :mod:`evaluate_options` explains each."""

    corpus: Path | None
    output: Path
    system: list[str]
    every: bool
    original: Path | None
    anonymized: Path | None
    anonymized_suffix: str
    anonymized_enrolment: list[Path]
    anonymized_pool: list[Path]
    split: str | None
    part: str | None
    speaker_level: int | None
    speaker_field: str | None
    half: str | None
    line: str | None
    live: bool
    pool: Path | None
    pool_split: str | None
    pool_part: str | None
    pool_size: int
    enrolls: list[Path]
    trials: list[Path]
    lists: bool
    enrolment: int
    tried: int
    any_sex: bool
    per: str
    targets: str | None
    keys: int
    denoise: bool
    sanity: bool
    only: list[str]
    attacker_systems: list[str]
    verifiers: list[str]
    attacker_budget: str | None
    attacker_steps: int | None
    attacker_start: str
    attacker_config: str
    attacker_pretrained: Path | None
    normaliser: str | None
    recogniser: str | None
    weights: str | None
    retrained: list[str]
    phones: str
    sound: list[str]
    transcripts: list[str]
    sample: int
    replicates: int
    seed: int
    workers: int | None
    cache: Path | None
    allow_pipes: bool
    fail_fast: bool
    quiet: bool
    vectors: Path | None
    identities: list[str]
    attacker_identities: list[str]
    engine: str
    address: str | None
    gpus: float | None
    device: str

    @property
    def source(self) -> Path:
        """Folder or manifest of the original speech."""
        source = self.corpus or self.original
        assert source is not None
        return source

    @property
    def anonymized_root(self) -> Path | None:
        """Folder of anonymized speech; None if no files are evaluated."""
        return self.anonymized or (self.original if self.anonymized_suffix else None)

    @property
    def vector_cache(self) -> Path:
        """File of speaker vectors; trained attackers lie beside it."""
        return self.cache or self.output / CACHE

    @property
    def transcript_cache(self) -> Path:
        """File of transcripts, beside the vectors."""
        return self.vector_cache.with_name(TRANSCRIPTS)

    def check(self) -> None:
        """Checks that options are consistent.

        Raises:
            VoicenymError: options that exclude or lack each other; the message names them.
        """
        if self.per not in ("speaker", "utterance", "everybody"):
            raise VoicenymError(f"--per is speaker, utterance or everybody, not {self.per!r}")
        self._check_targets()
        if (self.corpus is None) == (self.original is None):
            raise VoicenymError("give the original speech once: as an argument or with --original")
        if (self.original is None) != (self.anonymized_root is None):
            raise VoicenymError("--original and --anonymized belong together")
        if (self.anonymized_enrolment or self.anonymized_pool) and self.anonymized_root is None:
            raise VoicenymError(
                "--anonymized-enrolment and --anonymized-pool are of files; name these with "
                "--original and --anonymized"
            )
        if self.live and not (self.system or self.every):
            raise VoicenymError("--live is of systems that run here; name them with --system")
        if bool(self.enrolls) != bool(self.trials):
            raise VoicenymError("--enrolls and --trials belong together")
        if self.normaliser not in (None, "as-norm"):
            raise VoicenymError(f"--normalise is as-norm, not {self.normaliser!r}")
        if self.output.exists() and not self.output.is_dir():
            raise VoicenymError(f"{self.output}: is a file; give a folder for the report")
        self._check_training()
        self._check_drawn_trials()
        if self.identities or self.attacker_identities:
            raise VoicenymError(
                "--identity and --attacker-identity are methods on speaker vectors; give these "
                "with --vectors"
            )

    def _check_training(self) -> None:
        """Refuses options of attackers that train, where nothing or nobody is there to train.

        Raises:
            VoicenymError: it names the options.
        """
        if self.pool is None:
            given = {
                "--pool-split": self.pool_split is not None,
                "--pool-corpus": self.pool_part is not None,
            }
            if self.anonymized_root is None:  # else a submission may have speech to train on
                given |= {
                    "--pool-size": self.pool_size != options.POOL_SIZE.default,
                    "--attacker-budget": self.attacker_budget is not None,
                    "--attacker-steps": self.attacker_steps is not None,
                }
            refuse_options(
                given,
                "is of attackers that learn from other people; give their speech with --pool, or",
            )
        if self.attacker_budget is None and self.attacker_steps is None:
            refuse_options(
                {
                    "--attacker-from": self.attacker_start != options.ATTACKER_START.default,
                    "--attacker-config": self.attacker_config != options.ATTACKER_CONFIG.default,
                    "--attacker-pretrained": self.attacker_pretrained is not None,
                },
                "is of attackers that train a network; give --attacker-budget or "
                "--attacker-steps, or",
            )

    def _check_drawn_trials(self) -> None:
        """Refuses options about trials that are drawn, where lists name them.

        Raises:
            VoicenymError: it names the options.
        """
        if self.trials:
            refuse_options(
                {
                    "--enrolment": self.enrolment != options.ENROLMENT.default,
                    "--tried": self.tried != options.TRIED.default,
                    "--any-sex": self.any_sex,
                },
                "is of trials that are drawn, and --trials names them;",
            )

    def check_vectors(self, defaults: Mapping[str, object]) -> None:
        """Refuse options that have no meaning with ``--vectors``.

        Args:
            defaults: values of all fields that are not given.

        Raises:
            VoicenymError: it names the options.
        """
        engine = self.engine == "ray" or self.address is not None or self.gpus is not None
        if engine or self.device != "cpu":
            raise VoicenymError(
                "--engine, --address, --gpus and --device are for recordings; --vectors holds "
                "vectors"
            )
        if self.attacker_systems:
            raise VoicenymError(
                "--attacker-system is for systems; with --vectors, give --attacker-identity"
            )
        if self.targets is not None:
            raise VoicenymError(
                "--targets applies to systems; with --vectors, set it in the method: --identity "
                "selection:pool=P,sex=any"
            )
        for name, default in defaults.items():
            if name not in OF_VECTORS and getattr(self, name) != default:
                declared = getattr(options, name.upper(), None)
                names = getattr(declared, "param_decls", None) or (f"--{name.replace('_', '-')}",)
                option = max(names, key=len).partition("/")[0]
                raise VoicenymError(
                    f"{option}: is for recordings, and --vectors holds vectors; leave it out"
                )

    def _check_targets(self) -> None:
        """Refuse target voices that are unknown, or that other options exclude.

        Raises:
            VoicenymError: it names the options.
        """
        from voicenym.evaluation.trial_plans.voice_targets import ONE_FOR_ALL, TARGETS

        if self.targets is None:
            return
        if self.targets not in TARGETS:
            raise VoicenymError(f"--targets is {', '.join(TARGETS)}, not {self.targets!r}")
        if not self.system and not self.every:
            raise VoicenymError(
                "--targets is of systems that run here (--system); the voices of anonymized files "
                "were chosen by whoever made them"
            )
        if self.per == "everybody" and self.targets != ONE_FOR_ALL:
            raise VoicenymError(f"--per everybody is one voice for all, not {self.targets} targets")
        if self.per == "utterance" and self.targets == ONE_FOR_ALL:
            raise VoicenymError("--per utterance and --targets one-for-all exclude each other")
