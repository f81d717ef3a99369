"""Several people in a recording: who is hidden leaves no sample, who is kept loses none."""

from dataclasses import dataclass

import numpy as np
import pytest
import soundfile
import torch

from voicenym.anonymizer import Anonymizer, Card, Refusal, load
from voicenym.audio import Audio
from voicenym.corpus.people.background_noise import BackgroundNoise
from voicenym.corpus.people.border_fades import Piece
from voicenym.corpus.people.hidden_voices import (
    CONTEXT_SECONDS,
    GROUP_SECONDS,
    LONGEST_SECONDS,
    HiddenVoices,
    divided,
)
from voicenym.corpus.people.people_pseudonyms import UNSURE, pseudonyms_of
from voicenym.corpus.people.several_speakers import (
    anonymize_speakers,
    plan_speakers,
)
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.diarization.treatments import Treatment, choice
from voicenym.errors import AudioError, DiarizationError, RefusedError
from voicenym.kept_work import KeptWork
from voicenym.pseudonym import Key

RATE = 8000
TURNS = Diarization([Turn(1, 2.5, "anna"), Turn(2.2, 4, "host"), Turn(4.5, 6, "speaker-1")])


class Drawn:
    """Core that speaks noise of the pseudonym, whatever it gets."""

    latency = 0

    def __init__(self, pseudonyms):
        self.generators = [p.torch_rng("noise") for p in pseudonyms]

    def push(self, block):
        rows = [torch.randn(block.shape[1], generator=g) for g in self.generators]
        return 0.1 * torch.stack(rows)

    def flush(self):
        return torch.zeros(len(self.generators), 0)


CARD = Card("drawn", "noise", "none", 2026, (), "nothing", "nobody", (), ("always",))


@dataclass(frozen=True)
class Noise(Anonymizer):
    card = CARD

    def core(self, pseudonyms, rate, profile):
        return Drawn(pseudonyms)


class Unchanged(Drawn):
    def push(self, block):
        return block


@dataclass(frozen=True)
class Copy(Anonymizer):
    card = CARD

    def core(self, pseudonyms, rate, profile):
        return Unchanged(pseudonyms)


@dataclass(frozen=True)
class Picky(Noise):
    @property
    def may_refuse(self):
        return True

    def refusal(self, profile):
        return Refusal("it is another language", "take another system")


@pytest.fixture
def recording(tmp_path):
    """A stereo recording of 7 s whose samples are noise with syllables."""

    def make(name="talk.wav", seed=0, frames=7 * RATE, **kw):
        rng = np.random.default_rng(seed)
        wave = rng.standard_normal((frames, 2)) * 0.1
        wave *= 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(frames)[:, None] / RATE)
        soundfile.write(tmp_path / name, wave, RATE, subtype=kw.get("subtype", "PCM_16"))
        return tmp_path / name

    return make


def hidden_of(what):
    mask = np.zeros(what.frames, bool)
    for piece in what.pieces():
        mask[piece.start : piece.end] = True
    return mask


def run(source, target, what, system=None, key=None, **kw):
    names = pseudonyms_of(["anna", "speaker-1", "host", UNSURE], key or Key(bytes(32)), source)
    return anonymize_speakers(system or Noise(), names, source, target, what, **kw)


@pytest.mark.parametrize("unsure", ["hide", "silence"])
@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
def test_the_output_depends_on_no_sample_of_who_is_hidden(recording, tmp_path, unsure, subtype):
    source = recording(subtype=subtype)
    who = choice(TURNS, keep=["host"], unsure=Treatment(unsure))
    what = plan_speakers(source, "t.rttm", TURNS, who)
    mask = hidden_of(what)
    assert mask[RATE : 4 * RATE + 100].any()
    run(source, tmp_path / "a.wav", what)
    before, _ = soundfile.read(source, dtype="float64")
    after, _ = soundfile.read(tmp_path / "a.wav", dtype="float64")
    assert np.array_equal(after[~mask], before[~mask])
    for turn in TURNS.turns:
        if turn.speaker != "host":
            assert mask[round(turn.start * RATE) : round(turn.end * RATE)].all()
    # other speech of the hidden people, same output: not even the borders hold a sample of it
    other = before.copy()
    other[mask] = np.random.default_rng(9).permutation(before[mask]) * 0.5
    soundfile.write(source, other, RATE, subtype=subtype)
    voice = Key(bytes(32)).pseudonym("anna")  # other bytes are another file: labels would differ
    same = {"anna": voice, "speaker-1": voice, UNSURE: voice}
    for name, wave in (("b.wav", other), ("c.wav", before)):
        soundfile.write(source, wave, RATE, subtype=subtype)
        anonymize_speakers(Noise(), same, source, tmp_path / name, what)
    assert (tmp_path / "b.wav").read_bytes() == (tmp_path / "c.wav").read_bytes()


def test_each_person_is_anonymized_with_the_pseudonym_of_the_name(recording, tmp_path):
    """A piece is the system's output for its window under the person's pseudonym."""
    source = recording()
    wave, _ = soundfile.read(source)
    wave[: round(1.7 * RATE)] *= 0.001
    wave[round(4.3 * RATE) :] *= 0.001
    soundfile.write(source, wave, RATE)
    found = Diarization([Turn(2, 4, "anna")])
    what = plan_speakers(source, "t.rttm", found, choice(found))
    system, key = load("mcadams"), Key(bytes(range(32)))
    run(source, tmp_path / "a.wav", what, system, key)
    (piece,) = [p for p in what.pieces() if p.voice == "anna"]
    wave = torch.from_numpy(soundfile.read(source, dtype="float32")[0].T.copy())
    context = round(CONTEXT_SECONDS * RATE)
    window = wave[:, piece.start - context : piece.end + context].clone()
    expected = HiddenVoices(
        system, {"anna": key.pseudonym("anna")}, [piece], RATE, 2, what.frames, 80, "x", None,
        KeptWork.unnamed(None), str,
    )  # fmt: skip
    expected.push(wave.numpy())
    expected.finish()
    made = expected.read(0, 200, piece.end - piece.start - 200)
    after = soundfile.read(tmp_path / "a.wav", dtype="float32")[0].T
    inner = after[:, piece.start + 200 : piece.end - 200]
    assert np.abs(inner - made).max() < 1e-3  # 16 bits, and noise of the background
    whole = system(Audio(window, RATE), key.pseudonym("anna")).samples.numpy()
    assert np.corrcoef(whole[0, context + 200 : -context - 200], made[0])[0, 1] > 0.99


def test_names_have_one_voice_everywhere_and_labels_one_in_each_recording(recording):
    key = Key(bytes(32))
    one = pseudonyms_of(["anna", "speaker-1", UNSURE], key, recording("one.wav", 1))
    two = pseudonyms_of(["anna", "speaker-1", UNSURE], key, recording("two.wav", 2))
    assert one["anna"] == two["anna"] == key.pseudonym("anna")
    assert one["speaker-1"] != two["speaker-1"]
    assert one[UNSURE] != two[UNSURE]
    assert len(set(one.values())) == 3


def test_a_copied_voice_is_refused_and_nothing_is_written(recording, tmp_path):
    source = recording()
    what = plan_speakers(source, "t.rttm", TURNS, choice(TURNS, keep=["host"]))
    with pytest.raises(AudioError, match="nearly the input"):
        run(source, tmp_path / "a.wav", what, Copy())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["talk.wav"]


def test_a_refused_person_gets_the_fallback_or_nothing_is_written(recording, tmp_path):
    source = recording()
    what = plan_speakers(source, "t.rttm", TURNS, choice(TURNS, only=["anna"]))
    with pytest.raises(RefusedError, match="another language"):
        run(source, tmp_path / "a.wav", what, Picky())
    _, refusals = run(source, tmp_path / "a.wav", what, Picky(), fallback=Noise())
    assert "anna" in refusals


def test_what_stands_out_is_not_taken_for_background(recording):
    path = recording()
    turns = Diarization([Turn(1.0, 2.0, "anna")])
    what = plan_speakers(path, "turns", turns, choice(turns, only=["anna"]))
    kept = sum(seconds for (how, _, _), seconds in what.seconds().items() if how == "keep")
    assert kept < 0.5


def test_turns_beyond_the_end_and_a_changed_recording_are_refused(recording, tmp_path):
    source = recording()
    late = Diarization([Turn(6, 7.5, "anna")])
    with pytest.raises(DiarizationError, match=r"t.rttm: does not fit.*ends at 7.50 s.*7.00 s"):
        plan_speakers(source, "t.rttm", late, choice(late))
    what = plan_speakers(source, "t.rttm", TURNS, choice(TURNS))
    recording(frames=6 * RATE)
    with pytest.raises(AudioError, match="changed"):
        run(source, tmp_path / "a.wav", what)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["talk.wav"]


def test_long_recordings_are_held_in_parts(tmp_path):
    """Memory is bounded by groups, however long the recording is."""
    rate, frames = 1000, 600_000
    pieces = divided(
        [Piece(a, a + 20_000, "anna" if a % 40_000 else "ben") for a in range(0, 400_000, 20_000)]
        + [Piece(400_000, 600_000, "anna")],
        rate,
    )
    assert max(p.end - p.start for p in pieces) <= LONGEST_SECONDS * rate
    key = Key(bytes(32))
    names = {who: key.pseudonym(who) for who in ("anna", "ben")}
    kept = KeptWork.unnamed(tmp_path)
    voices = HiddenVoices(Noise(), names, pieces, rate, 1, frames, 10, "x", None, kept, str)
    most = 0
    rng = np.random.default_rng(0)
    for _ in range(60):
        voices.push(0.1 * rng.standard_normal((1, 10_000), dtype=np.float32))
        most = max(most, voices._held)
    voices.finish()
    assert most <= 2 * (GROUP_SECONDS + LONGEST_SECONDS + 2) * rate
    assert voices.read(len(pieces) - 1, 0, 5).shape == (1, 5)
    kept.close()


def test_background_noise_has_the_level_and_spectrum_of_the_background():
    rng = np.random.default_rng(0)
    low = np.convolve(rng.standard_normal(80_000), np.ones(8) / 8, "same").astype(np.float32)
    background = BackgroundNoise(RATE, 1)
    background.learn(0.01 * low[None])
    background.draw(np.random.default_rng(1))
    noise = background.noise(100, 60_100)
    assert noise.std() == pytest.approx(0.01 * low.std(), rel=0.05)
    power = np.square(np.abs(np.fft.rfft(noise[0])))
    assert power[:5_000].sum() > 20 * power[-5_000:].sum()
    quiet = background.filled(np.zeros((1, 8000), np.float32), 0)
    assert quiet.std() == pytest.approx(0.01 * low.std(), rel=0.1)
    loud = rng.standard_normal((1, 8000)).astype(np.float32)
    assert np.array_equal(background.filled(loud, 0), loud)


def test_an_unknown_background_is_silence():
    background = BackgroundNoise(RATE, 2)
    background.draw(np.random.default_rng(0))
    assert not background.noise(0, 100).any()
    assert not background.filled(np.zeros((2, 100), np.float32), 0).any()
