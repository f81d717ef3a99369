"""Request of ``voicenym evaluate``: its options, with checks that need neither speech nor
weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from voicenym.errors import VoicenymError

CACHE = "cache.sqlite"
TRANSCRIPTS = "transcripts.jsonl"


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

    def check_vectors(self) -> None:
        """Refuse options that have no meaning with ``--vectors``.

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
