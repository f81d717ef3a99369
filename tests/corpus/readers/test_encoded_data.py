"""Text that holds bytes is told from text of people."""

import base64

import pytest

from voicenym.corpus.readers.encoded_data import MOST_NUMBERS, is_encoded, is_series

SOUND = bytes(range(256)) * 20


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(SOUND).decode(),
        base64.encodebytes(SOUND).decode(),
        base64.urlsafe_b64encode(SOUND).decode(),
        "data:audio/wav;base64," + base64.b64encode(SOUND).decode(),
        SOUND.hex(),
    ],
)
def test_a_recording_in_base64_or_hexadecimal_digits_is_data(text):
    assert is_encoded(text)


@pytest.mark.parametrize(
    "text",
    ["", "She lives near the old harbour. " * 500, "她住在旧港口附近" * 1000, "7 3 5 " * 2000],
)
def test_transcripts_are_no_data(text):
    assert not is_encoded(text)


def test_many_numbers_are_samples_or_features():
    assert is_series([0.5] * (MOST_NUMBERS + 1))
    assert not is_series([0.5] * MOST_NUMBERS)
    assert not is_series(["word"] * 1000)
