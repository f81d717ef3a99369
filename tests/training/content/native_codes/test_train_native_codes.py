"""Native codes: targets of readings, windows that follow their joins, and the training."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

pytest.importorskip("lightning")

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content import word_code_encoder
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.word_codes.codes_and_states import codes_and_states
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.native_codes import accent_directions, native_code_start
from voicenym.training.content.native_codes import train_native_codes as recipe
from voicenym.training.content.native_codes.native_code_targets import (
    NativeTargets,
    matched,
    usual_silence,
)
from voicenym.training.content.native_codes.native_code_windows import (
    NativeCodeFiles,
    WindowReader,
    native_batch,
    paced,
)
from voicenym.training.content.native_codes.reading_alignment import quiet
from voicenym.training.content.word_codes.speech_windows import Cut, Piece, parted
from voicenym.training.run.config import changed, load
from voicenym.training.run.machine import Machine

CONFIG = recipe.NativeCodesConfig(
    before=2, cut=Cut(1.0, 3.5, 0.2), varied=1, seconds=8.0, every=10, steps=30, rate=3e-3,
    validation_windows=4,
)  # fmt: skip
MACHINE = Machine(accelerator="cpu", workers=0)
SILENCE = 7


@pytest.fixture(scope="module")
def codes(whisper):
    """Codes of random weights."""
    torch.manual_seed(1)
    size = whisper.network.sizes
    made = WordCodes(
        states=size.width, window=size.states, width=16, inner=16, code=8, entries=12, kernel=3,
        after=1,
    )  # fmt: skip
    made.quantizer.books[0].vectors.copy_(torch.randn(12, 8))
    made.quantizer.books[0].steps.fill_(1)
    return made.eval()


@pytest.fixture(scope="module")
def aligned(whisper, codes, shelved, tmp_path_factory):
    """Recordings of all but the first speaker, and their targets: the first speaker's reading."""
    content = WordCodeContent.of(whisper.network, codes)
    pairs = [(one, shelved[0]) for one in shelved if one.speaker != shelved[0].speaker]
    return pairs, NativeTargets(content, tmp_path_factory.mktemp("targets"))(pairs)


@pytest.fixture(scope="module")
def windows(whisper, codes, aligned, tmp_path_factory):
    """Files of windows of each speaker, and their speakers."""
    pairs, found = aligned
    targets = {
        speech.path.stem: target.codes(SILENCE)
        for (speech, _), target in zip(pairs, found, strict=True)
    }
    files = NativeCodeFiles(whisper, codes, targets, SILENCE, tmp_path_factory.mktemp("states"))
    by: dict[str, list[Piece]] = {}
    for speech, _ in pairs:
        by.setdefault(speech.speaker, []).append(Piece(speech, "ab"))
    return [(path, who) for who, own in by.items() for path in files(parted(own, CONFIG.cut))]


def test_texts_are_matched_by_their_words(voices):
    named = [
        dataclasses.replace(one, text=text)
        for one, text in zip(voices[:4], ("We call", "WE CALL.", "other", ""), strict=True)
    ]
    reading = [dataclasses.replace(one, text="we  call!") for one in voices[6:8]]
    assert matched(named, reading[::-1]) == {named[0]: reading[0], named[1]: reading[0]}
    with pytest.raises(CorpusError, match=r"none of 2 recordings has the text .*read_aloud"):
        matched(named[2:], reading)


def test_a_recording_read_by_itself_has_its_own_codes(whisper, codes, shelved, tmp_path):
    content = WordCodeContent.of(whisper.network, codes)
    (found,) = NativeTargets(content, tmp_path)([(shelved[3], shelved[3])])
    np.testing.assert_array_equal(found.own, found.native)
    assert found.cost == pytest.approx(0.0, abs=1e-6)
    assert len(found.own) == -(-shelved[3].length // 640)
    assert tmp_path.stat().st_mode & 0o077 == 0


def test_targets_are_made_once_and_hold_codes_of_the_reading(whisper, codes, aligned, tmp_path):
    pairs, found = aligned
    content = WordCodeContent.of(whisper.network, codes)
    reading = torch.from_numpy(pairs[0][1].samples())
    read = codes_and_states(content, reading).codes[:, 0].tolist()
    for target in found:
        assert set(target.native.tolist()) <= set(read)
        assert target.cost > 0.0
    targets = NativeTargets(content, tmp_path)
    first = targets(pairs[:2])
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = targets(pairs[1::-1])[::-1]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == stamps
    for one, other, known in zip(first, again, found, strict=False):
        np.testing.assert_array_equal(one.native, other.native)
        np.testing.assert_array_equal(one.native, known.native)


def test_silence_is_what_the_start_says_of_quiet_places(aligned):
    _, found = aligned
    one = found[0]._replace(own=np.array([4, 4, 2]), silent=np.array([True, True, False]))
    two = one._replace(silent=np.array([False, False, True]))
    assert usual_silence([one, two]) == 4
    assert usual_silence([two._replace(silent=np.zeros(3, bool))]) == 0


def test_targets_follow_the_joins(whisper, codes, shelved, tmp_path):
    known, other = shelved[0], shelved[1]
    count = -(-known.length // 640)
    targets = {known.path.stem: np.arange(count) % 5}
    files = NativeCodeFiles(whisper, codes, targets, SILENCE, tmp_path)
    window = [Piece(known, "a"), Piece(other, "b"), Piece(known, "a")]
    (path,) = files([window])
    found = WindowReader({path: 3})(path)
    assert found.speaker == 3
    assert len(found.codes) == len(found.native) == -(-len(found.inputs) // 2)
    own = codes.codes(torch.from_numpy(found.inputs).float())[:, 0].numpy()
    np.testing.assert_array_equal(found.codes[:count], np.arange(count) % 5)
    np.testing.assert_array_equal(found.codes[-count:], np.arange(count) % 5)
    rest = slice(count, len(found.codes) - count)
    # where nothing is known, codes are those of the start; pauses are silence
    free = ~found.native[rest]
    assert free.sum() == (~quiet(other.samples(), 640)).sum()
    np.testing.assert_array_equal(found.codes[rest][free], own[rest][free])
    assert (found.codes[rest][~free] == SILENCE).all()
    assert (~free).sum() >= 4
    stamp = path.stat().st_mtime_ns
    assert files([window]) == [path]
    assert path.stat().st_mtime_ns == stamp


def test_targets_follow_the_pace(whisper, codes, shelved, tmp_path):
    known = shelved[0]
    assert paced(known, 1.0) is known
    faster = paced(known, 1.25)
    assert len(faster.samples()) == faster.length == round(known.length / 1.25)
    np.testing.assert_allclose(
        faster.samples()[::4], known.samples()[::5][: -(-faster.length // 4)]
    )
    assert len(faster.samples(100, 50)) == 50
    count = -(-known.length // 640)
    targets = {known.path.stem: np.arange(count)}
    lengths = set()
    for seed in range(8):
        files = NativeCodeFiles(whisper, codes, targets, 0, tmp_path, varied=True, seed=seed)
        found = files.analysed([Piece(known, "a")])
        assert found.codes[0] == 0
        assert (np.diff(found.codes) >= 0).all()
        assert found.codes[-1] >= count - 3
        lengths.add(len(found.codes))
    assert len(lengths) > 2


def test_a_full_window_is_not_said_more_slowly(whisper, codes, shelved, tmp_path):
    """The end of the text would no longer be in it."""
    known = paced(shelved[0], 0.6)
    count = -(-known.length // 640)
    targets = {known.path.stem: np.arange(count)}
    window = [Piece(known, "a"), Piece(known, "b")]
    for seed in range(12):
        files = NativeCodeFiles(whisper, codes, targets, 0, tmp_path, varied=True, seed=seed)
        assert files.analysed(window).codes[-1] >= count - 3


def test_a_batch_is_padded(windows):
    reader = WindowReader({windows[0][0]: 5})
    some = [reader(path) for path, _ in windows[:3]]
    one = native_batch(some, torch.arange(24))
    assert one.speakers.tolist() == [5, -1, -1]
    assert one.inputs.shape[1] == max(len(w.inputs) for w in some)
    for row, window in enumerate(some):
        count = len(window.codes)
        assert one.codes[row, :count].tolist() == window.codes.tolist()
        assert not one.native[row, count:].any()
        assert int(one.lengths[row]) == len(window.inputs)
    assert one.codes.shape[1] == -(-one.inputs.shape[1] // 2)


def test_an_encoder_begins_as_that_of_the_codes(codes):
    made = native_code_start.started(codes, CONFIG).eval()
    assert len(made.before) == 2
    states = torch.randn(2, 30, 32)
    lengths = torch.tensor([30, 21])
    with torch.inference_mode():
        assert torch.equal(made.encoded(states, lengths), codes.encoded(states, lengths))
    with pytest.raises(VoicenymError, match="0 blocks are fewer than the 1"):
        native_code_start.started(codes, changed(CONFIG, before=0))
    with pytest.raises(VoicenymError, match="there is no code 12"):
        native_code_start.started(codes, changed(CONFIG, silence=12))
    two = WordCodes(**{**dataclasses.asdict(codes.sizes), "books": 2})
    with pytest.raises(VoicenymError, match="codes of 2 books"):
        native_code_start.started(two, CONFIG)


def test_scores_are_of_the_nearest_entry(whisper, codes):
    encoder = native_code_start.started(codes, CONFIG)
    module = recipe.NativeCoding(encoder, codes, whisper.network, torch.arange(24), 0, CONFIG)
    x = torch.randn(2, 5, 8)
    book = codes.quantizer.books[0]
    found = module.logits(x).detach()
    assert torch.equal(found.argmax(2).flatten(), book.nearest(x.flatten(0, 1)))
    distance = (x[1, 2] - book.vectors[3]).square().sum()
    expected = -0.5 * np.exp(recipe.SCALE) * float(distance)
    assert float(found[1, 2, 3]) == pytest.approx(expected, rel=1e-4)


def test_moments_are_means_and_deviations_of_what_counts():
    x = torch.randn(3, 9, 4)
    inside = torch.zeros(3, 9, dtype=torch.bool)
    inside[0, 2:7], inside[1] = True, True
    found = recipe.moments(x, inside)
    for row, part in ((0, x[0, 2:7]), (1, x[1])):
        expected = torch.cat([part.mean(0), part.std(0, correction=0)])
        torch.testing.assert_close(found[row], expected, atol=1e-5, rtol=1e-5)
    assert not found[2].any()


def test_moments_do_not_depend_on_the_order_and_reach_the_encoder(whisper, codes, windows):
    """Codes in another order have the same moments; the gradient is that of the expectation."""
    encoder = native_code_start.started(codes, CONFIG)
    module = recipe.NativeCoding(encoder, codes, whisper.network, torch.arange(24), 0, CONFIG)
    reader = WindowReader({})
    one = native_batch([reader(windows[1][0])], torch.arange(24))
    nearest = module.logits(encoder.encoded(one.inputs, one.lengths)).argmax(2)
    everywhere = torch.ones_like(one.native)
    shuffled = nearest[:, torch.randperm(nearest.shape[1])]
    same = module.losses(one._replace(codes=shuffled, native=everywhere))["moments"]
    assert float(same.detach()) == pytest.approx(0.0, abs=1e-8)
    other = module.losses(one._replace(codes=(nearest + 1) % 12, native=everywhere))["moments"]
    assert float(other.detach()) > 0.01
    other.backward()
    assert encoder.narrow.weight.grad.abs().sum() > 0.0


@pytest.mark.parametrize(("adversary", "moments"), [(0.0, 0.0), (0.3, 0.0), (0.0, 1.0)])
def test_native_codes_are_learnt_and_nothing_else_changes(
    whisper, codes, windows, tmp_path, adversary, moments
):
    config = changed(CONFIG, adversary=adversary, moments=moments)
    encoder = native_code_start.started(codes, config)
    before = {n: v.clone() for n, v in codes.state_dict().items()}
    decoder = {n: v.clone() for n, v in whisper.network.state_dict().items()}
    held_out = [path for path, who in windows if who == "s9"]
    files = [(path, who) for path, who in windows if who != "s9"]
    files[0] = (files[0][0], "")  # of a speaker without readings
    outcome = recipe.train(
        encoder, codes, whisper.network, files, held_out, config, tmp_path, machine=MACHINE
    )
    first, *_, last = outcome.curve
    assert last[recipe.MONITOR] < first[recipe.MONITOR]
    assert last["held out: right"] > 0.5
    assert not encoder.training
    assert all(torch.equal(before[n], v) for n, v in codes.state_dict().items())
    after = whisper.network.state_dict()
    assert all(torch.equal(decoder[n], v) for n, v in after.items())
    kept = torch.load(tmp_path / "last.ckpt", weights_only=True)["state_dict"]
    assert {name.partition(".")[0] for name in kept} == {
        "encoder", "scale", *(["branch"] if adversary else []),
    }  # fmt: skip
    word_code_encoder.save(encoder, tmp_path / "kept", bits=8)
    again = word_code_encoder.load(tmp_path / "kept")
    states, lengths = torch.randn(1, 20, 32), torch.tensor([20])
    with torch.inference_mode():
        expected = encoder.encoded(states, lengths)
        torch.testing.assert_close(again.encoded(states, lengths), expected, atol=0.1, rtol=0.1)


def test_a_run_goes_on(whisper, codes, windows, tmp_path):
    half = changed(CONFIG, steps=10)
    held_out = [path for path, _ in windows[:2]]
    for config in (half, changed(CONFIG, steps=20)):
        encoder = native_code_start.started(codes, config)
        outcome = recipe.train(
            encoder, codes, whisper.network, windows, held_out, config, tmp_path, machine=MACHINE
        )
    assert outcome.steps == 20
    assert len(outcome.curve) == 2


def test_directions_of_accents_come_from_windows_of_one_speaker(codes, windows, monkeypatch):
    monkeypatch.setattr(accent_directions, "PART", 8)
    encoder, reader = native_code_start.started(codes, CONFIG), WindowReader({})
    files = [*windows, (windows[0][0], "")]
    found = accent_directions.with_directions(encoder, codes, files, reader, SILENCE, 3)
    again = accent_directions.with_directions(encoder, codes, windows, reader, SILENCE, 3)
    assert torch.equal(found.directions, again.directions), "without windows of several speakers"
    assert found.directions.shape == (3, 8)
    assert (found.accents, found.silence) == (3, SILENCE)
    assert float(found.centre.abs().max()) > 0.0
    states, lengths = torch.randn(1, 20, 32), torch.tensor([20])
    with torch.inference_mode():
        assert torch.equal(found.encoded(states, lengths), encoder.encoded(states, lengths))
    with pytest.raises(CorpusError, match="accents need two speakers"):
        accent_directions.with_directions(encoder, codes, files[-1:], reader, SILENCE, 3)


@pytest.mark.parametrize("accents", [0, 3])
def test_a_training_goes_on_from_other_native_codes(codes, tmp_path, accents):
    known = native_code_start.started(codes, CONFIG)
    if accents:
        known = known.with_accents(torch.ones(3, 8), torch.zeros(8), 2)
    with torch.no_grad():
        known.narrow.weight.add_(1.0)
    word_code_encoder.save(known, tmp_path / "known")
    made = native_code_start.started(codes, CONFIG)
    native_code_start.go_on_from(made, tmp_path / "known")
    torch.testing.assert_close(made.narrow.weight, known.narrow.weight, atol=2e-3, rtol=1e-3)
    with pytest.raises(VoicenymError, match="for another codebook, or of other sizes"):
        native_code_start.go_on_from(
            native_code_start.started(codes, changed(CONFIG, before=3)), tmp_path / "known"
        )
    with torch.no_grad():
        codes.quantizer.books[0].vectors.add_(1.0)
        other = native_code_start.started(codes, CONFIG)
        codes.quantizer.books[0].vectors.sub_(1.0)
    with pytest.raises(VoicenymError, match="for another codebook"):
        native_code_start.go_on_from(other, tmp_path / "known")


def test_what_cannot_be_is_refused(whisper, codes, windows, tmp_path):
    encoder = native_code_start.started(codes, CONFIG)
    with pytest.raises(CorpusError, match="no windows to learn from"):
        recipe.train(encoder, codes, whisper.network, [], [windows[0][0]], CONFIG, tmp_path)
    path = tmp_path / "some.native.npz"
    path.write_bytes(windows[0][0].read_bytes()[:200])
    with pytest.raises(VoicenymError, match="damaged"):
        WindowReader({})(path)


def test_the_bundled_configuration_fits_the_bundled_codes():
    from voicenym.nets.content import word_code_bottleneck

    config = load("native-codes", recipe.NativeCodesConfig)
    made = native_code_start.started(
        word_code_bottleneck.load(word_code_bottleneck.BUNDLED), config
    )
    assert len(made.before) == 5
    assert config.changed().rounds == config.varied
