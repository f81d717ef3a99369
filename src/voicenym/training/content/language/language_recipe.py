"""Recipe ``language``: scores by which a pipeline refuses recordings of other languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from voicenym.corpus.recordings import collect
from voicenym.errors import CorpusError, VoicenymError
from voicenym.training.recipe import Trained, assembling, option
from voicenym.training.recipe_options import DataOptions
from voicenym.training.run.progress_report import Report

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.nets.content.content_encoder import Content
    from voicenym.training.content.language.language_examples import Example
    from voicenym.training.content.language.train_language import LanguageConfig


@dataclass(frozen=True, kw_only=True)
class LanguageRecipe(DataOptions):
    """Train scores that tell a content encoder's language from others.

    Args:
        config: A YAML file as ./FILE, or a bundled one.
        steps: Steps at most.
        content: Folder of the content encoder, as that of voicenym models assemble.
        language: Of the encoder, and of --data, as a code.
        other: Speech of other languages, as --data; the name of a language in the column corpus
            lets each count alike; may be repeated.
        other_split: Rows of its manifest to use.
        other_corpus: Its corpora to use; may be repeated.
        music: Recordings of music, so that music is told from speech: a folder with a folder for
            each album or piece, or a manifest as --data; may be repeated.
    """

    example: ClassVar[str] = "-d english/ --other others/ --content pipeline/content -o language/"
    configuration: ClassVar[str] = (
        "voicenym.training.content.language.train_language:LanguageConfig"
    )

    config: str = option("--config", "-c", default="language")
    steps: int | None = option(default=None, minimum=1)
    content: Path = option("--content", teacher=True)
    language: str = "en"
    other: tuple[Path, ...] = option("--other")
    other_split: str | None = None
    other_corpus: tuple[str, ...] = ()
    music: tuple[Path, ...] = ()

    def run(self, report: Report) -> Trained:
        """Analyse the speech, score each speaker by a network of the others, find the limit, train
        on all, and save.
        """
        import torch

        from voicenym.nets.content import content_encoders, language_scores
        from voicenym.training.content.language import train_language as steps
        from voicenym.training.content.language.language_limits import limits, missed
        from voicenym.training.content.language.train_music import add_music_scores
        from voicenym.training.run.config import changed, load

        torch.set_num_threads(1)
        config = changed(load(self.config, steps.LanguageConfig), steps=self.steps)
        content = content_encoders.load(self.content).requires_grad_(False)
        speech = self._speech(config, report)
        examples = _all_examples(content, speech, config, report)
        size, rate = examples[0].states.shape[1], content.rate / content.hop
        found = steps.out_of_fold(size, examples, config, rate, report.say)
        own = [means for means, one in zip(found, examples, strict=True) if config.sets_limit(one)]
        limit, spread = limits(own, config.alarms)
        network = steps.fitted(size, examples, config, rate, self.language)
        network.limit, network.spread = limit, spread
        music = {} if network.of_music is None else add_music_scores(network, examples, rate)
        figures = missed(network, found, examples) | music
        card = {
            **self.data_card([*speech.own, *speech.others]),
            "others": ", ".join(place.name for place in self.other),
            "music": ", ".join(
                [*(place.name for place in self.music), "generated chords and noise"]
            ),
            "examples": len(examples),
            **{name: round(value, 1) for name, value in figures.items()},
        }
        language_scores.save(network, self.output, card, half=True)
        return Trained(self.output, config.steps, figures, (assembling("language", self.output),))

    def _speech(self, config: LanguageConfig, report: Report) -> _Speech:
        """Recordings of --data, --other and --music.

        Raises:
            CorpusError: music for a configuration that does not tell it; a speaker on both sides;
                too few speakers.
        """
        from voicenym.training.content.language import train_language as steps

        if self.music and not config.options.get("tells_music"):
            raise CorpusError("--music needs tells_music: true in the options of the configuration")
        own = self.recordings(report)
        others = collect(
            self.other,
            self.other_split,
            self.other_corpus,
            report.skipped,
            level=self.speaker_level,
            allow_pipes=self.allow_pipes,
        )
        music = collect(self.music, left_out=report.skipped) if self.music else []
        if shared := {one.speaker for one in own} & {one.speaker for one in others}:
            raise CorpusError(
                f"speaker {min(shared)} is both in --data and in --other; give each speaker once"
            )
        groups = {one.speaker: _group(one) for one in reversed(own)}
        steps.check_speakers(groups, {one.speaker for one in others}, config)
        return _Speech(own, others, music)


class _Speech(NamedTuple):
    """Recordings of the encoder's language, of other languages, and of music."""

    own: Sequence[Recording]
    others: Sequence[Recording]
    music: Sequence[Recording]


def _all_examples(
    content: Content, speech: _Speech, config: LanguageConfig, report: Report
) -> list[Example]:
    """Examples of speech of both sides, of generated noise, and of music."""
    from voicenym.training.content.language.language_examples import (
        MUSIC,
        NO_SPEECH,
        analysed,
        no_speech,
    )

    examples = [
        *_examples(content, speech.own, False, config, report),
        *_examples(content, speech.others, True, config, report),
    ]
    for number, noise in enumerate(no_speech(config.no_speech, config.seconds, config.seed)):
        made = analysed(content, noise, False, f"noise {number}", NO_SPEECH)
        examples += [] if made is None else [made]
    examples += [
        example._replace(group=MUSIC)
        for example in _examples(content, speech.music, False, config, report)
    ]
    return examples


def _group(recording: Recording) -> str:
    """Corpus or language of a speaker by their first recording; else the speaker."""
    return recording.corpus or recording.speaker


def _examples(
    content: Content,
    recordings: Sequence[Recording],
    other: bool,
    config: LanguageConfig,
    report: Report,
) -> list[Example]:
    """Examples of all speakers; recordings that cannot be read are left out."""
    import numpy as np
    import torch

    from voicenym.training.content.language import language_examples

    speakers: dict[str, list[Recording]] = {}
    for recording in recordings:
        speakers.setdefault(recording.speaker, []).append(recording)
    found: list[Example] = []
    generator = torch.Generator().manual_seed(config.seed)
    for done, (speaker, some) in enumerate(sorted(speakers.items())):
        order = np.random.default_rng([config.seed, done]).permutation(len(some))

        def read(some: list[Recording] = some, order: np.ndarray = order) -> list[np.ndarray]:
            signals = []
            for place in order[: 20 * config.examples]:
                try:
                    signals.append(some[place].samples())
                except VoicenymError as error:
                    report.skipped.add(some[place].name, str(error))
            return signals

        group = _group(some[0])
        for signal in language_examples.joined(read(), config.seconds, config.examples):
            signals = [signal]
            if float(torch.rand((), generator=generator)) < config.changed:
                signals.append(language_examples.changed(signal, generator))
            for one in signals:
                made = language_examples.analysed(content, one, other, speaker, group)
                found += [] if made is None else [made]
        if (done + 1) % 100 == 0:
            report.say(f"{done + 1} of {len(speakers)} speakers are analysed")
    return found
