"""Training of HuBERT-soft: units of tones are learnt, also masked ones; runs resume and end."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("lightning")

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.content.units import Units
from voicenym.training.content.units.train_hubert_soft import SoftConfig, network, spans, train
from voicenym.training.content.units.train_units import labels
from voicenym.training.content.units.unit_crops import NONE, UnitCrops
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical
from voicenym.training.speech.speech_cache import SpeechCache, Utterance

HERTZ = (300.0, 700.0, 1_500.0)
TINY = {
    "layers": 1,
    "width": 24,
    "heads": 2,
    "inner": 32,
    "channels": 16,
    "kernel": 8,
    "groups": 2,
    "dropout": 0.0,
}
QUICK = SoftConfig(
    options=TINY,
    size=8,
    seconds=0.6,
    batch=8,
    hidden=0.3,
    span=3,
    weight=0.5,
    rate=5e-3,
    decay=0.0,
    schedule=Cyclical(rise=0.1),
    steps=60,
    every=30,
)
CPU = Machine("cpu", workers=0)


class Tones:
    """Stretches of 100 ms of one of three tones."""

    def identity(self, recording: Recording) -> str:
        return recording.name

    def __call__(self, recording: Recording) -> np.ndarray:
        rng = np.random.default_rng(int(recording.name))
        time = np.arange(1_600) / 16_000
        parts = [0.3 * np.sin(2 * np.pi * HERTZ[i] * time) for i in rng.integers(3, size=10)]
        return np.concatenate(parts).astype(np.float32)


class Spectrum(Content):
    """The energy of a frame at the three tones."""

    kind = "spectrum"
    size = 3

    def __init__(self):
        super().__init__()
        self.received = 0

    def encode(self, waveforms, lengths=None):
        self.received += 1
        spectra = torch.fft.rfft(waveforms.unflatten(1, (-1, self.hop))).abs()
        return spectra[:, :, [round(f / 50) for f in HERTZ]] / 48.0

    def config(self):
        return {}


UNITS = Units(torch.eye(3), {"features": "spectrum"})


@pytest.fixture
def speech(tmp_path) -> list[Utterance]:
    recordings = [Recording(str(i), f"s{i}", Path("none.wav")) for i in range(10)]
    return SpeechCache(tmp_path / "cache").fill(recordings, Tones())


def test_units_are_learnt(tmp_path, speech):
    made = network(QUICK, UNITS)
    assert (made.size, made.units) == (8, 3)
    messages: list[str] = []
    outcome = train(
        made, Spectrum(), UNITS, speech[:8], speech[8:], QUICK, tmp_path / "run",
        machine=CPU, say=messages.append,
    )  # fmt: skip
    assert outcome.finished
    assert outcome.curve[-1]["units right %"] > 90.0
    assert outcome.best < 0.5
    assert "nats a frame" in messages[-1]
    signal = torch.from_numpy(speech[9].samples())
    given = made.logits(made.extract(signal)).argmax(-1)
    true = labels(Spectrum(), UNITS, speech[9], tmp_path / "labels")
    assert (given.numpy() == true).mean() > 0.9


def test_a_run_that_was_cut_short_goes_on(tmp_path, speech):
    features = Spectrum()

    def run(folder: str, steps: int) -> HubertSoft:
        config = dataclasses.replace(
            QUICK, steps=steps, every=3, schedule=Cyclical(rise=0.0, floor=1.0)
        )
        made = network(config, UNITS)
        done = train(
            made, features, UNITS, speech[:8], speech[8:], config, tmp_path / folder, machine=CPU
        )
        assert done.steps == steps
        return made

    run("parts", 3)
    parts = run("parts", 6)
    assert features.received == 10  # units are told once
    whole = run("whole", 6)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(parts.state_dict()[name], value, atol=1e-5, rtol=1e-4)


def test_time_is_a_limit_and_nothing_may_be_hidden(tmp_path, speech):
    config = dataclasses.replace(QUICK, steps=10_000, every=4, hidden=0.0)
    outcome = train(
        network(config, UNITS), Spectrum(), UNITS, speech[:8], speech[8:], config,
        tmp_path / "run", seconds=1e-6, machine=CPU,
    )  # fmt: skip
    assert outcome.steps < 10
    assert np.isfinite(outcome.best)


def test_crops_have_the_units_of_their_frames(speech, tmp_path):
    def of(utterance):
        return labels(Spectrum(), UNITS, utterance, tmp_path)

    crops = UnitCrops(speech, of, 0.4, 50, seed=1)
    for index in range(0, 50, 7):
        samples, units, count = crops[index]
        assert samples.shape == (20 * 320,)
        assert int(count) == 20
        assert torch.equal(UNITS(Spectrum()(samples[None])[0]), units)
    crops.advance(1)
    assert not torch.equal(crops[0][0], UnitCrops(speech, of, 0.4, 50, seed=1)[0][0])
    samples, units, count = UnitCrops(speech[:1], of, 2.0, 5)[0]
    assert int(count) == 50
    assert bool((units[50:] == NONE).all())
    assert not samples[16_000:].any()
    with pytest.raises(CorpusError, match="no utterances"):
        UnitCrops([], of, 1.0, 5)


def test_spans_are_as_long_and_as_many_as_asked():
    counts = torch.tensor([400, 400, 60, 4])
    hidden = spans(counts, 400, 0.8, 10, torch.Generator().manual_seed(0))
    assert hidden.shape == (4, 400)
    # 32 spans of 10 in 400 frames, overlaps counted once: 1 - exp(-0.8) or 55 %
    assert 0.4 < hidden[:2].float().mean() < 0.7
    assert not hidden[2, 60:].any()
    assert hidden[3].sum() == 4
    changes = torch.diff(torch.nn.functional.pad(hidden[0].int(), (1, 1)))
    starts, stops = (changes == 1).nonzero(), (changes == -1).nonzero()
    assert int((stops - starts).min()) >= 10


def test_a_network_of_other_units_is_refused(tmp_path, speech):
    other = HubertSoft(**{**TINY, "units": 7, "size": 8})
    with pytest.raises(ValueError, match="predicts 7 units, not 3"):
        train(other, Spectrum(), UNITS, speech, speech, QUICK, tmp_path, machine=CPU)


def test_bundled_recipes_make_networks():
    from voicenym.nets.content.content_encoders import make
    from voicenym.nets.words.ctc_networks.character_model import CharacterModel
    from voicenym.nets.words.ctc_networks.ctc import Alphabet
    from voicenym.training.content.bottleneck.train_bottleneck import BottleneckConfig
    from voicenym.training.run.config import load

    small = load("hubert-soft-small", SoftConfig)
    made = network(small, UNITS)
    assert (made.size, made.config()["layers"]) == (64, 4)
    assert make("hubert-soft", made.config()).units == 3
    assert load("hubert-soft", SoftConfig).steps == 25_000
    for name in ("bottleneck", "bottleneck-small"):
        config = load(name, BottleneckConfig)
        found = CharacterModel.make("tdnnf", Alphabet(" ab"), config.options)
        assert found.net.content.size == 256


def test_options_that_the_network_has_not_are_named():
    units = UNITS
    with pytest.raises(VoicenymError, match="wdth"):
        network(SoftConfig(options={"wdth": 3}), units)
