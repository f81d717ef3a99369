"""Inputs of ``voicenym anonymize``: files and folders, or a data set with its tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voicenym.corpus.batches.batch_runner import Summary
    from voicenym.corpus.plans.file_plan import Item
    from voicenym.pseudonym import Key


class Inputs:
    """Items, the folder of the log, and the data set of the items, if any."""

    def __init__(self, items: list[Item], folder: Path | None, dataset: Any = None) -> None:
        self.items, self.folder, self._dataset = items, folder, dataset

    @property
    def is_dataset(self) -> bool:
        return self._dataset is not None

    def check_tables(self) -> None:
        """Refuses, before the work, to replace tables that earlier runs did not write.

        Raises:
            CorpusError: one is there.
        """
        if self._dataset is not None:
            self._dataset.check_tables()

    def finish(self, summary: Summary) -> list[Path]:
        """Writes the data set's tables for the items that did not fail; returns their paths."""
        found: list[Path] = []
        if self._dataset is not None:
            bad = {source for source, _ in summary.failures}
            found = self._dataset.finish({i.utterance for i in self.items if str(i.source) in bad})
        return found


def read_inputs(
    inputs: list[str],
    output: Path | None,
    speaker: str | None,
    allow_pipes: bool,
    *,
    level: str | None = None,
    keep: Sequence[str] = (),
    names: Key | None = None,
) -> Inputs:
    """Inputs that the arguments of the command name.

    Args:
        inputs: files and folders; or one data set, Kaldi's or lhotse's.
        output: file or folder to write to.
        speaker: of all inputs; None if folders or data sets name the speakers.
        allow_pipes: run the commands of a Kaldi wav.scp.
        level: depth of the folder that names the speaker.
        keep: further tables of a data set to copy.
        names: key that draws new names for a data set; None keeps its own.

    Raises:
        VoicenymError: arguments that cannot be combined, or data that cannot be read.
    """
    from voicenym.corpus.drawn_names import Names
    from voicenym.corpus.plans import file_plan, kaldi_plan, lhotse_manifest
    from voicenym.corpus.readers import kaldi_utterances
    from voicenym.corpus.readers.speaker_rule import level_of

    where = level_of(level)
    drawn = None if names is None else Names(names)
    paths = [Path(text) for text in inputs]
    for path in paths:
        if not (kaldi_utterances.is_kaldi(path) or lhotse_manifest.is_manifest(path)):
            continue
        if len(paths) > 1:
            raise VoicenymError(f"{path}: is a data set; give one data set at a time")
        if output is None:
            raise VoicenymError(f"{path}: is a data set; say where the new one goes with -o FOLDER")
        if speaker is not None or where is not None:
            raise VoicenymError(
                f"{path}: is a data set, which names its speakers; leave out --speaker and "
                "--speaker-level"
            )
        dataset: kaldi_plan.KaldiFolder | lhotse_manifest.LhotseManifest
        if kaldi_utterances.is_kaldi(path):
            dataset = kaldi_plan.read_kaldi(
                path, output, allow_pipes=allow_pipes, keep=keep, names=drawn
            )
        else:
            dataset = lhotse_manifest.read_manifest(path, output, keep=keep, names=drawn)
        return Inputs(dataset.items, output, dataset)
    if keep:
        raise VoicenymError("--keep is for a Kaldi data folder or a lhotse manifest; leave it out")
    several = len(paths) > 1 or any(path.is_dir() for path in paths)
    return Inputs(file_plan.plan(paths, output, speaker, where), output if several else None)
