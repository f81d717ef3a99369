"""``voicenym evaluate --vectors``."""

import json

import torch

from voicenym.identity.pools.speaker_pool import Pool, save


def spoken(folder, prefix: str, seed: int):
    noise = torch.Generator().manual_seed(seed)
    own = torch.randn(12, 8, generator=noise).repeat_interleave(6, 0)
    vectors = own + 0.4 * torch.randn(72, 8, generator=noise)
    names = tuple(f"{prefix}{i // 6}" for i in range(72))
    sexes = tuple("fm"[i // 6 % 2] for i in range(72))
    pool = Pool(vectors, sexes, names, "invented")
    save(pool, folder / prefix)
    save(pool.per_speaker(), folder / f"{prefix}-pool")


def test_methods_are_judged_and_reported(command, tmp_path):
    spoken(tmp_path, "users", 0)
    spoken(tmp_path, "others", 1)
    done = command(
        "evaluate", "--vectors", "users", "--pool", "others", "-o", "report",
        "--enrolment", 3, "--tried", 3, "--replicates", 20,
        "--identity", "copy", "--identity", "few=selection:pool=others-pool,world=4,region=2",
        "--attacker-identity", "few=copy",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["method", "(unprotected)", "copy", "few"]
    assert "report/index.html" in done.stderr.decode()
    held = json.loads((tmp_path / "report/vectors.json").read_text())
    assert [one["name"] for one in held["methods"]] == ["copy", "few"]
    assert (tmp_path / "report/index.html").is_file()


def test_what_is_missing_is_named(command, tmp_path):
    spoken(tmp_path, "users", 0)
    spoken(tmp_path, "others", 1)
    for arguments, given in (
        ((), b"--pool"),
        (("--pool", "users"), b"--identity"),
        (("--pool", "users", "--identity", "copy", "--attacker-identity", "b=copy"), b"no --ident"),
        (("--pool", "users", "--identity", "copy"), b"is among users and others"),
        (("--pool", "others", "--identity", "copy", "--identity", "copy"), b"copy2=copy"),
    ):
        done = command("evaluate", "--vectors", "users", "-o", "r", *arguments)
        assert done.returncode == 1
        assert given in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(command, tmp_path):
    spoken(tmp_path, "users", 0)
    spoken(tmp_path, "others", 1)
    (tmp_path / "r").write_text("a file")
    done = command(
        "evaluate", "--vectors", "users", "--pool", "others", "-o", "r", "--identity", "copy"
    )
    assert done.returncode == 1
    assert done.stderr.decode().strip() == "voicenym: error: r: is no folder; choose another folder"


def test_a_folder_with_a_report_of_the_other_kind_is_refused(command, tmp_path):
    """Both have index.html: the page would be of other results than the files beside it."""
    spoken(tmp_path, "users", 0)
    spoken(tmp_path, "others", 1)
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "results.json").write_text("{}")
    (tmp_path / "r" / "index.html").write_text("recordings")
    done = command(
        "evaluate", "--vectors", "users", "--pool", "others", "-o", "r", "--identity", "copy"
    )
    assert done.returncode == 1
    assert b"r: has a report of another kind (results.json)" in done.stderr
    assert (tmp_path / "r" / "index.html").read_text() == "recordings"
    assert not (tmp_path / "r" / "vectors.json").exists()
