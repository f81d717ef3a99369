"""A release is whole, verified, tied to its figures, and claims no more than they support."""

from __future__ import annotations

import csv
import dataclasses
import errno
import gzip
import json
import os
import re
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from measured_release import evaluation

from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.recording import Recording
from voicenym.corpus.run_records.run_lock import RunLock
from voicenym.errors import CorpusError, VoicenymError
from voicenym.publication import corpus_release, croissant, published_manifests
from voicenym.publication.corpus_description import read
from voicenym.publication.corpus_release import Request, release
from voicenym.publication.verified_files import verified

pytest.importorskip("mlcroissant")
pytest.importorskip("lhotse")
pytest.importorskip("pyarrow")

ANONYMOUS = re.compile(r"anonym(?:ous|ity)", re.IGNORECASE)


@pytest.fixture
def request_of(anonymized, originals, stated, tmp_path):
    """``request_of(...)``: a request for the corpus with its originals."""

    def make(**changes) -> Request:
        given = {
            "original": originals, "mapping": tmp_path / "mapping.jsonl", **changes
        }  # fmt: skip
        return Request(
            given.pop("corpus", anonymized), tmp_path / "out", read(stated), **given
        )  # fmt: skip

    return make


@pytest.fixture
def nothing_written(tmp_path):
    """After the test, neither the output nor a temporary folder is there."""
    yield
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".voicenym-*"))


def digests(folder):
    return tuple(sorted(sha256_of(path) for path in folder.rglob("*.wav")))


def texts(folder):
    """All text of a publication by path, unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".gz":
            yield path, gzip.decompress(path.read_bytes()).decode()
        elif path.is_file() and path.suffix not in (".wav", ".tar", ".parquet"):
            yield path, path.read_text("utf-8")


def test_a_release_holds_each_file_once_and_unchanged(request_of, anonymized, tmp_path):
    release(request_of())
    out = tmp_path / "out"
    assert digests(out / "audio") == digests(anonymized)
    sums = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text().splitlines())
    there = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert set(sums) == there - {"SHA256SUMS"}
    assert all(sha256_of(out / name) == digest for name, digest in sums.items())


def test_nothing_of_the_originals_or_the_log_is_published(request_of, tmp_path):
    release(request_of())
    for path, text in texts(tmp_path / "out"):
        assert "spoken words" not in text, path
        assert str(tmp_path) not in text, path
        assert "key_check" not in text, path
        assert not re.search(r"\bs[01]\b|\bu[01]\b", text), path


def test_no_text_claims_that_the_data_are_anonymous(request_of, report, anonymized, tmp_path):
    place = report(evaluation(files=digests(anonymized)))
    release(request_of(report=place))
    found = list(texts(tmp_path / "out"))
    assert len(found) > 8
    for path, text in found:
        assert not ANONYMOUS.search(text), path


def test_all_manifests_name_the_same_recordings(request_of, tmp_path):
    import pyarrow.parquet as parquet
    from lhotse import RecordingSet, SupervisionSet

    release(request_of())
    out = tmp_path / "out"
    with (out / "metadata.csv").open() as file:
        rows = {row["utterance"]: row for row in csv.DictReader(file)}
    assert len(rows) == 4
    assert all((out / row["file_name"]).is_file() for row in rows.values())
    scp = dict(line.split(" ", 1) for line in (out / "kaldi/wav.scp").read_text().splitlines())
    assert scp == {name: row["file_name"] for name, row in rows.items()}
    recordings = RecordingSet.from_file(out / "lhotse/recordings.jsonl.gz")
    said = SupervisionSet.from_file(out / "lhotse/supervisions.jsonl.gz")
    speakers = {name: row["speaker"] for name, row in rows.items()}
    assert {one.recording_id: one.speaker for one in said} == speakers
    for one in recordings.with_path_prefix(out):
        assert one.load_audio().shape[1] == one.num_samples
    with tarfile.open(out / "webdataset/shard-000000.tar") as tar:
        names = tar.getnames()
        sound = {n[:-4]: tar.extractfile(n).read() for n in names if n.endswith(".wav")}
    table = parquet.read_table(next(out.glob("data/*.parquet"))).to_pylist()
    for name, row in rows.items():
        content = (out / row["file_name"]).read_bytes()
        assert sound[name] == content
        (kept,) = [one for one in table if one["utterance"] == name]
        assert kept["audio"]["bytes"] == content


def test_the_same_release_has_the_same_bytes(request_of, tmp_path):
    release(request_of())
    first = {p.relative_to(tmp_path / "out"): p.read_bytes() for p in (tmp_path / "out").rglob("*")
             if p.is_file()}  # fmt: skip
    shutil.rmtree(tmp_path / "out")
    release(request_of())
    for path, content in first.items():
        assert (tmp_path / "out" / path).read_bytes() == content, path


def test_croissant_is_accepted_by_its_makers_and_reads_the_table(request_of, tmp_path, caplog):
    import mlcroissant

    release(request_of())
    path = tmp_path / "out" / "croissant.json"
    dataset = mlcroissant.Dataset(str(path))
    assert not dataset.metadata.ctx.issues.errors
    data = json.loads(path.read_text("utf-8"))
    assert data["conformsTo"] == list(croissant.CONFORMS)
    assert data["citeAs"], "recommended by Croissant, and made of the statements if not stated"
    assert not dataset.metadata.ctx.issues.warnings
    assert "not standard" not in caplog.text, "the context is that of Croissant 1.1"
    fields = ("dataCollection", "personalSensitiveInformation", "dataUseCases", "dataLimitations")
    assert all(data[f"rai:{name}"] for name in fields)
    assert len(list(dataset.records("recordings"))) == 4
    data["recordSet"][0]["field"][0]["source"]["extract"]["column"] = "no such column"
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(VoicenymError, match="mlcroissant refuses"):
        croissant.check(path)


def test_figures_of_this_corpus_stand_in_the_card(request_of, report, anonymized, tmp_path):
    place = report(evaluation(files=digests(anonymized)[:3]))
    release(request_of(report=place))
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "on 3 of the 4 files of this corpus" in card
    meter = card[card.index("## Claim meter") :]
    places = [meter.index(f"| {name}") for name in ("semi-informed", "ignorant", "confused")]
    assert places == sorted(places)
    assert meter.index("| key-holder") > max(places)
    assert "| semi-informed, ECAPA | linkability | EER 12.0 % (9.0 to 15.0), chance 50 % |" in card
    assert "| EER | 12.0 % (9.0 to 15.0), chance 50 % | 11.0 % (8.0 to 15.0), chance 50 % |" in card
    assert "| WER, anonymized | 20.0 % (15.0 to 25.0) | – |" in card
    assert "- men: no figures, too few speakers: 2" in card
    record = json.loads((tmp_path / "out" / "claims.json").read_text("utf-8"))
    assert record["figures"][0]["measured_on_these_files"] is True
    assert len(record["figures"][0]["claims"]) == 12


def test_figures_on_other_outputs_are_marked(request_of, report, tmp_path):
    release(request_of(system_report=report(evaluation("recast"))))
    assert "NOT MEASURED ON THESE FILES" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_figures_of_other_settings_are_marked_and_warned_of(request_of, report, tmp_path):
    """Of one system, settings protect more and less."""
    found = evaluation("recast")
    card, other = tmp_path / "out" / "README.md", "OF OTHER SETTINGS"
    done = release(request_of(system_report=report(found), formats=()))
    assert not done.notes
    assert other not in card.read_text("utf-8")
    shutil.rmtree(tmp_path / "out")
    changed = {"name": "recast:bend=0.1", "parameters": {"bend": 0.1}, "per": "utterance"}
    system = dataclasses.replace(found.systems[0], **changed)
    place = report(dataclasses.replace(found, systems=(system,)))
    done = release(request_of(system_report=place, formats=()))
    (note,) = done.notes
    assert "of recast:bend=0.1 with a voice for each utterance, and this corpus was made" in note
    assert "made by recast with a voice for each speaker" in note
    assert other in card.read_text("utf-8")


def test_without_figures_the_card_says_that_nothing_is_known(request_of, tmp_path):
    release(request_of())
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "Nothing is known of its protection" in card


def pairs(tmp_path):
    """Original of each output, by the mapping."""
    lines = (tmp_path / "mapping.jsonl").read_text("utf-8").splitlines()
    return {Path(one["output"]): Path(one["input"]) for one in map(json.loads, lines)}


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("own", [True, False])
def test_an_original_in_place_of_an_output_is_refused(request_of, anonymized, tmp_path, own):
    (output, mine), *_, (_, other) = sorted(pairs(tmp_path).items())
    shutil.copy(mine if own else other, output)
    (anonymized / "voicenym.jsonl").unlink()
    message = "is nearly its original" if own else "is itself one of the originals"
    with pytest.raises(CorpusError, match=f"{output.name}: {message}"):
        release(request_of())


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("seconds", [0.2, 0.5])
def test_an_original_after_silence_is_refused(request_of, anonymized, tmp_path, seconds):
    """Its length is not that of the original, as if the tempo had been changed."""
    (output, mine), *_ = sorted(pairs(tmp_path).items())
    sound, rate = soundfile.read(mine)
    longer = np.concatenate([np.zeros(round(seconds * rate)), 0.95 * sound])
    soundfile.write(output, longer, rate, "PCM_16")
    (anonymized / "voicenym.jsonl").unlink()
    with pytest.raises(CorpusError, match=f"{output.name}: is nearly its original"):
        release(request_of())


def test_an_output_that_anonymize_accepted_is_accepted(tmp_path):
    """The comparison is that of voicenym anonymize: samples that correlate are no copy yet."""
    at = np.arange(3 * 16000) / 16000
    tone, rng = 0.3 * np.sin(2 * np.pi * 130 * at), np.random.default_rng(0)
    for name in ("before", "after"):
        soundfile.write(tmp_path / f"{name}.wav", tone + 0.03 * rng.standard_normal(len(at)), 16000)
    made = Recording("a", "ann", tmp_path / "after.wav")
    line = {"system": "vtln", "sha256": sha256_of(made.path)}
    original = Recording("a", "ann", tmp_path / "before.wav")
    assert verified(made, line, original).compared


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"text"), "is not a recording"),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "truncated"),
        (lambda path: path.write_bytes(path.read_bytes() + b"anna"), "holds more than sound"),
        (lambda path: soundfile.write(path, np.zeros(9600), 16000), "SHA-256"),
    ],
)
def test_a_file_that_must_not_be_published_is_named(request_of, anonymized, change, message):
    path = sorted(anonymized.rglob("*.wav"))[1]
    change(path)
    with pytest.raises(CorpusError, match=f"{path.name}.*{message}.*1 of 4 files must not"):
        release(request_of())


def test_what_a_corpus_lacks_is_said_and_a_working_run_is_waited_for(request_of, anonymized):
    lock = RunLock(anonymized)
    lock.acquire()
    with pytest.raises(CorpusError, match=r"a run works in this folder.*voicenym status"):
        release(request_of())
    lock.release()
    path = next(anonymized.rglob("*.wav"))
    path.unlink()
    with (anonymized / "voicenym.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"output": "b/5.wav", "error": "failed"}) + "\n")
    assert list(release(request_of(formats=())).notes) == [
        "1 recording failed in the run and is not in the corpus",
        "1 output of the log is not in the corpus any more",
        "1 of 4 originals are not in the corpus",
    ]


@pytest.mark.usefixtures("nothing_written")
def test_recordings_without_log_and_originals_are_refused(request_of, anonymized):
    (anonymized / "voicenym.jsonl").unlink()
    with pytest.raises(CorpusError, match="nothing shows that it was anonymized"):
        release(request_of(original=None, mapping=None))


@pytest.mark.usefixtures("nothing_written")
def test_another_recording_in_place_of_the_output_is_refused(request_of, anonymized):
    (anonymized / "voicenym.jsonl").unlink()
    path = next(anonymized.rglob("*.wav"))
    sound, rate = soundfile.read(path)
    soundfile.write(path, np.tile(sound, 3), rate, "PCM_16")
    with pytest.raises(CorpusError, match="they are not of one recording"):
        release(request_of())


def test_names_of_the_originals_are_published_only_if_asked(command, originals, stated, tmp_path):
    anonymized = tmp_path / "named"
    command("anonymize", originals, "-o", anonymized, "--system", "recast", "--workers", "1")
    request = Request(anonymized, tmp_path / "out", read(stated), original=originals)
    with pytest.raises(CorpusError, match=r"4 recordings have the names.*--keep names"):
        release(request)
    release(dataclasses.replace(request, keep=("names",), formats=()))
    assert "whoever has the originals" in (tmp_path / "out" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("rename", [False, True])
def test_names_in_tables_are_published_only_if_asked(command, originals, stated, tmp_path, rename):
    """A Kaldi folder names utterances and speakers otherwise than the original's file."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "wav.scp").write_text(f"anna-0 {originals}/s0/u0.wav\nanna-1 {originals}/s0/u1.wav\n")
    (data / "utt2spk").write_text("anna-0 anna\nanna-1 anna\n")
    options = ["--rename"] if rename else []
    done = command(
        "anonymize", data, "-o", tmp_path / "anon", "-s", "recast", "--workers", "1", *options
    )
    assert done.returncode == 0, done.stderr
    request = Request(tmp_path / "anon", tmp_path / "out", read(stated), formats=("kaldi",))
    if not rename:
        with pytest.raises(CorpusError, match=r"anna-0: 2 recordings have the names.*--keep names"):
            release(request)
        request = dataclasses.replace(request, keep=("names",))
    release(request)
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert ("are not those of the originals" in card) == rename
    assert ("anna" in (tmp_path / "out/kaldi/utt2spk").read_text()) != rename


def test_names_of_an_older_log_count_as_those_of_the_originals(request_of, anonymized):
    log = anonymized / "voicenym.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert all(line.pop("renamed") for line in lines[:2])
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with pytest.raises(CorpusError, match="no log shows that their names were drawn"):
        release(request_of())


def test_a_speaker_of_the_mapping_counts_as_a_name(request_of, anonymized, tmp_path):
    """Drawn names of files do not help where the speaker's folder has the old name."""
    mapping = tmp_path / "mapping.jsonl"
    lines = [json.loads(line) for line in mapping.read_text("utf-8").splitlines()]
    lines[0]["speaker"] = Path(lines[0]["output"]).parent.name
    mapping.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with pytest.raises(CorpusError, match="1 recording has the name"):
        release(request_of())


def test_a_mapping_of_another_place_says_where_its_outputs_were(request_of, anonymized, tmp_path):
    moved = anonymized.rename(tmp_path / "moved")
    with pytest.raises(CorpusError, match=rf"outputs in {re.escape(str(anonymized))}; .*move it"):
        release(dataclasses.replace(request_of(), corpus=moved))


def test_a_mapping_is_read_from_any_folder(command, originals, stated, tmp_path, monkeypatch):
    command("key", "new", "k")
    options = ("-o", "anon", "-k", "k", "--rename", "-s", "recast", "--workers", "1")
    done = command("anonymize", originals.name, *options, "--mapping", "map")
    assert done.returncode == 0, done.stderr
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    request = Request(
        tmp_path / "anon", tmp_path / "out", read(stated), mapping=tmp_path / "map", formats=()
    )
    assert all(one.compared for one in release(request).files)
    shutil.rmtree(tmp_path / "out")
    # a mapping of an earlier version
    mapping = tmp_path / "map"
    mapping.write_text(mapping.read_text("utf-8").replace(f"{tmp_path}/", ""), "utf-8")
    with pytest.raises(CorpusError, match="release in that folder"):
        release(request)
    monkeypatch.chdir(tmp_path)
    release(request)
    done = command("anonymize", originals.name, *options, "--mapping", "map")
    assert done.returncode == 0, done.stderr
    assert mapping.read_text("utf-8").count(f'"output": "{tmp_path}/') == 4
    assert len(mapping.read_text("utf-8").splitlines()) == 4


def test_labels_are_published_only_if_asked(request_of, anonymized, tmp_path):
    with pytest.raises(CorpusError, match=r"--keep text: no recording of .* has it"):
        release(request_of(keep=("text",)))
    for path in anonymized.rglob("*.wav"):
        path.with_suffix(".txt").write_text("what was said", "utf-8")
    release(request_of(formats=("kaldi",)))
    assert "what was said" not in (tmp_path / "out" / "metadata.csv").read_text("utf-8")
    shutil.rmtree(tmp_path / "out")
    release(request_of(formats=("kaldi",), keep=("text",)))
    assert (tmp_path / "out" / "kaldi" / "text").read_text("utf-8").count("what was said") == 4


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_disk_that_fails_leaves_nothing(request_of, monkeypatch, code):
    def full(*arguments):
        raise OSError(code, "no")

    monkeypatch.setitem(published_manifests.FORMATS, "parquet", full)
    with pytest.raises(CorpusError, match=r"disk is full|no permission"):
        release(request_of())


def test_an_output_that_exists_is_kept(request_of, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(CorpusError, match="exists already"):
        release(request_of())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_corpus_that_is_not_there_is_named(request_of, tmp_path):
    missing = dataclasses.replace(request_of(), corpus=tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="nowhere: does not exist; give the anonymized corpus"):
        release(missing)


def test_an_output_within_the_corpus_is_refused(request_of, anonymized):
    inside = dataclasses.replace(request_of(), output=anonymized / "out")
    with pytest.raises(CorpusError, match="lies in the corpus"):
        release(inside)


def in_two_names(anonymized, one, two):
    """A corpus without a log, whose first two recordings have these names."""
    (anonymized / "voicenym.jsonl").unlink()
    first, second, *_ = sorted(anonymized.rglob("*.wav"))
    names = [first.with_name(one), first.with_name(two)]
    for path, name in zip((first, second), names, strict=True):
        path.rename(name)
    return names


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        ("a.1.wav", "a_1.wav", "-a_1: two recordings.*--format"),
        ("Anna.wav", "anna.wav", "-anna: two recordings.* or .*-Anna, which some systems"),
        ("\u00e9.wav", "e\u0301.wav", "two recordings.*which some systems"),
    ],
)
def test_recordings_of_one_name_are_refused(
    request_of, anonymized, originals, tmp_path, one, two, message
):
    outputs = sorted(path for path in pairs(tmp_path))
    inputs = pairs(tmp_path)
    moved = dict(zip(outputs, in_two_names(anonymized, one, two), strict=False))
    lines = [
        {"input": str(inputs[path]), "speaker": "x", "output": str(moved.get(path, path))}
        for path in outputs
    ]
    mapping = tmp_path / "mapping.jsonl"
    mapping.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with pytest.raises(CorpusError, match=message):
        release(request_of(formats=("webdataset",)))


def test_long_names_fit_into_shards(request_of, anonymized, tmp_path):
    name = "a" * 150
    (path, *_) = sorted(anonymized.rglob("*.wav"))
    path.rename(path.with_name(f"{name}.wav"))
    mapping = tmp_path / "mapping.jsonl"
    mapping.write_text(mapping.read_text("utf-8").replace(path.stem, name), "utf-8")
    log = anonymized / "voicenym.jsonl"
    log.write_text(log.read_text("utf-8").replace(path.stem, name), "utf-8")
    release(request_of(formats=("webdataset",)))
    with tarfile.open(tmp_path / "out/webdataset/shard-000000.tar") as tar:
        assert f"{path.parent.name}-{name}.wav" in {n.replace("/", "-") for n in tar.getnames()}


def test_large_corpora_have_several_shards(request_of, monkeypatch, tmp_path):
    monkeypatch.setattr(published_manifests, "SHARD_BYTES", 20_000)
    release(request_of(formats=("webdataset", "parquet")))
    out = tmp_path / "out"
    assert len(list(out.glob("webdataset/*.tar"))) == 4
    assert (out / "data" / "train-00003-of-00004.parquet").is_file()
    assert corpus_release.CHECKSUMS in {path.name for path in out.iterdir()}


def test_shards_without_originals_are_refused(request_of, tmp_path, nothing_written):
    """Their log has a line for each shard, and none for a recording in it."""
    from shard_material import web_shard

    shards = web_shard(tmp_path / "shards/0.tar", range(2)).parent
    with pytest.raises(CorpusError, match=r"shards: holds shards, .* give --original"):
        release(request_of(corpus=shards, original=None, mapping=None))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_place_of_a_mapping_is_not_waited_for(request_of, tmp_path, nothing_written):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VoicenymError, match="pipe: is a pipe; give a file"):
        release(request_of(mapping=tmp_path / "pipe"))
