"""``voicenym train mixture`` on a pool of synthetic speakers."""

import json

import torch

from voicenym.identity.pools.speaker_pool import Pool, save
from voicenym.identity.pools.vector_mixture import opened


def pool(folder):
    noise = torch.Generator().manual_seed(0)
    vectors = torch.randn(80, 6, generator=noise) * torch.linspace(2.0, 0.2, 6) + 1.0
    sexes = ("f", "m") * 40
    save(Pool(vectors, sexes, tuple(map(str, range(80))), "invented"), folder)
    return folder


def test_a_search_chooses_and_leaves_what_it_tried(command, tmp_path):
    done = command(
        "train", "mixture", pool(tmp_path / "pool"), "-o", tmp_path / "model", "-q", "--search",
        "--try-share", 0.5, "--try-share", 0.99, "--try-components", 1,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    rows = [
        json.loads(line) for line in (tmp_path / "model/search.jsonl").read_text().split("\n")[:-1]
    ]
    assert {(row["sex"], row["share"]) for row in rows} == {
        ("f", 0.5), ("f", 0.99), ("m", 0.5), ("m", 0.99),
    }  # fmt: skip
    assert (tmp_path / "model/search.svg").read_text().startswith("<svg")
    assert set(opened(str(tmp_path / "model")).groups) == {"f", "m"}


def test_a_wrong_covariance_is_named(command, tmp_path):
    done = command("train", "mixture", pool(tmp_path / "pool"), "-o", "m", "--covariance", "tied")
    assert done.returncode == 1
    assert b"diag or full" in done.stderr
