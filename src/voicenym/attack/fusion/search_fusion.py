"""Fusion of all channels with the searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.fusion.branch_weights import trial_voice
from voicenym.attack.fusion.channel_attackers import SemiInformedAllChannels
from voicenym.attack.fusion.search_branches import SearchBranch
from voicenym.attack.scenario import Scenario
from voicenym.attack.searches.inversion import Inversion
from voicenym.attack.searches.key_search import KeySearch, candidate_keys
from voicenym.attack.searches.target_voices import NearestInTargetVoice
from voicenym.attack.searches.trained_key_search import SemiInformedKeySearch
from voicenym.corpus.embedder import Embedder
from voicenym.verification.verifier import Verifier


@dataclass(frozen=True)
class SemiInformedChannelsAndSearches(SemiInformedAllChannels):
    """Fuses all channels, key searches, nearest neighbours by target voice, and inversion.

    What is learned from other people says which differences between voices count; a search says
    which voice the system gave to the trial. Each search runs on the pool as well, against voices
    of keys of its own, which gives its weight.

    Args:
        searches: the attackers that search.
    """

    searches: tuple[Attacker, ...] = ()

    name = "semi-informed (channels and searches fused)"
    knows = (
        "knows the system, not the key; as all channels fused, and searches over keys and inverts "
        "the system on the trials and on its own speech, which says how much each of them counts"
    )
    own_verifier = "all channels of anonymized speech, and searches"

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        searches = tuple(
            attacker
            for kind in (KeySearch, SemiInformedKeySearch, NearestInTargetVoice, Inversion)
            for attacker in kind.available(resources)
        )
        if resources.training is None or not searches or not cls.enough(resources):
            return []
        return [cls(resources.training, resources.say, searches)]

    def search_branches(
        self, scenario: Scenario, verifier: Verifier, embedder: Embedder
    ) -> list[SearchBranch]:
        voices = self._voices(scenario)
        published = voices[trial_voice(len(voices) - 1, scenario.protection.per)]
        key = candidate_keys(scenario.key, len(voices) + 1)[-1]
        return [
            SearchBranch(search, scenario, verifier, embedder, published, key)
            for search in self.searches
        ]
