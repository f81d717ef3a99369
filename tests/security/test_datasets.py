"""Data sets: drawn names in every table, no free text by default, no paths outside the folder."""

from __future__ import annotations

import gzip
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicenym.apps.cli.anonymizing.anonymize_inputs import read_inputs
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.plans.kaldi_plan import read_kaldi
from voicenym.corpus.recordings import recordings
from voicenym.corpus.run_records.run_log import LOG_NAME
from voicenym.errors import CorpusError, VoicenymError
from voicenym.pseudonym import Key

KEY = Key(bytes(range(32)))
NAMES = ("jane", "doe", "smith", "interview", "talk", "HELLO", "secret")
"""Parts of all names and texts of the data sets below."""


@pytest.fixture
def buzz(tmp_path):
    def make(name, seconds=1.0):
        time = np.arange(round(seconds * 16000)) / 16000
        signal = 0.1 * np.sign(np.sin(2 * np.pi * 120 * time)) * np.sin(2 * np.pi * 2 * time)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(1).standard_normal(len(time))
        soundfile.write(path, signal + 0.01 * noise, 16000)
        return path

    return make


@pytest.fixture
def kaldi(tmp_path, buzz):
    """A folder with every table that the field knows."""
    folder = tmp_path / "data"
    folder.mkdir()
    one, two = buzz("audio/interviewjane.wav", 2.0), buzz("audio/talksmith.wav", 1.0)
    tables = {
        "wav.scp": f"interview1 {one}\ntalk2 {two}\n",
        "segments": "janedoe-1 interview1 0.25 1.0\nsmith-1 interview1 1.0 1.75\n"
        "janedoe-2 talk2 0.0 -1\n",
        "utt2spk": "janedoe-1 janedoe\nsmith-1 smith\njanedoe-2 janedoe\n",
        "spk2utt": "janedoe janedoe-1 janedoe-2\nsmith smith-1\n",
        "text": "janedoe-1 HELLO\nsmith-1 HELLO secret\njanedoe-2 HELLO\n",
        "spk2gender": "janedoe f\nsmith m\n",
        "utt2lang": "janedoe-1 en\nsmith-1 de\njanedoe-2 en\n",
        "utt2dur": "janedoe-1 0.75\nsmith-1 0.75\njanedoe-2 1.0\n",
        "reco2dur": "interview1 2.0\ntalk2 1.0\n",
        "utt2age": "janedoe-1 31\nsmith-1 64\njanedoe-2 31\n",
        "feats.scp": "janedoe-1 secret.ark:10\n",
        "cmvn.scp": "janedoe secret.ark:10\n",
        "vad.scp": "janedoe-1 secret.ark:10\n",
        "reco2file_and_channel": "interview1 secret A\n",
        "stm": "interview1 A janedoe 0 1 HELLO\n",
    }
    for name, text in tables.items():
        (folder / name).write_text(text)
    return folder


def anonymized(source, output, *, rename=False, allow_pipes=False, **options):
    names = KEY if rename else None
    corpus = read_inputs([str(source)], output, None, allow_pipes, names=names, **options)
    job = Job("mcadams", {}, KEY, log=output / LOG_NAME, opaque=rename)
    summary = run(job, corpus.items)
    corpus.finish(summary)
    return summary


def table(path):
    rows = [line.split(" ", 1) for line in path.read_text().splitlines()]
    assert [r[0] for r in rows] == sorted((r[0] for r in rows), key=str.encode)
    return dict(rows)


def tells_nothing(output, *names):
    """No original name in any file's name or in what any file holds."""
    for path in output.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        for name in names:
            assert name not in path.relative_to(output).as_posix()
            assert name.encode() not in data, (path, name)


# Drawn names.


def test_kaldi_ids_are_drawn_in_every_table(kaldi, tmp_path):
    output = tmp_path / "out"
    assert anonymized(kaldi, output, rename=True).done == 3
    tells_nothing(output, *NAMES)
    utt2spk = table(output / "utt2spk")
    assert len(utt2spk) == 3
    assert len(set(utt2spk.values())) == 2
    assert all(utterance.startswith(speaker + "-") for utterance, speaker in utt2spk.items())
    scp = table(output / "wav.scp")
    assert set(scp) == set(utt2spk)
    durations = {u: float(d) for u, d in table(output / "utt2dur").items()}
    for utterance, path in scp.items():
        assert Path(path).stem == utterance
        assert soundfile.info(path).duration == durations[utterance]
    long = next(u for u, d in durations.items() if d == 1.0)
    janedoe = utt2spk[long]
    spk2utt = table(output / "spk2utt")
    assert spk2utt[janedoe] == " ".join(sorted(u for u, s in utt2spk.items() if s == janedoe))
    assert table(output / "spk2gender")[janedoe] == "f"
    assert table(output / "utt2lang")[long] == "en"
    assert {p.name for p in output.iterdir()} == {
        "wav", "wav.scp", "utt2spk", "spk2utt", "spk2gender", "utt2lang", "utt2dur", LOG_NAME,
    }  # fmt: skip
    # by the key alone: another key draws other names, and folders of one key agree
    assert janedoe == KEY.tag("speaker", "janedoe")[:16]


def test_kaldi_voices_do_not_depend_on_renaming(kaldi, tmp_path):
    anonymized(kaldi, tmp_path / "a")
    anonymized(kaldi, tmp_path / "b", rename=True)
    plain, drawn = (
        sorted(p.read_bytes() for p in (tmp_path / n / "wav").iterdir()) for n in ("a", "b")
    )
    assert plain == drawn


def test_a_table_that_is_kept_has_the_drawn_ids_too(kaldi, tmp_path):
    output = tmp_path / "out"
    anonymized(kaldi, output, rename=True, keep=["text", "utt2age"])
    tells_nothing(output, "jane", "doe", "smith", "interview", "talk")
    assert set(table(output / "text")) == set(table(output / "utt2spk"))
    assert sorted(table(output / "utt2age").values()) == ["31", "31", "64"]


def test_recordings_lengths_travel_where_recordings_are_utterances(kaldi, tmp_path):
    (kaldi / "segments").unlink()
    (kaldi / "utt2spk").write_text("interview1 janedoe\ntalk2 smith\n")
    anonymized(kaldi, tmp_path / "out", rename=True)
    assert sorted(table(tmp_path / "out/reco2dur").values()) == ["1.0", "2.0"]
    tells_nothing(tmp_path / "out", *NAMES)


@pytest.fixture
def lhotse():
    return pytest.importorskip("lhotse")


@pytest.fixture
def cuts(tmp_path, buzz, lhotse):
    """A recording of one speaker and one of two, with everything that lhotse can hold."""
    item = pytest.importorskip("lhotse.supervision").AlignmentItem
    made = []
    for name, speakers in (("interviewjane", ["janedoe"]), ("talk", ["janedoe", "smith"])):
        recording = lhotse.Recording.from_file(
            buzz(f"audio/{name}.wav", 2.0), recording_id=f"{name}-recording"
        )
        cut = recording.to_cut()
        cut.id = f"{name}-cut"
        cut.custom = {"note": "secret", "mos": 4.5}
        cut.supervisions = [
            lhotse.SupervisionSegment(
                id=f"{name}-{speaker}",
                recording_id=recording.id,
                start=0.9 * number,
                duration=0.8,
                text="HELLO secret",
                language="en",
                speaker=speaker,
                gender="F",
                custom={"comment": "secret", "age": 31},
                alignment={"word": [item("HELLO", 0.9 * number + 0.1, 0.3)]},
            )
            for number, speaker in enumerate(speakers)
        ]
        made.append(cut)
    return made


def saved(tmp_path, lhotse, *cuts):
    path = tmp_path / "cuts.jsonl.gz"
    lhotse.CutSet.from_cuts(cuts).to_file(path)
    return path


def lines(output):
    with gzip.open(output / "cuts.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def test_lhotse_ids_are_drawn_everywhere(tmp_path, lhotse, cuts):
    output = tmp_path / "out"
    assert anonymized(saved(tmp_path, lhotse, *cuts), output, rename=True).done == 3
    tells_nothing(output, *NAMES)
    found = lhotse.CutSet.from_file(output / "cuts.jsonl.gz").to_eager()
    lhotse.validate(found, read_data=True)
    assert len(found) == 3
    assert [cut.id for cut in found] == sorted(cut.id for cut in found)
    speakers = [s.speaker for cut in found for s in cut.supervisions]
    assert sorted(speakers) == sorted(
        KEY.tag("speaker", name)[:16] for name in ("janedoe", "janedoe", "smith")
    )
    for cut in found:
        assert Path(cut.recording.sources[0].source).stem == cut.recording.id
        assert all(s.recording_id == cut.recording.id for s in cut.supervisions)
        assert cut.supervisions[0].gender == "F"
    ids = [i for c in found for i in (c.id, c.recording.id, *(s.id for s in c.supervisions))]
    assert all(len(i) == 16 for i in ids)


def test_the_new_manifest_holds_neither_its_name_nor_a_date(tmp_path, lhotse, cuts):
    output = tmp_path / "out"
    anonymized(saved(tmp_path, lhotse, *cuts), output, rename=True)
    head = (output / "cuts.jsonl.gz").read_bytes()[:10]
    assert head[3] == 0  # no name
    assert head[4:8] == bytes(4)  # no time


# Free text and custom fields.


def test_free_text_and_custom_fields_stay_behind(tmp_path, lhotse, cuts):
    output = tmp_path / "out"
    anonymized(saved(tmp_path, lhotse, *cuts), output)
    tells_nothing(output, "secret", "HELLO", "mos")
    for line in lines(output):
        assert not line.get("custom")
        for one in line["supervisions"]:
            assert set(one) <= {
                "id", "recording_id", "start", "duration", "channel", "language", "speaker",
                "gender",
            }  # fmt: skip
            assert (one["language"], one["gender"]) == ("en", "F")


def test_what_is_named_travels_and_nothing_else(tmp_path, lhotse, cuts):
    output = tmp_path / "out"
    keep = ["text", "alignment", "age", "mos"]
    anonymized(saved(tmp_path, lhotse, *cuts), output, keep=keep)
    found = lines(output)
    for line in found:
        (one,) = line["supervisions"]
        assert one["text"] == "HELLO secret"
        assert one["alignment"]["word"][0][0] == "HELLO"
        assert one["custom"] == {"age": 31}
    assert [line.get("custom") for line in found].count({"mos": 4.5}) == 1
    assert "note" not in json.dumps(found)
    assert "comment" not in json.dumps(found)


def test_a_custom_field_never_brings_the_original_along(tmp_path, lhotse, cuts):
    cuts[0].custom["clean"] = cuts[1].recording
    source = saved(tmp_path, lhotse, *cuts)
    anonymized(source, tmp_path / "out")
    assert "talk.wav" not in json.dumps(lines(tmp_path / "out"))
    with pytest.raises(CorpusError, match="original voice"):
        anonymized(source, tmp_path / "two", keep=["clean"])


@pytest.mark.parametrize("value", ["UklGRg" * 1000, [0.25] * 16_000, {"wav": ["UklGRg" * 1000]}])
def test_a_custom_field_that_holds_sound_is_refused(tmp_path, lhotse, cuts, value):
    cuts[0].custom["clean"] = value
    with pytest.raises(CorpusError, match="original voice"):
        anonymized(saved(tmp_path, lhotse, *cuts), tmp_path / "out", keep=["clean"])


def test_free_text_in_a_label_is_refused(tmp_path, lhotse, cuts, kaldi):
    cuts[0].supervisions[0].gender = "F, Jane Doe"
    with pytest.raises(CorpusError, match="--keep gender"):
        anonymized(saved(tmp_path, lhotse, *cuts), tmp_path / "out")
    (kaldi / "spk2gender").write_text("janedoe f Jane Doe\nsmith m\n")
    with pytest.raises(CorpusError, match="--keep spk2gender"):
        anonymized(kaldi, tmp_path / "out")


def test_kaldis_text_stays_behind_unless_named(kaldi, tmp_path):
    anonymized(kaldi, tmp_path / "a")
    tells_nothing(tmp_path / "a", "HELLO", "secret")
    anonymized(kaldi, tmp_path / "b", keep=["text"])
    assert table(tmp_path / "b/text")["smith-1"] == "HELLO secret"


def test_names_that_cannot_be_kept_are_refused(kaldi, tmp_path, lhotse, cuts, buzz):
    for name, word in (
        ("feats.scp", "computed from the original"),
        ("../data/text", "no table"),
        ("wav.scp", "written anew"),
        ("nothere", "there is no"),
    ):
        with pytest.raises(CorpusError, match=word):
            anonymized(kaldi, tmp_path / "out", keep=[name])
    with pytest.raises(CorpusError, match=r"in no cut of .*there are: .*comment"):
        anonymized(saved(tmp_path, lhotse, *cuts), tmp_path / "out", keep=["nothere"])
    buzz("tree/anna/1.wav")
    with pytest.raises(VoicenymError, match="--keep is for"):
        anonymized(tmp_path / "tree", tmp_path / "out", keep=["text"])
    assert not (tmp_path / "out").exists()


# Hostile tables.


def snapshot(folder, *, without):
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.is_relative_to(without)
    }


UP = "..{0}..{0}up".format
IDS = {
    "climbs": UP("/"),
    "climbs back": UP("\\"),
    "two dots": "..",
    "one dot": ".",
    "hidden": ".bashrc",
    "absolute": "/tmp/voicenym-absolute",
    "slash": "a/b",
    "control": "a\x1b[2J",
    "return": "a\rb",
    "nul": "a\0b",
    "long": "x" * 300,
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("rename", [False, True])
def test_a_kaldi_id_never_leads_out_of_the_output(kind, rename, tmp_path, buzz):
    wav, data, output = buzz("audio/1.wav", 0.3), tmp_path / "data", tmp_path / "deep/er/out"
    data.mkdir()
    (data / "wav.scp").write_bytes(f"{IDS[kind]} {wav}\n".encode())
    (data / "utt2spk").write_bytes(f"{IDS[kind]} ann\n".encode())
    before = snapshot(tmp_path, without=output)
    with pytest.raises(CorpusError) as caught:
        anonymized(data, output, rename=rename)
    assert "data" in str(caught.value)
    assert str(caught.value).isprintable()
    assert snapshot(tmp_path, without=output) == before
    assert not Path("/tmp/voicenym-absolute.wav").exists()


def test_a_newline_of_another_kind_starts_no_second_row(tmp_path, buzz):
    """Kaldi knows one end of line; Python's splitlines knows ten."""
    wav, data = buzz("audio/1.wav", 0.3), tmp_path / "data"
    data.mkdir()
    for end in ("\u2028", "\x85", "\x1c", "\x0c"):
        (data / "wav.scp").write_text(f"a {wav}\n")
        (data / "utt2spk").write_text("a ann\n")
        (data / "text").write_text(f"a one{end}../../up two\n")
        output = tmp_path / f"out{ord(end)}"
        anonymized(data, output, keep=["text"])
        assert (output / "text").read_text().count("\n") == 1
        (data / "utt2spk").write_bytes(f"a ann{end}eve\n".encode())
        with pytest.raises(CorpusError, match="utt2spk"):
            read_kaldi(data, output)


@pytest.mark.parametrize("speaker", ["a b", "a\x07b", "a\tb", "a\u2028b"])
def test_speakers_of_tables_are_single_words(speaker, kaldi, tmp_path):
    (kaldi / "utt2spk").write_text(
        f"janedoe-1 {speaker}\nsmith-1 smith\njanedoe-2 janedoe\n", "utf-8"
    )
    with pytest.raises(CorpusError, match="utt2spk"):
        read_kaldi(kaldi, tmp_path / "out")


@pytest.mark.parametrize("times", ["nan 1", "0 nan", "0 inf", "-1 1", "nan -1", "-2 -1", "0 1e300"])
def test_times_are_seconds(times, kaldi, tmp_path):
    (kaldi / "segments").write_text(f"janedoe-1 interview1 {times}\n")
    with pytest.raises(CorpusError, match="segments"):
        read_kaldi(kaldi, tmp_path / "out")


def test_a_table_may_name_any_file_but_only_speech_comes_out(tmp_path, buzz):
    """/etc/passwd, a folder, nothing: each fails by name, the rest goes on, nothing is copied."""
    wav, data, output = buzz("audio/1.wav"), tmp_path / "data", tmp_path / "out"
    data.mkdir()
    entries = {"a": wav, "b": "/etc/passwd", "c": "/etc", "d": "/not/here", "e": "x" * 5000}
    (data / "wav.scp").write_text("".join(f"{n} {path}\n" for n, path in entries.items()))
    (data / "utt2spk").write_text("".join(f"{n} spk\n" for n in entries))
    summary = anonymized(data, output)
    assert (summary.done, len(summary.failures)) == (1, 4)
    assert [p.name for p in (output / "wav").iterdir()] == ["a.wav"]
    assert table(output / "utt2spk") == {"a": "spk"}
    assert "root:" not in str(summary.failures)


@pytest.mark.skipif(os.name != "posix", reason="needs devices")
def test_devices_and_pipes_are_no_recordings(tmp_path, buzz, lhotse, cuts):
    """They never end, or never begin."""
    data, fifo = tmp_path / "data", tmp_path / "fifo.wav"
    data.mkdir()
    os.mkfifo(fifo)
    (data / "utt2spk").write_text("a spk\n")
    for entry in ("/dev/zero", "/dev/stdin", fifo):
        if not stat.S_ISREG(os.stat(entry).st_mode):
            (data / "wav.scp").write_text(f"a {entry}\n")
            for read in (lambda: read_kaldi(data, tmp_path / "out"), lambda: recordings(data)):
                with pytest.raises(CorpusError, match=r"wav.scp: .* is a device or a pipe"):
                    read()
    cuts[0].recording.sources[0].source = str(fifo)
    source = saved(tmp_path, lhotse, cuts[0])
    for read in (lambda: anonymized(source, tmp_path / "out"), lambda: recordings(source)):
        with pytest.raises(CorpusError, match="is a device or a pipe"):
            read()


@pytest.mark.parametrize("entry", ["touch {} |", "  touch {} | \t", "cat x | tee {} |"])
def test_commands_of_a_table_run_nowhere_unasked(entry, command, tmp_path):
    """Neither anonymize, nor --dry-run, nor what evaluate, audit and train read corpora with."""
    data, mark = tmp_path / "data", tmp_path / "mark"
    data.mkdir()
    (data / "wav.scp").write_text(f"a {entry.format(mark)}\n")
    (data / "utt2spk").write_text("a spk\n")
    for read in (
        lambda: read_kaldi(data, tmp_path / "out"),
        lambda: anonymized(data, tmp_path / "out", rename=True),
        lambda: recordings(data),
        lambda: recordings(tmp_path),  # a folder of such folders
    ):
        with pytest.raises(CorpusError, match=r"is a command.*--allow-pipes"):
            read()
    assert command("anonymize", data, "-o", tmp_path / "out", "--dry-run").returncode == 1
    assert not mark.exists()


def test_a_command_that_is_no_text_is_refused(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "wav.scp").write_bytes(b"a touch \0x |\n")
    (data / "utt2spk").write_text("a spk\n")
    with pytest.raises(CorpusError, match=r"wav.scp:1: holds a byte 0"):
        read_kaldi(data, tmp_path / "out", allow_pipes=True)


def test_the_output_may_be_no_link_to_elsewhere(kaldi, tmp_path):
    """A sender's folder may hold a place for the output; what it links to is not written."""
    elsewhere, output = tmp_path / "elsewhere", kaldi / "anon"
    elsewhere.mkdir()
    output.mkdir()
    (output / "wav").symlink_to(elsewhere)
    with pytest.raises(CorpusError, match="outside"):
        anonymized(kaldi, output)
    (output / "wav").unlink()
    mark = tmp_path / "mark"
    mark.write_text("precious")
    for name in ("wav.scp", ".wav.scp.tmp", "utt2spk"):
        (output / name).symlink_to(mark)
    anonymized(kaldi, output)
    assert mark.read_text() == "precious"
    assert not (output / "wav.scp").is_symlink()


def test_the_tables_of_the_source_are_never_replaced(kaldi, tmp_path):
    before = snapshot(kaldi, without=tmp_path / "no")
    for output in (kaldi, tmp_path / "audio/../data"):
        with pytest.raises(CorpusError, match="the data folder itself"):
            anonymized(kaldi, output)
    assert snapshot(kaldi, without=tmp_path / "no") == before


LHOTSE_IDS = {k: v for k, v in IDS.items() if k != "slash"} | {
    "half a character": "a\ud800b",
    "climbs within": "a/../../../up",
    "empty folder": "a//b",
    "hidden folder": "a/.ssh/b",
    "newline": "a\nb",
}


def written(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("kind", LHOTSE_IDS)
@pytest.mark.parametrize("where", ["recording", "supervision"])
def test_a_lhotse_id_never_leads_out_of_the_output(kind, where, tmp_path, lhotse, cuts):
    line = json.loads(json.dumps(cuts[0 if where == "recording" else 1].to_dict()))
    if where == "recording":
        line["recording"]["id"] = LHOTSE_IDS[kind]
    else:
        line["supervisions"][0]["id"] = LHOTSE_IDS[kind]
    output = tmp_path / "deep/er/out"
    source = written(tmp_path / "cuts.jsonl", line)
    before = snapshot(tmp_path, without=output)
    with pytest.raises(CorpusError) as caught:
        anonymized(source, output)
    assert "cuts.jsonl" in str(caught.value)
    assert str(caught.value).isprintable()
    assert snapshot(tmp_path, without=output) == before
    assert not Path("/tmp/voicenym-absolute.wav").exists()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("id",), 7),
        (("id",), "a\nb"),
        (("start",), float("nan")),
        (("duration",), "soon"),
        (("recording", "duration"), float("inf")),
        (("recording", "sources", 0, "source"), "a\0b"),
        (("recording", "sources", 0, "source"), 7),
        (("recording", "sources", 0, "source"), "x.wav" + "y" * 240),
        (("recording", "sources", 0, "type"), "command"),
        (("supervisions", 0, "speaker"), "a\ud800"),
        (("supervisions", 0, "speaker"), ["a"]),
        (("supervisions", 0, "start"), "0"),
        (("supervisions",), 7),
        (("recording",), 7),
        (("recording", "sources"), []),
    ],
)
def test_a_manifest_of_the_wrong_types_is_refused(path, value, tmp_path, lhotse, cuts):
    line = json.loads(json.dumps(cuts[0].to_dict()))
    place = line
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    if path[-1] == "type":
        place["source"] = f"touch {tmp_path}/mark"
    source = written(tmp_path / "cuts.jsonl", line)
    for read in (lambda: anonymized(source, tmp_path / "out"), lambda: recordings(source)):
        with pytest.raises(CorpusError, match=r"cuts\.jsonl|y{20}"):
            read()
    assert not (tmp_path / "mark").exists()


def test_a_manifests_name_is_no_command(tmp_path, lhotse, monkeypatch):
    """lhotse opens a name that begins with pipe: by running it."""
    monkeypatch.chdir(tmp_path)
    name = "pipe:touch mark;cat x.jsonl"
    Path(name).write_text("{}\n")
    with pytest.raises(CorpusError):
        anonymized(name, tmp_path / "out")
    assert not Path("mark").exists()
