from __future__ import annotations

import pytest

from voicenym.apps.cli.anonymize import _corpus
from voicenym.corpus.lhotse_manifest import read_manifest
from voicenym.corpus.runner import Job, run
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

lhotse = pytest.importorskip("lhotse")


def manifest(tmp_path, buzz, speakers):
    cuts = []
    for i, speaker in enumerate(speakers):
        path = buzz(f"audio/r{i}.wav", 0.8)
        recording = lhotse.Recording.from_file(path, recording_id=f"r{i}")
        cut = recording.to_cut()
        cut.id = f"c{i}"
        cut.supervisions = [
            lhotse.SupervisionSegment(
                id=f"s{i}-{s}", recording_id=f"r{i}", start=0.0, duration=0.8, speaker=s
            )
            for s in speaker
        ]
        cuts.append(cut)
    path = tmp_path / "cuts.jsonl.gz"
    lhotse.CutSet.from_cuts(cuts).to_file(path)
    return path


def test_anonymized_cuts_are_valid_and_point_to_anonymized_audio(tmp_path, buzz):
    source = manifest(tmp_path, buzz, [["ann"], ["bob"]])
    output = tmp_path / "anon"
    corpus = _corpus([str(source)], output, None, False)
    assert [item.speaker for item in corpus.items] == ["ann", "bob"]
    summary = run(Job("mcadams", {}, Key(bytes(32)), log=output / "log.jsonl"), corpus.items)
    corpus.finish(summary)
    cuts = lhotse.CutSet.from_file(output / "cuts.jsonl.gz").to_eager()
    lhotse.validate(cuts, read_data=True)
    before = lhotse.CutSet.from_file(source)
    for one, two in zip(before, cuts, strict=True):
        assert one.id == two.id
        assert one.supervisions == two.supervisions
        assert str(output) in two.recording.sources[0].source
        assert abs(one.load_audio() - two.load_audio()).max() > 0.01


@pytest.mark.parametrize("speakers", [[["ann", "bob"]], [[]]])
def test_a_recording_needs_one_speaker(tmp_path, buzz, speakers):
    with pytest.raises(CorpusError, match="r0 has"):
        read_manifest(manifest(tmp_path, buzz, speakers), tmp_path / "anon")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("hello\n")
    with pytest.raises(CorpusError, match=r"x\.jsonl"):
        read_manifest(path, tmp_path / "anon")
