"""Attackers of single channels, and the fusion of all channels.

Each measures one channel of speech that it protects under its own keys, learns from other people
which measures differ between speakers, and compares enrolment and trials by them. Where an attacker
has several branches, it fuses them (:mod:`voicenym.attack.fusion.branch_weights`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.channels import channel_branches
from voicenym.attack.channels.channel_branches import Branch
from voicenym.attack.channels.channel_extractors import PlainIVectors
from voicenym.attack.fusion.branch_weights import FOLDS, Measured, copies_count, fused, trained
from voicenym.attack.fusion.search_branches import SearchBranch
from voicenym.attack.scenario import Scenario
from voicenym.attack.stored_speech import stored
from voicenym.attack.trained.trained_attackers import SemiInformedIVectors, TrainedAttacker
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Transform
from voicenym.errors import CorpusError
from voicenym.recognition.sphinx_processes import segment_decoding
from voicenym.verification.scoring import Array
from voicenym.verification.verifier import Verifier


@dataclass(frozen=True)
class ChannelAttacker(TrainedAttacker):
    """An attacker that compares speakers by the branches of a channel; subclasses choose them."""

    @classmethod
    def enough(cls, resources: Resources) -> bool:
        return super().enough(resources) and resources.pool_speakers >= 2 * FOLDS

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        """The branches, fused where there are several."""
        raise NotImplementedError

    def scores(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> np.ndarray:
        branches = self.branches(scenario, verifier, embedder)
        own, pools, copies = [], [], []
        for branch in branches:
            pool = self._pool(branch, scenario, embedder)
            pools.append(pool)
            copies.append(copies_count(branch, pool, scenario.protection.per))
            back_end = trained(branch, pool, copies[-1])
            models, trials = self._test(branch, scenario, embedder)
            own.append(back_end.score(models, trials))
        searches = self.search_branches(scenario, verifier, embedder)
        if len(branches) == 1 and not searches:
            found: np.ndarray = own[0]
            return found
        on_pool = [one.on_pool for one in searches]
        fusion = fused(branches, pools, copies, scenario.protection.per, on_pool)
        names = [*(branch.name for branch in branches), *(one.name for one in searches)]
        weights = zip(names, fusion.weights, strict=True)
        parts = ", ".join(f"{name} {weight:.2g}" for name, weight in weights)
        self.say(f"{self.name}: weights {parts}")
        return fusion([*own, *(one.scores() for one in searches)])

    def search_branches(
        self, scenario: Scenario, verifier: Verifier, embedder: Embedder
    ) -> Sequence[SearchBranch]:
        """Searches that are fused with the branches: by default none."""
        return ()

    def training_curve(self, scenario: Scenario) -> list[dict[str, float]]:
        return []

    def _pool(self, branch: Branch, scenario: Scenario, embedder: Embedder) -> Measured:
        """The pool's measures under each key: a voice for each utterance, then for each speaker."""
        vectors: list[np.ndarray] = []
        rows: list[tuple[Recording, int]] = []
        for number, transform in enumerate(self._voices(scenario)):
            kept = stored(scenario.pool, transform, self.training, embedder.left_out)
            found = embedder.vectors_or_reasons(branch.extractor, scenario.pool, kept)
            for recording, vector in zip(scenario.pool, found, strict=True):
                if not isinstance(vector, str):
                    vectors.append(vector)
                    rows.append((recording, number))
        if not vectors:
            raise CorpusError(f"{self.name}: nothing can be measured in the pool's speech")
        return Measured(
            branch.measures(vectors),
            np.array([recording.speaker for recording, _ in rows]),
            np.array([recording.name for recording, _ in rows]),
            np.array([number for _, number in rows]),
        )

    def _test(
        self, branch: Branch, scenario: Scenario, embedder: Embedder
    ) -> tuple[list[Array], Array]:
        """Measures of each model under the keys per utterance, and of the protected trials."""
        voices = self._voices(scenario)
        by_model: list[list[np.ndarray]] = [[] for _ in scenario.models]
        for transform in voices[:-1] or voices:
            self._collect(branch, scenario, embedder, transform, by_model)
        if not all(by_model):
            raise CorpusError(f"{self.name}: nothing can be measured in some model's enrolment")
        published = stored(
            scenario.trials, scenario.protection.transform, self.training, embedder.left_out
        )
        trials = embedder.vectors_or_reasons(branch.extractor, scenario.trials, published)
        bad = next((why for why in trials if isinstance(why, str)), None)
        if bad is not None:
            raise CorpusError(bad)
        return [branch.measures(own) for own in by_model], branch.measures(
            [np.asarray(vector) for vector in trials]
        )

    def _collect(
        self,
        branch: Branch,
        scenario: Scenario,
        embedder: Embedder,
        transform: Transform,
        by_model: list[list[np.ndarray]],
    ) -> None:
        kept = stored(scenario.enrolment, transform, self.training, embedder.left_out)
        found = iter(embedder.vectors_or_reasons(branch.extractor, scenario.enrolment, kept))
        for model, own in zip(scenario.models, by_model, strict=True):
            vectors = [next(found) for _ in model.recordings]
            own += [vector for vector in vectors if not isinstance(vector, str)]


@dataclass(frozen=True)
class SemiInformedTiming(ChannelAttacker):
    """Compares rates, pauses and durations of phones (:mod:`voicenym.verification.speech_timing`).

    The phones are those of pocketsphinx's phone loop on the protected speech.
    """

    name = "semi-informed (timing trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, from "
        "which it learns how durations of phones, pauses and rates differ; uses no voice or pitch"
    )
    own_verifier = "timing of anonymized speech"
    channel = "prosody"

    @classmethod
    def enough(cls, resources: Resources) -> bool:
        return super().enough(resources) and resources.decodes

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        return [channel_branches.timing()]


@dataclass(frozen=True)
class SemiInformedProsodyAndTiming(SemiInformedTiming):
    """Fuses timing with the trajectories of level and pitch."""

    name = "semi-informed (prosody and timing trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, from "
        "which it learns how level and pitch move, and how durations, pauses and rates differ"
    )
    own_verifier = "prosody and timing of anonymized speech"

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        return [channel_branches.prosody(), channel_branches.timing()]


@dataclass(frozen=True)
class SemiInformedWords(ChannelAttacker):
    """Compares profiles of phones and words (:mod:`voicenym.verification.authorship`).

    Speakers of read corpora read given texts, which they often share: the figure does not transfer
    to spontaneous speech.
    """

    name = "semi-informed (words trained)"
    knows = (
        "knows the system, not the key; transcribes protected speech of its enrolment and of other "
        "people, and compares the frequencies of words and phones"
    )
    own_verifier = "words and phones of anonymized speech"
    channel = "words"

    @classmethod
    def enough(cls, resources: Resources) -> bool:
        return super().enough(resources) and resources.decodes

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        return channel_branches.words()


@dataclass(frozen=True)
class SemiInformedContent(ChannelAttacker):
    """Reads content units from the output, and compares their frequencies, lengths and states.

    A system that resynthesises speech from such units writes a speaker's accent and articulation
    with the words (:mod:`voicenym.attack.channels.content_extractor`).
    """

    name = "semi-informed (content trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, reads "
        "word codes from the output, and learns which sounds, how long and how, a speaker says"
    )
    own_verifier = "content units of anonymized speech"
    channel = "content"

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        return channel_branches.content()


@dataclass(frozen=True)
class SemiInformedRoom(ChannelAttacker):
    """Compares rooms and microphones (:mod:`voicenym.verification.room_measures`)."""

    name = "semi-informed (room trained)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, from "
        "which it learns how noise of pauses, reverberation and limits of the band differ"
    )
    own_verifier = "room and channel of anonymized speech"
    channel = "room"

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        return [channel_branches.room()]


@dataclass(frozen=True)
class SemiInformedAllChannels(ChannelAttacker):
    """Fuses voice, prosody, content, words and room by calibrated logistic regression."""

    name = "semi-informed (all channels fused)"
    knows = (
        "knows the system, not the key; protects its enrolment and speech of other people, on "
        "which it trains a comparison of voices, of prosody, of content, of words and of rooms, "
        "and how much each of them counts"
    )
    own_verifier = "voice, prosody, content, words and room of anonymized speech"
    channel = "several"

    def branches(self, scenario: Scenario, verifier: Verifier, embedder: Embedder) -> list[Branch]:
        attacker = SemiInformedIVectors(self.training, self.say)
        attacker.trained(scenario, embedder.left_out)
        found = [
            channel_branches.voice(verifier),
            channel_branches.voice(PlainIVectors(attacker.place(scenario))),
            channel_branches.prosody(),
            channel_branches.room(),
            *channel_branches.content(),
        ]
        if segment_decoding.installed():
            found += [channel_branches.timing(), *channel_branches.words()]
        return found
