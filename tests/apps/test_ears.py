"""Who hears the words in an evaluation, from what the command is given."""

from __future__ import annotations

import pytest

from voicenym.apps.cli.recogniser_options import recogniser_of, retrained_of, transcripts_of
from voicenym.errors import VoicenymError


def test_transcripts_go_by_system(tmp_path):
    path = tmp_path / "text"
    path.write_text("a/0 one two\na/1 three\n")
    found = transcripts_of([f"vtln={path}"], ["vtln", "original"])
    assert list(found) == ["vtln"]
    assert transcripts_of([], ["vtln"]) == {}


@pytest.mark.parametrize("given", ["vtln", "vtln=", "mcadams=text", "=text"])
def test_what_is_of_no_system_is_refused(given):
    with pytest.raises(VoicenymError, match="SYSTEM=FILE, SYSTEM being one of vtln, original"):
        transcripts_of([given], ["vtln", "original"])
    with pytest.raises(VoicenymError, match="SYSTEM=FOLDER, SYSTEM being one of vtln"):
        retrained_of([given], ["vtln"])


def test_nobody_listens_where_nothing_is_said():
    assert recogniser_of("none", None, ["one"]) is None
    assert recogniser_of("sphinx", None, []) is None
