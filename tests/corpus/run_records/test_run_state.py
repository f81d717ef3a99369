"""Lock and log of an output folder that somebody prepared: links in it lead a run nowhere."""

import pytest

from voicenym.corpus.run_records.run_lock import LOCK_NAME
from voicenym.corpus.run_records.run_log import LOG_NAME
from voicenym.corpus.run_records.run_state import LocalRunState
from voicenym.errors import CorpusError


@pytest.mark.parametrize("name", [LOCK_NAME, LOG_NAME])
def test_a_link_in_the_place_of_lock_or_log_is_refused(tmp_path, name):
    other = tmp_path / "other.txt"
    other.write_text("of somebody else")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).symlink_to(other)
    with (
        pytest.raises(CorpusError, match=rf"{name}: is a link.* -o"),
        LocalRunState(folder / LOG_NAME),
    ):
        pass
    assert other.read_text() == "of somebody else"
    (folder / name).unlink()
    with LocalRunState(folder / LOG_NAME) as state:
        state.settle({"output": "a.wav"})
    assert not (folder / LOCK_NAME).exists()
