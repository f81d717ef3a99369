"""Short delays are of live streams; two systems use them for whole recordings, too."""

from __future__ import annotations

import pytest

from voicenym import load
from voicenym.anonymizer.live_delay import check_delay_is_used
from voicenym.errors import UnknownSystemError


@pytest.mark.parametrize("name", ["recast", "word-codes"])
def test_a_short_delay_of_a_recording_that_is_read_ahead_is_refused(name):
    with pytest.raises(UnknownSystemError, match=f"{name}: delay=short is of live streams"):
        check_delay_is_used(load(name, delay="short"))
    check_delay_is_used(load(name, delay="short", live=True))
    check_delay_is_used(load(name))


@pytest.mark.parametrize("name", ["pv-tsm", "vtln"])
def test_a_short_delay_that_changes_recordings_is_accepted(name):
    check_delay_is_used(load(name, delay="short"))


def test_systems_without_delays_are_accepted():
    check_delay_is_used(load("mcadams"))
    check_delay_is_used(load("formant"))
