"""Lists of the VoicePrivacy Challenges: their lines, and the test set that a name says."""

from __future__ import annotations

from pathlib import Path

from voicenym.errors import CorpusError


def set_of(path: Path) -> str:
    """Test set in the name of a list's file or folder.

    Example:
        >>> set_of(Path("data/vctk_dev_trials_f_common/trials"))
        'vctk_dev'
        >>> set_of(Path("data/libri_test/trials_f"))
        'libri_test'
    """
    for name in (path.stem, path.parent.name):
        before, mark, _ = name.replace("_enrolls", "_trials").partition("_trials")
        if mark and before:
            return before
    return path.parent.name


def data_set(trials: Path) -> str | None:
    """Data set of :data:`WEIGHTS` in the name of a list's file or folder, if any.

    Example:
        >>> data_set(Path("data/vctk_dev_trials_f_common/trials"))
        'VCTK common'
    """
    words = f"{trials.parent.name}_{trials.stem}".lower().replace("-", "_").split("_")
    if any(word.startswith("libri") for word in words):
        return "LibriSpeech"
    if "vctk" not in words or "all" in words:  # both kinds of sentences in one list
        return None
    return "VCTK common" if "common" in words else "VCTK different"


def enrolled_names(path: Path) -> list[str]:
    """Utterances of an enrolment list.

    Raises:
        CorpusError: it cannot be read.
    """
    return [line.split()[0] for line in _lines(path)]


def trial_rows(path: Path) -> list[tuple[str, str, str]]:
    """Speaker, utterance, and ``target`` or ``nontarget`` of a trial list.

    Raises:
        CorpusError: it cannot be read, or a line is invalid.
    """
    rows = []
    for line in _lines(path):
        parts = line.split()
        if len(parts) != 3 or parts[2] not in ("target", "nontarget"):
            raise CorpusError(
                f"{path}: expected SPEAKER UTTERANCE target|nontarget, found {line!r}"
            )
        rows.append((parts[0], parts[1], parts[2]))
    return rows


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read ({error})") from None
    return [line for line in text.splitlines() if line.strip()]
