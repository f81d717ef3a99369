"""Folders of outputs that lie in the folder of the originals."""

import json

import pytest

from voicenym.corpus.plans.file_plan import check_output_folder, plan
from voicenym.corpus.run_records.run_log import LOG_NAME
from voicenym.errors import CorpusError


def corpus(folder):
    for name in ("anna/a.wav", "bob/b.wav"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"RIFF")
    return folder


def targets(root, output):
    return [item.target for item in plan([root], output)]


def test_an_output_folder_that_holds_originals_is_refused(tmp_path):
    root = corpus(tmp_path / "corpus")
    output = root / "anna"
    with pytest.raises(CorpusError, match=r"corpus/anna: .*\(.*anna/a\.wav\).*passed over.* -o"):
        check_output_folder([root], output, targets(root, output))


def test_an_output_folder_behind_a_link_is_found_in_the_input(tmp_path):
    root = corpus(tmp_path / "corpus")
    (tmp_path / "link").symlink_to(root / "anna")
    with pytest.raises(CorpusError, match="passed over"):
        check_output_folder([root], tmp_path / "link", targets(root, tmp_path / "link"))


def test_a_run_into_a_folder_of_its_own_goes_on(tmp_path):
    root = corpus(tmp_path / "corpus")
    output = root / "anonymized"
    check_output_folder([root], output, targets(root, output))
    (output / "anna").mkdir(parents=True)
    # one output with its line, and one of a run that was killed before the line
    (output / LOG_NAME).write_text(json.dumps({"output": "earlier.wav"}) + "\n")
    for name in ("earlier.wav", "anna/a.wav"):
        (output / name).write_bytes(b"RIFF")
    check_output_folder([root], output, targets(root, output))


def test_recordings_beside_outputs_elsewhere_are_no_originals_of_the_run(tmp_path):
    root = corpus(tmp_path / "corpus")
    elsewhere = corpus(tmp_path / "other") / "anna"
    check_output_folder([root], elsewhere, targets(root, elsewhere))
