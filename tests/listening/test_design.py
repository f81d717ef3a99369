"""Designs: balanced, blinded, level-normalised, seeded; and what cannot be designed."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from listening_material import folders, speak

from voicenym.dsp.loudness import integrated_loudness
from voicenym.errors import CorpusError, VoicenymError
from voicenym.listening import study as files
from voicenym.listening.design.latin_squares import williams
from voicenym.listening.design.material import gather
from voicenym.listening.design.sessions import Plan
from voicenym.listening.design.study_design import design, require_power
from voicenym.listening.questions import KINDS
from voicenym.listening.session_progress import payload
from voicenym.listening.study import GOLD, ITEM, RATING, TRAP, load, load_key, load_tokens


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    return folders(tmp_path_factory.mktemp("material"))


@pytest.fixture(scope="module")
def every(material):
    """A study with every test."""
    return design(material, Plan(tuple(KINDS), 8, 8))


@given(st.integers(2, 12))
def test_williams_squares_are_balanced(size):
    rows = williams(size)
    assert len(rows) == (size if size % 2 == 0 else 2 * size)
    places = Counter((place, one) for row in rows for place, one in enumerate(row))
    follows = Counter(pair for row in rows for pair in pairwise(row))
    assert set(places.values()) == {len(rows) // size}
    assert len(follows) == size * (size - 1)
    assert len(set(follows.values())) == 1


def test_recordings_and_systems_are_counterbalanced(material):
    """As many listeners as systems hear each recording once from each system they are asked for."""
    made = design(material, Plan(("acr",), 24, 4, 0, False, ""))
    items = made.key.items
    heard = Counter()
    for pages in made.study.sessions.values():
        own = [items[page.name] for page in pages if page.name in items]
        rated = [one for one in own if one.role == RATING]
        assert Counter(one.system for one in rated) == dict.fromkeys(material.systems, 1)
        assert len({one.utterance for one in rated}) == len(rated), "no sentence twice"
        heard.update((one.system, one.utterance) for one in rated)
    assert len(heard) == 4 * 24
    assert set(heard.values()) == {1}
    assert made.balance == {"acr": (1, 1)}


def test_pairs_are_of_one_and_of_two_speakers_alike(material):
    made = design(material, Plan(("verifiability",), 8, 16, 0, False, ""))
    rated = [one for one in made.key.items.values() if one.role == RATING]
    kinds = Counter((one.system, one.kind) for one in rated)
    assert len(kinds) == 8
    for one in rated:
        assert (one.other == "") == (one.kind == "same")
        assert one.other != one.speaker


def test_abx_and_line_ups_have_no_side(material):
    made = design(material, Plan(("abx", "linkage"), 20, 10, 0, False, ""))
    items, clips = made.key.items, made.key.clips
    sides, places = Counter(), Counter()
    for pages in made.study.sessions.values():
        for page in pages:
            item = items.get(page.name)
            if item is None or item.role != RATING:
                continue
            if item.test == "abx":
                a, _, x = page.clips
                sides[item.expected["match"], clips[a].system == "original"] += 1
                at = page.clips["AB".index(item.expected["match"])]
                assert (clips[at].system, clips[at].utterance) == (clips[x].system, item.utterance)
                assert at != x, "X has a name of its own"
            else:
                people = [clips[clip].speaker for clip in page.clips[1:]]
                target = page.clips.index(item.expected["person"])
                places[target] += 1
                assert len(set(people)) == 5
                assert people[target - 1] == item.speaker
                assert clips[page.clips[target]].utterance != item.utterance
                assert {clips[clip].system for clip in page.clips[1:]} == {"original"}
    assert len(sides) == 4
    assert set(places) == {1, 2, 3, 4, 5}
    assert max(places.values()) <= 1.5 * min(places.values())


def test_mushra_has_hidden_reference_and_anchors(every):
    clips = every.key.clips
    pages = [p for pages in every.study.sessions.values() for p in pages if p.test == "mushra"]
    orders = set()
    for page in (one for one in pages if one.kind == ITEM):
        systems = [clips[clip].system for clip in page.clips]
        assert systems[0] == "original"
        assert sorted(systems[1:]) == sorted(
            ["original", "a", "b", "c", "original low-pass-3500", "original low-pass-7000"]
        )
        assert len(set(page.clips)) == len(page.clips), "the hidden reference has another name"
        orders.add(tuple(systems))
    assert len(orders) > 5
    for edge in (3500, 7000):
        name = next(n for n, clip in clips.items() if clip.system == f"original low-pass-{edge}")
        sound, rate = soundfile.read(io.BytesIO(every.clips[name]))
        power = np.abs(np.fft.rfft(sound * np.hanning(len(sound)))) ** 2
        above = np.fft.rfftfreq(len(sound), 1 / rate) > edge + 500
        assert power[above].sum() < 1e-6 * power.sum()


def test_sessions_have_training_gold_and_traps(every):
    roles = {}
    for name, one in every.key.items.items():
        roles.setdefault(one.test, Counter())[one.role] += 1
        for question, right in one.expected.items():
            assert question, (name, right)
    for test in KINDS:
        assert roles[test]["training"] == 3
        assert (roles[test][TRAP] > 0) == (test != "mushra")
        assert (roles[test][GOLD] > 0) == (test not in ("mushra", "words"))
    first = every.study.sessions["L001"]
    assert [page.kind for page in first[:18]] == (
        ["consent"] + ["headphones"] * 12 + ["compare"] * 4 + ["intro"]
    )


def test_all_clips_have_one_loudness_and_one_format(every):
    levels, rates = [], set()
    for name, clip in every.key.clips.items():
        sound, rate = soundfile.read(io.BytesIO(every.clips[name]), always_2d=True)
        if clip.speaker:
            levels.append(integrated_loudness(sound.T, rate))
            rates.add((rate, sound.shape[1]))
        assert np.abs(sound).max() < 1.0
    assert rates == {(16_000, 1)}
    assert np.ptp(levels) < 0.1
    assert levels[0] == pytest.approx(every.level, abs=0.1)


def test_a_seed_gives_the_same_orders_and_other_names(material):
    def orders(made):
        clips = made.key.clips
        return [
            [(page.kind, page.test, [clips[clip] for clip in page.clips]) for page in pages]
            for pages in made.study.sessions.values()
        ]

    first, again, other = (
        design(material, Plan(("dcr",), 4, 4, headphones=""), seed=s) for s in (1, 1, 2)
    )
    assert orders(first) == orders(again) != orders(other)
    assert not first.clips.keys() & again.clips.keys()
    assert not set(first.tokens.values()) & set(again.tokens.values())


def test_nothing_that_the_server_reads_tells_a_system(every, tmp_path):
    every.save(tmp_path / "study")
    public = (tmp_path / "study" / files.STUDY).read_text()
    for secret in ("original", "s0/u0", '"seed"', "trap", "gold", "low-pass", "mnru"):
        assert secret not in public, secret
    for pages in every.study.sessions.values():
        for page in pages:
            shown = json.dumps(payload(every.study, page))
            assert "expected" not in shown
    plain = [n for n, one in every.key.clips.items() if " " not in one.system and one.speaker]
    sizes = {len(every.clips[name]) for name in plain}
    assert len(sizes) == 1, "sizes of files do not tell systems of one length apart"


def test_a_study_is_read_as_it_was_written(every, tmp_path):
    folder = tmp_path / "study"
    every.save(folder)
    assert load(folder) == every.study
    assert load_key(folder) == every.key
    assert load_tokens(folder) == every.tokens
    assert {path.stem for path in (folder / files.STIMULI).iterdir()} == set(every.clips)
    assert not (folder.stat().st_mode | (folder / files.KEY).stat().st_mode) & 0o077
    with pytest.raises(VoicenymError, match="new folder"):
        every.save(folder)
    (folder / files.STUDY).write_text("{}")
    with pytest.raises(VoicenymError, match="design it again"):
        load(folder)
    (folder / files.KEY).write_text("[")
    with pytest.raises(VoicenymError, match="restore the file"):
        load_key(folder)
    with pytest.raises(VoicenymError, match="listen design"):
        load(tmp_path)


def test_missing_counterparts_are_named(material, tmp_path):
    folders(tmp_path, systems=("a",), speakers=2, sentences=2)
    (tmp_path / "a" / "s1" / "u0.wav").unlink()
    with pytest.raises(CorpusError, match=r"no anonymized file: s1/u0; .*anonymize it"):
        gather(tmp_path / "original", {"a": tmp_path / "a"})
    with pytest.raises(VoicenymError, match="another name"):
        gather(tmp_path / "original", {"original": tmp_path / "a"})
    for name in (" ", "a\nb"):
        with pytest.raises(VoicenymError, match="choose one"):
            gather(tmp_path / "original", {name: tmp_path / "a"})
    with pytest.raises(VoicenymError, match="--system"):
        gather(tmp_path / "original", {})


@pytest.mark.parametrize("how", ["same", "link", "copy", "one"])
def test_an_original_is_no_anonymized_recording(tmp_path, how):
    """Listeners would hear the voices that the study hides."""
    folders(tmp_path)
    place = tmp_path / "mine"
    original = tmp_path / "original"
    if how == "same":
        place = original
    elif how == "link":
        place.symlink_to(original)
    else:
        shutil.copytree(original if how == "copy" else tmp_path / "a", place)
    if how == "one":  # under another's name
        one, other = sorted(place.rglob("*.wav"))[:2]
        shutil.copyfile(original / other.relative_to(place), one)
    with pytest.raises(VoicenymError, match="is the original itself; give the anonymized") as why:
        gather(original, {"a": tmp_path / "a", "mine": place})
    first = sorted(place.rglob("*.wav"))[0]
    assert str(why.value).startswith(f"mine: {first} is")


@pytest.mark.parametrize("how", ["stored", "softer", "later", "much later", "rate"])
def test_an_original_in_another_form_is_no_anonymized_recording(tmp_path, how):
    """Its bytes are others', and listeners would hear the voice all the same."""
    folders(tmp_path, ("a",), 3, 2, 3.0)
    one = tmp_path / "a" / "s1" / "u0.wav"
    sound, rate = soundfile.read(tmp_path / "original" / "s1" / "u0.wav")
    if how == "softer":
        sound = -0.3 * sound
    elif "later" in how:
        sound = np.concatenate([np.zeros(round((1.4 if "much" in how else 0.4) * rate)), sound])
    elif how == "rate":
        sound, rate = sound[::2], rate // 2
    one.unlink()
    soundfile.write(one.with_suffix(".flac"), sound, rate)
    plan = Plan(("acr",), 4, 12, headphones="")
    with pytest.raises(VoicenymError, match=r"^a: .*s1/u0.flac is nearly its original \(.*alike a"):
        design(gather(tmp_path / "original", {"a": tmp_path / "a"}), plan)
    # a cloak is meant to sound so, and voicenym anonymize has compared what it has written
    design(gather(tmp_path / "original", {"a": tmp_path / "a"}, alike=["a"]), plan)
    digest = hashlib.sha256(one.with_suffix(".flac").read_bytes()).hexdigest()
    line = {"output": "s1/u0.flac", "sha256": digest}
    (tmp_path / "a" / "voicenym.jsonl").write_text(json.dumps(line))
    design(gather(tmp_path / "original", {"a": tmp_path / "a"}), plan)
    with pytest.raises(VoicenymError, match="--sounds-alike b: no --system of that name"):
        gather(tmp_path / "original", {"a": tmp_path / "a"}, alike=["b"])


@pytest.mark.parametrize(
    ("speakers", "sentences", "test", "message"),
    [
        (4, 2, "linkage", "5 people"),
        (6, 1, "linkage", "no second recording"),
        (2, 1, "same", "no second recording"),
        (1, 2, "verifiability", "there is one"),
    ],
)
def test_material_that_does_not_suffice(tmp_path, speakers, sentences, test, message):
    small = folders(tmp_path, ("a",), speakers, sentences, 0.3)
    with pytest.raises(VoicenymError, match=message):
        design(small, Plan((test,), 2, 2))


def test_words_need_transcripts(tmp_path):
    folders(tmp_path, ("a",), 1, 2, 0.3)
    for path in tmp_path.rglob("*.txt"):
        path.unlink()
    with pytest.raises(VoicenymError, match=r"\.txt file"):
        design(gather(tmp_path / "original", {"a": tmp_path / "a"}), Plan(("words",), 1, 2))


def test_loudness_that_cannot_be_matched(tmp_path):
    small = folders(tmp_path, ("a",), 1, 2, 0.5)
    with pytest.raises(VoicenymError, match=r"--level -\d+\.\d suits all"):
        design(small, Plan(("acr",), 1, 2), level=-3.0)
    click = np.zeros(8_000)
    click[4_000] = 0.9
    click[::100] += 1e-4
    soundfile.write(tmp_path / "a" / "s0" / "u1.wav", click, 16_000)
    with pytest.raises(VoicenymError, match=r"s0/u1 of a has peaks .* clicks"):
        design(small, Plan(("acr",), 1, 2))
    soundfile.write(tmp_path / "a" / "s0" / "u1.wav", click * 1e-4, 16_000, subtype="FLOAT")
    with pytest.raises(VoicenymError, match="silent or nearly so"):
        design(small, Plan(("acr",), 1, 2))


def test_mushra_needs_a_band_for_its_anchors(tmp_path):
    for system, pitch in (("original", 120), ("a", 130)):
        for sentence in range(2):
            path = tmp_path / system / "s0" / f"u{sentence}.wav"
            speak(path, pitch, 0.4)
            sound, _ = soundfile.read(path)
            soundfile.write(path, sound[::2], 8_000)
    small = gather(tmp_path / "original", {"a": tmp_path / "a"})
    with pytest.raises(VoicenymError, match="14000 Hz"):
        design(small, Plan(("mushra",), 1, 1))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(("acr", "acr"), 1, 1), "twice"),
        (Plan(("acr",), 0, 1), "a listener"),
        (Plan((), 1, 1), "a test"),
        (Plan(("nonsense",), 1, 1), "no test 'nonsense'"),
        (Plan(("acr",), 1, 1, headphones="ears"), "no headphone check"),
    ],
)
def test_plans_that_make_no_sense(material, plan, message):
    with pytest.raises(VoicenymError, match=message):
        design(material, plan)


def test_too_few_listeners_for_a_difference():
    found = require_power(("acr", "linkage"), 60, 12, 4, 0.5)
    assert found == [("acr", found[0][1])]
    assert 20 < found[0][1] <= 60
    with pytest.raises(VoicenymError, match=rf"ask {found[0][1]} listeners"):
        require_power(("acr",), found[0][1] - 1, 12, 4, 0.5)
    mushra = require_power(("mushra",), 60, 12, 4, 0.5 * 25)
    assert mushra[0][1] <= found[0][1], "a scale of 100 is 25 times as wide"


def test_a_study_is_whole_or_not_there(every, tmp_path, monkeypatch):
    """The disk is full after some clips."""
    write, left = files.write_private, [3]

    def full(path, content):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(files, "write_private", full)
    with pytest.raises(VoicenymError, match=r"study: the disk is full; free some space"):
        every.save(tmp_path / "study")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    with pytest.raises(VoicenymError, match="its folder does not exist"):
        every.save(tmp_path / "nowhere" / "study")
    (tmp_path / "study").mkdir()
    every.save(tmp_path / "study")
    assert load(tmp_path / "study") == every.study
    assert (tmp_path / "study").stat().st_mode & 0o777 == 0o700
