"""Speaker rule: speakers named by folders, and ambiguous folders."""

from pathlib import Path, PurePath

import pytest

from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.readers.speaker_rule import by_folders, is_own, level_of, own, own_of
from voicenym.errors import CorpusError


def read(*names, level=None):
    return by_folders(Path("root"), [PurePath(name) for name in names], level)


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (["anna/session1/a.wav", "bob/session1/a.wav"], ["anna", "bob"]),
        (["anna/1.wav", "anna/2.wav"], ["anna", "anna"]),
        (["anna/1.wav", "bob/day/1.wav"], ["anna", "bob"]),
        (["anna/x/1.wav", "bob/y/1.wav"], ["anna", "bob"]),
        (["anna/monday/1.wav", "anna/friday/1.wav", "bob/monday/2.wav", "bob/friday/1.wav"],
         ["anna", "anna", "bob", "bob"]),
        (["anna/2024-01-31/1.wav", "anna/2024-02-01/1.wav", "bob/2024-03-01/1.wav"],
         ["anna", "anna", "bob"]),
        # LibriSpeech and VCTK: file names begin with the speaker's
        (["84/121123/84-121123-0000.flac", "84/121550/84-121550-0000.flac",
          "174/50561/174-50561-0000.flac"], ["84", "84", "174"]),
        (["p225/mic1/p225_001.flac", "p225/mic2/p225_001.flac"], ["p225", "p225"]),
        (["a.wav", "b.wav"], [None, None]),
        (["speaker1/1.wav", "participant_2/1.wav", "m01/1.wav"],
         ["speaker1", "participant_2", "m01"]),
    ],
)  # fmt: skip
def test_the_first_folder_is_the_speaker(names, people):
    assert read(*names) == people


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["wav/anna/1.wav", "wav/bob/1.wav"], ["'wav' does not sound", "1,", "by 'wav'", "2,"]),
        (["x1/anna/1.wav", "x1/bob/1.wav"], ["in the one folder 'x1'", "2 people", "1 person"]),
        (["train/anna/1.wav", "dev/bob/1.wav"], ["'dev' does not sound", "by 'anna'"]),
        (["dev-clean/84/1/84-1-0.flac", "dev-clean/85/1/85-1-0.flac"],
         ["'dev-clean'", "with --speaker-level 2", "by '84'", "with --speaker-level 3"]),
        (["TRAIN/DR1/FCJF0/SA1.WAV", "TEST/DR1/FAKS0/SA1.WAV"], ["'TEST'", "by 'FCJF0'"]),
        (["clips/1.mp3", "clips/2.mp3"], ["'clips'", "--speaker-level 0", "2 people speak"]),
        (["session1/a.wav", "session2/a.wav"], ["'session1'", "a person of its own"]),
        (["anna/1.wav", "stray.wav"], ["directly in it and in folders", "--speaker-level 0"]),
        (["team/anna/1.wav", "team/bob/1.wav", "berlin/carl/1.wav"], ["'team'"]),
        (["paris/anna/1.wav", "paris/bob/1.wav", "berlin/carl/1.wav"],
         ["both the first and the second", "by 'paris'", "by 'anna'"]),
        (["paris/anna/anna_1.wav", "paris/bob/bob_1.wav", "rome/anna/anna_2.wav",
          "rome/bob/bob_2.wav"], ["begin with the name of the second"]),
        (["a/x/apple.wav", "a/y/anna.wav", "b/z/bob.wav"], ["both the first and the second"]),
    ],
)  # fmt: skip
def test_two_readings_are_asked_about_with_an_example(names, words):
    with pytest.raises(CorpusError) as caught:
        read(*names)
    message = str(caught.value)
    assert message.startswith("root: ")
    assert "--speaker NAME" in message
    for word in words:
        assert word in message, message


def test_a_level_answers():
    names = ["train/anna/1.wav", "dev/bob/x/1.wav", "dev/1.wav", "2.wav"]
    assert read(*names, level=1) == ["train", "dev", "dev", None]
    assert read(*names, level=2) == ["anna", "bob", None, None]
    assert read(*names, level=0) == [None] * 4
    with pytest.raises(CorpusError, match="deepest lies 3 deep"):
        read(*names, level=4)


def test_levels_are_numbers_or_parent():
    assert [level_of(t) for t in (None, "0", "12", "parent")] == [None, 0, 12, "parent"]
    for text in ("-1", "one", "", "1.5", "٣", "99999"):
        with pytest.raises(CorpusError, match="--speaker-level"):
            level_of(text)


def test_a_person_of_its_own_is_the_files_content(tmp_path):
    one, two, copy = (tmp_path / n for n in ("a/interview.wav", "b/interview.wav", "c/x.wav"))
    for path, data in ((one, b"1"), (two, b"2"), (copy, b"1")):
        path.parent.mkdir()
        path.write_bytes(data)
    assert own(one) == own(copy) == own_of(b"1") != own(two)
    assert is_own(own(one))
    assert "/" in own(one)  # so no folder has this name
    gone, folder = own(tmp_path / "gone.wav"), own(tmp_path)
    assert is_own(gone)
    assert gone != folder


def test_speaker_and_level_exclude_each_other(tmp_path):
    (tmp_path / "a.wav").write_bytes(b"1")
    with pytest.raises(CorpusError, match="leave one out"):
        plan([tmp_path / "a.wav"], None, "anna", 1)
    with pytest.raises(CorpusError, match="empty"):
        plan([tmp_path / "a.wav"], None, "")
