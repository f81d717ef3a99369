"""The semi-informed attacker with a two-branch verifier, pre-trained on speech of many systems.

After the strongest published attackers: filterbanks and the layers of a frozen speech network,
trained in stages on original speech, on speech of many systems, and on that of the system under
attack. ``voicenym train two-branch`` does the first two stages, once for all systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.trained.trained_attackers import SemiInformedVerifier
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, configuration, version
from voicenym.training.speakers.encoder_training import TWO_BRANCH
from voicenym.training.speakers.verifier_training_options import TrainingOptions
from voicenym.verification.encoder_verifier import StoredEncoder
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.training.speakers.train_two_branch import TwoBranchConfig

NAME = "semi-informed (two-branch verifier, pre-trained)"


@dataclass(frozen=True)
class SemiInformedTwoBranch(SemiInformedVerifier):
    """Adapts a pre-trained two-branch verifier to the system under attack."""

    name = NAME
    knows = (
        "knows the system, not the key; has a verifier of filterbanks and a frozen speech network, "
        "trained on speech of many systems, and trains it on speech that it protects itself"
    )
    own_verifier = "two-branch verifier trained on anonymized speech"

    @classmethod
    def available(cls, resources: Resources) -> Sequence[Attacker]:
        """One attacker if a pre-trained verifier is given and the weights of its frozen network
        exist.
        """
        training = resources.training
        if training is None or not cls.enough(resources) or why_not(training.pretrained):
            return []
        return [cls(training, resources.say)]

    def settings(self) -> str:
        return f"{super().settings()} {version(pretrained_folder(self.training))}"

    @property
    def recipe(self) -> TwoBranchConfig:  # type: ignore[override]
        """Configuration of the adaptation."""
        from voicenym.training.speakers.train_two_branch import TwoBranchConfig

        return TrainingOptions(TWO_BRANCH).config(TwoBranchConfig)

    def start(self) -> Verifier:
        return StoredEncoder(pretrained_folder(self.training))


def untried(training: AttackerTraining | None) -> tuple[str, ...]:
    """Caveat for the case that attackers train verifiers and this one cannot run.

    Raises:
        VoicenymError: as :func:`why_not`.
    """
    if training is None or not training.of_networks:
        return ()
    why = why_not(training.pretrained)
    if not why:
        return ()
    return (
        f"the two-branch attacker, the strongest published kind, was not tried: {why}; it may do "
        "better than any here",
    )


def pretrained_folder(training: AttackerTraining) -> Path:
    """Folder of the pre-trained verifier.

    Raises:
        VoicenymError: none is given.
    """
    if training.pretrained is None:
        raise VoicenymError(
            "the two-branch attacker needs a verifier of voicenym train two-branch: give its folder"
        )
    return training.pretrained


def why_not(pretrained: Path | None) -> str:
    """Reason why the two-branch attacker cannot run, as a clause; empty if it can.

    Raises:
        VoicenymError: a folder is given that holds no two-branch verifier.
    """
    from voicenym.nets.speakers.frozen_layers import is_here

    if pretrained is None:
        return "no verifier was pre-trained for it (voicenym train two-branch)"
    if not (pretrained / CONFIG).is_file():
        raise VoicenymError(
            f"{pretrained}: no verifier there; give one of voicenym train two-branch"
        )
    config = configuration(pretrained)
    if config.get("kind") != "two-branch":
        raise VoicenymError(
            f"{pretrained}: a {config.get('kind')} verifier; give one of voicenym train two-branch"
        )
    options = config.get("options", {})
    place = str(options.get("place", ""))
    if not is_here(str(options.get("frozen", "")), place):
        return f"the weights of its frozen network are not here ({place})"
    return ""
