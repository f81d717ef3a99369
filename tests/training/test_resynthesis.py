"""Learning to take speech apart and to rebuild it."""

import math

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.speakers.weights import make
from voicenym.resynthesis.parts import Parts
from voicenym.training import resynthesis as recipe
from voicenym.training.config import load
from voicenym.training.fit import Machine
from voicenym.training.shelf import FULL_SCALE, Utterance
from voicenym.training.takes import TakeCrops, takes, unit

RATE = 16_000
CONTENT = {"width": 16, "inner": 24, "blocks": 1, "size": 4}
OPTIONS = {"width": 24, "inner": 32, "blocks": 1, "lookahead": 3, "speaker_width": 8}
CONFIG = recipe.ResynthesisConfig(
    content=CONTENT, options=OPTIONS, rank=2, seconds=0.5, batch=4, every=10, rate=1e-2
)


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return make("ecapa", {"channels": 16}).eval()


@pytest.fixture(scope="module")
def heard(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("shelf")
    made = []
    for number, f0 in enumerate((100.0, 130.0, 180.0, 220.0)):
        time = np.arange(round(1.3 * RATE)) / RATE
        for part in range(2):
            pitch = f0 * (1 + 0.05 * np.sin(5 * time + part))
            phase = 2 * np.pi * np.cumsum(pitch) / RATE
            buzz = sum(np.cos(k * phase) / (1 + abs(k * f0 - 600) / 300) for k in range(1, 25))
            samples = 0.1 * buzz * (0.6 + 0.4 * np.sin(9 * time))
            path = folder / f"{number}-{part}.i16"
            path.write_bytes(np.rint(samples * FULL_SCALE).astype(np.int16).tobytes())
            recording = Recording(f"{number}-{part}", f"speaker {number}", path)
            made.append(Utterance(recording, path, len(samples)))
    return takes(made, encoder, 48)


def test_a_take_holds_what_the_frames_hold(heard):
    take = heard[2]
    assert take.frames == 130
    voiced = take.f0[take.f0 > 0].astype(float)
    assert len(voiced) > 100
    assert np.median(voiced) == pytest.approx(130.0, rel=0.03)
    assert float(take.averages.log_f0[0]) == pytest.approx(math.log(130.0), abs=0.03)
    # loud frames make the average, so that the plain mean lies below it
    assert -3.0 < take.power.astype(float).mean() < 0.1


def test_a_crop_depends_on_its_place_alone(heard):
    crops = TakeCrops(heard, 0.5, 8, 3)
    one, again = crops[5], TakeCrops(heard, 0.5, 8, 3)[5]
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    assert one.samples.shape == (8000,)
    assert one.bands.shape == (50, 48)
    assert float(one.vector.norm()) == pytest.approx(math.sqrt(192), rel=1e-4)
    crops.advance(1)
    assert not torch.equal(crops[5].samples, one.samples)
    with pytest.raises(CorpusError, match="shorter crop"):
        TakeCrops(heard, 9.0, 8, 3)


def test_warping_moves_formants_by_its_factor():
    bands = torch.zeros(2, 1, 200)
    from voicenym.dsp.features.mel import slaney
    from voicenym.nets.content.bottleneck import HIGHEST, LOWEST

    low, high = (float(slaney(torch.tensor(f))) for f in (LOWEST, HIGHEST))
    place = low + (high - low) * (torch.arange(200) + 1.0) / 201
    bands[:] = torch.exp(-0.5 * ((place - float(slaney(torch.tensor(2000.0)))) / 1.0) ** 2)
    out = recipe.warped(bands, torch.tensor([1.0, 1.2]), torch.zeros(2))
    torch.testing.assert_close(out[0], bands[0], atol=1e-4, rtol=0)
    peak = place[out[1, 0].argmax()]
    assert float(peak) == pytest.approx(float(slaney(torch.tensor(2400.0))), abs=0.3)


def test_a_gradient_is_turned_round():
    x = torch.ones(3, requires_grad=True)
    recipe._Reversed.apply(x, 0.5).sum().backward()
    assert torch.equal(x.grad, torch.full((3,), -0.5))


def test_it_learns_goes_on_and_is_kept(heard, tmp_path):
    made = recipe.parts(CONFIG, 192)
    steps = recipe.changed(CONFIG, steps=30)
    machine = Machine(accelerator="cpu", workers=0)
    outcome = recipe.train(made, heard[:6], heard[6:], steps, tmp_path, machine=machine)
    assert outcome.steps == 30
    distances = [row["mel distance"] for row in outcome.curve]
    assert distances[-1] < 0.9 * distances[0]
    assert made.usual.abs().min() > 0
    more = recipe.train(
        made, heard[:6], heard[6:], recipe.changed(CONFIG, steps=40), tmp_path, machine=machine
    )
    assert more.steps == 40
    made.save(tmp_path / "parts", {"data": "made"})
    again = Parts.load(tmp_path / "parts")
    for name, value in made.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_discriminators_join_when_told(heard, tmp_path):
    config = recipe.changed(CONFIG, steps=3, every=3, batch=2, adversarial=0.5)
    made = recipe.parts(config, 192)
    module = recipe.Resynthesizing(made, 4, config)
    assert len(module.judges) == 2
    machine = Machine(accelerator="cpu", workers=0)
    outcome = recipe.train(made, heard[:6], heard[6:], config, tmp_path, machine=machine)
    assert all(math.isfinite(row["discriminators"]) for row in outcome.curve)


def test_voices_are_like_those_that_were_heard(heard):
    made = recipe.parts(CONFIG, 192)
    recipe.voices(made, heard)
    drawn = made.voices.vectors(torch.randn(500, 2, generator=torch.Generator().manual_seed(0)))
    assert torch.allclose(drawn.norm(dim=1), torch.tensor(math.sqrt(192.0)), rtol=1e-4)
    own = torch.from_numpy(unit(np.stack([take.vector for take in heard])))
    near = torch.nn.functional.normalize(drawn) @ torch.nn.functional.normalize(own).T
    assert float(near.max(1).values.min()) > 0.3
    pitch = made.voices.log_f0(own, torch.zeros(len(own)))
    true = torch.tensor([float(take.averages.log_f0[0]) for take in heard])
    assert float(torch.corrcoef(torch.stack([pitch, true]))[0, 1]) > 0.8


def test_the_bundled_recipe_loads_and_other_folders_are_refused(tmp_path):
    config = load("base", recipe.ResynthesisConfig)
    assert config.synthesizer == "istft-vocoder"
    with pytest.raises(VoicenymError):
        Parts.load(tmp_path)
