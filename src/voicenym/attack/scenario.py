"""Scenario of an attack: enrolled speakers, trials, protection, and the attacker's material."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY, Anonymize, File, OtherFiles, Step, Transform
from voicenym.pseudonym import Key


@dataclass(frozen=True)
class Model:
    """One enrolled speaker.

    Args:
        name: of the model.
        speaker: its true speaker.
        recordings: original speech for the enrolment.
        sex: ``f``, ``m`` or empty.
    """

    name: str
    speaker: str
    recordings: tuple[Recording, ...]
    sex: str = ""


@dataclass(frozen=True)
class Protection:
    """The user's protection of recordings.

    Attackers that know the system have its output under keys of their own: they run it, or they
    have files that somebody else made with it (:attr:`attackers_files`).

    Args:
        transform: from original to published recordings.
        system: name of the system; None if only its files are known.
        parameters: of the system.
        per: whether voices are drawn per ``speaker`` or ``utterance``.
        attackers_files: anonymized files under the attackers' keys, by the names of recordings of
            the enrolment and of the pool, where only files of the system are known.
        line: steps that all recordings pass last, original ones too, such as a telephone line.
        same_sex: whether voices are drawn of the speaker's own sex, by attackers too.
        attackers_parameters: settings of the system that attackers run, where they differ, such as
            weights of their own; None for those of the user.
    """

    transform: Transform
    system: str | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    per: str = "speaker"
    attackers_files: Mapping[str, File] = field(default_factory=dict, hash=False)
    line: tuple[Step, ...] = ()
    same_sex: bool = False
    attackers_parameters: tuple[tuple[str, Any], ...] | None = None

    @classmethod
    def by(
        cls,
        system: str,
        key: Key,
        per: str = "speaker",
        parameters: tuple[tuple[str, Any], ...] = (),
        line: tuple[Step, ...] = (),
        same_sex: bool = False,
        attackers_parameters: tuple[tuple[str, Any], ...] | None = None,
    ) -> Protection:
        """A system of this package with the user's key."""
        step = Anonymize(system, key, per, parameters, same_sex=same_sex)
        return cls(
            Transform((step, *line)),
            system,
            parameters,
            per,
            line=line,
            same_sex=same_sex,
            attackers_parameters=attackers_parameters,
        )

    @classmethod
    def by_files(
        cls,
        published: Mapping[str, File],
        attackers: Mapping[str, File] | None = None,
        line: tuple[Step, ...] = (),
    ) -> Protection:
        """A system of which only files are known.

        Args:
            published: the user's anonymized files, by the names of the recordings.
            attackers: as :attr:`attackers_files`.
            line: as above.
        """
        transform = Transform((OtherFiles(published), *line))
        return cls(transform, attackers_files=attackers or {}, line=line)

    @classmethod
    def nothing(cls, line: tuple[Step, ...] = ()) -> Protection:
        """No protection: original recordings."""
        return cls(Transform(line), line=line)

    @property
    def protects(self) -> bool:
        """Whether the published recordings differ from the original ones."""
        return len(self.transform.steps) > len(self.line)

    @property
    def original(self) -> Transform:
        """Transform of original recordings: the line, or nothing."""
        return Transform(self.line)

    def with_key(self, key: Key, per: str) -> Transform:
        """The same system with a key of an attacker that knows the system.

        Where attackers have files, these are the result for every key.

        Raises:
            ValueError: attackers have neither the system nor such files.
        """
        if self.system is not None:
            own = self.attackers_parameters
            settings = self.parameters if own is None else own
            step = Anonymize(self.system, key, per, settings, same_sex=self.same_sex)
            return Transform((step, *self.line))
        if not self.attackers_files or per == EVERYBODY:
            raise ValueError("an attacker cannot run a system that is only known by its files")
        return Transform((OtherFiles(self.attackers_files), *self.line))

    def with_voice_of(self, trial: Recording) -> Transform:
        """The system with the user's key, and the voice of one recording for all.

        Raises:
            ValueError: only files of the system are known.
        """
        step, *line = self.transform.steps
        if self.system is None or not isinstance(step, Anonymize):
            raise ValueError("files of a system have no other voices")
        return Transform((replace(step, voice_of=trial), *line))

    def with_keys(self, keys: Iterable[tuple[Key, str]]) -> list[Transform]:
        """Transforms of :meth:`with_key` for keys and voices per speaker or utterance.

        Each transform occurs once: with files there is a single one.
        """
        if self.system is None:
            return [self.with_key(key, per) for key, per in keys][:1]
        return [self.with_key(key, per) for key, per in keys]


@dataclass(frozen=True)
class Scenario:
    """The material of an attack.

    Args:
        models: enrolled speakers, with their original speech.
        trials: recordings of unknown speakers, of which the attacker has the protected form.
        protection: of the trials.
        key: the attacker's own key.
        pool: speech of other people, for attackers that train.
        pool_is_original: whether the pool's recordings are original speech; else only their
            anonymized form is known, which :meth:`Protection.with_key` gives as well.
    """

    models: tuple[Model, ...]
    trials: tuple[Recording, ...]
    protection: Protection
    key: Key
    pool: tuple[Recording, ...] = field(default=())
    pool_is_original: bool = True

    @property
    def enrolment(self) -> tuple[Recording, ...]:
        """The recordings of all models, model by model."""
        return tuple(recording for model in self.models for recording in model.recordings)

    @property
    def original(self) -> Transform:
        """Transform of original recordings (:attr:`Protection.original`)."""
        return self.protection.original

    @property
    def has_protected_enrolment(self) -> bool:
        """Whether the attacker has the enrolment under a key of its own."""
        return self._all_protected(self.enrolment)

    @property
    def has_protected_pool(self) -> bool:
        """Whether the attacker has the pool under a key of its own."""
        return self._all_protected(self.pool)

    def _all_protected(self, recordings: tuple[Recording, ...]) -> bool:
        if self.protection.system is not None:
            return True
        files = self.protection.attackers_files
        return bool(recordings) and all(recording.name in files for recording in recordings)
