"""Recordings of Kaldi data folders, and of folders of such folders, for evaluations and trainings.

The VoicePrivacy Challenges lay out a corpus as a folder of data folders; those of anonymized speech
have a suffix (``libri_dev_enrolls``, ``libri_dev_enrolls_mcadams``).
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from voicenym.corpus.readers.id_checks import check_source
from voicenym.corpus.readers.kaldi_utterances import allowed_command, is_kaldi, read_utterances
from voicenym.corpus.recording import Recording


def data_folders(root: Path, *, without: str = "") -> list[Path]:
    """Data folders directly below a folder, by name; empty if it is a data folder itself.

    Args:
        root: the folder.
        without: suffix of folders that are left out; empty for none.
    """
    if not root.is_dir() or is_kaldi(root):
        return []
    return [
        place
        for place in sorted(root.iterdir())
        if is_kaldi(place) and not (without and place.name.endswith(without))
    ]


def kaldi_recordings(
    folder: Path, *, allow_pipes: bool = False, only: Container[str] | None = None
) -> list[Recording]:
    """The utterances of a data folder.

    Args:
        folder: holds ``wav.scp`` and ``utt2spk``.
        allow_pipes: run the commands of ``wav.scp`` when their recordings are read, with the user's
            rights.
        only: names of the utterances to return; None for all.

    Raises:
        CorpusError: tables are missing or inconsistent; a command that is not allowed.
    """
    found = []
    for utterance in read_utterances(folder):
        if only is not None and utterance.name not in only:
            continue
        command, path = "", Path(utterance.entry)
        if utterance.piped:
            command = allowed_command(folder, utterance, allow_pipes)
        else:
            path = _present(folder, check_source(f"{folder}/wav.scp", utterance.entry))
        found.append(
            Recording(
                utterance.name,
                utterance.speaker,
                path,
                utterance.sex,
                utterance.text,
                utterance.start,
                utterance.end,
                command,
                utterance.age,
            )
        )
    return found


def _present(folder: Path, path: Path) -> Path:
    """File of an entry; in the folder's own ``wav`` if the folder was moved."""
    try:
        own = folder / "wav" / path.name
        return own if not path.exists() and own.is_file() else path
    except (OSError, ValueError):  # a name that is too long, or holds a zero byte
        return path
