"""``word-codes`` live: the words of the file form, another voice, silence, and what it refuses."""

import pytest
import torch

import voicenym
from voicenym import Key
from voicenym.anonymizer import system_class
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError
from voicenym.nets.weights.weights_home import VARIABLE
from voicenym.nets.words.word_codes import live_word_codes
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.resynthesis.pipeline import assembly, conditioning, live_content, live_core

pytestmark = pytest.mark.slow
KEY = Key(bytes(32), None)
RATE = 16_000
_LIVE = {}


@pytest.fixture(autouse=True)
def no_other_weights(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))


@pytest.fixture(scope="module")
def speech(sample):
    whole = voicenym.read(sample)
    return whole.samples[: 4 * whole.rate].reshape(-1)


@pytest.fixture(scope="module")
def some(speech):
    """Enough to tell streams apart."""
    return speech[RATE : 3 * RATE]


@pytest.fixture(scope="module")
def chunked(tmp_path_factory):
    """The bundled pipeline with a live encoder of the same weights, which looks 0.16 s ahead."""
    folder, bundled = tmp_path_factory.mktemp("chunked"), assembly.BUNDLED / "ssl"
    parts = assembly.opened(bundled, natives=["drawn"])
    content, teacher = parts.content, parts.natives["drawn"]
    network = LiveWordCodes.of(content.encoder, content.whisper_sizes, teacher, rank=1, ahead=8)
    live_word_codes.save(network, folder / "network")
    places, settings = _places(bundled), assembly.adjusted(bundled, {})
    given = {**places, "live": folder / "network"}
    assembly.assemble(folder / "pipeline", given, settings, shared=tuple(places))
    return str(folder / "pipeline")


def live(samples, speaker="anna", **settings):
    """What a stream gives; several tests ask for the same, which is computed once."""
    asked = (samples.numpy().tobytes(), samples.shape, speaker, *sorted(settings.items()))
    if asked not in _LIVE:
        _LIVE[asked] = computed(samples, speaker, **settings)
    return _LIVE[asked]


def computed(samples, speaker="anna", key=KEY, **settings):
    system = voicenym.load("word-codes", live=True, **settings)
    return system(voicenym.Audio(samples, RATE), key.pseudonym(speaker)).samples


def words(samples):
    return conditioning.whole_content(assembly.opened(assembly.BUNDLED / "ssl"), samples)


def likeness(one, other):
    frames = min(len(one), len(other))
    return float(torch.nn.functional.cosine_similarity(one[:frames], other[:frames]).mean())


def test_streams_change_with_the_revisions_that_change_them(some):
    latest = system_class("word-codes").last_live_revision
    found = {revision: live(some, revision=revision) for revision in range(5, latest + 1)}
    assert torch.equal(live(some), found[latest])
    # revision 7 changed recordings alone
    same = [torch.equal(found[one - 1], found[one]) for one in range(6, latest + 1)]
    assert same == [one == 7 for one in range(6, latest + 1)]


@pytest.fixture(scope="module")
def short(speech):
    return live(speech, delay="short")


def test_a_short_delay_keeps_the_words_in_part(speech, short):
    usual, stream = (
        voicenym.load("word-codes", delay=delay).stream(KEY.pseudonym("anna"), RATE)
        for delay in ("usual", "short")
    )
    assert stream.latency == usual.latency - 16 * RATE // 100
    assert short.shape == speech.shape
    wanted = words(live(speech))
    assert likeness(wanted, words(short)) > likeness(wanted, wanted.roll(7, 0)) + 0.2
    # blocks of any size give the same
    blocks = [*(stream.push(block) for block in speech.split(777)), stream.flush()]
    assert torch.equal(torch.cat(blocks), short)


@pytest.mark.parametrize("samples", [0, 1, 159, 641, 1281, 4001])
def test_streams_of_a_short_delay_of_any_length_end(speech, samples):
    out = live(speech[RATE : RATE + samples], delay="short")
    assert out.shape == (samples,)
    assert torch.isfinite(out).all()


def test_a_short_delay_leaves_silence_silent(speech):
    still = torch.zeros(RATE)
    out = live(torch.cat([still, speech[:RATE], still, still]), delay="short")
    assert out.any()
    assert not out[: RATE - RATE // 4].any()
    assert not out[2 * RATE + RATE // 4 :].any()


@pytest.mark.parametrize("settings", [{"revision": 7}, {"accent": "native"}, {"accent": "kept"}])
def test_a_short_delay_needs_its_live_encoder(speech, settings):
    with pytest.raises(UnknownSystemError, match="delay=short needs a live encoder"):
        live(speech, delay="short", **settings)


@pytest.mark.parametrize("accent", ["native", "kept"])
def test_a_short_delay_with_another_accent_is_refused_before_a_session_begins(accent):
    with pytest.raises(UnknownSystemError, match="delay=short needs a live encoder"):
        voicenym.load("word-codes", delay="short", accent=accent)


def test_a_delay_changes_nothing_but_streams(speech):
    one, other = (voicenym.load("word-codes", delay=delay) for delay in ("usual", "short"))
    audio, pseudonym = voicenym.Audio(speech, RATE), KEY.pseudonym("anna")
    assert torch.equal(one(audio, pseudonym).samples, other(audio, pseudonym).samples)
    assert "delay" not in one.parameters()
    assert other.parameters()["delay"] == "short"
    with pytest.raises(UnknownSystemError, match="no delay 'none'; choose from usual, short"):
        voicenym.load("word-codes", delay="none")


@pytest.mark.parametrize("delay", ["usual", "short"])
def test_streams_are_of_soft_units_unless_codes_are_asked_for(some, delay):
    usual, codes = (live(some, delay=delay, **given) for given in ({}, {"units": "codes"}))
    assert torch.equal(usual, live(some, delay=delay, units="soft"))
    assert torch.equal(codes, live(some, delay=delay, revision=8))
    assert torch.equal(usual, live(some, delay=delay, revision=8, units="soft"))
    assert not torch.equal(usual, codes)
    # the same is said
    wanted = words(codes)
    assert likeness(wanted, words(usual)) > likeness(wanted, wanted.roll(7, 0)) + 0.3


def test_recordings_are_of_codes_unless_soft_units_are_asked_for(speech):
    audio, pseudonym = voicenym.Audio(speech, RATE), KEY.pseudonym("anna")
    usual, codes, soft, kept, soft_kept = (
        voicenym.load("word-codes", **given)(audio, pseudonym).samples
        for given in (
            {},
            {"units": "codes"},
            {"units": "soft"},
            {"accent": "kept"},
            {"accent": "kept", "units": "soft"},
        )
    )
    assert torch.equal(usual, codes)
    assert likeness(words(usual), words(soft)) > likeness(words(usual), words(kept))
    assert not torch.equal(usual, soft)
    assert not torch.equal(kept, soft_kept)


@pytest.mark.parametrize("settings", [{"accent": "native"}, {"revision": 3}])
def test_soft_units_of_native_codes_without_an_accent_are_refused(settings):
    with pytest.raises(UnknownSystemError, match="units=soft needs accent=drawn or accent=kept"):
        voicenym.load("word-codes", units="soft", **settings)


def test_words_are_those_of_the_recording_in_other_voices(speech):
    whole = voicenym.load("word-codes", timing="kept")
    wanted = words(whole(voicenym.Audio(speech, RATE), KEY.pseudonym("anna")).samples)
    first, second = live(speech), live(speech, "berta")
    assert first.shape == speech.shape
    unlike = likeness(wanted, wanted.roll(7, 0))
    for one in (first, second):
        assert likeness(wanted, words(one)) > unlike + 0.3
    assert (first - second).square().mean() > 0.1 * first.square().mean()
    assert torch.equal(first, computed(speech))


def test_nothing_of_the_recording_s_level_and_no_sample_passes(speech):
    one, quiet = live(speech), live(0.05 * speech)
    for found in (one, quiet):
        loud = found[found != 0].square().mean().sqrt()
        assert 20 * torch.log10(loud) == pytest.approx(-26.0, abs=3.0)
    correlation = (one * speech).mean() / (one.square().mean() * speech.square().mean()).sqrt()
    assert correlation.abs() < 0.1


def test_silence_is_silent_at_the_start_and_after_speech(speech):
    still = torch.zeros(RATE)
    out = live(torch.cat([still, speech[:RATE], still, still]))
    assert not out[: RATE - RATE // 4].any()
    assert not out[2 * RATE + RATE // 4 :].any()
    assert not live(still).any()


@pytest.mark.parametrize("samples", [0, 1, 159, 641, 2561])
def test_streams_of_any_length_end(speech, samples):
    out = live(speech[RATE : RATE + samples])
    assert out.shape == (samples,)
    assert torch.isfinite(out).all()


def test_rows_do_not_depend_on_each_other(speech):
    two = torch.stack([speech, speech.flip(0)])
    both = live(two)
    assert torch.equal(both[0], live(two[0]))
    assert torch.equal(both[1], live(two[1]))


def test_former_revisions_work_live_with_the_accent_that_they_have(some):
    first = Key(bytes(32))  # revision 1: the recording's own codes
    found = {
        "kept": computed(some, key=first),
        "native": live(some, revision=3),
        "drawn": live(some),
    }
    assert torch.equal(found["kept"], computed(some, key=first, accent="kept"))
    assert not torch.equal(found["native"], found["drawn"])


@pytest.mark.parametrize(
    "settings",
    [{"f0": "kept"}, {"f0": "predicted+shaped"}, {"level": "drawn"}, {"timing": "drawn"},
     {"identity": "copy"}],
)  # fmt: skip
def test_settings_that_need_the_whole_recording_are_refused(settings):
    system = voicenym.load("word-codes", **settings)
    assert not system.works_live
    with pytest.raises(UnknownSystemError, match="does not work live with these settings"):
        voicenym.load("word-codes", live=True, **settings)
    with pytest.raises(AudioError, match="must analyse the whole recording first"):
        system.stream(KEY.pseudonym("anna"), RATE)
    assert voicenym.load("word-codes").works_live


def test_weights_of_another_kind_are_refused(pipelines, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(pipelines))
    with pytest.raises(VoicenymError, match="do not work live"):
        voicenym.load("word-codes").stream(KEY.pseudonym("anna"), RATE)


@pytest.mark.parametrize("known", ["", "en"])
def test_another_language_becomes_silent_unless_the_user_says_that_it_is_none(
    speech, monkeypatch, known
):
    monkeypatch.setattr(live_core, "is_foreign", lambda network, scores: True)
    monkeypatch.setattr(live_core, "VERDICT_SECONDS", 1.0)
    system = voicenym.load("word-codes", language=known, revision=5)
    stream = system.stream(KEY.pseudonym("anna"), RATE)
    out = torch.cat([stream.push(speech), stream.flush()])
    assert out[: RATE // 2 + RATE].any()
    assert out[3 * RATE :].any() == bool(known)
    assert [text.count("silence goes out") for text in stream.warnings] == ([] if known else [1])


def stream_of(chunked, **settings):
    return voicenym.load("word-codes", weights=chunked, **settings).stream(
        KEY.pseudonym("anna"), RATE
    )


def test_a_live_encoder_gives_the_words_in_half_of_the_delay(chunked, speech):
    stream, former = (
        voicenym.load("word-codes", **given).stream(KEY.pseudonym("anna"), RATE)
        for given in ({"weights": chunked}, {"revision": 5})
    )
    assert stream.latency < 0.6 * former.latency
    found = live(speech, weights=chunked)
    wanted = words(live(speech, revision=5))
    assert found.shape == speech.shape
    assert likeness(wanted, words(found)) > likeness(wanted, wanted.roll(7, 0)) + 0.3
    # blocks of any size give the same
    blocks = [*(stream.push(block) for block in speech.split(777)), stream.flush()]
    assert torch.equal(torch.cat(blocks), found)


def test_a_live_encoder_leaves_silence_silent_and_rows_apart(chunked, speech):
    still = torch.zeros(RATE)
    one = torch.cat([still, speech[:RATE], still, still])
    both = live(torch.stack([one, one.flip(0)]), weights=chunked)
    assert torch.equal(both[0], live(one, weights=chunked))
    assert both[0].any()
    assert not both[0, : RATE - RATE // 4].any()
    assert not both[0, 2 * RATE + RATE // 4 :].any()


@pytest.mark.parametrize("samples", [0, 1, 159, 1281, 2761, 4001])
def test_streams_of_a_live_encoder_of_any_length_end(chunked, speech, samples):
    out = live(speech[RATE : RATE + samples], weights=chunked)
    assert out.shape == (samples,)
    assert torch.isfinite(out).all()


def test_other_accents_do_without_the_live_encoder(chunked, some):
    for accent in ("kept", "native"):
        found = live(some, weights=chunked, accent=accent)
        assert torch.equal(found, live(some, accent=accent))


@pytest.mark.parametrize("known", ["", "en"])
def test_the_language_is_detected_beside_a_live_encoder(chunked, speech, monkeypatch, known):
    monkeypatch.setattr(live_core, "is_foreign", lambda network, scores: True)
    monkeypatch.setattr(live_core, "VERDICT_SECONDS", 0.5)
    monkeypatch.setattr(live_content, "LANGUAGE_SECONDS", 1.0)
    stream = stream_of(chunked, language=known)
    out = torch.cat([stream.push(speech), stream.flush()])
    assert out[:RATE].any()
    assert out[3 * RATE :].any() == bool(known)
    assert [text.count("silence goes out") for text in stream.warnings] == ([] if known else [1])


def test_another_language_becomes_silent_at_the_same_sample_in_blocks_of_any_size(
    chunked, speech, monkeypatch
):
    monkeypatch.setattr(live_core, "is_foreign", lambda network, scores: True)
    monkeypatch.setattr(live_core, "VERDICT_SECONDS", 0.5)
    monkeypatch.setattr(live_content, "LANGUAGE_SECONDS", 1.0)
    whole, short = (stream_of(chunked) for _ in range(2))
    expected = torch.cat([whole.push(speech), whole.flush()])
    found = torch.cat([*map(short.push, speech.split(160)), short.flush()])
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=0)
    assert torch.equal(found != 0, expected != 0)


def test_the_language_check_hears_what_it_hears_in_windows(chunked, speech):
    """Scores of long pieces are near those of windows, for the same seconds of speech."""
    scores = []
    for given in ({"weights": chunked}, {"revision": 5}):
        stream = voicenym.load("word-codes", **given).stream(KEY.pseudonym("anna"), RATE)
        [core] = [core for core in _cores(stream) if isinstance(core, live_core.LiveCore)]
        stream.push(speech)
        stream.flush()
        scores.append(core._rows[0]._language.scores[0])
    assert scores[0].seconds == pytest.approx(scores[1].seconds, abs=0.2)
    assert scores[0].mean == pytest.approx(scores[1].mean, abs=0.5)


def test_bundled_live_encoders_are_those_of_revisions(speech):
    former, *later = (
        voicenym.load("word-codes", revision=revision).stream(KEY.pseudonym("anna"), RATE)
        for revision in (5, 6, 8)
    )
    assert all(stream.latency < 0.6 * former.latency for stream in later)
    wanted = words(live(speech, revision=5))
    for revision in (6, 8):
        found = words(live(speech, revision=revision))
        assert likeness(wanted, found) > likeness(wanted, wanted.roll(7, 0)) + 0.3


@pytest.mark.parametrize(("one", "other"), [(5, 6), (7, 8)])
def test_revisions_that_change_streams_alone_leave_recordings_as_they_are(speech, one, other):
    both = [
        voicenym.load("word-codes", revision=revision)(
            voicenym.Audio(speech, RATE), KEY.pseudonym("anna")
        ).samples
        for revision in (one, other)
    ]
    assert torch.equal(*both)


def _cores(stream):
    return [value for value in vars(stream).values() if hasattr(value, "flush")]


@pytest.mark.parametrize("name", ["live", "live-8"])
def test_a_live_encoder_of_another_teacher_is_refused(chunked, tmp_path, name):
    bundled = assembly.BUNDLED / "ssl"
    parts = assembly.opened(bundled, natives=["native"])
    content = parts.content
    other = LiveWordCodes.of(content.encoder, content.whisper_sizes, parts.natives["native"])
    live_word_codes.save(other, tmp_path / "other")
    with pytest.raises(VoicenymError, match="trained for another content, or other drawn accents"):
        assembly.assemble(tmp_path / "never", {**_places(bundled), name: tmp_path / "other"})


def _places(folder):
    return {name: assembly.located(folder, name) for name in assembly.there_are(folder)}
