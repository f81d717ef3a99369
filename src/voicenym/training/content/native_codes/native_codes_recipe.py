"""Recipe ``native-codes``: an encoder of word codes that gives accented speech native codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from voicenym.corpus.recordings import collect
from voicenym.errors import CorpusError, VoicenymError
from voicenym.training.content.word_codes.word_codes_recipe import BUNDLED
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.content.word_code_bottleneck import WordCodes
    from voicenym.nets.words.whisper_published import Published
    from voicenym.training.content.native_codes.native_code_targets import NativeTarget
    from voicenym.training.content.word_codes.speech_windows import Piece
    from voicenym.training.speech.speech_cache import Utterance


NATIVE = Path("ssl", "drawn")
"""Folder of the bundled encoder of native codes, within the bundled assemblies."""


@dataclass(frozen=True, kw_only=True)
class NativeCodesRecipe(SpeechRecipe):
    """Train an encoder of word codes that gives accented speech the codes of a native reading.

    Args:
        readings: Recordings of the same texts by one native voice, as --data; may be repeated.
            Recordings of other texts keep their own codes.
        whisper: A Whisper of English: a name of models list, or a folder as ./FOLDER (ours, the
            hub's, or CTranslate2's).
        start: Folder of word codes, whose codebook is kept; 'bundled' for those of the package, of
            tiny.en.
        encoder: Folder of native codes to go on from, 'bundled' for those of the package; default:
            the encoder of --from.
        adversary: Weight of a branch that recognises speakers by the codes, against which the
            encoder learns; 0: none.
        accents: Directions of drawn accents, at most as many as a code has elements; 0: none.
        states: Folder for Whisper's states and codes of readings; default: within the output
            folder.
        prepare: Keep the states, and train nothing.
    """

    example: ClassVar[str] = "-d corpus/ --readings aloud/ -o native/"
    configuration: ClassVar[str] = (
        "voicenym.training.content.native_codes.train_native_codes:NativeCodesConfig"
    )

    config: str = option("--config", "-c", default="native-codes")
    readings: tuple[Path, ...] = option("--readings")
    whisper: str = option(default="whisper-tiny.en", teacher=True)
    start: Path = option("--from", default=Path(BUNDLED), teacher=True)
    encoder: Path | None = None
    adversary: float | None = option(default=None, minimum=0.0)
    accents: int = option(default=0, minimum=0)
    states: Path | None = None
    prepare: bool = False

    def run(self, report: Report) -> Trained:
        """Align recordings with readings, extract Whisper's states, train and save the encoder."""
        require_training()
        from voicenym.nets.content import word_code_bottleneck, word_code_encoder
        from voicenym.nets.hub import place_of
        from voicenym.nets.words.whisper_published import published
        from voicenym.resynthesis.pipeline import assembly
        from voicenym.training.content.native_codes import train_native_codes as steps
        from voicenym.training.content.native_codes.accent_directions import with_directions
        from voicenym.training.content.native_codes.native_code_targets import (
            matched,
            usual_silence,
        )
        from voicenym.training.content.native_codes.native_code_windows import (
            NativeCodeFiles,
            WindowReader,
        )
        from voicenym.training.content.word_codes.speech_windows import parted, pieces
        from voicenym.training.speech.speaker_split import speaker_split

        config = self.configured(steps.NativeCodesConfig, adversary=self.adversary)
        resources = self.resources(report)
        say = report.say
        whisper = published(Path(place_of(self.whisper)))
        network = whisper.network
        start = word_code_bottleneck.BUNDLED if self.start == Path(BUNDLED) else self.start
        codes = word_code_bottleneck.load(start)
        if (codes.sizes.states, codes.sizes.window) != (network.sizes.width, network.sizes.states):
            raise VoicenymError(f"{self.start}: codes of another Whisper's states; give that one")
        encoder = steps.started(codes, config)
        if self.encoder is not None:
            bundled = self.encoder == Path(BUNDLED)
            steps.go_on_from(encoder, assembly.BUNDLED / NATIVE if bundled else self.encoder)
        device = "cuda" if resources["machine"].cuda else "cpu"
        place = self.states or self.output / "states"

        recordings = self.recordings(report)
        read = collect(self.readings, None, (), report.skipped, allow_pipes=self.allow_pipes)
        pairs = matched(recordings, read)
        chosen, kept = speaker_split(list(pairs), config.held_out, config.seed)
        apart = {one.speaker for one in kept}
        others = [one for one in recordings if one not in pairs and one.speaker not in apart]
        needed = sorted(set(pairs.values()))
        learnt, watched = self.prepared([*chosen, *others, *needed], kept, report)
        utterances = {one.recording: one for one in [*learnt, *watched]}
        aligned = [
            (utterances[one], utterances[reading])
            for one, reading in pairs.items()
            if one in utterances and reading in utterances
        ]
        found = self._targets(whisper, codes, aligned, place, device, report)
        near = {
            speech.path.stem: target
            for (speech, _), target in zip(aligned, found, strict=True)
            if target.cost <= config.limit
        }
        away = len(aligned) - len(near)
        if away:
            say(f"{away} of {len(aligned)} recordings are too unlike their readings: left out")
        silence = usual_silence(found) if config.silence < 0 else config.silence
        targets = {name: target.codes(silence) for name, target in near.items()}

        def native(parts: Sequence[Utterance]) -> dict[str, list[Piece]]:
            """Recordings with targets, by their speakers."""
            some = [one for one in parts if one.path.stem in targets]
            by: dict[str, list[Piece]] = {}
            for piece in pieces(some, whisper, place, say):
                by.setdefault(piece.speech.speaker, []).append(piece)
            return dict(sorted(by.items()))

        plain, varied = (
            NativeCodeFiles(
                whisper, codes, targets, silence, place, change, config.seed, device
            )
            for change in (False, True)
        )  # fmt: skip
        files: list[tuple[Path, str]] = []
        learners = native([utterances[one] for one in chosen if one in utterances])
        for speaker, own in learners.items():
            windows = plain(parted(own, config.cut), say)
            windows += varied(parted(own, config.changed()), say) if config.varied else []
            files += [(path, speaker) for path in windows]
        held_out: list[Path] = []
        for own in native(watched).values():
            held_out += plain(parted(own, config.cut), say)
        if not files or not held_out:
            raise CorpusError(
                "no recording is near enough to its reading, on either side of the split; give "
                "more, or raise 'limit' in the configuration"
            )
        rest = pieces([utterances[x] for x in others if x in utterances], whisper, place, say)
        count = round(len(files) * config.others / max(1e-9, 1.0 - config.others))
        if rest and count:
            windows_ = parted(rest, config.cut)
            drawn = np.random.default_rng(config.seed).permutation(len(windows_))[:count]
            files += [(path, "") for path in plain([windows_[i] for i in sorted(drawn)], say)]
        if self.prepare:
            line = f"{place}: {len(files)} windows to learn from, {len(held_out)} to watch by"
            return Trained(self.output, 0, {}, (line,))
        outcome = steps.train(
            encoder, codes, network, files, held_out, config, self.output, **resources
        )
        card = {
            **self.data_card([one for one in recordings if one.speaker not in apart]),
            "readings": ", ".join(source.name for source in self.readings),
            "recordings aligned with a reading": sum(len(own) for own in learners.values()),
            "left out, too unlike their readings": away,
            "codebook and decoder": f"{self.start}, as they are",
            "states": f"{self.whisper}, encoder's last layer",
            "code of silence": silence,
            "weight of the branch that hides the speaker": config.adversary,
            "windows": len(files),
            "steps": outcome.steps,
            f"{steps.MONITOR} on speakers kept out, who decided which checkpoint is the best": (
                outcome.best
            ),
        }
        if self.accents:
            reader = WindowReader({})
            encoder = with_directions(encoder, codes, files, reader, silence, self.accents)
            card["directions of drawn accents"] = encoder.accents
        word_code_encoder.save(encoder, self.output, card, bits=8)
        return self.result(outcome, {f"{steps.MONITOR} on held-out speakers": outcome.best})

    def _targets(
        self,
        whisper: Published,
        codes: WordCodes,
        pairs: Sequence[tuple[Utterance, Utterance]],
        place: Path,
        device: str,
        report: Report,
    ) -> list[NativeTarget]:
        """Codes of recordings and their readings."""
        from voicenym.nets.words.word_code_content import WordCodeContent
        from voicenym.training.content.native_codes.native_code_targets import NativeTargets

        content = WordCodeContent.of(whisper.network, codes).to(device)
        return NativeTargets(content, place)(pairs, report.say)
