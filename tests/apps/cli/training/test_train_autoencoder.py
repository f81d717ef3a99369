"""``voicenym train autoencoder`` on vectors of synthetic speakers."""

import torch

from voicenym.identity.pools.speaker_pool import Pool, save
from voicenym.nets.identity.vector_autoencoder import load


def test_it_trains_against_accents_too(command, tmp_path):
    noise = torch.Generator().manual_seed(0)
    vectors = torch.randn(80, 6, generator=noise)
    names = tuple(f"s{i // 8}" for i in range(80))
    save(Pool(vectors, ("f", "m") * 40, names, "invented", "7"), tmp_path / "spoken")
    (tmp_path / "short.yaml").write_text("steps: 20\nevery: 10\nbatch: 16\ncode: 3\n")
    accents = "speaker\taccent\n" + "".join(f"s{i}\t{'ab'[i % 2]}\n" for i in range(9))
    (tmp_path / "accents.tsv").write_text(accents)
    arguments = ("train", "autoencoder", "spoken", "-o", "model", "-c", "./short.yaml")
    done = command(*arguments, "--accents", "accents.tsv")
    assert done.returncode == 0, done.stderr.decode()
    assert b"CE accent" in done.stderr
    network, config = load(tmp_path / "model")
    assert (network.code, config["version"], config["card"]["steps"]) == (3, "7", 20)
    (tmp_path / "accents.tsv").write_text("who\taccent\ns1\ta\n")
    done = command(*arguments, "--accents", "accents.tsv")
    assert done.returncode == 1
    assert b"'speaker'" in done.stderr
