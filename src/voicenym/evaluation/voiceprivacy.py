"""Enrolment and trial lists of the VoicePrivacy Challenges, with the weights of their parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from voicenym.attack.scenario import Model
from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.evaluation.trials import Part, Trials, few

WEIGHTS = {"LibriSpeech": 0.25, "VCTK different": 0.20, "VCTK common": 0.05}
"""Weights of a data set's women, and of its men, in the means of equal error rates, G_VD and
rho_F0: Miao et al., "Speaker anonymization using orthogonal Householder neural network", IEEE/ACM
TASLP 31 (2023), appendix A, tables V to VII, which are the VoicePrivacy Challenge's of 2022.
*Different* and *common* are VCTK's sentences."""
WORDS = {"LibriSpeech": 0.5, "VCTK": 0.5}
"""Of a corpus in the mean of word error rates, as the challenges' own averages have it."""
SEXES = {"f": "women", "m": "men"}


def from_voiceprivacy(
    enrolment: Path | Sequence[Path], trials: Path | Sequence[Path], recordings: Sequence[Recording]
) -> Trials:
    """Trials of the challenges' lists, of one data set and sex or of all at once.

    A list's data set follows from the name of its file or folder, as the challenges name them
    (``libri_dev_trials_f/trials``, ``vctk_dev_trials_m_common/trials``). Where all lists' are, the
    trials have parts with the weights of :data:`WEIGHTS`.

    Args:
        enrolment: ``enrolls`` files (utterances, one a line), or Kaldi ``utt2spk`` of them.
        trials: ``trials`` files: speaker, utterance, ``target`` or ``nontarget``.
        recordings: that the lists speak of.

    Raises:
        CorpusError: lines that cannot be understood; utterances that are not there.
    """
    enrolments = [enrolment] if isinstance(enrolment, Path) else list(enrolment)
    lists = [trials] if isinstance(trials, Path) else list(trials)
    known = {recording.name: recording for recording in recordings}
    enrolled: dict[str, dict[str, Recording]] = defaultdict(dict)
    missing = []
    for path in enrolments:
        for line in _lines(path):
            name = line.split()[0]
            if name in known:
                enrolled[known[name].speaker][name] = known[name]
            else:
                missing.append(name)
    rows = [(path, *row) for path in lists for row in _rows(path)]
    for path, speaker, name, _ in rows:
        if name not in known:
            missing.append(name)
        elif speaker not in enrolled:
            said = ", ".join(map(str, enrolments))
            raise CorpusError(f"{path}: {speaker} is not enrolled by {said}")
    if missing:
        names = ", ".join(path.name for path in (*enrolments, *lists))
        raise CorpusError(
            f"{len(missing)} utterances of {names} have no recording: " + ", ".join(missing[:5])
        )
    if not rows:
        raise CorpusError(f"{lists[0]}: no trials in it")
    models = [
        Model(s, s, tuple(own.values()), next(iter(own.values())).sex)
        for s, own in sorted(enrolled.items())
    ]
    tried = [known[name] for name in sorted({name for _, _, name, _ in rows})]
    model_at = {model.name: i for i, model in enumerate(models)}
    tried_at = {recording.name: i for i, recording in enumerate(tried)}
    empty = np.zeros((len(models), len(tried)), dtype=bool)
    tested = {path: empty.copy() for path in lists}
    for path, speaker, name, kind in rows:
        if (known[name].speaker == speaker) != (kind == "target"):
            raise CorpusError(
                f"{path}: {speaker} {name} {kind}, but {name} is by {known[name].speaker}"
            )
        tested[path][model_at[speaker], tried_at[name]] = True
    whole = np.any(list(tested.values()), axis=0)
    sexes = [model.sex for model in models]
    compared = [sum(s == sex for s in sexes) for sex in set(sexes)]
    plain = Trials(tuple(models), tuple(tried), whole, tuple(few(min(compared))))
    return _weighted(plain, tested)


def data_set(trials: Path) -> str | None:
    """The data set of :data:`WEIGHTS` that a list's file or folder is named after, if any.

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


def _weighted(trials: Trials, tested: dict[Path, np.ndarray]) -> Trials:
    """The same with parts by data set and sex, or a warning that says why there are none."""
    named = {path: data_set(path) for path in tested}
    strange = [path for path, name in named.items() if name is None]
    unknown = [model.name for model in trials.models if model.sex not in SEXES]
    why = ""
    if strange:
        why = f"{strange[0]} is not named after a data set that has a weight"
    elif unknown:
        why = f"the sex of {unknown[0]} is unknown"
    if why:
        said = f"no weighted mean over data sets: {why}"
        return Trials(trials.models, trials.recordings, trials.tested, (*trials.warnings, said))
    parts, left_out = [], []
    for name, weight in WEIGHTS.items():
        lists = [tested[path] for path in tested if named[path] == name]
        for sex, people in SEXES.items():
            rows = np.array([model.sex == sex for model in trials.models])
            mask = np.any([np.zeros_like(trials.tested), *lists], axis=0) & rows[:, None]
            if (mask & trials.target).any() and (mask & trials.nontarget).any():
                parts.append(Part(f"{name} {sex}", mask, weight))
            else:
                left_out.append(f"{name}, {people}")
    warnings = list(trials.warnings)
    if left_out:
        warnings.append(
            "the weighted mean lacks parts of VoicePrivacy's, whose weight the others bear: "
            + "; ".join(left_out)
        )
    spoken = []
    for name, weight in WORDS.items():
        mine = [part.tested for part in parts if part.name.split()[0] == name]
        if mine:
            spoken.append(Part(name, np.any(mine, axis=0), weight))
    return Trials(
        trials.models,
        trials.recordings,
        trials.tested,
        tuple(warnings),
        tuple(parts),
        tuple(spoken),
    )


def _rows(path: Path) -> list[tuple[str, str, str]]:
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
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read ({error})") from None
    return [line for line in text.splitlines() if line.strip()]
