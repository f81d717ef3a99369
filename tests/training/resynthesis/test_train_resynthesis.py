"""Training of a resynthesis system."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.speakers.speaker_encoders import make
from voicenym.nets.words.phone_states.phone_state_network import FrameNet, FrameNetConfig
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.training.resynthesis import conversion_loss
from voicenym.training.resynthesis import train_resynthesis as recipe
from voicenym.training.resynthesis.conversion_loss import ConversionConfig
from voicenym.training.resynthesis.resynthesis_config import ResynthesisConfig
from voicenym.training.resynthesis.resynthesis_dataset import (
    Crop,
    ResynthesisCrops,
    analysed,
    content_of,
    unit,
)
from voicenym.training.resynthesis.resynthesis_step import Resynthesizing
from voicenym.training.run.config import changed, load
from voicenym.training.run.machine import Machine
from voicenym.training.speech.speech_cache import FULL_SCALE, Utterance

RATE = 16_000
CONTENT = {"width": 16, "inner": 24, "blocks": 1, "size": 4}
OPTIONS = {"width": 24, "inner": 32, "blocks": 1, "lookahead": 3, "speaker_width": 8}
CONFIG = ResynthesisConfig(
    content=CONTENT, options=OPTIONS, rank=2, seconds=0.5, batch=4, every=10, rate=1e-2
)


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return make("ecapa", {"channels": 16}).eval()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("cache")
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
    return analysed(made, encoder, 48)


def test_a_take_holds_what_the_frames_hold(prepared):
    take = prepared[2]
    assert take.frames == 130
    voiced = take.f0[take.f0 > 0].astype(float)
    assert len(voiced) > 100
    assert np.median(voiced) == pytest.approx(130.0, rel=0.03)
    assert float(take.averages.log_f0[0]) == pytest.approx(math.log(130.0), abs=0.03)
    # loud frames make the average, so that the plain mean lies below it
    assert -3.0 < take.power.astype(float).mean() < 0.1


def test_a_crop_depends_on_its_place_alone(prepared):
    crops = ResynthesisCrops(prepared, 0.5, 8, 3)
    one, again = crops[5], ResynthesisCrops(prepared, 0.5, 8, 3)[5]
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    assert one.samples.shape == (8000,)
    assert one.bands.shape == (50, 48)
    assert float(one.vector.norm()) == pytest.approx(math.sqrt(192), rel=1e-4)
    crops.advance(1)
    assert not torch.equal(crops[5].samples, one.samples)
    with pytest.raises(CorpusError, match="shorter crop"):
        ResynthesisCrops(prepared, 9.0, 8, 3)


def test_a_pickled_dataset_gives_the_same_crops(prepared):
    """Processes that are spawned get the dataset by pickle."""
    short = dataclasses.replace(prepared[0], f0=prepared[0].f0[:9])
    content = torch.arange(len(prepared) + 1, dtype=torch.float64)[:, None]
    crops = ResynthesisCrops([short, *prepared], 0.5, 16, 3, content)
    copies = pickle.loads(pickle.dumps(crops))
    speakers = set()
    for crop, copy in zip(crops, copies, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(crop, copy, strict=True))
        assert int(crop.content[0] - 1) // 2 == int(crop.speaker)
        speakers.add(int(crop.speaker))
    assert len(speakers) > 1
    with pytest.raises(ValueError, match="rows of content"):
        ResynthesisCrops(prepared, 0.5, 16, 3, content)


def test_it_learns_goes_on_and_is_kept(prepared, tmp_path):
    made = recipe.parts(CONFIG, 192)
    steps = changed(CONFIG, steps=30)
    machine = Machine(accelerator="cpu", workers=0)
    outcome = recipe.train(made, prepared[:6], prepared[6:], steps, tmp_path, machine=machine)
    assert outcome.steps == 30
    distances = [row["mel distance"] for row in outcome.curve]
    assert distances[-1] < 0.9 * distances[0]
    assert made.usual.abs().min() > 0
    more = recipe.train(
        made, prepared[:6], prepared[6:], changed(CONFIG, steps=40), tmp_path, machine=machine
    )
    assert more.steps == 40
    made.save(tmp_path / "parts", {"data": "made"})
    again = Parts.load(tmp_path / "parts")
    for name, value in made.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_fewer_speakers_than_directions_draw_among_themselves():
    voices = Parts(CONTENT, "istft-vocoder", {**OPTIONS, "content": 5, "speaker": 6}, 4).voices
    voices.directions.fill_(1.0)  # of what was learnt before
    vectors = torch.tensor([[1.0, 0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0], [1.0, 1.0, 0, 0, 0, 0]])
    voices.learn(vectors, torch.tensor([4.6, 5.1, 4.9]))
    assert voices.rank == 4
    assert not voices.directions[3].any()
    drawn = voices.vectors(torch.randn(20, 4, generator=torch.Generator().manual_seed(0)))
    assert drawn[:, 2:].abs().max() < 1e-5  # nothing that no speaker has
    torch.testing.assert_close(drawn.norm(dim=1), torch.full((20,), 6.0**0.5))


def test_weights_blend_with_what_they_went_on_from():
    one, other = recipe.parts(CONFIG, 192), recipe.parts(changed(CONFIG, seed=1), 192)
    name = "content.narrow.weight"
    wanted = 0.25 * one.state_dict()[name] + 0.75 * other.state_dict()[name]
    one.blend(other, 0.75)
    torch.testing.assert_close(one.state_dict()[name], wanted)
    with pytest.raises(VoicenymError, match="shape"):
        one.blend(recipe.parts(changed(CONFIG, content={**CONTENT, "size": 5}), 192), 0.5)


def test_content_is_made_alike_by_an_encoder_that_stays(prepared, tmp_path):
    config = changed(CONFIG, normalised=True, steps=20)
    known = recipe.parts(config, 192)
    made = known.with_normalisation()
    before = {name: value.clone() for name, value in made.state_dict().items()}
    machine = Machine(accelerator="cpu", workers=0)
    recipe.train(made, prepared[:6], prepared[6:], config, tmp_path, machine=machine)
    for name, value in made.state_dict().items():
        same = torch.equal(value, before[name])
        if name.startswith("content."):
            assert same, name
        elif name.startswith("synthesizer."):
            assert not same or value.numel() == 0, name
    # who everybody is was counted: all that the encoder hears, silence left out
    with torch.no_grad():
        source = [
            made.content.encode(torch.from_numpy(t.bands).float()[None]) for t in prepared[:6]
        ]
    everything = torch.cat(source, dim=1)[0]
    torch.testing.assert_close(made.everybody.mean, everything.mean(0), atol=0.1, rtol=0)
    made.save(tmp_path / "parts", {})
    again = Parts.load(tmp_path / "parts")
    assert torch.equal(again.everybody.covariance, made.everybody.covariance)


def test_crops_bring_what_their_recordings_say(prepared):
    parts = recipe.parts(CONFIG, 192).with_normalisation()
    sums = content_of(parts, prepared)
    crops = ResynthesisCrops(prepared, 0.5, 16, 0, sums)
    for crop in crops:
        which = int((sums == crop.content).all(1).nonzero()[0])
        assert prepared[which].utterance.speaker == crops.speakers[int(crop.speaker)]


def test_discriminators_join_at_the_configured_step(prepared, tmp_path):
    config = changed(
        CONFIG,
        steps=3,
        every=3,
        batch=2,
        adversarial=0.5,
        discriminators={"period": {"channels": [4, 8]}, "spectral": {"width": 4}},
        discriminator_seconds=0.25,
    )
    made = recipe.parts(config, 192)
    module = Resynthesizing(made, 4, config)
    assert len(module.discriminators) == 2
    machine = Machine(accelerator="cpu", workers=0)
    outcome = recipe.train(made, prepared[:6], prepared[6:], config, tmp_path, machine=machine)
    assert all(math.isfinite(row["discriminators"]) for row in outcome.curve)


def test_discriminators_that_there_are_not_are_named():
    from voicenym.training.synthesis.discriminator_setup import make_discriminators

    with pytest.raises(VoicenymError, match="no 'colour'; there are: period, scale, spectral"):
        make_discriminators({"colour": {}})
    with pytest.raises(VoicenymError, match="discriminators, period"):
        make_discriminators({"period": {"colour": 3}})


def batch_of(prepared) -> Crop:
    crops = ResynthesisCrops(prepared, 0.5, 4, 0)
    return Crop(*torch.utils.data.default_collate([crops[i] for i in range(4)]))


def test_other_voices_have_their_own_register(prepared):
    made = recipe.parts(CONFIG, 192)
    recipe.voices(made, prepared)
    crop = batch_of(prepared)
    for pool in (0.0, 1.0):
        config = ConversionConfig(share=1.0, pool=pool)
        generator = torch.Generator().manual_seed(0)
        voices = conversion_loss.wanted(made, crop, config, generator)
        again = conversion_loss.wanted(made, crop, config, torch.Generator().manual_seed(0))
        assert torch.equal(voices.f0, again.f0)
        assert torch.equal(voices.f0 > 0, crop.f0 > 0)
        assert torch.equal(voices.vectors, crop.vector.roll(1, 0)) == (pool == 1.0)
        norms = voices.vectors.norm(dim=1)
        assert torch.allclose(norms, torch.tensor(math.sqrt(192.0)), rtol=1e-4)


def test_the_loss_distinguishes_the_speakers_own_voice_from_the_requested_one(prepared, encoder):
    made = recipe.parts(CONFIG, 192)
    recipe.voices(made, prepared)
    crop = batch_of(prepared)
    source = made.content.encode(crop.bands)
    config = ConversionConfig(share=1.0, noise=(80.0, 90.0))

    @torch.no_grad()
    def lost(vectors, waveform):
        return conversion_loss.losses(
            made, encoder, crop, source, vectors, waveform, config, torch.Generator().manual_seed(0)
        )

    own = torch.nn.functional.normalize(encoder(crop.samples)) * math.sqrt(192.0)
    same = lost(own, crop.samples)
    # What was spoken is the original: but at a crop's edges, content and power are as they were.
    assert float(same["speaker"]) < 0.01
    assert float(same["content"]) < 0.5 * float(lost(own, crop.samples.roll(1, 0))["content"])
    assert float(same["power"]) < 0.05
    other = lost(2.0 * made.voices.mean - own, crop.samples)
    assert float(other["speaker"]) == pytest.approx(2.0, abs=0.01)
    assert float(other["aside"]) > 0.5
    louder = lost(own, 3.0 * crop.samples)
    assert float(louder["power"]) == pytest.approx(float(same["power"]), abs=1e-3)


def test_it_learns_to_speak_in_other_voices(prepared, encoder, tmp_path):
    config = changed(
        CONFIG, steps=30, conversion=ConversionConfig(share=0.5, speaker=3.0, noise=(60.0, 80.0))
    )
    before = [parameter.clone() for parameter in encoder.parameters()]
    machine = Machine(accelerator="cpu", workers=0)
    made = recipe.parts(config, 192)
    outcome = recipe.train(
        made, prepared[:6], prepared[6:], config, tmp_path, encoder=encoder, machine=machine
    )
    for name in ("speaker", "content", "power"):
        assert math.isfinite(outcome.curve[-1][f"kept out: {name}"])
    assert outcome.curve[-1]["loss kept out"] < outcome.curve[0]["loss kept out"]
    assert all(map(torch.equal, before, encoder.parameters()))
    with pytest.raises(ValueError, match="encoder"):
        Resynthesizing(made, 4, config)


def test_a_recogniser_listens_to_what_is_spoken(prepared, encoder, tmp_path):
    torch.manual_seed(0)
    net = FrameNet(FrameNetConfig(tokens=7, bands=24, width=16, gaps=(1,)))
    before = [value.clone() for value in net.state_dict().values()]
    config = changed(CONFIG, steps=20, phones=5.0, conversion=ConversionConfig(share=0.5))
    outcome = recipe.train(
        recipe.parts(config, 192),
        prepared[:6],
        prepared[6:],
        config,
        tmp_path,
        encoder=encoder,
        phones=net,
        machine=Machine(accelerator="cpu", workers=0),
    )
    first, last = outcome.curve[0], outcome.curve[-1]
    for name in ("kept out: phones", "kept out: other voices: phones"):
        assert 0.0 < last[name] < first[name]
    assert all(map(torch.equal, before, net.state_dict().values()))


def test_voices_are_distributed_like_the_training_speakers(prepared):
    made = recipe.parts(CONFIG, 192)
    recipe.voices(made, prepared)
    drawn = made.voices.vectors(torch.randn(500, 2, generator=torch.Generator().manual_seed(0)))
    assert torch.allclose(drawn.norm(dim=1), torch.tensor(math.sqrt(192.0)), rtol=1e-4)
    own = torch.from_numpy(unit(np.stack([take.vector for take in prepared])))
    near = torch.nn.functional.normalize(drawn) @ torch.nn.functional.normalize(own).T
    assert float(near.max(1).values.min()) > 0.3
    pitch = made.voices.log_f0(own, torch.zeros(len(own)))
    true = torch.tensor([float(take.averages.log_f0[0]) for take in prepared])
    assert float(torch.corrcoef(torch.stack([pitch, true]))[0, 1]) > 0.8


def test_the_bundled_recipe_loads_and_other_folders_are_refused(tmp_path):
    config = load("base", ResynthesisConfig)
    assert config.synthesizer == "istft-vocoder"
    with pytest.raises(VoicenymError):
        Parts.load(tmp_path)
