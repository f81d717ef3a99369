"""Labels that name a person, and those that a diarizer counts."""

import pytest

from voicenym.diarization.formats.turn_names import is_named, names_of, renamed
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.errors import DiarizationError

COUNTED = (
    "speaker-1 SPEAKER_00 Speaker 2 spk3 S1 A b 7 0012 Sprecher unknown person_4 cluster12 c-1"
)


@pytest.mark.parametrize("label", [*COUNTED.split(), "Speaker 2", "Sprecher 1"])
def test_labels_that_diarizers_count_name_nobody(label):
    assert not is_named(label)


@pytest.mark.parametrize("label", ["anna", "Anna Meier", "host", "Steve", "P01", "Ümit", "Bo"])
def test_names_are_names(label):
    assert is_named(label)


def test_two_labels_of_one_name_become_one_speaker():
    found = Diarization([Turn(0, 1, "speaker-1"), Turn(2, 3, "speaker-3"), Turn(4, 5, "b")])
    names = names_of(["speaker-1=anna", "speaker-3 = anna"])
    assert renamed(found, names).speakers == ("anna", "b")


@pytest.mark.parametrize("options", [["anna"], ["=anna"], ["a="], ["a=b", "a=c"]])
def test_options_of_another_form_are_refused(options):
    with pytest.raises(DiarizationError, match="--name"):
        names_of(options)


def test_a_label_of_no_turn_is_refused():
    with pytest.raises(DiarizationError, match=r"eve.*there are: a"):
        renamed(Diarization([Turn(0, 1, "a")]), {"eve": "x"})
