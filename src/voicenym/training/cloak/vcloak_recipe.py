"""Recipe ``vcloak``: a cloak from speech, verifiers and optionally a recogniser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.training.cloak.cloak_losses import Words

FORMS = ("posteriorgram", "transcript")
PHONES = "phones-small"
"""Name of the bundled recogniser of phones."""


@dataclass(frozen=True, kw_only=True)
class VCloakRecipe(SpeechRecipe):
    """Train a cloak that hides voices from verifiers and keeps them for people (system vcloak).

    Args:
        verifiers: Verifier to hide from: ecapa-small, a folder of voicenym train, ecapa:PLACE or
            xvector:PLACE; may be repeated: targets are voiceprints of the first.
        words: Recogniser that keeps the words: a DeepSpeech2 of voicenym train recogniser or of
            models convert --as deepspeech2; or one of phones, phones-small or a folder of voicenym
            train hybrid. Without, the levels of a filterbank are kept.
        form: Output of the recogniser to compare: posteriorgram, or transcript (the ablation of
            Deng et al., 2023).
        start: Cloak to go on from: a folder that this command wrote.
        batch: Crops in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c vcloak-small -o cloak/ --budget 2h"
    configuration: ClassVar[str] = "voicenym.training.cloak.cloak_step:VCloakConfig"

    verifiers: tuple[str, ...] = option("--verifier", default=("ecapa-small",), teacher=True)
    words: Path | None = option(default=None, teacher=True)
    form: str = option("--words-form", default="posteriorgram")
    start: Path | None = option("--from", default=None)
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Train and save the cloak."""
        require_training()
        from voicenym.nets.cloak.cloak import Cloak
        from voicenym.training.cloak import train_vcloak as steps
        from voicenym.training.cloak.cloak_step import VCloakConfig
        from voicenym.training.speech.speaker_split import verification_split
        from voicenym.verification.verifiers import encoder_of

        config = self.configured(VCloakConfig, batch=self.batch)
        if self.form not in FORMS:
            raise VoicenymError(f"--words-form is {' or '.join(FORMS)}, not {self.form!r}")
        words = None if self.words is None else words_loss(self.words, self.form)
        recordings = self.recordings(report)
        chosen, kept = verification_split(recordings, config.held_out, config.seed)
        encoders = [encoder_of(name) for name in self.verifiers]
        cloak = steps.new(config) if self.start is None else Cloak.load(self.start)[0]
        resources = self.resources(report)
        train, held_out = self.prepared(chosen, kept, report)
        outcome = steps.train(
            cloak, encoders, train, held_out, config, self.output, words=words, **resources
        )
        last = (outcome.curve or [{}])[-1]
        names = [Path(name).name for name in self.verifiers]
        card = {
            **self.data_card(train),
            "hides from": names,
            "words kept by": (
                f"{self.form} of {self.words.name}" if self.words else "levels of a filterbank"
            ),
            "steps": outcome.steps,
            "figures of the last validation, on speakers kept out": {
                name: value for name, value in last.items() if not name.startswith("train/")
            },
        }
        cloak.save(self.output, card=card, verifiers=names)
        return self.result(outcome, {"loss on held-out speakers": outcome.best})


def words_loss(place: Path, form: str) -> Words:
    """The loss that keeps the words, by a DeepSpeech2 or a recogniser of phones.

    Args:
        place: folder of weights, or :data:`PHONES`.
        form: of :data:`FORMS`.

    Raises:
        VoicenymError: a recogniser of another kind.
    """
    from voicenym.nets.weights.safetensors_file import refuse_pickles
    from voicenym.nets.words.ctc_networks.character_model import CharacterModel
    from voicenym.nets.words.ctc_networks.deepspeech import DeepSpeech2
    from voicenym.nets.words.phone_states.phone_model import SMALL, PhoneModel, holds_phones
    from voicenym.training.cloak.cloak_losses import Posteriorgram, Transcript, WordNet

    place = SMALL if str(place) == PHONES else place
    refuse_pickles(place, "deepspeech2")
    net: WordNet
    if holds_phones(place):
        net = PhoneModel.load(place)[0].net
    else:
        model, _ = CharacterModel.load(place)
        if not isinstance(model.net, DeepSpeech2):
            raise VoicenymError(
                f"{place}: holds a {model.kind}; words are kept by a DeepSpeech2 (voicenym train "
                f"recogniser with net: deepspeech2) or a recogniser of phones, such as {PHONES}"
            )
        net = model.net
    return Posteriorgram(net) if form == "posteriorgram" else Transcript(net)
