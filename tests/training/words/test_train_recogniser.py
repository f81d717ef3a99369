"""Training of recognisers: a few sentences are learnt by heart, within limits, and resumed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from letter_tones import ALPHABET, TEXTS, spoken_letters

pytest.importorskip("lightning")
pytest.importorskip("jiwer")

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.words.ctc_networks import ctc
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.training.run.config import changed
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.words.train_recogniser import RecogniserConfig, train, transcribed_split

STILL = Surroundings(noise=0.0, babble=0.0, room=0.0, band=0.0)
QUICK = RecogniserConfig(
    options={"size": 24, "layers": 1, "heads": 2, "kernel": 7, "channels": 8, "dropout": 0.0},
    batch=4,
    speeds=(1.0,),
    rate=1e-2,
    surroundings=STILL,
    blanks=SpecAugment(0, 0),
    schedule=Cyclical(rise=0.1),
    every=25,
)
CPU = Machine("cpu", workers=0)


@pytest.fixture
def speech(tmp_path) -> list[Utterance]:
    return spoken_letters(tmp_path / "cache", speakers=4)


def processed(model: CharacterModel, speech: list[Utterance]) -> list[str]:
    found = [model.log_probs(torch.from_numpy(u.samples())) for u in speech]
    return [model.alphabet.decode(ctc.collapse(f.argmax(-1).tolist())) for f in found]


@pytest.mark.parametrize(
    ("net", "options", "rate"),
    [
        ("conformer", QUICK.options, 1e-2),
        ("deepspeech2", {"size": 32, "layers": 1, "cell": "lstm", "channels": 2}, 2e-2),
    ],
)
def test_four_sentences_are_learnt_by_heart(tmp_path, speech, net, options, rate):
    torch.manual_seed(0)
    model = CharacterModel.make(net, ALPHABET, options)
    config = changed(QUICK, net=net, options=options, rate=rate, steps=75)
    messages: list[str] = []
    outcome = train(
        model, speech, speech, config, tmp_path / "run", machine=CPU, say=messages.append
    )
    assert processed(model, speech) == TEXTS
    assert outcome.best == 0.0
    assert outcome.finished
    assert outcome.curve[-1]["CER %"] <= outcome.curve[0]["CER %"]
    assert "WER %" in messages[0]


def test_a_run_that_was_cut_short_goes_on(tmp_path, speech):
    def run(folder: str, steps: int) -> tuple[CharacterModel, int]:
        torch.manual_seed(0)
        model = CharacterModel.make("conformer", ALPHABET, QUICK.options)
        config = changed(QUICK, steps=steps, every=5, schedule=Cyclical(rise=0.0, floor=1.0))
        return model, train(model, speech, speech, config, tmp_path / folder, machine=CPU).steps

    _, steps = run("parts", 5)
    assert steps == 5
    model, steps = run("parts", 10)
    assert steps == 10
    assert len((tmp_path / "parts" / "curve.jsonl").read_text().splitlines()) == 2
    whole, _ = run("whole", 10)
    for name, value in whole.net.state_dict().items():
        np.testing.assert_allclose(model.net.state_dict()[name], value, atol=1e-5, err_msg=name)


def test_time_is_a_limit(tmp_path, speech):
    model = CharacterModel.make("conformer", ALPHABET, QUICK.options)
    config = changed(QUICK, steps=10_000, every=10)
    outcome = train(model, speech, speech, config, tmp_path / "run", seconds=1e-6, machine=CPU)
    assert outcome.steps < 10


def test_noise_speed_blanks_and_half_precision_leave_the_loss_finite(tmp_path, speech):
    model = CharacterModel.make("conformer", ALPHABET, QUICK.options)
    config = dataclasses.replace(
        QUICK,
        steps=3,
        every=3,
        speeds=(0.9, 1.1),
        surroundings=Surroundings(noise=1.0, babble=1.0, room=1.0, band=1.0),
        blanks=SpecAugment(),
    )
    silent = dataclasses.replace(speech[0].recording, text="")
    more = [*speech, dataclasses.replace(speech[0], recording=silent)]
    messages: list[str] = []
    half = Machine("cpu", precision="bf16-mixed", workers=0)
    outcome = train(
        model, more, speech, config, tmp_path / "run", machine=half, say=messages.append
    )
    assert messages[0] == "1 of 5 utterances left out: without text"
    assert np.isfinite(outcome.best)


def test_speakers_are_transcribed_split():
    recordings = [
        Recording(f"{s}{i}", f"s{s}", Path("x"), text="a" if i else "")
        for s in range(10)
        for i in range(4)
    ]
    learnt, out = transcribed_split(recordings, 0.2, seed=1)
    assert {r.speaker for r in learnt}.isdisjoint({r.speaker for r in out})
    assert len({r.speaker for r in out}) == 2
    assert len(learnt) + len(out) == 30  # those without text are in neither
    assert transcribed_split(recordings[::-1], 0.2, seed=1)[1] == out
    assert transcribed_split(recordings, 0.2, seed=2)[1] != out
    one, other = transcribed_split(recordings[:4], 0.5, seed=0)
    assert {r.speaker for r in one} == {r.speaker for r in other} == {"s0"}
    with pytest.raises(CorpusError, match="too few"):
        transcribed_split(recordings[:2], 0.5, seed=0)


@pytest.mark.parametrize(
    ("net", "options", "messages"),
    [
        ("whisper", {}, "no net 'whisper'"),
        ("conformer", {"size": "huge"}, "no size 'huge'"),
        ("conformer", {"depth": 3}, "depth"),
        ("deepspeech2", {"size": "small"}, "no size 'small'"),
        ("deepspeech2", {"cell": "rnn"}, "lstm or gru"),
    ],
)
def test_nets_that_there_are_not(net, options, messages):
    with pytest.raises(VoicenymError, match=messages):
        CharacterModel.make(net, ALPHABET, options)
