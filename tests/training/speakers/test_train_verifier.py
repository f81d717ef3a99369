import dataclasses
import json

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.training.run.machine import Machine
from voicenym.training.speakers import pair_verification
from voicenym.training.speakers import train_verifier as recipe
from voicenym.training.speech.augmentation import SpecAugment, Surroundings
from voicenym.training.speech.speaker_split import verification_split

QUIET = Surroundings(noise=0.1, babble=0.0, room=0.1, band=0.0)
SMALL = recipe.VerifierConfig(
    options={"channels": 16, "size": 16, "attention": 8, "squeeze": 8},
    seconds=0.4,
    batch=16,
    speeds=(1.0,),
    rate=5e-3,
    surroundings=QUIET,
    blanks=SpecAugment(bands=0, stretches=0),
    steps=40,
    every=20,
)
HERE = Machine(accelerator="cpu", workers=0)


def halves(shelved):
    learnt, kept = verification_split([u.recording for u in shelved], 0.3, 0)
    by_name = {u.recording.name: u for u in shelved}
    return [by_name[r.name] for r in learnt], [by_name[r.name] for r in kept]


def trained(shelved, folder, config=SMALL, messages=None):
    torch.manual_seed(0)
    encoder = Ecapa(**config.options)
    say = (lambda text: None) if messages is None else messages.append
    outcome = recipe.train(encoder, *halves(shelved), config, folder, machine=HERE, say=say)
    return encoder, outcome


def test_voices_are_learnt_and_a_run_goes_on(shelved, tmp_path):
    messages = []
    encoder, outcome = trained(shelved, tmp_path, messages=messages)
    assert outcome.steps == 40
    assert outcome.finished
    assert [row["step"] for row in outcome.curve] == [20, 40]
    assert len(messages) == 2
    assert "EER" in messages[0]
    # Voices that differ by pitch and formants alone are soon told apart, new ones too.
    assert outcome.best < 25.0
    _, kept = halves(shelved)
    figures = pair_verification.error_rates(encoder, kept)
    value, low, high = figures["same sex"]
    assert value == pytest.approx(outcome.best, abs=1e-4)
    assert low <= value <= high
    assert any(path.name.startswith("events") for path in (tmp_path / "log").iterdir())
    # A further run begins a further schedule at the weights and the steps of the last.
    _, more = trained(shelved, tmp_path)
    assert more.steps == 80
    assert [row["step"] for row in more.curve] == [20, 40, 60, 80]
    assert more.best <= outcome.best
    rows = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert [json.loads(row)["step"] for row in rows] == [20, 40, 60, 80]


def test_memory_that_does_not_suffice_names_the_batch_that_fits(shelved, tmp_path, monkeypatch):
    encode = Ecapa.encode

    def greedy(self, features, lengths=None):
        if len(features) > 5:
            raise torch.OutOfMemoryError("out of memory")
        return encode(self, features, lengths)

    monkeypatch.setattr(Ecapa, "encode", greedy)
    with pytest.raises(VoicenymError, match="batches of 16; batches of 4 fit: --batch 4"):
        trained(shelved, tmp_path)


def test_a_loss_that_is_no_number_stops_the_run(shelved, tmp_path, monkeypatch):
    monkeypatch.setattr(recipe.AngularMargin, "forward", lambda self, v, y: v.sum() * float("nan"))
    with pytest.raises(VoicenymError, match="lower learning rate"):
        trained(shelved, tmp_path)


def recordings(sexes):
    return [
        Recording(f"{s}{i}", f"{sex}{s}", "", sex) for s, sex in enumerate(sexes) for i in range(4)
    ]


def test_verify_is_the_error_rate_of_all_pairs_of_a_sex():
    """Orthogonal speakers are told apart; women who all sound alike are a guess."""
    given = recordings("fmfm")
    axes = np.repeat(np.eye(4), 4, axis=0)
    assert pair_verification.verify(axes, given).value == 0.0
    alike = axes.copy()
    alike[np.array([r.sex == "f" for r in given])] = 1.0
    assert pair_verification.verify(alike, given, sex="f").value == pytest.approx(0.5)
    assert pair_verification.verify(alike, given, sex="m").value == 0.0


def test_verify_needs_pairs_of_both_kinds():
    one = [dataclasses.replace(r, speaker="a") for r in recordings("f")]
    with pytest.raises(CorpusError, match="keep out more"):
        pair_verification.verify(np.eye(4), one)
