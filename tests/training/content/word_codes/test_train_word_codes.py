"""Training of word codes before a frozen decoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("lightning")

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content import word_code_bottleneck as nets
from voicenym.training.content.word_codes import train_word_codes as recipe
from voicenym.training.content.word_codes import word_code_batches
from voicenym.training.content.word_codes.speech_windows import (
    Cut,
    Piece,
    only_speaker,
    parted,
)
from voicenym.training.content.word_codes.word_state_dataset import StateFiles, kept
from voicenym.training.run.config import changed, load
from voicenym.training.run.machine import Machine

CONFIG = recipe.WordCodesConfig(
    options={"width": 16, "inner": 16, "code": 8, "entries": 8, "kernel": 3, "after": 1},
    cut=Cut(shortest=1.0, longest=3.5, single=0.3),
    seconds=4.0, every=10, steps=40, rate=1e-2, validation_windows=4,
)  # fmt: skip
MACHINE = Machine(accelerator="cpu", workers=0)


@pytest.fixture(scope="module")
def windows(whisper, shelved, tmp_path_factory):
    """Files of windows; whoever speaks says letters of his own."""
    some = [Piece(u, "abcdefgh"[int(u.speaker[1:]) % 8] * 3) for u in shelved]
    hearing = StateFiles(whisper, tmp_path_factory.mktemp("states"))
    return hearing(parted(some, CONFIG.cut))


def test_words_are_learnt_through_the_books(whisper, windows, tmp_path):
    codes = recipe.new(CONFIG, whisper.network)
    before = {n: v.clone() for n, v in whisper.network.state_dict().items()}
    outcome = recipe.train(
        codes, whisper.network, windows, windows[:4], CONFIG, tmp_path, machine=MACHINE
    )
    free, first, *_, last = [row["nats a token"] for row in outcome.curve]
    assert free == recipe.NEVER  # the first quarter is without books
    assert last < first < recipe.NEVER
    assert codes.initialised
    assert not codes.training
    after = whisper.network.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    checkpoint = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert all(name.startswith("codes.") for name in checkpoint["state_dict"])


def test_a_run_goes_on_and_keeps_its_books(whisper, windows, tmp_path):
    half = changed(CONFIG, steps=20)
    codes = recipe.new(half, whisper.network)
    recipe.train(codes, whisper.network, windows, windows[:4], half, tmp_path, machine=MACHINE)
    again = recipe.new(CONFIG, whisper.network)
    # more windows have come, and the schedule is a longer one
    outcome = recipe.train(
        again, whisper.network, [*windows, *windows[:3]], windows[:4], CONFIG, tmp_path,
        machine=MACHINE,
    )  # fmt: skip
    assert outcome.steps == 40
    figures = [row["nats a token"] for row in outcome.curve]
    assert len(figures) == 4
    assert max(figures[2:]) < recipe.NEVER
    nets.save(again, tmp_path / "kept", half=True)
    assert nets.load(tmp_path / "kept").initialised


def test_batches_are_of_like_length_and_depend_on_their_place_alone(windows):
    places = torch.arange(24)
    batches = word_code_batches.WindowBatches(windows, 4.0, 6, places, seed=3)
    again = word_code_batches.WindowBatches(windows, 4.0, 6, places, seed=3)
    for index in range(6):
        one = batches[index]
        assert all(torch.equal(a, b) for a, b in zip(one, again[index], strict=True))
        assert one.inputs.shape[0] * one.inputs.shape[1] <= 4.0 * 50 or len(one.inputs) == 1
    before = batches[2]
    batches.advance(1)
    assert not torch.equal(before.tokens, batches[2].tokens) or not torch.equal(
        before.inputs, batches[2].inputs
    )


def test_what_is_asked_for_is_the_text_and_its_end(windows):
    some = [kept(windows[0]), kept(windows[1])]
    used = word_code_batches.tokens_of(windows[:2])
    places = torch.full((24,), -100)
    places[used] = torch.arange(len(used))
    one = word_code_batches.batch(some, places)
    for row, window in enumerate(some):
        asked = one.wanted[row] >= 0
        assert used[one.wanted[row][asked]].tolist() == window.tokens[window.prefix :].tolist()
        assert one.tokens[row, : len(window.tokens) - 1].tolist() == window.tokens[:-1].tolist()
        assert int(one.lengths[row]) == len(window.inputs)
        # the first piece of the text is asked for where the prefix ends
        assert int(asked.int().argmax()) == window.prefix - 1
    np.testing.assert_array_equal(one.states, one.inputs)


def of_speakers(whisper, shelved, folder):
    """Files of windows of one speaker each, with the speakers."""
    cut = changed(CONFIG, cut=Cut(shortest=1.0, longest=3.5, single=0.3, by_speaker=True)).cut
    windows = parted([Piece(u, "abc") for u in shelved], cut)
    names = [only_speaker(window) for window in windows]
    assert all(names)
    assert sum(map(len, windows)) == len(shelved)
    return dict(zip(StateFiles(whisper, folder)(windows), names, strict=True))


def test_codes_learn_against_the_branch_that_tells_speakers(whisper, shelved, tmp_path):
    """The codes get the reversed gradient of its loss, which the branch itself goes down."""
    files = of_speakers(whisper, shelved, tmp_path / "states")
    names = sorted(set(files.values()))
    some = [kept(path, names.index(who)) for path, who in files.items()]
    cut = Cut(shortest=1.0, longest=3.5, single=0.3, by_speaker=True)
    places = torch.arange(24)

    def gradients(weight):
        config = changed(CONFIG, cut=cut, adversary=weight)
        torch.manual_seed(1)
        codes = recipe.new(config, whisper.network)
        module = recipe.WordCoding(codes, whisper.network, places, config, len(names)).train()
        module.losses(word_code_batches.batch(some, places), quantised=False)[
            "adversary"
        ].backward()
        return codes.narrow.weight.grad, module.branch.output.weight.grad

    (weak, own), (strong, same) = gradients(0.5), gradients(1.0)
    assert float(weak.abs().max()) > 0.0
    torch.testing.assert_close(strong, 2.0 * weak)
    torch.testing.assert_close(own, same)
    # a step along what the codes get makes the branch's loss larger
    config = changed(CONFIG, cut=cut, adversary=1.0)
    torch.manual_seed(1)
    codes = recipe.new(config, whisper.network)
    module = recipe.WordCoding(codes, whisper.network, places, config, len(names)).train()
    one = word_code_batches.batch(some, places)
    before = float(module.losses(one, quantised=False)["adversary"].detach())
    with torch.no_grad():
        codes.narrow.weight -= 1e-2 * strong / strong.abs().max()
    assert float(module.losses(one, quantised=False)["adversary"].detach()) > before


def test_an_adversary_takes_part_in_the_training(whisper, shelved, tmp_path):
    files = of_speakers(whisper, shelved, tmp_path / "states")
    config = changed(
        CONFIG, cut=Cut(shortest=1.0, longest=3.5, by_speaker=True), adversary=1.0, steps=20
    )
    codes = recipe.new(config, whisper.network)
    outcome = recipe.train(
        codes, whisper.network, list(files), list(files)[:4], config, tmp_path / "run",
        speakers=files, machine=MACHINE,
    )  # fmt: skip
    assert outcome.steps == 20
    state = torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)["state_dict"]
    assert {name.split(".")[0] for name in state} == {"codes", "branch"}
    with pytest.raises(CorpusError, match="windows of two speakers"):
        recipe.train(
            codes, whisper.network, list(files), list(files)[:4], config, tmp_path / "none",
            machine=MACHINE,
        )  # fmt: skip
    with pytest.raises(VoicenymError, match="by_speaker: true"):
        changed(CONFIG, adversary=1.0)


def test_codes_without_loss_of_states_would_write_the_same(whisper, windows):
    """The relative entropy is to what the decoder makes of the original states."""
    module = recipe.WordCoding(
        recipe.new(CONFIG, whisper.network),
        whisper.network,
        word_code_batches.tokens_of(windows),
        CONFIG,
    )
    places = torch.full((24,), -100)
    places[module._pieces] = torch.arange(len(module._pieces))
    one = word_code_batches.batch([kept(windows[0])], places)
    found = module.losses(one, quantised=False)
    assert float(found["taught"].detach()) > 0.0
    assert float(found["commitment"]) == 0.0


def test_what_cannot_be_is_refused(whisper, windows, tmp_path):
    with pytest.raises(VoicenymError, match="no size 'depth' of codes of words"):
        recipe.new(changed(CONFIG, options={"depth": 2}), whisper.network)
    codes = recipe.new(CONFIG, whisper.network)
    with pytest.raises(CorpusError, match="no windows to learn from"):
        recipe.train(codes, whisper.network, [], windows, CONFIG, tmp_path, machine=MACHINE)


@pytest.mark.parametrize("name", ["word-codes", "word-codes-full"])
def test_bundled_configurations_are_of_codes(name, whisper):
    config = load(name, recipe.WordCodesConfig)
    assert recipe.new(config, whisper.network).rate == 25.0
