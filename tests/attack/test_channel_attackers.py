"""Channel attackers find speakers who differ in that channel, and only those."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import soundfile
import torch
from scipy.signal import lfilter

from voicenym import Key
from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.channels import channel_branches
from voicenym.attack.channels.channel_branches import Branch
from voicenym.attack.channels.channel_extractors import (
    NUMBER,
    UNKNOWN,
    hashed,
    known,
    measures_of,
    phones_of,
    timed_phones_of,
    words_of,
)
from voicenym.attack.channels.content_extractor import ContentUnits, codes_of, statistics_of
from voicenym.attack.fusion import channel_attackers
from voicenym.attack.fusion.branch_weights import Measured, copies_count, trained
from voicenym.attack.fusion.channel_attackers import (
    ChannelAttacker,
    SemiInformedAllChannels,
    SemiInformedContent,
    SemiInformedProsodyAndTiming,
    SemiInformedRoom,
    SemiInformedTiming,
    SemiInformedWords,
)
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.attack.stored_speech import stored
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import STRICT
from voicenym.corpus.transforms import ORIGINAL, Transform
from voicenym.errors import AudioError
from voicenym.metrics import eer
from voicenym.nets.content import content_encoders
from voicenym.nets.content.word_code_bottleneck import BUNDLED
from voicenym.nets.words.word_codes.codes_and_states import CodesAndStates, codes_and_states
from voicenym.recognition.sphinx_processes.segment_decoding import Segment
from voicenym.verification.measure_comparison import MeasureComparison
from voicenym.verification.plda import PLDA
from voicenym.verification.verifier import Verifier

RATE = 16_000
SPEAKERS, TAKES, TESTED = 32, 4, 12


def sound(speaker: int, take: int, own: float) -> np.ndarray:
    """Bursts of one voice; the noise of the pauses is the speaker's, as far as ``own`` says."""
    rng = np.random.default_rng((speaker, take))
    time = np.arange(round(0.9 * RATE)) / RATE
    loud = ((time * 3.0 + rng.random()) % 1.0 < 0.5) * rng.normal(size=len(time))
    level, colour = own * np.random.default_rng(speaker).normal(size=2)
    hiss = rng.normal(size=len(time))
    hiss = hiss + np.tanh(colour) * np.r_[0.0, hiss[:-1]]
    return (0.1 * loud + 0.005 * np.exp(0.7 * level) * hiss).astype(np.float32)


@dataclass(frozen=True)
class Filtered:
    """An all-pass filter, of the recording's own: the thinnest disguise."""

    seed: int
    description = "an all-pass filter"

    def identity(self, recording: Recording) -> str:
        return f"filtered {self.seed}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        a = np.random.default_rng((self.seed, len(recording.name))).uniform(-0.8, 0.8)
        return lfilter([a, 1.0], [1.0, a], samples).astype(np.float32)


class Disguise(Protection):
    """A system that filters."""

    def with_key(self, key, per):
        return Transform((Filtered(1),))


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """``speech(own)``: the scenario of people whose rooms differ as far as ``own`` says."""

    def made(own: float) -> Scenario:
        folder = tmp_path_factory.mktemp("rooms")
        everybody = []
        for speaker in range(SPEAKERS):
            for take in range(TAKES):
                path = folder / f"{speaker}-{take}.wav"
                soundfile.write(path, sound(speaker, take, own), RATE)
                everybody.append(Recording(path.stem, f"s{speaker}", path, "f"))
        tested, pool = everybody[: TAKES * TESTED], everybody[TAKES * TESTED :]
        models = tuple(
            Model(f"m{s}", f"s{s}", tuple(tested[TAKES * s : TAKES * s + 2]), "f")
            for s in range(TESTED)
        )
        trials = tuple(r for i, r in enumerate(tested) if i % TAKES >= 2)
        disguise = Disguise(Transform((Filtered(0),)), "filter")
        return Scenario(models, trials, disguise, Key(bytes(32)), tuple(pool))

    return made


def errors(scores: np.ndarray, scenario: Scenario) -> float:
    models = np.array([model.speaker for model in scenario.models])
    target = models[:, None] == np.array([trial.speaker for trial in scenario.trials])
    return 100.0 * eer(scores[target], scores[~target]).value


@pytest.fixture
def training(tmp_path):
    return AttackerTraining(tmp_path / "attackers", 0.0, voices=1)


def test_rooms_are_found_behind_a_changed_voice_and_nobody_where_all_share_one(
    speech, training, spectrum
):
    for own, low, high in ((1.0, 0.0, 25.0), (0.0, 29.0, 71.0)):  # 24 targets: 50 +- 2 errors
        scenario = speech(own)
        with Embedder() as embedder:
            scores = SemiInformedRoom(training).scores(scenario, spectrum, embedder)
        assert scores.shape == (TESTED, 2 * TESTED)
        assert low <= errors(scores, scenario) < high
    assert spectrum.embedded == 0


def spoken(speaker: str, take: str, own: float, rate: float, kind: str) -> list[Segment]:
    """What a decoder recognises: phones as long, and words as frequent, as the speaker's habit."""
    habit = own * np.random.default_rng(int(speaker)).normal(size=60)
    rng = np.random.default_rng((5, int(speaker), int(take)))
    names = sorted(NUMBER)
    names.remove("SIL")
    chances = np.exp(habit[: len(names)]) if kind == "words" else np.ones(len(names))
    length = 8.0 * np.exp(rate * 0.3 * np.random.default_rng(int(speaker)).normal())
    messages = rng.choice(names, size=40, p=chances / chances.sum())
    frames = np.maximum(3, np.rint(length * np.exp(0.2 * rng.normal(size=40)))).astype(int)
    return [Segment(str(name), 0, int(n)) for name, n in zip(messages, frames, strict=True)]


@pytest.fixture
def decoding(monkeypatch):
    """``decoding(own, rate)``: decoders return habits of words and of rates, by file name."""

    def install(own: float, rate: float) -> None:
        class Decoder:
            def __init__(self, kind):
                self.kind = kind

            def decode(self, samples):
                # the last samples of a recording hold its name: see ``labelled``
                speaker, take = np.rint(samples[:2] * 32767.0).astype(int)
                return spoken(str(speaker), str(take), own, rate, "words")

        monkeypatch.setattr("voicenym.attack.channels.channel_extractors._decoder", Decoder)

    return install


class Labelled(Protection):
    """Leaves speech as it is, under any key."""

    def with_key(self, key, per):
        return self.transform


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Recordings whose first samples hold speaker and take; nothing protects them."""
    folder = tmp_path_factory.mktemp("labelled")
    everybody = []
    for speaker in range(60):
        for take in range(TAKES):
            samples = np.full(RATE // 8, 1000, dtype=np.int16)
            samples[:2] = speaker, take
            path = folder / f"{speaker}-{take}.wav"
            soundfile.write(path, samples, RATE)
            everybody.append(Recording(path.stem, f"s{speaker}", path, "f"))
    models = tuple(
        Model(f"m{s}", f"s{s}", tuple(everybody[TAKES * s : TAKES * s + 2]), "f") for s in range(20)
    )
    trials = tuple(r for i, r in enumerate(everybody[: TAKES * 20]) if i % TAKES >= 2)
    protection = Labelled(ORIGINAL, "nothing")
    return Scenario(models, trials, protection, Key(bytes(32)), tuple(everybody[TAKES * 20 :]))


@pytest.mark.parametrize(
    ("kind", "own", "rate"),
    [(SemiInformedWords, 1.0, 0.0), (SemiInformedTiming, 0.0, 1.0)],
)
def test_words_and_timing_are_found_each_by_its_attacker_alone(
    kind, own, rate, labelled, decoding, training, spectrum
):
    found = {}
    for name, habits in (("own", (own, rate)), ("other", (rate, own)), ("none", (0.0, 0.0))):
        decoding(*habits)
        with Embedder() as embedder:
            found[name] = errors(kind(training).scores(labelled, spectrum, embedder), labelled)
    assert found["own"] < 20.0
    assert 33.0 < found["other"] < 67.0  # 40 targets: 50 +- 2 standard errors
    assert 33.0 < found["none"] < 67.0


class Content:
    """Content encoder whose codes, lengths of codes or states depend on the speaker."""

    def __init__(self, habit: str) -> None:
        self.habit = habit

    def read(self, waveform):
        speaker, take = np.rint(waveform[:2].numpy() * 32767.0).astype(int)
        own, rng = np.random.default_rng(int(speaker)), np.random.default_rng((6, speaker, take))
        chances = np.ones(40) if self.habit != "codes" else np.exp(own.normal(size=40))
        drawn = rng.choice(40, size=60, p=chances / chances.sum())
        mean = 2.0 if self.habit != "lengths" else np.exp(1.5 * own.random())
        codes = np.repeat(drawn, rng.geometric(1.0 / mean, size=60))
        states = rng.normal(size=(2, len(codes), 6))
        states += (self.habit == "states") * own.normal(size=6)
        return CodesAndStates(torch.from_numpy(codes)[:, None], torch.from_numpy(states))


@pytest.mark.parametrize("habit", ["codes", "lengths", "states", "none"])
def test_speakers_who_differ_in_content_alone_are_found(
    habit, labelled, training, spectrum, monkeypatch
):
    monkeypatch.setattr(
        "voicenym.attack.channels.content_extractor._content", lambda *folder: Content(habit)
    )
    monkeypatch.setattr(
        "voicenym.nets.words.word_codes.codes_and_states.codes_and_states",
        lambda content, waveform: content.read(waveform),
    )
    with Embedder() as embedder:
        scores = SemiInformedContent(training).scores(labelled, spectrum, embedder)
    found = errors(scores, labelled)
    assert (found < 28.0) if habit != "none" else (33.0 < found < 67.0), found
    assert spectrum.embedded == 0


def test_content_is_read_by_the_bundled_encoder():
    pytest.importorskip("safetensors")
    recordings = [sound(1, 1, 1.0), sound(2, 1, 1.0)[:5_000]]
    vectors = ContentUnits().embed(recordings)
    codes = codes_of(vectors)
    assert [len(own) for own in codes] == [-(-len(x) // 640) for x in recordings]
    assert all(0 <= own.min() <= own.max() < channel_branches.UNITS for own in codes)
    assert statistics_of(vectors).shape == (2, 4 * 2 * 384)
    units = codes_and_states(content_encoders.load(BUNDLED), torch.from_numpy(recordings[0]))
    assert torch.equal(units.codes[:, 0], torch.from_numpy(codes[0]))
    means = statistics_of(vectors)[0].reshape(4, 2, 384)[:, 0]
    np.testing.assert_allclose(means, units.states.mean(1).numpy(), atol=1e-4)
    with pytest.raises(AudioError, match="no samples"):
        ContentUnits().embed([np.empty(0, dtype=np.float32)])


class Drawn(Verifier):
    """An extractor of vectors that ``labelled`` names; ``own`` is the share of the speaker."""

    concentration = 1.0

    def __init__(self, name: str, own: float) -> None:
        self.name, self.version, self.own = name, "1", own

    def embed(self, recordings):
        rows = []
        for samples in recordings:
            speaker, take = np.rint(samples[:2] * 32767.0).astype(int)
            seed = hashed(self.name)
            of_speaker = np.random.default_rng((seed, speaker)).normal(size=3)
            rest = np.random.default_rng((seed, speaker, take)).normal(size=3)
            rows.append(self.own * of_speaker + rest)
        return np.array(rows, dtype=np.float32)


def test_fusion_is_better_than_each_branch_and_ignores_noise(labelled, training, spectrum):
    def branch(name: str, own: float) -> Branch:
        def train(numbers, speakers):
            return PLDA.train(numbers, speakers, normalise=False)

        return Branch(name, Drawn(name, own), np.stack, train)

    first, second, noise = branch("a", 1.5), branch("b", 1.5), branch("c", 0.0)

    class Several(ChannelAttacker):
        name = "several"

        def __init__(self, training, branches, say=lambda text: None):
            super().__init__(training, say)
            object.__setattr__(self, "chosen", branches)

        def branches(self, scenario, verifier, embedder):
            return self.chosen

    messages = []
    found = {}
    for name, branches in (("a", [first]), ("b", [second]), ("all", [first, second, noise])):
        with Embedder() as embedder:
            scores = Several(training, branches, messages.append).scores(
                labelled, spectrum, embedder
            )
        found[name] = errors(scores, labelled)
    assert found["all"] < min(found["a"], found["b"])
    weights = messages[-1].removeprefix("several: weights ").split(", ")
    shares = {one.split()[0]: float(one.split()[1]) for one in weights}
    assert min(shares["a"], shares["b"]) > 3.0 * shares["c"]


def test_a_channel_that_no_key_changes_learns_from_each_recording_once():
    """Copies under several keys would hide how much a speaker's recordings differ."""
    speakers, names = np.repeat(["a", "b", "c"], 2), np.array(list("123456"))
    four = [np.tile(x, 4) for x in (speakers, names)]
    pool = Measured(np.arange(24.0)[:, None], *four, np.repeat(np.arange(4), 6))
    rows = {}

    def train(numbers, speakers):
        rows[len(rows)] = list(zip(numbers[:, 0].astype(int).tolist(), speakers, strict=True))
        return PLDA

    for copies in (False, True):
        trained(Branch("", Drawn("", 0.0), np.stack, train), pool, copies)
    assert len(rows[1]) == 24
    once = [row for row, _ in rows[0]]
    assert sorted(row % 6 for row in once) == [0, 1, 2, 3, 4, 5]
    assert {row // 6 for row in once} == {0, 1}, "a speaker's recordings are under several keys"


class Near:
    """Scores by distance, or by nothing."""

    def __init__(self, blind):
        self.blind = blind

    def score(self, models, trials):
        centres = np.stack([model.mean(0) for model in models])
        distances = np.abs(centres[:, None] - trials[None]).sum(2)
        return np.sin(1e6 * distances) if self.blind else -distances


def keyed_pool(by_key, seed, recordings=3):
    """Four measures of the speaker and twelve of the recording; a key changes all of them."""
    rng = np.random.default_rng(seed)
    speakers = np.repeat(np.arange(60), recordings)
    own = rng.normal(size=(60, 16))[speakers] * np.repeat([1.0, 0.0], [4, 12])
    own += rng.normal(size=own.shape)
    numbers = np.concatenate([own + by_key * rng.normal(size=own.shape) for _ in range(4)])
    names, voices = np.arange(len(own)).astype(str), np.repeat(np.arange(4), len(own))
    return Measured(numbers, np.tile(speakers.astype(str), 4), np.tile(names, 4), voices)


@pytest.mark.parametrize("blind_by_copies", [False, True])
def test_copies_count_as_recordings_where_that_finds_more_speakers(blind_by_copies):
    pool = keyed_pool(0.1, 0)

    def train(numbers, speakers):
        copies = len(numbers) > 180
        return Near(copies == blind_by_copies)

    branch = Branch("", Drawn("", 0.0), np.stack, train)
    assert copies_count(branch, pool, "speaker") != blind_by_copies
    assert copies_count(replace(branch, keeps=False), pool, "speaker")


def test_copies_count_where_keys_change_a_channel():
    """PLDA then learns from them how little of a measure is of the speaker."""
    branch = Branch("", Drawn("", 0.0), np.stack, MeasureComparison.train)
    assert sum(copies_count(branch, keyed_pool(1.0, seed), "speaker") for seed in range(6)) >= 4


def test_speakers_of_one_recording_leave_nothing_to_decide():
    pool = Measured(
        np.arange(24.0)[:, None], np.tile(list("abcdefgh"), 3), np.tile(list("12345678"), 3),
        np.repeat(np.arange(3), 8),
    )  # fmt: skip
    branch = Branch("", Drawn("", 0.0), np.stack, MeasureComparison.train)
    assert not copies_count(branch, pool, "speaker")


def test_speech_is_protected_once_and_read_again(labelled, training, monkeypatch):
    calls = []
    original = Recording.samples
    monkeypatch.setattr(Recording, "samples", lambda self: calls.append(1) or original(self))
    some = labelled.trials[:3]
    transform = labelled.protection.transform
    for _ in range(2):
        kept = stored(some, transform, training, STRICT)
        for recording in some:
            np.testing.assert_allclose(kept(recording), original(recording), atol=1e-4)
    assert len(calls) == 3
    assert kept.identity(some[0]) != transform.identity(some[0])


def test_vectors_of_channels_are_read_as_they_were_written():
    numbers = np.array([[1.0, np.nan], [-3.0, 2.0]])
    assert known(numbers)[0, 1] == np.float32(UNKNOWN)
    np.testing.assert_allclose(measures_of(list(known(numbers))), numbers)
    vector = np.array([2.0, NUMBER["AA"], 12.0, NUMBER["SIL"], 30.0], dtype=np.float32)
    assert timed_phones_of([vector]) == [[("AA", 12), ("SIL", 30)]]
    np.testing.assert_array_equal(phones_of([vector])[0], [NUMBER["AA"], NUMBER["SIL"]])
    word = hashed("Somebody")
    assert word == hashed("somebody") < 2**24
    assert words_of([np.array([1.0, word], dtype=np.float32)])[0].tolist() == [word]


def test_they_need_people_to_learn_from_and_a_recogniser(training, monkeypatch):
    some = Resources("vtln", pool_recordings=200, pool_speakers=40, training=training)
    few = Resources("vtln", pool_recordings=200, pool_speakers=4, training=training)
    monkeypatch.setattr(channel_attackers.segment_decoding, "installed", lambda: False)
    assert SemiInformedRoom.available(some)
    assert not SemiInformedRoom.available(few)
    assert not SemiInformedTiming.available(some)
    assert not SemiInformedWords.available(some)
    monkeypatch.setattr(channel_attackers.segment_decoding, "installed", lambda: True)
    assert SemiInformedProsodyAndTiming.available(some)


def test_the_channel_that_differs_is_found_among_all(speech, training, monkeypatch, spectrum):
    """Voices and words are alike; the fused attacker finds people by their rooms."""

    class Decoder:
        def __init__(self, kind):
            self.kind = kind

        def decode(self, samples):
            return spoken("0", str(abs(int(1e6 * float(samples.sum())))), 0.0, 0.0, "words")

    monkeypatch.setattr("voicenym.attack.channels.channel_extractors._decoder", Decoder)
    messages = []
    attacker = SemiInformedAllChannels(training, messages.append)
    scenario = speech(1.0)
    with Embedder() as embedder:
        scores = attacker.scores(scenario, spectrum, embedder)
    assert errors(scores, scenario) < 30.0
    weights = messages[-1].removeprefix(f"{attacker.name}: weights ").split(", ")
    shares = {name: float(share) for name, share in (one.rsplit(" ", 1) for one in weights)}
    assert set(shares) == {
        "voice", "trajectories", "room", "timing",
        "frequent phones", "pairs of phones", "words and pairs of words",
        "frequent units", "pairs of units", "lengths of units", "states of units",
    }  # fmt: skip
    assert attacker.training_curve(scenario) == []
