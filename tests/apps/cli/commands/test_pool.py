"""``voicenym pool build`` on synthetic recordings."""

import errno
import os
import tarfile

import numpy as np
import soundfile
import torch

from voicenym.identity.pools.speaker_pool import load


def corpus(folder):
    lines = ["utterance\tpath\tspeaker\tgender"]
    for speaker in range(4):
        for take in range(2):
            rng = np.random.default_rng([speaker, take])
            time = np.arange(16_000) / 16_000
            pitch = (220, 110)[speaker % 2] * (1 + 0.05 * speaker)
            wave = sum(np.cos(2 * np.pi * k * pitch * time + k * k) / k for k in range(1, 20))
            signal = 0.1 * wave + 0.01 * rng.standard_normal(len(time))
            name = f"{speaker}-{take}"
            soundfile.write(folder / f"{name}.wav", signal, 16_000)
            lines.append(f"{name}\t{name}.wav\ts{speaker}\t{'fm'[speaker % 2]}")
    (folder / "manifest.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_pool_holds_the_mean_of_each_speaker_and_plda(command, tmp_path):
    corpus(tmp_path)
    done = command("pool", "build", tmp_path, "-o", tmp_path / "pool", "--plda", "-q")
    assert done.returncode == 0, done.stderr.decode()
    assert b"Pool(4 x 192, 2 f, 2 m" in done.stdout
    pool = load(tmp_path / "pool")
    assert pool.speakers == ("s0", "s1", "s2", "s3")
    assert pool.affinity is not None
    done = command("pool", "build", tmp_path, "-o", tmp_path / "all", "--utterances", "-q")
    assert done.returncode == 0, done.stderr.decode()
    spoken = load(tmp_path / "all")
    assert len(spoken) == 8
    assert torch.allclose(spoken.vectors[:2].mean(0), pool.vectors[0], atol=1e-5)
    assert spoken.version == pool.version != ""
    done = command("pool", "build", tmp_path, "-o", tmp_path / "one", "--most", 1, "-q")
    assert done.returncode == 0, done.stderr.decode()
    assert torch.allclose(load(tmp_path / "one").vectors[0], spoken.vectors[0], atol=1e-5)


def test_a_pool_without_a_folder_that_may_not_be_read_is_a_failure(command, tmp_path, monkeypatch):
    """The system's refusal is made up: root may read everything."""
    corpus(tmp_path)
    (tmp_path / "manifest.tsv").unlink()
    for path in sorted(tmp_path.glob("*.wav")):
        place = tmp_path / "in" / path.stem.partition("-")[0]
        place.mkdir(parents=True, exist_ok=True)
        path.rename(place / path.name)
    real = os.scandir

    def closed(place="."):
        if str(place).endswith("in/3"):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(os, "scandir", closed)
    done = command("pool", "build", "in", "-o", "pool", "-q")
    assert done.returncode == 1
    assert "in/3: is a folder that may not be read" in " ".join(done.stderr.decode().split())
    assert load(tmp_path / "pool").speakers == ("0", "1", "2")
    done = command("pool", "build", "in", "-o", "none", "-q", "--fail-fast")
    assert done.returncode == 1
    assert not (tmp_path / "none").exists()


def test_data_without_sexes_are_told(command, tmp_path):
    manifest = corpus(tmp_path) / "manifest.tsv"
    rows = [line.rpartition("\t")[0] for line in manifest.read_text().splitlines()]
    manifest.write_text("\n".join(rows) + "\n")
    done = command("pool", "build", tmp_path, "-o", tmp_path / "pool")
    assert done.returncode == 0, done.stderr.decode()
    assert b"do not say who is female or male" in done.stderr
    assert b"sex=any" in done.stderr


def test_a_speaker_of_two_sexes_is_named(command, tmp_path):
    manifest = corpus(tmp_path) / "manifest.tsv"
    manifest.write_text(manifest.read_text().replace("s1\tm", "s0\tm"))
    done = command("pool", "build", tmp_path, "-o", tmp_path / "pool", "-q")
    assert done.returncode == 1
    assert b"s0 is of two sexes" in done.stderr


def test_a_pool_of_shards_is_that_of_the_files(command, tmp_path):
    corpus(tmp_path)
    for part in range(2):
        with tarfile.open(tmp_path / f"{part}.tar", "w") as tar:
            for speaker in range(2 * part, 2 * part + 2):
                for take in range(2):
                    name = f"{speaker}-{take}"
                    tar.add(tmp_path / f"{name}.wav", f"s{speaker}/{name}.wav")
    done = command("pool", "build", tmp_path, "-o", tmp_path / "one", "-q")
    assert done.returncode == 0, done.stderr.decode()
    shards = [tmp_path / "0.tar", tmp_path / "1.tar"]
    done = command("pool", "build", *shards, "-o", tmp_path / "two", "-q")
    assert done.returncode == 0, done.stderr.decode()
    one, two = load(tmp_path / "one"), load(tmp_path / "two")
    assert one.speakers == two.speakers
    assert torch.equal(one.vectors, two.vectors)
    done = command("pool", "build", tmp_path, "-o", tmp_path / "no", "--speaker-field", "who")
    assert b"--speaker-field is for shards" in done.stderr


def test_gpus_that_are_not_used_or_not_here_are_refused(command, tmp_path):
    corpus(tmp_path)
    ask = ("pool", "build", tmp_path, "-o", tmp_path / "pool", "-q")
    done = command(*ask, "--engine", "ray", "--gpus", 1)
    assert done.returncode == 1
    assert b"--gpus 1: the workers compute on cpu; add --device cuda" in done.stderr
    if not torch.cuda.is_available():
        done = command(*ask, "--device", "cuda")
        assert done.returncode == 1
        assert b"torch finds no GPU here; take --device cpu" in done.stderr
