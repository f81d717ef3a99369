"""Recordings of object stores for measurements: folders, shards, Kaldi's and lhotse's tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from s3_server import fsspec, kaldi_folder, upload, upload_text
from shard_material import sound, web_shard

from voicenym.errors import CorpusError


def test_measurements_read_stores(store, tmp_path, temporary):
    """Shards, folders of speakers with texts, and a manifest that names a file of this machine."""
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.stores.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    for name in ("ann/1", "ann/2", "bob/1"):
        path = tmp_path / f"in/files/{name}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(len(name)))
        path.with_suffix(".txt").write_text("hello")
    web_shard(tmp_path / "in/shards/a.tar", range(3))
    upload(tmp_path / "in", "s3://corpus/in")
    with private_copies():
        found = recordings(Path("s3://corpus/in/files"))
        there = recordings(tmp_path / "in/files")
        assert [(r.name, r.speaker, r.text, r.digest()) for r in found] == [
            (r.name, r.speaker, r.text, r.digest()) for r in there
        ]
        assert found[0].place == "s3://corpus/in/files/ann/1.wav"
        shards = recordings(Path("s3://corpus/in/shards"))
        assert [one.speaker for one in shards] == ["0", "1", "0"]
        rows = ["utterance\tpath\tspeaker", "u1\tann/1.wav\tann", f"u2\t{path}\tbob"]
        upload_text("\n".join(rows), "s3://corpus/in/files/manifest.tsv")
        left_out = LeftOut()
        (one,) = recordings(Path("s3://corpus/in/files"), left_out=left_out)
        assert (one.name, one.speaker) == ("u1", "ann")
        assert "names a file outside of its folder" in left_out.summary()
    assert list(temporary.glob(".voicenym-*")) == []


def test_kaldi_folders_of_a_store_are_read_and_name_nothing_outside(store, tmp_path, temporary):
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.stores.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    elsewhere = tmp_path / "elsewhere/secret.wav"
    for number, place in enumerate(["in/dev/wav/1.wav", "in/dev/wav/2.wav", "in/sound/3.wav"]):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(sound(number))
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(sound(9))
    kaldi_folder(
        tmp_path / "in/dev",
        {
            "ann-1": "/data/of/others/1.wav",  # the folder was moved
            "ann-2": "wav/2.wav",
            "bob-3": "s3://corpus/in/sound/3.wav",
            "bob-4": str(elsewhere),
            "bob-5": "../../elsewhere/secret.wav",
            "bob-6": "s3://corpus/other/6.wav",
        },
        spk2gender="ann f\nbob m\n",
        text="ann-1 hello\n",
    )
    upload(tmp_path / "in", "s3://corpus/in")
    fsspec.filesystem("s3").pipe_file("s3://corpus/other/6.wav", sound(6))
    left_out = LeftOut()
    with private_copies():
        found = recordings(Path("s3://corpus/in"), left_out=left_out)
        assert [(r.name, r.speaker, r.sex, r.text, r.place) for r in found] == [
            ("ann-1", "ann", "f", "hello", "s3://corpus/in/dev/wav/1.wav"),
            ("ann-2", "ann", "f", "", "s3://corpus/in/dev/wav/2.wav"),
            ("bob-3", "bob", "m", "", "s3://corpus/in/sound/3.wav"),
        ]
        for one, place in zip(found, ("dev/wav/1", "dev/wav/2", "sound/3"), strict=True):
            assert one.path.read_bytes() == (tmp_path / f"in/{place}.wav").read_bytes()
    assert left_out.named() == {"bob-4", "bob-5", "bob-6"}
    assert "s3://corpus/in/dev/wav/6.wav: missing; restore it" in left_out.summary()
    assert str(temporary) not in left_out.summary()
    with private_copies():
        upload_text("ann-1 echo gone > gone.txt |", "s3://corpus/in/dev/wav.scp")
        upload_text("ann-1 ann", "s3://corpus/in/dev/utt2spk")
        with pytest.raises(CorpusError, match=r"s3://corpus/in/dev/wav\.scp: .* is a command"):
            recordings(Path("s3://corpus/in"), allow_pipes=True)
        upload_text("ann-1 /a/b/1.wav", "s3://corpus/only/wav.scp")
        with pytest.raises(CorpusError, match=r"only/wav\.scp: names recordings, and there"):
            recordings(Path("s3://corpus/only"))
    assert list(temporary.glob(".voicenym-*")) == []


def test_segments_of_a_store_are_cut_as_on_this_machine(store, tmp_path, temporary):
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.stores.private_copies import private_copies

    path = tmp_path / "in/wav/day.wav"
    path.parent.mkdir(parents=True)
    path.write_bytes(sound(1, seconds=1.0))
    kaldi_folder(
        tmp_path / "in",
        {"day": str(path)},
        segments="ann-1 day 0.1 0.5\nbob-1 day 0.5 -1\n",
        utt2spk="ann-1 ann\nbob-1 bob\n",
    )
    upload(tmp_path / "in", "s3://corpus/in")
    with private_copies():
        found = recordings(Path("s3://corpus/in"))
        there = recordings(tmp_path / "in")
        assert [(r.name, r.speaker, r.digest()) for r in found] == [
            (r.name, r.speaker, r.digest()) for r in there
        ]


def test_lhotse_manifests_of_a_store_are_read_and_name_nothing_outside(
    store, tmp_path, temporary, monkeypatch
):
    lhotse = pytest.importorskip("lhotse")
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.shards.stores.private_copies import private_copies
    from voicenym.corpus.skipped import LeftOut

    cuts = []
    for number in range(4):
        path = tmp_path / f"in/sound/{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sound(number))
        recording = lhotse.Recording.from_file(path, recording_id=f"r{number}")
        recording.sources[0].source = f"sound/{number}.wav"
        cut = recording.to_cut()
        cut.supervisions = [
            lhotse.SupervisionSegment(
                f"u{number}", f"r{number}", 0.0, 0.4, speaker=f"s{number % 2}"
            )
        ]
        cuts.append(cut)
    cuts[1].recording.sources[0].type = "url"
    cuts[1].recording.sources[0].source = "s3://corpus/in/sound/1.wav"
    cuts[2].recording.sources[0].source = str(tmp_path / "in/sound/2.wav")  # of this machine
    cuts[3].recording.sources[0].source = "sound/../../in/sound/3.wav"
    lhotse.CutSet.from_cuts(cuts).to_file(tmp_path / "in/cuts.jsonl.gz")
    upload(tmp_path / "in", "s3://corpus/in")
    left_out = LeftOut()
    with private_copies():
        found = recordings(Path("s3://corpus/in/cuts.jsonl.gz"), left_out=left_out)
        assert [(r.name, r.speaker, r.start, r.end, r.place) for r in found] == [
            ("u0", "s0", 0.0, 0.4, "s3://corpus/in/sound/0.wav"),
            ("u1", "s1", 0.0, 0.4, "s3://corpus/in/sound/1.wav"),
        ]
        assert [r.path.read_bytes() for r in found] == [sound(0), sound(1)]
        assert left_out.named() == {"u2", "u3"}
        assert "put the recording there, or take its cut out" in left_out.summary()
        upload_text("{}", "s3://corpus/in/bad.jsonl")
        with pytest.raises(CorpusError, match=r"s3://corpus/in/bad\.jsonl: not a lhotse manifest"):
            recordings(Path("s3://corpus/in/bad.jsonl"))
    assert list(temporary.glob(".voicenym-*")) == []
