"""Training of the duration predictor: targets, deviance, and durations that content tells."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

from voicenym import Audio, write
from voicenym.errors import CorpusError
from voicenym.nets.synthesis.duration_predictor import DurationPredictor
from voicenym.resynthesis.pipeline import assembly
from voicenym.training.recipes import train
from voicenym.training.run.machine import Machine
from voicenym.training.synthesis import train_durations as recipe
from voicenym.training.synthesis.train_durations import DurationConfig, Ratios, TimedUtterance

HOP, SIZE = 640, 5
TYPICAL = {"M": 8.0, "AA": 12.0}


def items(folder, prefix, count=12, phones=40):
    """Utterances whose first element of content is the logarithm of the ratio."""
    found = []
    for number in range(count):
        rng = np.random.default_rng([ord(prefix), number])
        rate = rng.uniform(0.6, 1.6)
        names = rng.choice(["M", "AA"], phones)
        timed = tuple((str(n), max(2, round(TYPICAL[n] * rate))) for n in names)
        frames = -(-sum(c for _, c in timed) // 4)
        ratio, _ = recipe.targets(timed, TYPICAL, frames, HOP)
        content = rng.standard_normal((frames, SIZE))
        content[:, 0] = np.log(ratio)
        path = folder / f"{prefix}{number}.npy"
        np.save(path, content.astype(np.float32))
        found.append(TimedUtterance(path, timed))
    return found


def test_ratios_of_a_phone_sum_up_to_its_typical_duration():
    timed = (("SIL", 10), ("M", 4), ("AA", 24), ("SIL", 2), ("M", 8), ("SIL", 9))
    ratio, share = recipe.targets(timed, TYPICAL, 15, HOP)
    assert ratio.shape == share.shape == (15,)
    assert 4 * share.sum() == pytest.approx(36.0)  # frames of 10 ms of speech
    assert 4 * (ratio * share).sum() == pytest.approx(8.0 + 12.0 + 8.0)
    assert share[:2].tolist() == [0.0, 0.0]
    assert ratio[5] == pytest.approx(0.5)


def test_the_deviance_is_least_for_the_truth():
    torch.manual_seed(0)
    ratio = torch.rand(2, 30) + 0.5
    batch = Ratios(torch.zeros(2, 30, SIZE), torch.tensor([30, 20]), ratio, torch.ones(2, 30))

    def value(of):
        return float(recipe.deviance(lambda content, lengths: of.log(), batch))

    assert value(ratio) == pytest.approx(0.0, abs=1e-6)
    assert value(1.1 * ratio) > value(ratio)
    assert value(0.9 * ratio) > value(ratio)
    behind = ratio.clone()
    behind[1, 20:] = 9.0  # after the end of the row
    assert value(behind) == pytest.approx(0.0, abs=1e-6)


def test_it_learns_durations_that_content_tells(tmp_path):
    torch.manual_seed(0)
    network = DurationPredictor(SIZE, HOP, width=16, inner=32, blocks=1, kernel=3)
    config = DurationConfig(steps=150, every=50, batch=8, seconds=2.0, rate=1e-2)
    watched = items(tmp_path, "h", 4)
    outcome = recipe.train(
        network, items(tmp_path, "t"), watched, config, tmp_path / "run", machine=Machine("cpu")
    )
    assert outcome.best < 0.005
    typical = recipe.typical_durations(watched)
    errors = []
    for item in watched:
        one = recipe.crop(item, typical, HOP, 0, item.frames)
        batch = Ratios(*(torch.as_tensor(value)[None] for value in one))
        with torch.no_grad():
            errors.append(recipe.rate_errors(network, batch))
    found, left = np.array(errors).T
    assert np.abs(left).max() < 0.3 * np.abs(found).max()


def test_speech_without_phones_is_an_error(tmp_path):
    network = DurationPredictor(SIZE, HOP, width=8, inner=8, blocks=1, kernel=3)
    silent = [TimedUtterance(tmp_path / "a.npy", (("SIL", 300),))]
    with pytest.raises(CorpusError, match="no speech in which phones are found"):
        recipe.train(network, silent, silent, DurationConfig(), tmp_path, machine=Machine("cpu"))


def test_the_recipe_finds_phones_and_its_predictor_fits_the_pipeline(pipelines, voice, tmp_path):
    pytest.importorskip("pocketsphinx")
    for speaker in range(3):
        (tmp_path / "speech" / f"s{speaker}").mkdir(parents=True)
        for take in range(2):
            takes = [voice(speaker, 2 * take + part).samples() for part in range(2)]
            samples = np.concatenate(takes).astype(np.float32)
            audio = Audio(torch.from_numpy(0.5 * samples / np.abs(samples).max()), 16_000)
            write(tmp_path / "speech" / f"s{speaker}" / f"{take}.wav", audio)
    (tmp_path / "own.yaml").write_text(
        "options: {width: 8, inner: 8, blocks: 1}\nseconds: 1.0\nbatch: 2\nheld_out: 0.34\n"
    )
    shutil.copytree(pipelines / "ssl", tmp_path / "ssl")
    given = {"data": [tmp_path / "speech"], "pipeline": tmp_path / "ssl", "steps": 4}
    given |= {"config": str(tmp_path / "own.yaml"), "accelerator": "cpu", "workers": 0}
    done = train("durations", **given, output=tmp_path / "durations")
    assert "assemble --durations" in "".join(done.lines)
    again = train("durations", **given, output=tmp_path / "durations")  # phones are stored
    assert again.figures.keys() == done.figures.keys()
    assembly.assemble(tmp_path / "ssl", {"durations": tmp_path / "durations"})
    network = assembly.opened(tmp_path / "ssl").durations
    assert network is not None
    assert network.ratios(torch.randn(1, 9, network.content)).shape == (1, 9)
