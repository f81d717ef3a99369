"""Training of two-branch verifiers: from recordings to a folder, and continued."""

from __future__ import annotations

import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.speakers.two_branch import TwoBranch
from voicenym.nets.speakers.xvector import XVector
from voicenym.training.recipes import train
from voicenym.verification.encoder_verifier import StoredEncoder

pytest.importorskip("lightning")

SIZES = {"channels": 16, "size": 12, "scale": 4, "attention": 8, "squeeze": 8}
CONFIG = """
options: {layers: [0, 1, 2], width: 16, second: 8, channels: 16, size: 12, scale: 4,
          attention: 8, squeeze: 8}
seconds: 0.5
batch: 8
steps: %d
every: 2
held_out: 0.3
"""


@pytest.fixture
def corpus_folder(voices):
    return voices[0].path.parents[1]


def trained(folder, corpus, whisper, tmp_path, steps=2, **options):
    config = tmp_path / "tiny.yaml"
    config.write_text(CONFIG % steps)
    return train(
        "two-branch",
        data=corpus,
        output=folder,
        config=str(config),
        frozen=str(whisper),
        start="nothing",
        systems=("original", "mcadams", "vtln"),
        workers=0,
        cache=tmp_path / "cache",
        **options,
    )


def test_it_trains_on_speech_of_several_systems_and_goes_on(
    corpus_folder, tiny_whisper, tmp_path, one_processor
):
    folder = tmp_path / "verifier"
    found = trained(folder, corpus_folder, tiny_whisper, tmp_path)
    assert found.steps == 2
    assert 0.0 <= found.figures["EER % on held-out speakers"] <= 100.0
    card = json.loads((folder / "config.json").read_text())["card"]
    assert card["anonymized by"] == "original, mcadams, vtln"
    assert card["renderings"] == 2
    verifier = StoredEncoder(folder)
    assert isinstance(verifier.encoder(), TwoBranch)
    samples = torch.randn(8_000, generator=torch.Generator().manual_seed(0)).numpy() * 0.1
    vectors = verifier.embed([samples])
    assert vectors.shape == (1, 12)
    features = list((tmp_path / "cache" / "features").iterdir())
    assert 42 + 18 < len(features) <= 2 * 42 + 18, "two renderings to learn from, one to validate"
    again = trained(tmp_path / "same", corpus_folder, tiny_whisper, tmp_path)
    assert again.steps == 2
    assert (StoredEncoder(tmp_path / "same").embed([samples]) == vectors).all(), "the seed decides"
    further = trained(folder, corpus_folder, tiny_whisper, tmp_path, steps=4)
    assert further.steps == 4
    assert [row["step"] for row in further.details] == [2, 4]


def test_the_filterbank_branch_starts_from_an_ecapa():
    from voicenym.training.speakers.train_two_branch import TwoBranchConfig, new

    config = TwoBranchConfig(options={"second": 8, "width": 16, "channels": 512})
    torch.manual_seed(1)
    ecapa = Ecapa(**SIZES)
    made = new(config, ecapa, "./somewhere")
    assert (made.config()["channels"], made.place) == (16, "./somewhere")
    torch.testing.assert_close(made.blocks[0].conv.conv.weight, ecapa.blocks[0].conv.conv.weight)
    assert new(config, made) is made
    torch.testing.assert_close(new(config).fc.conv.weight, new(config).fc.conv.weight)
    with pytest.raises(VoicenymError, match="give a two-branch encoder or an ECAPA-TDNN"):
        new(config, XVector(8, 8, 8))
