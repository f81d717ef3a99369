"""Named pipes are refused where files are wanted; nothing waits for somebody who writes to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from voicenym.audio import open_reader
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.readers.tsv_manifest import recordings_of_manifest
from voicenym.corpus.skipped import STRICT
from voicenym.corpus.speaker_links import names_in
from voicenym.diarization.formats.turn_files import read_turns
from voicenym.errors import AudioError, CorpusError, VoicenymError
from voicenym.evaluation import results_file
from voicenym.listening.exchange.answer_tables import read_table
from voicenym.listening.exchange.other_tools import read_webmushra
from voicenym.publication import corpus_description
from voicenym.redaction.finding.own_list import read_list
from voicenym.redaction.findings_file import read_findings
from voicenym.special_files import special_kind

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "ff.rttm")
    return tmp_path / "ff.rttm"


def test_kinds(pipe, tmp_path):
    (tmp_path / "link").symlink_to(pipe)
    assert special_kind(pipe) == special_kind(tmp_path / "link") == "a pipe"
    assert special_kind(os.devnull) == "a device"
    assert special_kind(tmp_path) is special_kind(tmp_path / "missing") is None
    assert special_kind(__file__) is None


def test_recordings(pipe):
    with pytest.raises(AudioError, match=r"ff\.rttm: is a pipe; save the recording to a file"):
        open_reader(pipe)
    with pytest.raises(CorpusError, match=r"is a pipe; .* voicenym anonymize - < .*ff\.rttm"):
        plan([pipe], None)


@pytest.mark.parametrize(
    "read",
    [
        read_list, read_findings, read_turns, corpus_description.read, names_in, results_file.load,
        read_table, read_webmushra, lambda path: recordings_of_manifest(path, None, None, STRICT),
    ],
)  # fmt: skip
def test_lists_and_tables(read, pipe):
    with pytest.raises(VoicenymError, match=r"ff\.rttm: is a pipe; give a file"):
        read(pipe)


def test_a_list_of_a_shell_is_read():
    """As of ``--names <(command)``."""
    read, write = os.pipe()
    try:
        with os.fdopen(write, "w") as file:
            file.write("anna\nbert\n")
        assert names_in(Path(f"/dev/fd/{read}")) == ["anna", "bert"]
    finally:
        os.close(read)
