"""Training of bottlenecks: words learnt, matrices semi-orthogonal, speakers hidden."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from letter_tones import ALPHABET, TEXTS, spoken_letters

pytest.importorskip("lightning")
pytest.importorskip("jiwer")

from voicenym.nets.gradient_reversal import reversed_gradient
from voicenym.nets.words.ctc_networks import ctc
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.training.content.bottleneck.speaker_branch import SpeakerBranch
from voicenym.training.content.bottleneck.train_bottleneck import (
    BottleneckConfig,
    SpeakerSentences,
    train,
    voiced,
)
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Cyclical
from voicenym.training.speech.augmentation import Surroundings
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.speech.transcribed_dataset import transcribed

OPTIONS = {"size": 8, "bands": 20, "width": 24, "narrow": 8, "strides": [1, 3, 6], "dropout": 0.0}
QUICK = BottleneckConfig(
    options=OPTIONS,
    batch=4,
    speeds=(1.0,),
    rate=1e-2,
    surroundings=Surroundings(noise=0.0, babble=0.0, room=0.0, band=0.0),
    schedule=Cyclical(rise=0.1),
    every=45,
    steps=90,
    gain=0.0,
)
CPU = Machine("cpu", workers=0)


@pytest.fixture
def speech(tmp_path) -> list[Utterance]:
    return spoken_letters(tmp_path / "cache", speakers=2)


def model() -> CharacterModel:
    torch.manual_seed(0)
    return CharacterModel.make("tdnnf", ALPHABET, OPTIONS)


def test_sentences_are_learnt_under_the_constraint(tmp_path, speech):
    made = model()
    outcome = train(made, speech, speech, QUICK, tmp_path / "run", machine=CPU)
    found = [made.log_probs(torch.from_numpy(u.samples())) for u in speech]
    assert [ALPHABET.decode(ctc.collapse(f.argmax(-1).tolist())) for f in found] == TEXTS
    assert outcome.best == 0.0
    # 0 would be no constraint felt at all; without the steps it is some tenths
    assert max(part.error() for part in made.net.content.constrained()) < 0.05
    loose = model()
    config = dataclasses.replace(QUICK, constrain=10_000, steps=40, every=40)
    train(loose, speech, speech, config, tmp_path / "loose", machine=CPU)
    assert max(part.error() for part in loose.net.content.constrained()) > 0.1


def test_a_run_that_was_cut_short_goes_on(tmp_path, speech):
    def run(folder: str, steps: int) -> CharacterModel:
        made = model()
        flat = Cyclical(rise=0.0, floor=1.0)
        config = dataclasses.replace(QUICK, steps=steps, every=5, gain=6.0, schedule=flat)
        assert train(made, speech, speech, config, tmp_path / folder, machine=CPU).steps == steps
        return made

    run("parts", 5)
    parts, whole = run("parts", 10), run("whole", 10)
    for name, value in whole.net.state_dict().items():
        np.testing.assert_allclose(parts.net.state_dict()[name], value, atol=1e-5, err_msg=name)


def test_with_a_branch_it_learns_as_well(tmp_path, speech):
    made = model()
    before = {name: value.clone() for name, value in made.net.state_dict().items()}
    config = dataclasses.replace(QUICK, steps=4, every=4, adversary=0.5)
    outcome = train(made, speech, speech, config, tmp_path / "run", machine=CPU)
    assert np.isfinite(outcome.best)
    weight = "content.bottleneck.weight"
    assert not torch.equal(before[weight], made.net.state_dict()[weight])
    assert not any("branch" in name for name in made.net.state_dict())


def test_time_is_a_limit(tmp_path, speech):
    config = dataclasses.replace(QUICK, steps=10_000, every=10)
    outcome = train(model(), speech, speech, config, tmp_path / "run", seconds=1e-6, machine=CPU)
    assert outcome.steps < 10


def test_a_branch_leads_content_away_from_who_speaks():
    """Of two elements, words and speaker, the turned gradient makes the second smaller."""
    torch.manual_seed(0)
    shape = torch.ones(2, requires_grad=True)
    branch = SpeakerBranch(2, 2, 16)
    optimizer = torch.optim.Adam(branch.parameters(), 1e-2)
    frames = torch.full((64,), 10)

    def loss(weight):
        speaker = torch.randint(2, (64,))
        who = (2.0 * speaker - 1.0)[:, None].expand(64, 10)
        content = torch.stack([torch.randn(64, 10), who], 2) * shape
        given = branch(reversed_gradient(content, weight), frames)
        return torch.nn.functional.cross_entropy(given, speaker)

    for _ in range(20):  # until it tells some, and is not so sure that nothing is left to learn
        optimizer.zero_grad()
        found = loss(0.0)
        found.backward()
        assert not shape.grad.any()
        optimizer.step()
    assert found.item() < 0.65
    loss(1.0).backward()
    words, who = shape.grad.tolist()
    assert who > 0.1  # a step down makes it smaller
    assert abs(words) < who / 4


def test_the_branch_does_not_count_padding():
    branch = SpeakerBranch(3, 2, 4)
    x, frames = torch.randn(2, 5, 3), torch.tensor([5, 3])
    found = branch(x, frames)
    torch.testing.assert_close(found[1:], branch(x[1:, :3], frames[1:]))


def test_batches_know_who_speaks(speech):
    kept, _ = transcribed(speech, ALPHABET, frame=0.03)
    spoken = SpeakerSentences(kept, 4, 4, (1.0,), 0)
    samples, lengths, texts, sizes, speakers = voiced([spoken[i] for i in range(4)])
    for row in range(4):
        decoded = ALPHABET.decode(texts[row, : sizes[row]].tolist())
        assert int(speakers[row]) == TEXTS.index(decoded) % 2
    assert samples.shape[1] >= int(lengths.max())


def test_others_have_no_bottleneck(tmp_path, speech):
    other = CharacterModel.make(
        "deepspeech2", ALPHABET, {"size": 8, "layers": 1, "cell": "lstm", "channels": 2}
    )
    with pytest.raises(ValueError, match="deepspeech2 has no bottleneck"):
        train(other, speech, speech, QUICK, tmp_path / "run", machine=CPU)
