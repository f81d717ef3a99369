from __future__ import annotations

import numpy as np
import pytest
import soundfile
import torch

import voicenym
from voicenym.anonymizer import load
from voicenym.apps.cli.anonymizing.anonymize_inputs import read_inputs
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans.lhotse_manifest import read_manifest
from voicenym.corpus.recordings import recordings, skipped
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

lhotse = pytest.importorskip("lhotse")
AlignmentItem = pytest.importorskip("lhotse.supervision").AlignmentItem


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
    corpus = read_inputs([str(source)], output, None, False)
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


def test_an_output_folder_is_read_by_its_manifest(tmp_path, buzz):
    """Its folder audio/ is no speaker."""
    source = manifest(tmp_path, buzz, [["ann"], ["bob"]])
    output = tmp_path / "anon"
    corpus = read_inputs([str(source)], output, None, False)
    summary = run(Job("mcadams", {}, Key(bytes(32)), log=output / "log.jsonl"), corpus.items)
    corpus.finish(summary)
    assert [(r.name, r.speaker) for r in recordings(output)] == [
        ("s0-ann", "ann"),
        ("s1-bob", "bob"),
    ]
    assert skipped(output) == []
    (output / "cuts.jsonl.gz").unlink()
    with pytest.raises(CorpusError, match="the folder 'audio' does not sound like a person"):
        recordings(output)


def test_a_later_run_keeps_the_cuts_of_an_earlier_one(tmp_path, buzz, command):
    cuts = list(lhotse.CutSet.from_file(manifest(tmp_path, buzz, [["ann"], ["bob"], ["cid"]])))
    command("key", "new", "k")
    options = ("-o", "anon", "-k", "k", "-s", "mcadams", "--workers", "1")
    for part in (cuts[1:], cuts[:1], cuts[1:]):
        lhotse.CutSet.from_cuts(part).to_file(tmp_path / "part.jsonl.gz")
        done = command("anonymize", "part.jsonl.gz", *options)
        assert done.returncode == 0, done.stderr
        found = list(lhotse.CutSet.from_file(tmp_path / "anon" / "cuts.jsonl.gz"))
        ids = [cut.id for cut in found]
        assert ids == [cut.id for cut in (cuts[1:] if len(found) == 2 else cuts)]
    assert len(ids) == 3
    (tmp_path / "anon" / "audio" / "r0.wav").unlink()
    assert command("anonymize", "part.jsonl.gz", *options).returncode == 0
    assert len(list(lhotse.CutSet.from_file(tmp_path / "anon" / "cuts.jsonl.gz"))) == 2


@pytest.mark.parametrize("readable", [True, False])
def test_a_manifest_of_another_program_is_not_replaced(tmp_path, buzz, command, readable):
    source = manifest(tmp_path, buzz, [["ann"]])
    (tmp_path / "anon").mkdir()
    mine = tmp_path / "anon" / "cuts.jsonl.gz"
    mine.write_bytes(source.read_bytes() if readable else b"text")
    before = mine.read_bytes()
    options = ("-o", "anon", "-s", "mcadams", "--workers", "1")
    done = command("anonymize", source, *options)
    assert done.returncode == 1
    why = b"has r0, which" if readable else b"cannot be read"
    assert b"anon/cuts.jsonl.gz: exists already and " + why in done.stderr
    assert mine.read_bytes() == before
    assert command("anonymize", source, *options, "--overwrite").returncode == 0
    assert mine.read_bytes() != before


def test_a_recording_needs_a_speaker(tmp_path, buzz):
    with pytest.raises(CorpusError, match="r0 has no speaker"):
        read_manifest(manifest(tmp_path, buzz, [[]]), tmp_path / "anon")


@pytest.fixture
def conversation(tmp_path):
    """Ann in the first channel and Bob in the second, by turns; then Ann alone in a file."""
    rate = 16000
    time = np.arange(3 * rate) / rate
    noise = 0.01 * np.random.default_rng(0).standard_normal((2, len(time)))
    voices = [0.1 * np.sign(np.sin(2 * np.pi * f0 * time)) for f0 in (120, 210)]
    turns = [time < 1.2, time >= 1.5]
    samples = np.stack([v * t for v, t in zip(voices, turns, strict=True)]) + noise
    soundfile.write(tmp_path / "talk.wav", samples.T, rate, subtype="PCM_24")
    recording = lhotse.Recording.from_file(tmp_path / "talk.wav", recording_id="talk")
    whole = recording.to_cut()
    whole.supervisions = [
        lhotse.SupervisionSegment(
            "t-ann", "talk", 0.0, 1.2, 0, "HELLO", speaker="ann", gender="F",
            alignment={"word": [AlignmentItem("HELLO", 0.1, 0.8)]},
        ),
        lhotse.SupervisionSegment("t-bob", "talk", 1.5, 1.4, 1, "GOOD DAY", speaker="bob"),
    ]  # fmt: skip
    soundfile.write(tmp_path / "alone.wav", samples[0, : 2 * rate], rate)
    alone = lhotse.Recording.from_file(tmp_path / "alone.wav", recording_id="alone").to_cut()
    alone.supervisions = [
        lhotse.SupervisionSegment("a-ann", "alone", 0.3, 1.0, speaker="ann"),
    ]
    return tmp_path, whole, alone


def saved(folder, *cuts):
    path = folder / "cuts.jsonl.gz"
    lhotse.CutSet.from_cuts(cuts).to_file(path)
    return path


def anonymized(source, output, **options):
    corpus = read_inputs([str(source)], output, None, False, **options)
    job = Job("mcadams", {}, Key(bytes(32)), log=output / "log.jsonl")
    summary = run(job, corpus.items)
    corpus.finish(summary)
    return summary, lhotse.CutSet.from_file(output / "cuts.jsonl.gz").to_eager()


def test_every_supervision_of_several_speakers_gets_its_speakers_voice(conversation):
    folder, whole, alone = conversation
    kept = ["text", "alignment"]
    summary, cuts = anonymized(saved(folder, whole, alone), folder / "anon", keep=kept)
    assert (summary.done, summary.failures) == (3, [])
    lhotse.validate(cuts, read_data=True)
    by_id = {cut.supervisions[0].id: cut for cut in cuts}
    assert set(by_id) == {"t-ann", "t-bob", "a-ann"}
    ann, bob = by_id["t-ann"], by_id["t-bob"]
    assert (ann.duration, bob.duration) == (1.2, 1.4)
    assert ann.recording.num_channels == bob.recording.num_channels == 1
    assert soundfile.info(ann.recording.sources[0].source).subtype == "PCM_24"
    supervision = ann.supervisions[0]
    assert (supervision.start, supervision.duration, supervision.text, supervision.gender) == (
        0.0,
        1.2,
        "HELLO",
        "F",
    )
    assert supervision.alignment["word"][0].start == 0.1
    assert by_id["a-ann"].supervisions[0].start == 0.3  # one speaker: cuts stay as they are

    samples, rate = soundfile.read(folder / "talk.wav", always_2d=True, dtype="float32")
    system, key = load("mcadams"), Key(bytes(32))
    for cut, channel, start, speaker in ((ann, 0, 0.0, "ann"), (bob, 1, 1.5, "bob")):
        first = round(start * rate)
        own = torch.from_numpy(samples[first : first + round(cut.duration * rate), channel].copy())
        expected = system(voicenym.Audio(own, rate), key.pseudonym(speaker)).samples
        assert np.abs(cut.load_audio()[0] - expected.numpy()).max() < 2**-22


def test_only_what_supervisions_cover_is_in_the_output(conversation):
    """Neither the pauses between them nor the recording as it was."""
    folder, whole, _ = conversation
    anonymized(saved(folder, whole), folder / "anon")
    names = {p.name for p in (folder / "anon").rglob("*") if p.is_file()}
    assert names == {"t-ann.wav", "t-bob.wav", "cuts.jsonl.gz", "log.jsonl"}


def test_a_supervision_is_held_to_its_cut(conversation):
    """Two cuts of one recording: what a cut left out of a supervision stays out."""
    folder, whole, _ = conversation
    first, second = whole.truncate(duration=1.0), whole.truncate(offset=1.3)
    _, cuts = anonymized(saved(folder, first, second), folder / "anon")
    assert {c.id: c.duration for c in cuts} == {"t-ann": 1.0, "t-bob": 1.4}
    assert cuts["t-ann"].supervisions[0].duration == 1.0


def test_a_supervision_in_cuts_that_overlap_is_made_once(conversation):
    folder, whole, _ = conversation
    again = whole.truncate(offset=1.4)
    again.id = "again"
    plan = read_manifest(saved(folder, whole, again), folder / "anon")
    assert [item.utterance for item in plan.items] == ["t-ann", "t-bob"]


def broken(whole, kind):
    one, two = whole.supervisions
    if kind == "no speaker":
        two.speaker = None
        third = lhotse.SupervisionSegment("t-eve", "talk", 2.0, 0.5, 1, speaker="eve")
        whole.supervisions.append(third)
    elif kind == "same id":
        two.id = one.id
    elif kind == "climbs":
        two.id = "../../up"
    elif kind == "no such channel":
        two.channel = 7
    elif kind == "transformed":
        whole.recording = whole.recording.resample(8000)
    return whole


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("no speaker", "t-bob names no speaker"),
        ("same id", "two supervisions are called t-ann"),
        ("climbs", "cannot be a file name"),
        ("no such channel", "t-bob is in channel 7"),
        ("transformed", "transforms"),
    ],
)
def test_manifests_that_do_not_hold_together_are_refused(conversation, kind, words):
    folder, whole, _ = conversation
    with pytest.raises(CorpusError, match=words):
        read_manifest(saved(folder, broken(whole, kind)), folder / "anon")


def test_recordings_without_supervisions_name_the_command_that_makes_cuts(conversation):
    folder, whole, _ = conversation
    path = folder / "recordings.jsonl.gz"
    lhotse.RecordingSet.from_recordings([whole.recording]).to_file(path)
    with pytest.raises(CorpusError, match="lhotse cut simple"):
        read_manifest(path, folder / "anon")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("hello\n")
    with pytest.raises(CorpusError, match=r"x\.jsonl"):
        read_manifest(path, tmp_path / "anon")
