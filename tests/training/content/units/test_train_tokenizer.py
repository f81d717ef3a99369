"""Training of a tokenizer of frames."""

import numpy as np
import pytest
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.training.content.units import train_tokenizer as recipe
from voicenym.training.run.config import changed
from voicenym.training.run.machine import Machine

CONFIG = recipe.TokenizerConfig(
    options={"width": 16, "units": 1, "entries": 16, "code": 4},
    frames=16, batch=4, every=40, rate=1e-2, steps=80,
)  # fmt: skip


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """Frames that lie about four places, each held for some frames; and where they lie."""
    folder = tmp_path_factory.mktemp("frames")
    rng = np.random.default_rng(0)
    places = 10.0 * rng.standard_normal((4, 6)) + 3.0
    paths, truth = [], []
    for number in range(6):
        state = np.repeat(rng.integers(4, size=20), 4)
        path = folder / f"{number}.npy"
        np.save(path, (places[state] + 0.1 * rng.standard_normal((80, 6))).astype(np.float16))
        paths.append(path)
        truth.append(state)
    return paths, truth


def test_tokens_tell_the_states_that_frames_are_in(states, tmp_path):
    paths, truth = states
    made = recipe.new(CONFIG, 6, {"features": "made"})
    machine = Machine(accelerator="cpu", workers=0)
    outcome = recipe.train(made, paths[:5], paths[5:], CONFIG, tmp_path, machine=machine)
    assert outcome.curve[-1]["share lost"] < 0.2
    tokens = made(torch.from_numpy(np.load(paths[5]).astype(np.float32))).numpy()
    # A token means one state: few frames have the token that mostly means another.
    counts = np.zeros((16, 4))
    np.add.at(counts, (tokens, truth[5]), 1)
    assert counts.max(1).sum() > 0.9 * counts.sum()
    assert len(set(counts.argmax(1)[counts.sum(1) > 0].tolist())) == len(set(truth[5].tolist()))


def test_crops_depend_on_their_place_alone(states):
    crops = recipe.FrameCrops(states[0], 16, 8, 3)
    assert torch.equal(crops[5], recipe.FrameCrops(states[0], 16, 8, 3)[5])
    before = crops[5]
    crops.advance(1)
    assert not torch.equal(crops[5], before)
    with pytest.raises(CorpusError, match="longer"):
        recipe.FrameCrops(states[0], 900, 8, 3)


def test_what_cannot_be_is_refused(states, tmp_path):
    many = changed(CONFIG, options={"width": 16, "entries": 5000})
    made = recipe.new(many, 6, {})
    with pytest.raises(CorpusError, match="too few for 5000"):
        recipe.train(made, states[0], states[0], many, tmp_path)
    with pytest.raises(VoicenymError, match="options"):
        recipe.new(changed(CONFIG, options={"colour": 3}), 6, {})
