"""Trial lists of the VoicePrivacy Challenges: exact trials, and published weights of parts."""

import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.trial_plans.challenge_lists import data_set
from voicenym.evaluation.trial_plans.trial_lists import find_lists
from voicenym.evaluation.trial_plans.voiceprivacy import WEIGHTS, from_voiceprivacy


def corpus(speakers=10, utterances=14, sexes="fm", prefix="s"):
    return [
        Recording(f"{prefix}{s:02}-{u:02}", f"{prefix}{s:02}", Path("none"), sexes[s % len(sexes)])
        for s in range(speakers)
        for u in range(utterances)
    ]


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "enrolls").write_text("s00-00\ns00-01\ns02-00\n")
    (tmp_path / "trials").write_text("s00 s00-05 target\ns00 s02-05 nontarget\ns02 s02-05 target\n")
    return tmp_path


def test_lists_of_the_challenge_are_followed_to_the_letter(lists):
    trials = from_voiceprivacy(lists / "enrolls", lists / "trials", corpus())
    assert [(m.name, len(m.recordings)) for m in trials.models] == [("s00", 2), ("s02", 1)]
    assert [r.name for r in trials.recordings] == ["s00-05", "s02-05"]
    np.testing.assert_array_equal(trials.target, [[True, False], [False, True]])
    np.testing.assert_array_equal(trials.nontarget, [[False, True], [False, False]])


@pytest.mark.parametrize(("listed", "stored"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_accents_of_names_may_have_the_other_form(tmp_path, listed, stored):
    """Lists written on Linux, of recordings that macOS stored, look alike and differ in bytes."""
    people = ["Jos\u00e9", "Zo\u00eb"]

    def named(form, text):
        return unicodedata.normalize(form, text)

    speech = [
        Recording(named(stored, f"{who}-{u}"), named(stored, who), Path("none"), "f")
        for who in people
        for u in range(3)
    ]
    jose, zoe = people
    (tmp_path / "enrolls").write_text(named(listed, f"{jose}-0\n{zoe}-0\n"), "utf-8")
    lines = f"{jose} {jose}-1 target\n{jose} {zoe}-1 nontarget\n{zoe} {zoe}-1 target\n"
    (tmp_path / "trials").write_text(named(listed, lines), "utf-8")
    trials = from_voiceprivacy(tmp_path / "enrolls", tmp_path / "trials", speech)
    assert [m.name for m in trials.models] == [named(stored, who) for who in people]
    assert int(trials.target.sum()) == 2
    assert int(trials.nontarget.sum()) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s00 s00-05 maybe", "expected SPEAKER UTTERANCE"),
        ("s00 s99-05 target", "of [^,]*/trials have no recording, 1 in all: s99-05;"),
        ("s04 s04-05 target", "s04 is not enrolled"),
        ("s00 s02-05 target", "s02-05 is by s02"),
    ],
)
def test_lists_that_do_not_hold_together(lists, line, message):
    with (lists / "trials").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(CorpusError, match=message):
        from_voiceprivacy(lists / "enrolls", lists / "trials", corpus())


@pytest.mark.parametrize("kind", ["target", "nontarget"])
def test_lists_of_one_kind_of_trials_are_refused_with_their_names(lists, kind):
    every = (lists / "trials").read_text().splitlines(keepends=True)
    (lists / "trials").write_text("".join(line for line in every if line.split()[2] != kind))
    with pytest.raises(CorpusError, match=rf"/trials: no {kind} trials; .* that end in {kind}"):
        from_voiceprivacy(lists / "enrolls", lists / "trials", corpus())


def test_few_speakers_are_warned_of(lists):
    trials = from_voiceprivacy(lists / "enrolls", lists / "trials", corpus())
    assert any("only 2 speakers" in w for w in trials.warnings)


def test_a_list_without_trials_is_refused(lists):
    (lists / "trials").write_text("\n")
    with pytest.raises(CorpusError, match="no trials in it"):
        from_voiceprivacy(lists / "enrolls", lists / "trials", corpus())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("data/libri_dev_trials_f/trials", "LibriSpeech"),
        ("data/libri_test_trials_m/trials", "LibriSpeech"),
        ("vctk_dev_trials_m/trials", "VCTK different"),
        ("vctk_dev_trials_f_common/trials", "VCTK common"),
        ("lists/vctk_test_trials_f_common.txt", "VCTK common"),
        ("data/vctk_dev_trials_f_all/trials", None),
        ("data/mine/trials", None),
    ],
)
def test_lists_are_recognised_by_their_names(path, name):
    assert data_set(Path(path)) == name


def test_weights_are_those_of_the_appendix():
    assert sum(2 * w for w in WEIGHTS.values()) == pytest.approx(1.0)
    rates = {"LibriSpeech": (47.44, 46.72), "VCTK different": (52.11, 48.04)}
    rates["VCTK common"] = (47.97, 45.30)  # table V, selection, development set
    mean = sum(WEIGHTS[name] * rate for name, pair in rates.items() for rate in pair)
    assert mean == pytest.approx(48.23, abs=0.005)


@pytest.fixture
def challenge(tmp_path):
    """Both data sets, as the challenges lay them out; VCTK's common sentences have odd numbers."""
    speech = corpus(6, 8, prefix="l") + corpus(6, 8, prefix="p")
    speakers = sorted({(r.speaker, r.sex) for r in speech})
    for name, prefix in (("libri", "l"), ("vctk", "p")):
        folder = tmp_path / f"{name}_dev_enrolls"
        folder.mkdir()
        own = [r.name for r in speech if r.name.startswith(prefix) and r.name[-2:] < "03"]
        (folder / "enrolls").write_text("\n".join(own) + "\n")
        for kind in ("", "_common") if name == "vctk" else ("",):
            for sex in "fm":
                folder = tmp_path / f"{name}_dev_trials_{sex}{kind}"
                folder.mkdir()
                rows = [
                    f"{s} {r.name} {'target' if r.speaker == s else 'nontarget'}"
                    for r in speech
                    for s, other in speakers
                    if s[0] == prefix == r.name[0] and other == sex == r.sex
                    if r.name[-2:] >= "03"
                    and (name == "libri" or int(r.name[-1]) % 2 == bool(kind))
                ]
                (folder / "trials").write_text("\n".join(rows) + "\n")
    return tmp_path, speech


def test_all_lists_at_once_have_six_parts_and_the_published_mean(challenge):
    root, speech = challenge
    enrolls = sorted(root.glob("*_enrolls/enrolls"))
    lists = sorted(root.glob("*_trials_*/trials"))
    trials = from_voiceprivacy(enrolls, lists, speech)
    assert [(p.name, p.weight) for p in trials.parts] == [
        ("LibriSpeech f", 0.25), ("LibriSpeech m", 0.25), ("VCTK different f", 0.2),
        ("VCTK different m", 0.2), ("VCTK common f", 0.05), ("VCTK common m", 0.05),
    ]  # fmt: skip
    assert not any("weighted mean" in w for w in trials.warnings)
    together = np.sum([p.tested for p in trials.parts], axis=0)
    np.testing.assert_array_equal(together, trials.tested)

    noise = np.random.default_rng(0).standard_normal(trials.tested.shape)
    scores = noise + 1.5 * trials.target
    attacker = protection.Ignorant()
    figures = protection.measured(attacker, scores, trials, "a", 100).figures.figures
    mean = sum(p.weight * figures[f"EER {p.name}"].value for p in trials.parts)
    assert figures["weighted EER"].value == pytest.approx(mean)
    assert figures["weighted EER"].low <= mean <= figures["weighted EER"].high


def test_a_mean_that_lost_a_part_says_so(challenge):
    """Without its target trials a part has no error rate, and the others bear its weight."""
    root, speech = challenge
    lists = sorted(root.glob("*_trials_*/trials"))
    trials = from_voiceprivacy(sorted(root.glob("*_enrolls/enrolls")), lists, speech)
    assert protection.lacking_parts(trials) == []
    men = next(p for p in trials.parts if p.name == "VCTK common m")
    lost = trials.tested & ~(men.tested & trials.target)
    parts = tuple(replace(p, tested=p.tested & lost) for p in trials.parts)
    fewer = replace(trials, tested=lost, parts=parts)
    (note,) = protection.lacking_parts(fewer)
    assert note == (
        "the weighted mean of EER lacks parts, whose weight the others bear: VCTK common m"
    )
    scores = np.random.default_rng(0).standard_normal(lost.shape)
    found = protection.measured(protection.Ignorant(), scores, fewer, "a", 20).figures.figures
    rest = [p for p in parts if p.name != men.name]
    mean = sum(p.weight * found[f"EER {p.name}"].value for p in rest) / 0.95
    assert found["weighted EER"].value == pytest.approx(mean)


def test_missing_parts_are_reported(challenge):
    root, speech = challenge
    one = root / "libri_dev_trials_f" / "trials"
    trials = from_voiceprivacy(root / "libri_dev_enrolls" / "enrolls", one, speech)
    assert [p.name for p in trials.parts] == ["LibriSpeech f"]
    warning = next(w for w in trials.warnings if "weighted mean" in w)
    assert "LibriSpeech, men" in warning
    assert "VCTK common, women" in warning


def test_lists_of_other_data_have_no_weighted_mean(lists, challenge):
    trials = from_voiceprivacy(lists / "enrolls", lists / "trials", corpus())
    assert not trials.parts
    assert any("is not named after a data set" in w for w in trials.warnings)
    root, speech = challenge
    nobody = [Recording(r.name, r.speaker, r.path) for r in speech]
    one = root / "libri_dev_trials_f" / "trials"
    trials = from_voiceprivacy(root / "libri_dev_enrolls" / "enrolls", one, nobody)
    assert any("the sex of l00 is unknown" in w for w in trials.warnings)


def second_set(root, speech, subset):
    """The lists of both data sets once more, of other speakers: a test set beside the other."""
    renamed = []
    for path in [*root.glob("*_dev_*/enrolls"), *root.glob("*_dev_*/trials")]:
        folder = root / path.parent.name.replace("_dev_", f"_{subset}_")
        folder.mkdir()
        text = path.read_text().replace("l0", "l5").replace("p0", "p5")
        (folder / path.name).write_text(text)
    for r in speech:
        name, speaker = (x.replace("l0", "l5").replace("p0", "p5") for x in (r.name, r.speaker))
        renamed.append(Recording(name, speaker, r.path, r.sex))
    return renamed


def test_a_development_and_a_test_set_stay_separate(challenge):
    root, speech = challenge
    dev = from_voiceprivacy(
        sorted(root.glob("*_enrolls/enrolls")), sorted(root.glob("*_trials_*/trials")), speech
    )
    speech = speech + second_set(root, speech, "test")
    enrolls = sorted(root.glob("*_enrolls/enrolls"))
    lists = sorted(root.glob("*_trials_*/trials"))
    trials = from_voiceprivacy(enrolls, lists, speech)
    assert [(p.name, p.weight) for p in trials.parts if p.group == "test"] == [
        ("LibriSpeech test f", 0.25), ("LibriSpeech test m", 0.25),
        ("VCTK different test f", 0.2), ("VCTK different test m", 0.2),
        ("VCTK common test f", 0.05), ("VCTK common test m", 0.05),
    ]  # fmt: skip
    assert sum(p.group == "dev" for p in trials.parts) == 6
    assert [p.name for p in trials.spoken] == [
        "LibriSpeech dev", "VCTK dev", "LibriSpeech test", "VCTK test",
    ]  # fmt: skip
    # those of the test set are easier to find
    far = np.array([model.speaker[1] == "5" for model in trials.models])
    noise = np.random.default_rng(0).standard_normal(trials.tested.shape)
    scores = noise + np.where(far[:, None], 6.0, 1.0) * trials.target
    attacker = protection.Ignorant()
    figures = protection.measured(attacker, scores, trials, "a", 50).figures.figures
    assert "weighted EER" not in figures, "there is no mean over both"
    for group in ("dev", "test"):
        own = [p for p in trials.parts if p.group == group]
        mean = sum(p.weight * figures[f"EER {p.name}"].value for p in own)
        assert figures[f"weighted EER {group}"].value == pytest.approx(mean)
    assert figures["weighted EER test"].value < 2.0 < 15.0 < figures["weighted EER dev"].value
    # a set's figures are those that it has alone
    alone = scores[~far][:, [r.speaker[1] == "0" for r in trials.recordings]]
    expected = protection.measured(attacker, alone, dev, "a", 50).figures.figures
    assert figures["weighted EER dev"].value == expected["weighted EER"].value


def test_a_speaker_of_two_test_sets_has_a_model_in_each(tmp_path):
    speech = corpus()
    for name, enrolled in (("mine_dev", "00"), ("mine_test", "01")):
        (tmp_path / name).mkdir()
        text = "".join(f"{s}-{enrolled}\n" for s in ("s00", "s02"))
        (tmp_path / name / "enrolls").write_text(text)
        rows = [f"{m} {s}-05 {'target' if s == m else 'nontarget'}\n"
                for m in ("s00", "s02") for s in ("s00", "s02")]  # fmt: skip
        (tmp_path / name / "trials_f").write_text("".join(rows))
    trials = from_voiceprivacy(
        sorted(tmp_path.glob("*/enrolls")), sorted(tmp_path.glob("*/trials_f")), speech
    )
    assert [(m.name, m.recordings[0].name) for m in trials.models] == [
        ("s00 (mine_dev)", "s00-00"), ("s00 (mine_test)", "s00-01"),
        ("s02 (mine_dev)", "s02-00"), ("s02 (mine_test)", "s02-01"),
    ]  # fmt: skip
    assert [(p.name, p.weight) for p in trials.parts] == [
        ("mine_dev_trials_f", None), ("mine_test_trials_f", None)
    ]  # fmt: skip
    assert trials.parts[0].tested.sum() == 4
    assert not (trials.parts[0].tested & trials.parts[1].tested).any()
    noise = np.random.default_rng(0).standard_normal(trials.tested.shape)
    figures = protection.measured(protection.Ignorant(), noise, trials, "a", 30).figures.figures
    assert {"EER mine_dev_trials_f", "EER mine_test_trials_f"} <= figures.keys()
    assert not any(name.startswith("weighted") for name in figures)
    # with names that say nothing, nobody can know which enrolment is meant
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "all.txt").write_text("s00 s00-05 target\n")
    with pytest.raises(CorpusError, match=r"s00 is enrolled by .* and by .*as the challenges do"):
        from_voiceprivacy(sorted(tmp_path.glob("*/enrolls")), tmp_path / "lists/all.txt", speech)


def test_lists_are_found_in_data_folders(challenge):
    root, speech = challenge
    assert find_lists(root) is None, "these folders hold no recordings"
    for folder in root.iterdir():
        (folder / "wav.scp").touch()
    both = root / "libri_dev_trials_all"
    both.mkdir()
    (both / "wav.scp").touch()
    text = "".join((root / f"libri_dev_trials_{sex}" / "trials").read_text() for sex in "fm")
    (both / "trials").write_text(text)
    whole = root / "libri_dev"
    whole.mkdir()
    (whole / "wav.scp").touch()
    (whole / "enrolls").write_bytes((root / "libri_dev_enrolls" / "enrolls").read_bytes())
    theirs = root / "libri_dev_trials_f_anon"
    theirs.mkdir()
    (theirs / "wav.scp").touch()
    (theirs / "trials").write_text("x y target\n")
    found = find_lists(root, without="_anon")
    assert [path.parent.name for path in found.trials] == [
        "libri_dev_trials_f", "libri_dev_trials_m", "vctk_dev_trials_f",
        "vctk_dev_trials_f_common", "vctk_dev_trials_m", "vctk_dev_trials_m_common",
    ]  # fmt: skip
    assert [path.parent.name for path in found.repeated] == ["libri_dev_trials_all"]
    assert {path.parent.name for path in found.enrolment} == {"libri_dev", "vctk_dev_enrolls"}
    trials = from_voiceprivacy(found.enrolment, found.trials, speech)
    assert len(trials.parts) == 6, "an enrolment list in libri_dev is that of libri_dev_trials_f"
    used = {r.name for r in trials.recordings}
    used |= {r.name for model in trials.models for r in model.recordings}
    assert used == found.names()


def test_words_are_averaged_over_corpora(challenge):
    root, speech = challenge
    enrolls = sorted(root.glob("*_enrolls/enrolls"))
    trials = from_voiceprivacy(enrolls, sorted(root.glob("*_trials_*/trials")), speech)
    assert [(p.name, p.weight) for p in trials.spoken] == [("LibriSpeech", 0.5), ("VCTK", 0.5)]
    together = np.sum([p.tested for p in trials.spoken], axis=0)
    np.testing.assert_array_equal(together, trials.tested)
