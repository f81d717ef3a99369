import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from voicenym.corpus.anonymized_files import matched
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.readers.folder_walk import report
from voicenym.corpus.readers.recording_subsets import halved, pool_of, spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings, skipped
from voicenym.corpus.shards import shard_plan
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import AudioError, CorpusError


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"RIFF")
    return path


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "corpus"
    for name in ("ann/1.wav", "ann/2.flac", "bob/day/1.wav"):
        touch(root / name)
    (root / "ann/1.txt").write_text("Hello there.\n")
    (root / "bob/notes.md").write_text("no recording")
    return root


def test_the_first_folder_is_the_speaker_and_texts_lie_beside(tree):
    found = recordings(tree)
    assert [(r.name, r.speaker, r.text) for r in found] == [
        ("ann/1", "ann", "Hello there."),
        ("ann/2", "ann", ""),
        ("bob/day/1", "bob", ""),
    ]


def test_outputs_beside_originals_are_no_speaker(tree):
    before = recordings(tree)
    for output in ("anon", "others/renamed"):
        touch(tree / output / "ann/1.wav")
        (tree / output / "voicenym.jsonl").write_text("")
    assert recordings(tree) == before
    assert {p.source for p in plan([tree], tree.parent / "out")} == {r.path for r in before}
    [line] = [one for one in report(skipped(tree)) if "earlier run" in one]
    assert line.startswith("2 files were not taken")
    assert str(tree / "others/renamed") in line
    # given by itself, or with nothing else, it is a corpus
    assert [r.speaker for r in recordings(tree / "anon")] == ["ann"]
    both = tree.parent / "both"
    for part in ("anna", "bert"):
        touch(both / part / "1.wav")
        (both / part / "voicenym.jsonl").write_text("")
    assert [r.speaker for r in recordings(both)] == ["anna", "bert"]


@pytest.fixture
def shut(monkeypatch):
    """``shut(folder)``: nobody may list it. The system's refusal is made up: root may read all."""

    def close(folder):
        real = os.scandir

        def scandir(place="."):
            if Path(place) == folder:
                raise PermissionError(errno.EACCES, "Permission denied", str(place))
            return real(place)

        monkeypatch.setattr(os, "scandir", scandir)

    return close


@pytest.mark.parametrize(("folder", "left"), [("bob", 2), ("bob/day", 2), ("ann", 1)])
def test_a_folder_that_may_not_be_read_is_left_out_and_named(tree, shut, folder, left):
    """A warning alone would give figures over less speech than was asked for."""
    shut(tree / folder)
    with pytest.raises(AudioError, match=rf"{folder}: is a folder that may not be read"):
        recordings(tree)
    left_out = LeftOut()
    assert len(recordings(tree, left_out=left_out)) == left
    [one] = left_out
    assert one.name == folder
    assert "its recordings are missing" in one.reason
    assert [part for part in skipped(tree) if part.reason.hides] == [], "it is told once"


def test_a_folder_of_shards_that_may_not_be_read_is_left_out_and_named(tmp_path, shut):
    import tarfile

    touch(tmp_path / "x.wav")
    for place in ("in/a", "in/b"):
        (tmp_path / place).mkdir(parents=True)
        with tarfile.open(tmp_path / place / "0.tar", "w") as tar:
            tar.add(tmp_path / "x.wav", "ann/x.wav")
    shut(tmp_path / "in/b")
    left_out = LeftOut()
    assert len(recordings(tmp_path / "in", left_out=left_out)) == 1
    assert [one.name for one in left_out] == ["b"]
    planned = shard_plan.plan_units([str(tmp_path / "in")], str(tmp_path / "out"))
    assert [place for place, _ in planned.missing] == ["b"], "so that the run is a failure"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_folder_of_another_user_is_never_silently_empty(tree, mode):
    """Without rights to list, to enter, or to do either."""
    before = {one.name for one in recordings(tree)}
    place = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(tree, place / "corpus")
        place.chmod(0o755)
        (place / "corpus/bob").chmod(mode)
        left_out = LeftOut()
        with as_nobody():
            found = recordings(place / "corpus", left_out=left_out)
        assert {one.name for one in found} == {"ann/1", "ann/2"} < before
        assert {one.name.split("/")[0] for one in left_out} == {"bob"}
        assert all("may not be" in one.reason for one in left_out)
    finally:
        (place / "corpus/bob").chmod(0o700)
        shutil.rmtree(place)


@contextmanager
def as_nobody():
    """Context manager in which this process has no right to files of other users."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(own)


def test_a_recording_of_nobody_is_named(tree):
    touch(tree / "stray.wav")
    with pytest.raises(CorpusError, match=r"stray.wav: lies in no speaker's folder"):
        recordings(tree)


def test_a_folder_that_names_nobody_gets_a_cure(tmp_path):
    touch(tmp_path / "a.wav")
    touch(tmp_path / "b.wav")
    with pytest.raises(CorpusError, match=r"no speaker's folder.*SPEAKER/UTTERANCE.wav.*manifest"):
        recordings(tmp_path)
    with pytest.raises(CorpusError, match="speaker-level 2 needs"):
        recordings(tmp_path, level=2)


def test_folders_that_can_be_read_in_two_ways_are_asked_about(tmp_path):
    """The rule is that of voicenym anonymize."""
    for name in ("train/ann/1.wav", "dev/bob/1.wav", "dev/cid/1.wav"):
        touch(tmp_path / name)
    with pytest.raises(CorpusError, match=r"--speaker-level 2, .* manifest\.tsv") as caught:
        recordings(tmp_path)
    assert "--speaker NAME" not in str(caught.value)
    assert [r.speaker for r in recordings(tmp_path, level=2)] == ["bob", "cid", "ann"]
    assert [r.speaker for r in recordings(tmp_path, level=1)] == ["dev", "dev", "train"]
    touch(tmp_path / "flat/wav/1.wav")
    with pytest.raises(CorpusError, match=r"may name no speakers, for the folder 'wav'.*level 1,"):
        recordings(tmp_path / "flat")
    assert [r.speaker for r in recordings(tmp_path / "flat", level=1)] == ["wav"]


@pytest.fixture
def manifest(tree):
    path = tree / "manifest.tsv"
    path.write_text(
        "utterance\tpath\tspeaker\tgender\tsplit\tcorpus\ttext\n"
        "a1\tann/1.wav\tann\tf\tdev\tx\tHELLO\n"
        "a2\tann/2.flac\tann\tf\ttrain\tx\t\n"
        "b1\tbob/day/1.wav\tbob\tmale\tdev\ty\tBYE\n"
    )
    return path


def test_a_manifest_counts_more_than_folders_and_is_filtered(tree, manifest):
    assert [r.name for r in recordings(tree)] == ["a1", "a2", "b1"]
    dev = recordings(manifest, split="dev")
    assert [(r.name, r.sex, r.text) for r in dev] == [("a1", "f", "HELLO"), ("b1", "m", "BYE")]
    assert [r.name for r in recordings(tree, "dev", "x")] == ["a1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("speaker\tgender", "who\tgender"), "needs the column 'speaker'"),
        (("a2\t", "a1\t"), "a1 names two utterances"),
        (("ann/2.flac", "ann/9.flac"), r"9.flac: missing \(1 of 3"),
        (
            ("\tann\tf\ttrain", "\t\tf\ttrain"),
            r"a2 has no speaker \(1 such\); .* --corpus, one of: y",
        ),
        (("bob\tmale\tdev\ty", "\tmale\tdev\tx"), r"b1 has no speaker \(1 such\); fill its col"),
    ],
)
def test_manifests_that_do_not_hold_together(manifest, change, message):
    manifest.write_text(manifest.read_text().replace(*change))
    with pytest.raises(CorpusError, match=message):
        recordings(manifest)


def test_what_is_not_there_is_reported(tree, manifest, tmp_path):
    with pytest.raises(CorpusError, match="no split 'test'; there are: dev, train"):
        recordings(manifest, split="test")
    with pytest.raises(CorpusError, match="no such file"):
        recordings(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="no recordings"):
        recordings(tmp_path / "empty")
    manifest.unlink()
    with pytest.raises(CorpusError, match="need a manifest"):
        recordings(tree, split="dev")


def test_kaldi_folders_bring_sex_text_and_segments(tmp_path):
    wav = touch(tmp_path / "r1.wav")
    (tmp_path / "wav.scp").write_text(f"r1 {wav}\n")
    (tmp_path / "segments").write_text("u1 r1 0.5 1.5\nu2 r1 2.0 -1\n")
    (tmp_path / "utt2spk").write_text("u1 ann\nu2 bob\n")
    (tmp_path / "spk2gender").write_text("ann f\nbob m\n")
    (tmp_path / "text").write_text("u1 HELLO\n")
    found = recordings(tmp_path)
    assert found == [
        Recording("u1", "ann", wav, "f", "HELLO", 0.5, 1.5),
        Recording("u2", "bob", wav, "m", "", 2.0, None),
    ]


def test_anonymized_files_are_matched_by_name_and_missing_ones_listed(tree, tmp_path):
    speech = recordings(tree)
    other = tmp_path / "anon"
    for name in ("ann/1.wav", "ann/2.wav", "bob/day/1.ogg"):
        touch(other / name)
    found = matched(speech, other)
    assert found["ann/2"] == other / "ann/2.wav"
    (other / "bob/day/1.ogg").unlink()
    with pytest.raises(CorpusError, match=r"1 of 3 recordings have no anonymized file: bob/day/1"):
        matched(speech, other)
    with pytest.raises(CorpusError, match="no such folder"):
        matched(speech, tmp_path / "gone")


def test_files_are_matched_whatever_the_form_of_an_accent(tmp_path):
    """An archive that was made on macOS has the accents of names as characters of their own."""
    composed, apart = "zo\u00eb", "zoe\u0308"
    touch(tmp_path / "corpus" / composed / "1.wav")
    touch(tmp_path / "corpus/ann/1.wav")
    file = touch(tmp_path / "anon" / apart / "1.wav")
    touch(tmp_path / "anon/ann/1.wav")
    speech = recordings(tmp_path / "corpus")
    assert matched(speech, tmp_path / "anon")[f"{composed}/1"] == file
    theirs = touch(tmp_path / "anon" / composed / "1.wav")
    theirs.write_bytes(b"other")
    assert matched(speech, tmp_path / "anon")[f"{composed}/1"] == theirs, (
        "the very name comes first"
    )


def test_a_file_that_fits_a_name_in_two_forms_is_refused(tmp_path):
    touch(tmp_path / "corpus/\u1e69.wav")  # an s with two dots, in four forms
    speech = [Recording("\u1e69", "ann", tmp_path / "corpus/\u1e69.wav")]
    touch(tmp_path / "anon/s\u0323\u0307.wav")
    touch(tmp_path / "anon/\u1e63\u0307.wav").write_bytes(b"other")
    with pytest.raises(CorpusError, match=r"may be .* which differ"):
        matched(speech, tmp_path / "anon")


def test_a_pool_is_spread_over_its_speakers():
    speech = [Recording(f"{s}{u}", s, Path("none")) for s in "abc" for u in range(4)]
    assert [r.name for r in spread(speech, 5)] == ["a0", "b0", "c0", "a1", "b1"]
    assert len(spread(speech, 100)) == 12
    assert spread([], 3) == []


def test_a_small_pool_has_two_recordings_of_each_of_fewer_speakers():
    """One recording of each would not tell how a speaker's recordings differ."""
    speech = [Recording(f"{s}{u}", s, Path("none")) for s in "abcd" for u in range(4)]
    assert [r.name for r in pool_of(speech, 4)] == ["a0", "b0", "a1", "b1"]
    assert [r.name for r in pool_of(speech, 2)] == ["a0", "b0"], "who compares needs two people"
    assert [r.name for r in pool_of(speech, 5)] == ["a0", "b0", "c0", "a1", "b1"]
    for most in (8, 9, 100):
        assert pool_of(speech, most) == spread(speech, most)
    single = [Recording(f"{s}0", s, Path("none")) for s in "0123"]
    assert {r.speaker for r in pool_of([*single, *speech], 4)} == {"a", "b"}
    assert len(pool_of(single, 3)) == 3
    assert len(pool_of([*single, *speech[:3]], 4)) == 4
    assert pool_of(speech, 0) == pool_of([], 3) == []


def test_a_folder_of_kaldi_folders_is_one_corpus(tmp_path):
    """As the challenges lay them out; an utterance that stands in two of them is one."""
    for number in range(3):
        touch(tmp_path / f"u{number}.wav")
    for folder, numbers in (
        ("dev_enrolls", [0]),
        ("dev_trials_f", [1]),
        ("dev_trials_all", [1, 2]),
    ):
        data = tmp_path / folder
        data.mkdir()
        names = [f"s{n % 2}-u{n}" for n in numbers]
        waves = [f"{name} {tmp_path}/{name[3:]}.wav\n" for name in names]
        (data / "wav.scp").write_text("".join(waves))
        (data / "utt2spk").write_text("".join(f"{name} {name[:2]}\n" for name in names))
    found = recordings(tmp_path)
    assert [(r.name, r.speaker) for r in found] == [
        ("s0-u0", "s0"), ("s0-u2", "s0"), ("s1-u1", "s1"),
    ]  # fmt: skip


def test_halves_share_nobody_and_are_all():
    speech = [Recording(f"u{i}", f"s{i % 5}", Path("none")) for i in range(20)]
    tune, report = halved(speech, "tune"), halved(speech, "report")
    assert {r.speaker for r in tune} == {"s0", "s2", "s4"}
    assert {r.speaker for r in report} == {"s1", "s3"}
    assert sorted([*tune, *report]) == sorted(speech)
    with pytest.raises(CorpusError, match="tune or report"):
        halved(speech, "better")


def test_a_recording_is_no_manifest(sample):
    with pytest.raises(CorpusError, match=r"is no table in UTF-8.*; give a folder of speakers"):
        recordings(sample)


def test_two_files_of_one_name_are_asked_about_unless_they_are_the_same(tree, tmp_path):
    new, places = tmp_path / "new", {}
    for place, data in (("x/ann/1.wav", b"x"), ("y/ann/1.wav", b"y"), ("z/ann/1.flac", b"x")):
        places[place] = new / place
        places[place].parent.mkdir(parents=True)
        places[place].write_bytes(data)
    found = [Recording("ann/1", "ann", tree / "ann/1.wav")]
    plain = [Recording("1", "ann", tree / "ann/1.wav")]
    both = rf"1 may be {new}/x/ann/1.wav or {new}/y/ann/1.wav, which differ; give the "
    with pytest.raises(CorpusError, match=both + "folder of one system"):
        matched(plain, new)
    with pytest.raises(CorpusError, match=both):
        matched(found, [new / "x", new / "y"])
    assert matched(found, [new / "x", new / "z"]) == {"ann/1": places["z/ann/1.flac"]}
    (new / "x/ann/1.flac").write_bytes(b"z")
    with pytest.raises(CorpusError, match=r"ann/1 may be .*/1\.flac or .*/1\.wav"):
        matched(found, new / "x")


def test_a_manifest_may_begin_with_a_byte_order_mark(tree, manifest):
    """As spreadsheets save it."""
    before = recordings(manifest)
    manifest.write_text("\ufeff" + manifest.read_text("utf-8"), "utf-8")
    assert recordings(manifest) == before


def test_a_kaldi_table_may_begin_with_a_byte_order_mark(tmp_path):
    wav = touch(tmp_path / "r1.wav")
    (tmp_path / "wav.scp").write_text(f"r1 {wav}\n")
    (tmp_path / "utt2spk").write_text("r1 ann\n")
    (tmp_path / "text").write_text("\ufeffr1 HELLO\n", "utf-8")
    (one,) = recordings(tmp_path)
    assert one.text == "HELLO"


@pytest.mark.parametrize(
    ("label", "sex"), [("Female", "f"), ("M", "m"), ("unknown", ""), ("u", ""), ("", "")]
)
def test_only_labels_of_women_and_men_are_a_sex(manifest, label, sex):
    manifest.write_text(manifest.read_text().replace("\tmale\t", f"\t{label}\t"))
    assert recordings(manifest)[-1].sex == sex


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_transcript_in_another_encoding_is_named(tree, encoding):
    """Its words would count as errors of the recogniser."""
    (tree / "ann/1.txt").write_bytes("Grüße.".encode(encoding))
    with pytest.raises(CorpusError, match=r"ann/1\.txt: is no UTF-8 text; store"):
        recordings(tree)
    (tree / "ann/1.txt").write_bytes("\ufeffGrüße.".encode())
    assert recordings(tree)[0].text == "Grüße."
