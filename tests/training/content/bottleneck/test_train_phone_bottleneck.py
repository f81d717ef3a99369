"""Training of a bottleneck by frames: states of phones, and codes of words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

pytest.importorskip("lightning")

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content import content_encoders
from voicenym.nets.content.tdnnf import HOP, TdnnF
from voicenym.nets.words.phone_states.phones import Phone, States
from voicenym.training.content.bottleneck.frame_targets import (
    NONE,
    Labelled,
    TargetCrops,
    WholeTargets,
    crop,
    numbers_of,
)
from voicenym.training.content.bottleneck.phone_bottleneck_recipe import new_network, started
from voicenym.training.content.bottleneck.train_phone_bottleneck import (
    PhoneBottleneck,
    PhoneBottleneckConfig,
    train,
)
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.speech_cache import FULL_SCALE, Utterance

RATE, EVERY = 16_000, 4
TONES = {"A": 400.0, "B": 1000.0, "C": 2500.0}
STATES = States(tuple(TONES))
OPTIONS = {"size": 8, "bands": 20, "width": 24, "narrow": 8, "strides": [1, 3], "dropout": 0.0}
QUICK = PhoneBottleneckConfig(
    options=OPTIONS,
    seconds=0.6,
    batch=4,
    smoothing=0.0,
    warp=0.0,
    gain=0.0,
    surroundings=Surroundings(noise=0.0, babble=0.0, room=0.0, band=0.0),
    blanks=SpecAugment(bands=0, stretches=0),
    rate=1e-2,
    schedule=Cyclical(rise=0.1),
    every=40,
    steps=80,
)
CPU = Machine("cpu", workers=0)


def sentence(folder, number: int, names: str, labels: str = "both") -> Labelled:
    """Tones of 0.2 s in the order of ``names``; a code is the number of its tone."""
    time = np.arange(round(0.2 * RATE)) / RATE
    samples = np.concatenate([0.1 * np.sin(2 * np.pi * TONES[name] * time) for name in names])
    path = folder / f"{number}.i16"
    path.write_bytes(np.rint(samples * FULL_SCALE).astype(np.int16).tobytes())
    utterance = Utterance(Recording(str(number), f"s{number}", path), path, len(samples))
    phones = tuple(Phone(name, 0.2 * i, 0.2 * (i + 1)) for i, name in enumerate(names))
    codes = folder / f"{number}.npy"
    np.save(codes, np.repeat(["ABC".index(name) for name in names], 5).astype(np.int16))
    return Labelled(
        utterance,
        phones if labels != "codes" else None,
        codes if labels != "phones" else None,
    )


@pytest.fixture
def speech(tmp_path) -> list[Labelled]:
    orders = ("ABC", "BCA", "CAB", "ACB", "CBA", "BAC")
    return [sentence(tmp_path, i, order) for i, order in enumerate(orders)]


def test_targets_lie_where_the_samples_lie(tmp_path):
    """A crop that begins within a phone has the rest of it, and of its codes."""
    one = sentence(tmp_path, 0, "AB")
    found = crop(one, STATES, EVERY, 16, 32)
    first, second = STATES.first("A"), STATES.first("B")
    assert found.states[:24].tolist() == [first + 1] * 4 + [second] * 10 + [second + 1] * 10
    assert found.codes.tolist() == [0] + [1] * 5 + [NONE] * 2
    assert int(found.frames) == 24
    assert (found.states[24:] == NONE).all()
    whole = one.utterance.samples()
    np.testing.assert_array_equal(found.samples[: 24 * HOP].numpy(), whole[16 * HOP :])
    assert not found.samples[24 * HOP :].any()
    # crops begin with a code: of noise, so that no two places are alike
    noise = np.random.default_rng(0).integers(-9999, 9999, one.utterance.length)
    one.utterance.path.write_bytes(noise.astype(np.int16).tobytes())
    whole = one.utterance.samples()
    crops = TargetCrops([one], STATES, EVERY, 0.12, 20)
    pieces = whole.reshape(-1, EVERY * HOP)
    begun = {
        int(np.flatnonzero((pieces == crops[i].samples[: EVERY * HOP].numpy()).all(1))[0])
        for i in range(20)
    }
    assert len(begun) > 3
    with pytest.raises(CorpusError, match="no utterances"):
        TargetCrops([], STATES, EVERY, 1.0, 2)


def test_recordings_without_text_or_without_codes_have_one_target(tmp_path):
    without_text = crop(sentence(tmp_path, 0, "AB", "codes"), STATES, EVERY, 0, 8)
    assert (without_text.states == NONE).all()
    assert (without_text.codes == 0).all()
    without_codes = crop(sentence(tmp_path, 1, "AB", "phones"), STATES, EVERY, 0, 8)
    assert (without_codes.codes == NONE).all()
    assert without_codes.states.tolist() == [STATES.first("A")] * 8
    module = PhoneBottleneck(TdnnF(**OPTIONS), STATES, 3, EVERY, QUICK)
    module.log_dict = lambda *found, **more: None
    batch = [value[None].repeat(2, *[1] * value.ndim) for value in without_codes]
    loss = module.training_step(batch, 0)
    loss.backward()
    assert module.of_codes.output.weight.grad is None
    assert float(module.of_states.output.weight.grad.abs().sum()) > 0.0


def test_phones_and_codes_are_learnt_under_the_constraint(tmp_path, speech):
    torch.manual_seed(0)
    network = TdnnF(**OPTIONS)
    outcome = train(network, STATES, 3, EVERY, speech, speech, QUICK, tmp_path / "run", machine=CPU)
    assert outcome.steps == 80
    last = outcome.curve[-1]
    assert last["codes right %"] > 95.0
    assert last["states right %"] > 75.0  # halves of a tone have only its borders to tell them
    assert outcome.best < outcome.curve[0]["cross-entropy"]
    assert max(part.error() for part in network.constrained()) < 0.05
    # the bottleneck itself tells the tones: the means of frames are far from each other
    with torch.inference_mode():
        content = network(torch.from_numpy(speech[0].utterance.samples())[None])[0]
    middles = torch.stack([content[5 + 20 * i : 15 + 20 * i].mean(0) for i in range(3)])
    within = max(float(content[5 + 20 * i : 15 + 20 * i].std(0).norm()) for i in range(3))
    assert float(torch.pdist(middles).min()) > within


def test_a_run_goes_on_and_ends_where_a_whole_one_does(tmp_path, speech):
    def run(folder: str, steps: int) -> TdnnF:
        torch.manual_seed(0)
        network = TdnnF(**OPTIONS)
        flat = Cyclical(rise=0.0, floor=1.0)
        config = dataclasses.replace(QUICK, steps=steps, every=4, gain=6.0, warp=0.1, schedule=flat)
        torch.manual_seed(1)  # the outputs' weights
        train(network, STATES, 3, EVERY, speech, speech[:2], config, tmp_path / folder, machine=CPU)
        return network

    run("parts", 4)
    parts, whole = run("parts", 8), run("whole", 8)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(parts.state_dict()[name], value, msg=name)


def test_codes_are_the_numbers_of_their_entries(small_word_codes):
    wanted = torch.tensor([3, 0, 11, 3, 7])
    entries = small_word_codes.codes.quantizer.looked_up(wanted[None, None])[0].T
    np.testing.assert_array_equal(numbers_of(small_word_codes, entries), wanted.numpy())


def test_frames_of_the_bottleneck_may_last_as_long_as_a_code(tmp_path, speech):
    """Each has the state in its middle, and steps and validation agree on the frames."""
    one = crop(sentence(tmp_path, 9, "AB"), STATES, EVERY, 16, 32, shared=2)
    dense = crop(sentence(tmp_path, 9, "AB"), STATES, EVERY, 16, 32)
    assert one.states.tolist() == dense.states[1::2].tolist()
    assert one.codes.tolist() == dense.codes.tolist()
    assert int(one.frames) == 24
    torch.manual_seed(0)
    options = {**OPTIONS, "strides": [1, 0, 1], "every": 4}
    network = TdnnF(**options)
    outcome = train(network, STATES, 3, EVERY, speech, speech, QUICK, tmp_path / "run", machine=CPU)
    assert outcome.curve[-1]["codes right %"] > 95.0
    with pytest.raises(VoicenymError, match="do not divide a word code's 4"):
        train(
            TdnnF(**{**options, "every": 3}), STATES, 3, EVERY, speech, speech, QUICK,
            tmp_path / "odd", machine=CPU,
        )  # fmt: skip


def test_validation_covers_whole_sentences(speech):
    whole = WholeTargets(speech, STATES, EVERY)
    assert len(whole) == len(speech)
    assert int(whole[0].frames) == 60
    assert len(whole[0].codes) == 15


def test_a_branch_is_led_away_from_who_speaks(tmp_path, speech):
    """Crops name their speakers; the gradient of the branch reaches the network reversed."""
    names = sorted({one.utterance.speaker for one in speech})
    crops = TargetCrops(speech, STATES, EVERY, 0.6, 30)
    drawn = [crops[i] for i in range(30)]
    for one in drawn:
        name = names[int(one.speaker)]
        (own,) = (u.utterance for u in speech if u.utterance.speaker == name)
        assert torch.equal(one.samples, torch.from_numpy(own.samples())[: len(one.samples)])
    assert (WholeTargets(speech, STATES, EVERY)[0].speaker == NONE).all()

    torch.manual_seed(0)
    module = PhoneBottleneck(
        TdnnF(**OPTIONS), STATES, 3, EVERY, dataclasses.replace(QUICK, adversary=2.0), len(names)
    )
    content = torch.randn(4, 60, 8, requires_grad=True)
    speakers, frames = torch.tensor([0, 1, 2, 3]), torch.full((4,), 60)
    for weight in (1.0, 2.0):
        found, _ = module.branch.against(content, frames, speakers, weight)
        (turned,) = torch.autograd.grad(found, content)
        plain = torch.nn.functional.cross_entropy(module.branch(content, frames), speakers)
        (straight,) = torch.autograd.grad(plain, content)
        torch.testing.assert_close(turned, -weight * straight)

    config = dataclasses.replace(QUICK, adversary=0.5, steps=16, every=8, patience=1)
    network = TdnnF(**OPTIONS)
    outcome = train(network, STATES, 3, EVERY, speech, speech, config, tmp_path / "r", machine=CPU)
    assert 0.0 <= outcome.curve[-1]["train/speakers classified %"] <= 100.0
    assert outcome.best == outcome.curve[-1]["cross-entropy"]
    last = torch.load(tmp_path / "r" / "last.ckpt", weights_only=True)["state_dict"]
    for name, value in network.state_dict().items():
        assert torch.equal(value, last[f"network.{name}"])


def test_a_bottleneck_goes_on_from_another(tmp_path, small_word_codes):
    network = TdnnF(**OPTIONS)
    content_encoders.save(network, tmp_path / "one", {})
    found = started(str(tmp_path / "one"))
    for name, value in network.state_dict().items():
        torch.testing.assert_close(found.state_dict()[name], value)
    assert started("bundled").sizes.every == 4
    content_encoders.save(small_word_codes, tmp_path / "other", {})
    with pytest.raises(VoicenymError, match="give a bottleneck"):
        started(str(tmp_path / "other"))


def test_options_that_a_bottleneck_has_not_are_named():
    with pytest.raises(VoicenymError, match="wdth"):
        new_network(PhoneBottleneckConfig(options={"wdth": 3}))
    with pytest.raises(VoicenymError, match="narrow not exceed width"):
        new_network(PhoneBottleneckConfig(options={"width": 8, "narrow": 16}))
