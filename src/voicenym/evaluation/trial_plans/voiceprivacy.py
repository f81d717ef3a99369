"""Enrolment and trial lists of the VoicePrivacy Challenges, with the weights of their parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from voicenym.attack.scenario import Model
from voicenym.corpus.readers.letter_forms import spelled_as
from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.evaluation.trial_plans.challenge_lists import (
    data_set,
    enrolled_names,
    set_of,
    trial_rows,
)
from voicenym.evaluation.trial_plans.trials import Part, Trials

WEIGHTS = {"LibriSpeech": 0.25, "VCTK different": 0.20, "VCTK common": 0.05}
"""Weights of a data set's women, and of its men, in the means of equal error rates and G_VD: Miao
et al., "Speaker anonymization using orthogonal Householder neural network", IEEE/ACM TASLP 31
(2023), appendix A, tables V to VII, and table XV. They are those of the VoicePrivacy Challenge of
2022, whose program weighs rho_F0 alike.
*Different* and *common* are VCTK's sentences."""
WORDS = {"LibriSpeech": 0.5, "VCTK": 0.5}
"""Weight of a corpus in the mean of word error rates, as in the challenges' averages."""
SEXES = {"f": "women", "m": "men"}


def from_voiceprivacy(
    enrolment: Path | Sequence[Path], trials: Path | Sequence[Path], recordings: Sequence[Recording]
) -> Trials:
    """Trials of the challenges' lists, of one data set and sex or of all at once.

    Every list is a part of the trials, with figures of its own, and its speakers are enrolled by
    the enrolment list of its own test set: a development and a test set never mix. Test set, data
    set and sex follow from the name of a list's file or folder, as the challenges name them
    (``libri_dev_trials_f/trials``, ``vctk_dev_trials_m_common/trials``, ``libri_test/trials_f``).
    Where all lists' data sets are known, the parts have the weights of :data:`WEIGHTS`, and there
    is a mean for each test set.

    Args:
        enrolment: ``enrolls`` files (utterances, one a line), or Kaldi ``utt2spk`` of them.
        trials: ``trials`` files: speaker, utterance, ``target`` or ``nontarget``.
        recordings: of the lists, whose names may have letters in the other form of Unicode.

    Raises:
        CorpusError: invalid lines, missing utterances, trials of one kind alone, or a speaker in
            two enrolment lists if names do not tell which one applies.
    """
    enrolments = [enrolment] if isinstance(enrolment, Path) else list(enrolment)
    lists = [trials] if isinstance(trials, Path) else list(trials)
    known = {recording.name: recording for recording in recordings}
    rows, enrolled = _named_alike(
        {path: trial_rows(path) for path in lists},
        {path: enrolled_names(path) for path in enrolments},
        recordings,
    )
    _check_lists(rows, enrolled, known)
    models: dict[_Which, Model] = {}
    places: dict[Path, tuple[Path, ...]] = {}
    for path in lists:
        places[path] = _own(path, enrolments)
        for speaker, one in _models(path, places[path], enrolled, known).items():
            models.setdefault((places[path], speaker), one)
    order = sorted(models, key=lambda which: (which[1], which[0]))
    speakers = Counter(speaker for _, speaker in order)
    chosen = [
        models[which]
        if speakers[which[1]] == 1
        else replace(models[which], name=f"{which[1]} ({set_of(which[0][0])})")
        for which in order
    ]
    tried = [known[name] for name in sorted({name for own in rows.values() for _, name, _ in own})]
    tested = {path: _tested(path, rows[path], places[path], order, tried) for path in lists}
    whole = np.any(list(tested.values()), axis=0)
    plain = Trials(tuple(chosen), tuple(tried), whole)
    _check_kinds(plain, lists)
    return _with_parts(plain, {path: mask for path, mask in tested.items() if mask.any()})


_Which = tuple[tuple[Path, ...], str]
"""A model: the enrolment lists that apply, and the speaker."""


_Rows = Mapping[Path, Sequence[tuple[str, str, str]]]
_Names = Mapping[Path, Sequence[str]]


def _named_alike(
    rows: _Rows, enrolled: _Names, recordings: Sequence[Recording]
) -> tuple[_Rows, _Names]:
    """Lists with the names of the recordings where letters alone have another form."""
    named = {name for names in enrolled.values() for name in names}
    named |= {name for own in rows.values() for _, name, _ in own}
    known = spelled_as(named, (recording.name for recording in recordings))
    speakers = {speaker for own in rows.values() for speaker, *_ in own}
    people = spelled_as(speakers, (recording.speaker for recording in recordings))
    return {
        path: [(people.get(who, who), known.get(name, name), kind) for who, name, kind in own]
        for path, own in rows.items()
    }, {path: [known.get(name, name) for name in names] for path, names in enrolled.items()}


def _check_lists(
    rows: _Rows,
    enrolled: _Names,
    known: Mapping[str, Recording],
) -> None:
    """Refuses lists without lines, and utterances without a recording.

    Args:
        rows: of the lists of trials: speaker, utterance and kind.
        enrolled: utterances of the enrolment lists.
        known: recordings by utterance.

    Raises:
        CorpusError: with the list.
    """
    if not any(rows.values()):
        raise CorpusError(
            f"{next(iter(rows))}: no trials in it; write a line SPEAKER UTTERANCE "
            "target|nontarget for each"
        )
    for path, names in enrolled.items():
        if not names:
            raise CorpusError(f"{path}: no utterances in it; write those to enrol, one a line")
    named = [(name, path) for path, names in enrolled.items() for name in names]
    named += [(name, path) for path, own in rows.items() for _, name, _ in own]
    missing = {name: path for name, path in reversed(named) if name not in known}
    if missing:
        some = list(reversed(missing.items()))
        where = ", ".join(str(path) for path in dict.fromkeys(path for _, path in some))
        there = next(iter(known), "nothing")
        raise CorpusError(
            f"utterances of {where} have no recording, {len(some)} in all: "
            f"{', '.join(name for name, _ in some[:5])}; give lists of these recordings, which are "
            f"named like {there}, or the folder with those of the lists"
        )


def _check_kinds(trials: Trials, lists: Sequence[Path]) -> None:
    """Refuses lists that together lack one kind of trials.

    Raises:
        CorpusError: with the lists.
    """
    for kind, mask in (("target", trials.target), ("nontarget", trials.nontarget)):
        if not mask.any():
            raise CorpusError(
                f"{', '.join(map(str, lists))}: no {kind} trials; error rates need both kinds, so "
                f"add lines that end in {kind}"
            )


def _tested(
    path: Path,
    rows: Sequence[tuple[str, str, str]],
    places: tuple[Path, ...],
    order: Sequence[_Which],
    tried: Sequence[Recording],
) -> npt.NDArray[np.bool_]:
    """Trials of a list, ``[model, recording]``.

    Args:
        path: of the list.
        rows: its speakers, utterances and kinds.
        places: enrolment lists that apply to it.
        order: of the models.
        tried: recordings of the trials.

    Raises:
        CorpusError: a speaker who is not enrolled, or a kind that is not that of the recording.
    """
    model_at = {which: i for i, which in enumerate(order)}
    tried_at = {recording.name: i for i, recording in enumerate(tried)}
    for speaker, *_ in rows:
        if (places, speaker) not in model_at:
            where = ", ".join(map(str, places))
            raise CorpusError(f"{path}: {speaker} is not enrolled by {where}")
    found = np.zeros((len(order), len(tried)), dtype=bool)
    for speaker, name, kind in rows:
        by = tried[tried_at[name]].speaker
        if (by == speaker) != (kind == "target"):
            raise CorpusError(f"{path}: {speaker} {name} {kind}, but {name} is by {by}")
        found[model_at[places, speaker], tried_at[name]] = True
    return found


def _own(trials: Path, enrolments: Sequence[Path]) -> tuple[Path, ...]:
    """Enrolment lists of a trial list: those of its test set, or all if none has its name."""
    mine = tuple(path for path in enrolments if set_of(path) == set_of(trials))
    return mine or tuple(enrolments)


def _models(
    trials: Path,
    enrolments: Sequence[Path],
    enrolled: Mapping[Path, Sequence[str]],
    known: Mapping[str, Recording],
) -> dict[str, Model]:
    """Speakers of a trial list's enrolment lists."""
    lists: dict[str, Path] = {}
    own: dict[str, dict[str, Recording]] = defaultdict(dict)
    for path in enrolments:
        for name in enrolled[path]:
            speaker = known[name].speaker
            if lists.setdefault(speaker, path) != path:
                raise CorpusError(
                    f"{speaker} is enrolled by {lists[speaker]} and by {path}, and the name of "
                    f"{trials} does not say by which: name lists as the challenges do "
                    "(libri_dev_enrolls/enrolls, libri_dev_trials_f/trials), or give one test set"
                )
            own[speaker][name] = known[name]
    return {
        speaker: Model(speaker, speaker, tuple(mine.values()), next(iter(mine.values())).sex)
        for speaker, mine in own.items()
    }


@dataclass(frozen=True)
class _List:
    """A trial list, or the trials of one sex in it.

    Args:
        path: its file.
        tested: ``[model, recording]``.
        sex: of its speakers; empty if unknown, or both.
        data: its data set; None if its name has none.
    """

    path: Path
    tested: np.ndarray
    sex: str
    data: str | None

    @property
    def subset(self) -> str:
        """``dev`` or ``test`` of its test set's name, or the whole name."""
        return set_of(self.path).partition("_")[2] or set_of(self.path)

    @property
    def own_name(self) -> str:
        """``libri_dev_trials_f``, of its folder or of folder and file."""
        folder, file = self.path.parent.name, self.path.stem
        if file == "trials" or not folder:
            return folder or file
        return file if "_trials" in file else f"{folder}_{file}"


def _with_parts(trials: Trials, tested: Mapping[Path, np.ndarray]) -> Trials:
    """Trials with a part for each list, weighted if the challenges have weights."""
    lists = [
        _List(path, mask & rows[:, None], sex, data_set(path))
        for path, mask in tested.items()
        for sex, rows in _sexes(trials, mask, data_set(path)).items()
    ]
    why = _unweighted(trials, tested)
    notes = list(trials.notes)
    if why:
        notes.append(f"no weighted mean over data sets: {why}")
        if len(lists) < 2:
            return replace(trials, notes=tuple(notes))
        each = tuple(Part(one.own_name, one.tested, None) for one in lists)
        return replace(trials, notes=tuple(notes), parts=each, spoken=each)
    subsets = list(dict.fromkeys(one.subset for one in lists))
    parts: list[Part] = []
    spoken: list[Part] = []
    for subset in subsets:
        group = subset if len(subsets) > 1 else ""
        mine = [one for one in lists if one.subset == subset]
        some, left_out = _weighted(trials, mine, group)
        parts += some
        if left_out:
            whose = f" of {group}" if group else ""
            notes.append(
                f"the weighted mean{whose} lacks parts of VoicePrivacy's, whose weight the others "
                "bear: " + "; ".join(left_out)
            )
        spoken += _spoken(some, group)
    return replace(trials, notes=tuple(notes), parts=tuple(parts), spoken=tuple(spoken))


def _sexes(trials: Trials, mask: np.ndarray, data: str | None) -> dict[str, np.ndarray]:
    """Rows of models by sex, if the weights of a list's data set are by sex."""
    sexes = np.array([model.sex for model in trials.models])
    there = set(sexes[mask.any(1)])
    if data is None or not there <= SEXES.keys():
        return {next(iter(there)) if len(there) == 1 else "": np.ones(len(sexes), dtype=bool)}
    return {sex: sexes == sex for sex in SEXES if sex in there}


def _unweighted(trials: Trials, tested: Mapping[Path, np.ndarray]) -> str:
    """Reason why there is no weighted mean; empty if there is one."""
    strange = [path for path in tested if data_set(path) is None]
    if strange:
        return f"{strange[0]} is not named after a data set that has a weight"
    unknown = [model.name for model in trials.models if model.sex not in SEXES]
    return f"the sex of {unknown[0]} is unknown" if unknown else ""


def _weighted(trials: Trials, lists: Sequence[_List], group: str) -> tuple[list[Part], list[str]]:
    """Parts of one test set in the order of the weights, and which of them are missing."""
    parts, left_out = [], []
    for name, weight in WEIGHTS.items():
        for sex, people in SEXES.items():
            mine = [
                one
                for one in lists
                if (one.data, one.sex) == (name, sex)
                and (one.tested & trials.target).any()
                and (one.tested & trials.nontarget).any()
            ]
            label = " ".join(filter(None, (name, group, sex)))
            for one in mine:  # lists of one data set and sex share its weight
                own = label if len(mine) == 1 else f"{label} ({one.own_name})"
                parts.append(Part(own, one.tested, weight / len(mine), group))
            if not mine:
                left_out.append(f"{name}, {people}")
    return parts, left_out


def _spoken(parts: Sequence[Part], group: str) -> list[Part]:
    """Parts of word error rates, by corpus."""
    found = []
    for name, weight in WORDS.items():
        mine = [part.tested for part in parts if part.name.split()[0] == name]
        if mine:
            label = " ".join(filter(None, (name, group)))
            found.append(Part(label, np.any(mine, axis=0), weight, group))
    return found
