"""Recipe ``phone-bottleneck``: a TDNN-F that classifies phones and word codes frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.content.tdnnf import TdnnF
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
    from voicenym.recognition.sphinx_processes.alignment import Alignments
    from voicenym.training.content.bottleneck.frame_targets import Labelled
    from voicenym.training.content.bottleneck.train_phone_bottleneck import PhoneBottleneckConfig
    from voicenym.training.run.fit import Outcome
    from voicenym.training.speech.speech_cache import Utterance


@dataclass(frozen=True, kw_only=True)
class PhoneBottleneckRecipe(SpeechRecipe):
    """Train a TDNN-F by aligned phones and word codes; its bottleneck is content, as in B1.

    Args:
        codes: Content encoder of word codes, whose codes are a second target; 'bundled' for the
            package's, of English. Recordings without text then serve, too.
        start: Bottleneck to go on from: an output of this command, or 'bundled' for that of b1b.
        adversary: Weight of the branch that hides the speaker; 0: none.
        lexicon: Pronunciations of words that pocketsphinx's dictionary lacks, in CMU's form.
        alignments: File of alignments, made if missing; default: within the output folder.
        half: Keep the result in half precision.
        batch: Crops in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c bottleneck-phones -o content/ --codes bundled"
    configuration: ClassVar[str] = (
        "voicenym.training.content.bottleneck.train_phone_bottleneck:PhoneBottleneckConfig"
    )

    config: str = option("--config", "-c", default="bottleneck-phones")
    codes: str | None = option(default=None, teacher=True)
    start: str | None = option("--from", default=None)
    adversary: float | None = option(default=None, minimum=0.0)
    lexicon: Path | None = None
    alignments: Path | None = None
    half: bool = False
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Align, train and save the bottleneck."""
        require_training()
        from voicenym.metrics import normalise
        from voicenym.nets.content import content_encoders
        from voicenym.nets.content.tdnnf import HOP
        from voicenym.nets.words.phone_states.phones import States
        from voicenym.recognition.language_models.closed_vocabulary import lexicon_of
        from voicenym.recognition.sphinx_processes.alignment import Alignments, pronunciations
        from voicenym.training.content.bottleneck import train_phone_bottleneck as steps
        from voicenym.training.content.bottleneck.frame_targets import word_code_encoder
        from voicenym.training.speech.speaker_split import speaker_split

        config = self.configured(
            steps.PhoneBottleneckConfig, batch=self.batch, adversary=self.adversary
        )
        resources = self.resources(report)
        network = started(self.start) if self.start else new_network(config)
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        train, held_out = self.prepared(chosen, kept, report)
        coder: WordCodeContent | None = None
        entries, every = 0, network.sizes.every
        if self.codes is not None:
            coder = word_code_encoder(self.codes)
            entries, every = coder.codes.sizes.entries, coder.hop // HOP
        own = None if self.lexicon is None else lexicon_of(self.lexicon)
        texts = (normalise(r.text) for r in [*chosen, *kept] if r.text)
        known = pronunciations(texts, own)
        aligner = Alignments(self.alignments or self.output / "alignments.jsonl", known)
        of_train, of_held_out = (
            labelled(speech, aligner, coder, self.cache_folder / "codes", report.say)
            for speech in (train, held_out)
        )
        names = {name for ways in known.values() for way in ways for name in way.split()}
        if not names or not of_train or not of_held_out:
            raise VoicenymError("no word has a known pronunciation; give texts, or --lexicon")
        outcome = steps.train(
            network, States(tuple(sorted(names))), entries, every, of_train, of_held_out,
            config, self.output, **resources,
        )  # fmt: skip
        card = self._card(of_train, config, outcome)
        content_encoders.save(network, self.output, card, half=self.half)
        return self.result(outcome, {"cross-entropy on held-out speakers": outcome.best})

    def _card(
        self, of_train: list[Labelled], config: PhoneBottleneckConfig, outcome: Outcome
    ) -> dict[str, Any]:
        """What is stored with the weights on their training."""
        from voicenym.training.speech.preparation import hours

        utterances = [one.utterance for one in of_train]
        chose = "" if config.adversary else ", who chose the checkpoint"
        return {
            **self.data_card(utterances),
            "hours": hours(utterances),
            "recordings with aligned phones": sum(one.phones is not None for one in of_train),
            "word codes": self.codes or "none",
            "from": Path(self.start or "").name,
            "weight of the branch that hides the speaker": config.adversary,
            "steps": outcome.steps,
            f"cross-entropy on speakers kept out{chose}": outcome.best,
        }


def labelled(
    speech: list[Utterance],
    aligner: Alignments,
    coder: WordCodeContent | None,
    folder: Path,
    say: Callable[[str], None],
) -> list[Labelled]:
    """The utterances with what is known of their frames; those of which nothing is, are left out.

    Args:
        speech: the utterances.
        aligner: gives aligned phones of those with text.
        coder: gives their word codes, if any.
        folder: of the word codes.
        say: receives lines of progress.
    """
    from voicenym.nets.words.phone_states.phones import SILENCE
    from voicenym.training.content.bottleneck.frame_targets import Labelled, code_files

    with_text = [one for one in speech if one.recording.text]
    found = aligner.of([one.recording for one in with_text], say)
    phones = {
        one.path: tuple(some)
        for one, some in zip(with_text, found, strict=True)
        if some and any(phone.name != SILENCE for phone in some)
    }
    files = [None] * len(speech) if coder is None else code_files(coder, speech, folder)
    both = [
        Labelled(one, phones.get(one.path), file) for one, file in zip(speech, files, strict=True)
    ]
    return [one for one in both if one.phones is not None or one.codes is not None]


def new_network(config: PhoneBottleneckConfig) -> TdnnF:
    """A new bottleneck, whose weights depend on the seed alone.

    Raises:
        VoicenymError: options that it does not take.
    """
    import torch

    from voicenym.nets.architectures import options_checked
    from voicenym.nets.content.tdnnf import TdnnF

    with torch.random.fork_rng(devices=[]), options_checked("tdnnf, options"):
        torch.manual_seed(config.seed)
        return TdnnF(**config.options)


def started(place: str) -> TdnnF:
    """The bottleneck to go on from.

    Args:
        place: a folder of weights, or ``bundled`` for that of ``b1b``.

    Raises:
        VoicenymError: another content encoder.
    """
    from voicenym.nets.content import content_encoders
    from voicenym.nets.content.tdnnf import TdnnF
    from voicenym.nets.encoder_folders import folder_of
    from voicenym.resynthesis.pipeline.assembly import BUNDLED

    bundled = BUNDLED / "b1b" / "content"
    found = content_encoders.load(bundled if place == "bundled" else folder_of("content", place))
    if not isinstance(found, TdnnF):
        raise VoicenymError(f"{place}: is {found.kind}; give a bottleneck, which is tdnnf")
    return found
