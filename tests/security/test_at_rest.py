"""Files with speech or secrets are readable by their owner alone (docs/at-rest.md)."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.private import (
    TAG,
    cache_kind,
    closed,
    is_closed,
    open_private,
    private_folder,
    write_private,
)
from voicenym.verification.vector_store import VectorCache

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
SMALL = """
options: {channels: 16, size: 12, attention: 8, squeeze: 8}
seconds: 0.4
batch: 4
speeds: [1.0]
every: 2
"""
MASKS = pytest.mark.parametrize("mask", [0o000, 0o022], ids=["umask 0", "umask 022"])


@pytest.fixture
def umask():
    """``umask(mask)``; the old one comes back afterwards."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def assert_private(folder: Path) -> None:
    """The folder and all that is in it; there is something in it."""
    assert mode(folder) == 0o700, folder
    there = list(folder.rglob("*"))
    assert there
    for path in there:
        assert mode(path) == (0o700 if path.is_dir() else 0o600), f"{path}: {mode(path):o}"


# ---- the module ----


@MASKS
def test_a_folder_and_those_above_it_are_made_private(tmp_path, umask, mask):
    umask(mask)
    private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(p) for p in (tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c")] == [0o700] * 3


def test_an_empty_folder_is_closed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o777)
    private_folder(tmp_path / "there")
    assert mode(tmp_path / "there") == 0o700


def test_a_cache_that_was_opened_to_others_is_closed(tmp_path):
    place = private_folder(tmp_path / "cache", "decoded speech")
    write_private(place / "x", b"")
    place.chmod(0o755)
    private_folder(place, "decoded speech")
    assert mode(place) == 0o700


def test_a_folder_of_others_things_is_not_locked_but_refused(tmp_path):
    place = tmp_path / "shared"
    place.mkdir()
    (place / "somebody's").write_text("work")
    place.chmod(0o755)
    with pytest.raises(VoicenymError, match=r"shared: others can enter it.*chmod 700"):
        private_folder(place)
    assert mode(place) == 0o755
    place.chmod(0o700)
    private_folder(place)


def test_a_folder_that_all_users_share_stays_open(tmp_path):
    """As /dev/shm, which is often empty: root would close it to every other program."""
    place = tmp_path / "shm"
    place.mkdir()
    place.chmod(0o1777)
    with pytest.raises(VoicenymError, match=r"choose a folder in it, such as .*shm/voicenym"):
        private_folder(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o1777


def test_what_is_no_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(VoicenymError, match="file: is no folder"):
        private_folder(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_folders_files_and_links_of_somebody_else_are_refused(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    os.chown(other, 12345, 12345)
    with pytest.raises(VoicenymError, match="belongs to another user"):
        private_folder(other)
    (tmp_path / "mine").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "mine")
    private_folder(link)  # a link of one's own, to a larger disk
    os.chown(link, 12345, 12345, follow_symlinks=False)
    with pytest.raises(VoicenymError, match="symbolic link of another user"):
        private_folder(link)
    (tmp_path / "file").write_text("")
    os.chown(tmp_path / "file", 12345, 12345)
    with pytest.raises(VoicenymError, match="belongs to another user"):
        open_private(tmp_path / "file", "a")


@MASKS
@pytest.mark.parametrize("how", ["w", "a", "x", "wb", "ab", "xb"])
def test_a_file_is_private_from_its_first_moment(tmp_path, umask, mask, how):
    umask(mask)
    with open_private(tmp_path / "file", how) as file:
        assert mode(tmp_path / "file") == 0o600
        file.write(b"x" if "b" in how else "x")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_file_that_was_wider_is_closed_before_it_is_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("before ")
    path.chmod(0o666)
    with open_private(path, "a") as file:
        assert mode(path) == 0o600
        file.write("after")
    assert path.read_text() == "before after"
    with open_private(path, "w") as file:
        file.write("anew")
    assert path.read_text() == "anew"


@pytest.mark.parametrize("how", ["w", "a", "x"])
def test_a_link_is_never_written_through(tmp_path, how):
    victim = tmp_path / "victim"
    victim.write_text("dear")
    victim.chmod(0o644)
    (tmp_path / "link").symlink_to(victim)
    with pytest.raises((VoicenymError, FileExistsError)):
        open_private(tmp_path / "link", how)
    write_private(tmp_path / "link", "other")
    assert victim.read_text() == "dear"
    assert mode(victim) == 0o644
    assert (tmp_path / "link").read_text() == "other"
    assert not (tmp_path / "link").is_symlink()


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    write_private(tmp_path / "file", "before")

    def full(*arguments):
        raise OSError(28, "no space")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_private(tmp_path / "file", "after")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "before"


def test_the_umask_comes_back(umask):
    umask(0o022)
    with closed():
        assert_umask(0o077)
    assert_umask(0o022)
    with pytest.raises(ZeroDivisionError), closed():
        _ = 1 / 0
    assert_umask(0o022)


def assert_umask(mask: int) -> None:
    now = os.umask(mask)
    os.umask(now)
    assert now == mask


# ---- each place ----


@MASKS
@pytest.mark.parametrize("journal", ["DELETE", "WAL", "PERSIST"])
def test_voiceprints_and_what_sqlite_keeps_beside_them(tmp_path, umask, mask, journal):
    umask(mask)
    path = tmp_path / "report" / "cache.sqlite"
    cache = VectorCache(path)
    cache._base.execute(f"PRAGMA journal_mode = {journal}")
    cache.put([("a", np.ones(3))])
    beside = sorted(p.name for p in path.parent.iterdir())
    assert len(beside) == {"DELETE": 1, "WAL": 3, "PERSIST": 2}[journal]
    assert_private(path.parent)
    assert cache.get("a") is not None


def test_voiceprints_of_an_earlier_release_are_closed(tmp_path):
    path = tmp_path / "cache.sqlite"
    VectorCache(path).put([("a", np.ones(3))])
    path.chmod(0o644)
    tmp_path.chmod(0o700)
    cache = VectorCache(path)
    assert mode(path) == 0o600
    assert cache.get("a") is not None


class Plain:
    def identity(self, recording):
        return recording.name

    def __call__(self, recording):
        return np.zeros(1600, np.float32)


@pytest.mark.parametrize(("mask", "workers"), [(0, 1), (0o022, 1), (0, 2)])
def test_decoded_speech_is_private(tmp_path, sample, umask, mask, workers):
    from voicenym.corpus.transforms import ORIGINAL
    from voicenym.training.speech.speech_cache import SpeechCache

    umask(mask)
    speech = [Recording(f"u{i}", "s", sample, "f", start=0.1 * i, end=1.0) for i in range(3)]
    SpeechCache(tmp_path / "run" / "shelf").fill(speech, ORIGINAL, workers)
    assert len(list((tmp_path / "run" / "shelf").glob("*.i16"))) == 3
    assert_private(tmp_path / "run")


@MASKS
def test_frames_of_speech(tmp_path, umask, mask):
    from voicenym.training.content.units.train_units import keep

    umask(mask)
    keep(tmp_path / "run" / "frames" / "x" / f"{'0' * 64}.npy", np.zeros((3, 2)))
    assert_private(tmp_path / "run")


@MASKS
def test_pools_are_private(tmp_path, umask, mask):
    import torch

    from voicenym.identity.pools.speaker_pool import Pool, load, save

    umask(mask)
    pool = Pool(torch.eye(2, 4), ("f", "m"), ("anna", "bob"), "e", "1")
    save(pool, tmp_path / "pools" / "one")
    assert_private(tmp_path / "pools")
    assert load(tmp_path / "pools" / "one").speakers == ("anna", "bob")


@MASKS
def test_keys_are_private(tmp_path, umask, mask):
    from voicenym.pseudonym import Key

    umask(mask)
    Key.generate().save(tmp_path / "a.key")
    assert mode(tmp_path / "a.key") == 0o600


@MASKS
def test_texts_that_a_recogniser_is_given(tmp_path, umask, mask, monkeypatch):
    """The worker's own code, with a decoder that notes what lies on the disk, in a folder as the
    process that starts it makes and removes it.
    """
    import io
    from types import SimpleNamespace

    from voicenym.recognition.sphinx_processes import sphinx_worker
    from voicenym.temporary import temporary_directory

    seen = {}

    class Decoder:
        def __init__(self, **options):
            seen.update({p: mode(Path(p)) for p in options.values() if os.path.exists(p)})
            seen[Path(options["lm"]).parent] = mode(Path(options["lm"]).parent)

    monkeypatch.setattr(
        sphinx_worker, "import_module", lambda name: SimpleNamespace(Decoder=Decoder)
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    umask(mask)
    texts = {"lm_text": "who said what", "dict_text": "what W AH T"}
    with temporary_directory() as folder:
        asked = json.dumps({**texts, "folder": folder}).encode()
        sphinx_worker.serve(io.BytesIO(asked + b"\n"), io.BytesIO())
    assert sorted(seen.values()) == [0o600, 0o600, 0o700]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def people(tmp_path):
    """A folder of six speakers, with three recordings of a second each."""
    root = tmp_path / "people"
    rng = np.random.default_rng(0)
    for speaker in range(6):
        (root / f"s{speaker}").mkdir(parents=True)
        for number in range(3):
            time = np.arange(16_000) / 16_000
            tone = np.sign(np.sin(2 * np.pi * (100 + 17 * speaker) * time))
            noise = rng.standard_normal(16_000)
            sound = 0.1 * (1 + np.sin(6 * np.pi * time)) * tone + 0.01 * noise
            soundfile.write(root / f"s{speaker}" / f"u{number}.wav", sound, 16_000)
    return root


@pytest.fixture
def run(command, umask, one_processor):
    """``run(mask, ...)``: a command under a umask."""

    def call(mask: int, *arguments: object) -> None:
        umask(mask)
        done = command(*arguments)
        assert done.returncode == 0, done.stderr.decode()

    return call


def test_a_pool_by_the_command(run, tmp_path, people):
    run(0, "pool", "build", people, "-o", tmp_path / "pool", "-q")
    assert_private(tmp_path / "pool")


def test_a_training_with_its_logs_checkpoints_and_speech(run, tmp_path, people):
    pytest.importorskip("lightning")
    pytest.importorskip("tensorboard")
    config = tmp_path / "small.yaml"
    config.write_text(SMALL)
    out = tmp_path / "runs" / "one"
    arguments = ["train", "verifier", "-d", people, "-c", config, "-o", out, "--steps", 4]
    run(0, *arguments, "--batch", 4, "--accelerator", "cpu", "-j", 0)
    assert_private(out)
    names = {path.name for path in out.rglob("*")}
    assert {"last.ckpt", "curve.jsonl", "speech", TAG} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)


@pytest.mark.usefixtures("brief")
def test_files_of_an_evaluation_are_private(run, tmp_path, people):
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    out = tmp_path / "reports" / "one"
    options = ["--enrolment", 1, "--tried", 1, "--verifier", "ecapa-small", "--replicates", 20]
    options += ["--attacker", "ignorant", "--no-denoise", "--keys", 1, "--sample", 1]
    run(0, "evaluate", people, "-s", "mcadams", "-o", out, *options, "--any-sex", "-q")
    assert_private(out)
    assert {"cache.sqlite", "scores.npz", "index.html"} <= {p.name for p in out.iterdir()}


def test_anonymized_speech_keeps_the_umask_of_its_user(run, tmp_path, sample):
    for mask, expected in ((0o022, 0o644), (0o002, 0o664), (0o077, 0o600)):
        out = tmp_path / f"{mask:o}.wav"
        run(mask, "anonymize", sample, "-o", out, "-q")
        assert mode(out) == expected


def test_weights_are_closed_in_a_closed_folder_and_open_elsewhere(tmp_path, umask):
    import torch

    from voicenym.nets.checkpoint import write

    umask(0o022)
    write(tmp_path / "open", {"a": torch.zeros(1)}, {})
    assert mode(tmp_path / "open" / "config.json") == 0o644
    write(private_folder(tmp_path / "closed"), {"a": torch.zeros(1)}, {})
    assert_private(tmp_path / "closed")


# ---- voicenym cache ----


@pytest.fixture
def kept(tmp_path):
    """A report and a training, with caches and with what is none."""
    from voicenym.training.content.units.train_units import keep
    from voicenym.training.speech.speech_cache import SpeechCache

    root = tmp_path / "work"
    VectorCache(root / "report" / "cache.sqlite").put([("a", np.ones(300))])
    (root / "report" / "index.html").write_text("a report")
    speech = [Recording(f"u{i}", "s", Path("nowhere"), "f") for i in range(2)]
    SpeechCache(root / "run" / "shelf").fill(speech, Plain())
    keep(root / "run" / "frames" / "abc" / f"{'1' * 64}.npy", np.zeros(3))
    keep(root / "run" / "shelf" / "heard" / "pitch" / "ab" / f"{'1' * 64}.npy", np.zeros(3))
    row = {"of": "0" * 32, "phones": [["AH", 0.0, 0.1]]}
    write_private(root / "run" / "alignments.jsonl", json.dumps(row) + "\n")
    (root / "run" / "last.ckpt").write_text("a checkpoint")
    (root / "run" / "attacker.key").write_text("a key")
    return root


def invoke(*arguments: object):
    done = CliRunner().invoke(app, ["cache", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def files(root: Path) -> list[str]:
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir())


def test_caches_are_listed(kept):
    text = invoke("show", kept)
    for name in ("report/cache.sqlite", "run/shelf", "run/frames/abc", "run/alignments.jsonl"):
        assert f"\t{kept / name}\n" in text
    assert "5 caches" in text


def test_caches_are_removed_and_nothing_else(kept):
    text = invoke("clear", kept)
    assert files(kept) == ["report/index.html", "run/attacker.key", "run/last.ckpt"]
    for name in ("report/cache.sqlite", "run/shelf", "run/frames/abc", "run/alignments.jsonl"):
        assert f"removed {kept / name}: " in text
    assert sorted(p.name for p in (kept / "run").iterdir()) == ["attacker.key", "last.ckpt"]
    assert "0 caches" in invoke("show", kept)


def test_caches_are_searched_in_the_current_folder_by_default(kept, monkeypatch):
    monkeypatch.chdir(kept / "run")
    assert "4 caches" in invoke("clear")
    assert (kept / "report" / "cache.sqlite").exists()


def test_sqlites_files_beside_a_cache_are_removed_with_it(kept):
    (kept / "report" / "cache.sqlite-journal").write_bytes(b"")
    (kept / "report" / "cache.sqlite-wal").write_bytes(b"")
    invoke("clear", kept / "report")
    assert files(kept / "report") == ["index.html"]


def test_what_voicenym_did_not_put_into_a_cache_stays(kept):
    (kept / "run" / "shelf" / "notes.txt").write_text("mine")
    text = invoke("clear", kept)
    assert files(kept / "run" / "shelf") == [TAG, "notes.txt"]
    assert "notes.txt: not made by voicenym" in text


def test_links_are_neither_followed_nor_removed(kept, tmp_path):
    outside = tmp_path / "outside"
    VectorCache(outside / "cache.sqlite").put([("a", np.ones(3))])
    victim = outside / "dear.i16"
    victim.write_text("dear")
    (kept / "away").symlink_to(outside)
    (kept / "report" / "link.sqlite").symlink_to(outside / "cache.sqlite")
    (kept / "run" / "shelf" / f"{'2' * 64}.i16").symlink_to(victim)
    invoke("clear", kept)
    assert victim.read_text() == "dear"
    assert (outside / "cache.sqlite").is_file()
    assert (kept / "report" / "link.sqlite").is_symlink()


def test_other_programs_caches_and_databases_stay(tmp_path):
    theirs = sqlite3.connect(tmp_path / "theirs.sqlite")
    theirs.execute("CREATE TABLE vectors (id BLOB PRIMARY KEY, other TEXT)")
    theirs.commit()
    theirs.close()
    place = tmp_path / "pip"
    place.mkdir()
    (place / TAG).write_text("Signature: 8a477f597d28d172789f06886806bc55\n# of pip\n")
    (place / f"{'3' * 64}.npy").write_text("theirs")
    (tmp_path / "log.jsonl").write_text('{"of": 1}\n')
    before = files(tmp_path)
    assert "0 caches" in invoke("clear", tmp_path)
    assert files(tmp_path) == before


def test_a_cache_of_an_earlier_release_is_known(tmp_path):
    base = sqlite3.connect(tmp_path / "cache.sqlite")
    base.execute("CREATE TABLE IF NOT EXISTS vectors (id BLOB PRIMARY KEY, vector BLOB NOT NULL)")
    base.commit()
    base.close()
    invoke("clear", tmp_path)
    assert files(tmp_path) == []


def test_a_place_that_is_no_folder_is_named(tmp_path):
    done = CliRunner().invoke(app, ["cache", "clear", str(tmp_path / "none")])
    assert isinstance(done.exception, VoicenymError)
    assert "none: is no folder" in str(done.exception)


def test_backup_programs_know_the_mark(kept):
    first = (kept / "run" / "shelf" / TAG).read_text().splitlines()[0]
    assert first == "Signature: 8a477f597d28d172789f06886806bc55"  # bford.info/cachedir
    assert cache_kind(kept / "run" / "shelf") == "decoded speech"
    assert is_closed(kept / "run" / "shelf")
