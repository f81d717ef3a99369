"""The bundled pipeline speaks: the words stay while the voice changes."""

import csv
import itertools
import shutil
import subprocess

import pytest
import torch

import voicenym
from voicenym import Key
from voicenym.anonymizer import system_class
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.errors import RefusedError, UnknownSystemError, VoicenymError, WeightsError
from voicenym.nets.weights.weights_home import VARIABLE
from voicenym.resynthesis.pipeline import assembly, conditioning
from voicenym.resynthesis.pipeline.prosody_settings import ContentKind

pytestmark = pytest.mark.slow
BUNDLED = assembly.BUNDLED / "ssl"
SYSTEMS = ("ssl-select", "ssl-roh", "ssl-loh", "ssl-gmm", "word-codes")
IN_TIME = {"word-codes": {"timing": "kept"}}
"""Settings under which words are where they were, to be compared frame by frame."""
KEY = Key(bytes(32))


@pytest.fixture(autouse=True)
def no_other_weights(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))


@pytest.fixture(scope="module")
def parts():
    return assembly.opened(BUNDLED)


@pytest.fixture(scope="module")
def speech(sample):
    whole = voicenym.read(sample)
    return voicenym.Audio(whole.samples[: 3 * whole.rate], whole.rate)


def codes(parts, audio):
    return conditioning.whole_content(parts, audio.samples.reshape(-1))


def likeness(one, other):
    """Mean cosine of the word codes of the same time."""
    frames = min(len(one), len(other))
    return float(torch.nn.functional.cosine_similarity(one[:frames], other[:frames]).mean())


@pytest.mark.parametrize("name", SYSTEMS)
def test_words_stay_and_the_voice_changes(name, parts, speech):
    words = codes(parts, speech)
    first, second = (
        voicenym.load(name, **IN_TIME.get(name, {}))(speech, KEY.pseudonym(speaker))
        for speaker in ("anna", "berta")
    )
    assert first.samples.shape == speech.samples.shape
    assert likeness(words, words.roll(7, 0)) < 0.3, "of other words"
    assert likeness(words, codes(parts, first)) > 0.8
    one, two = (conditioning.whole_vector(parts, x.samples.reshape(-1)) for x in (speech, first))
    assert torch.nn.functional.cosine_similarity(one, two, dim=0) < 0.6
    assert not torch.equal(first.samples, second.samples), "each pseudonym has its own voice"


IDENTITIES = {
    "A1": "regression",
    "A2": "singular-values",
    "ASV-Free": "lookup",
    "B1": "selection",
    "B1, dense": "selection:choice=dense",
    "B1, sparse": "selection:choice=sparse",
    "K2": "indistinguishable",
    "LOH": "householder",
    "M1c2": "copy",
    "MUSA": "blank",
    "PCA and mixture": "mixture",
    "PCA and mixture, forced dissimilarity": "mixture:theta=0.3",
    "ROH": "householder:model={roh}",
    "S1": "autoencoder:of=(selection)",
    "S1c1": "autoencoder",
    "distinct": "distinct:of=(selection)",
}
"""Published identity methods by the names of systems and papers; their pool and networks are
those of the weights.
"""


@pytest.mark.parametrize("which", IDENTITIES)
def test_each_identity_method_speaks(which, parts, speech):
    text = IDENTITIES[which].format(roh=assembly.part(BUNDLED, "roh"))
    system = voicenym.load("ssl-select", identity=text)
    system.check()
    made = system(speech, KEY.pseudonym("anna"))
    assert likeness(codes(parts, speech), codes(parts, made)) > 0.7
    one, two = (conditioning.whole_vector(parts, x.samples.reshape(-1)) for x in (speech, made))
    alike = float(torch.nn.functional.cosine_similarity(one, two, dim=0))
    if which == "M1c2":
        assert alike > 0.6, "the copy keeps the voice"
    elif which == "S1c1":  # rebuilds the voice: sexes, accents and speakers are hidden in part
        assert alike < 0.8
    elif which != "K2":  # draws real speakers, near ones more often
        assert alike < 0.6


def tenths(audio):
    """Level of each tenth of a second in dB."""
    samples = audio.samples[: len(audio.samples) // 1_600 * 1_600]
    return 10.0 * (samples.unflatten(0, (-1, 1_600)).square().mean(1) + 1e-8).log10()


def test_a_fixed_level_follows_neither_the_level_of_the_input_nor_its_course(speech):
    pseudonym, samples = KEY.pseudonym("anna"), speech.samples
    quiet = voicenym.Audio(0.1 * samples, speech.rate)
    rising = voicenym.Audio(samples * torch.linspace(0.5, 1.5, len(samples)), speech.rate)
    for level, low, high in (("fixed", 0.0, 2.0), ("drawn", 15.0, 25.0)):
        system = voicenym.load("word-codes", timing="kept", level=level)
        usual, fainter, louder = (
            tenths(system(audio, pseudonym)) for audio in (speech, quiet, rising)
        )
        # the encoder hears a faint recording a little differently: some codes are others
        assert low <= float((usual - fainter).abs().mean()) < high
        if level == "fixed":
            assert float((usual - louder).abs().mean()) < 1.0
            assert abs(float(usual.max()) + 20.0) < 4.0


def test_a_batch_may_hold_rows_of_both_levels(speech):
    """Stored keys keep revision 1, whose level follows the input and whose accent is the
    speaker's; later ones have a fixed level, and the latest a drawn accent and another synthesizer.
    """
    system = voicenym.load("word-codes", timing="kept")
    old, new = KEY.pseudonym("anna"), KEY.with_revisions(None).pseudonym("anna")
    together = system.batch([speech, speech], [old, new])
    settings = (("drawn", "kept", 4), ("fixed", "drawn", 7))
    for made, (level, accent, revision) in zip(together, settings, strict=True):
        alone = voicenym.load(
            "word-codes", timing="kept", level=level, accent=accent, revision=revision
        )
        set_to = alone(speech, old)
        torch.testing.assert_close(made.samples, set_to.samples, atol=2e-3, rtol=0)
    assert float((tenths(together[0]) - tenths(together[1])).abs().mean()) > 1.0


@pytest.mark.parametrize("timing", ["loose", "drawn"])
def test_the_accent_is_kept_then_native_then_drawn(timing, speech):
    pseudonym = KEY.with_revisions(None).pseudonym("anna")

    def made(**settings):
        return voicenym.load("word-codes", timing=timing, **settings)(speech, pseudonym).samples

    found = [made(revision=2), made(revision=3), made(revision=4)]
    for one, accent in zip(found, ("kept", "native", "drawn"), strict=True):
        assert torch.equal(one, made(accent=accent, revision=4))
    for one, other in itertools.combinations(found, 2):
        assert one.shape != other.shape or not torch.equal(one, other)


@pytest.mark.parametrize("timing", ["kept", "drawn"])
def test_revision_5_computes_silence_in_groups_and_says_the_same(timing, speech):
    pseudonym = KEY.with_revisions(None).pseudonym("anna")
    before, now = (
        voicenym.load("word-codes", timing=timing, revision=revision)(speech, pseudonym).samples
        for revision in (4, 5)
    )
    same = voicenym.load("word-codes", timing=timing, revision=6)(speech, pseudonym).samples
    assert torch.equal(now, same)
    assert before.shape != now.shape or not torch.equal(before, now)
    content = assembly.opened(BUNDLED, natives=["drawn"]).content
    samples = speech.samples.reshape(1, -1)
    whole, grouped = (content.native(samples, "drawn", coarse_silence=c) for c in (False, True))
    assert 0.8 < float((whole == grouped).all(2).float().mean()) < 1.0


def test_revision_7_says_the_same_words_in_the_same_voice_with_another_synthesizer(parts, speech):
    pseudonym = KEY.with_revisions(None).pseudonym("anna")
    before, now = (
        voicenym.load("word-codes", revision=revision)(speech, pseudonym) for revision in (6, 7)
    )
    latest = voicenym.load("word-codes")(speech, pseudonym)
    assert torch.equal(now.samples, latest.samples)
    assert before.samples.shape == now.samples.shape
    difference = (tenths(before) - tenths(now)).abs().mean()
    assert 0.1 < float(difference) < 2.0
    assert likeness(codes(parts, before), codes(parts, now)) > 0.7
    vectors = parts.speaker.embed([before.samples, now.samples])
    assert float(torch.cosine_similarity(*vectors, 0)) > 0.7


def test_a_synthesizer_of_ones_own_is_that_of_all_revisions(tmp_path, speech):
    folder, pseudonym = tmp_path / "ssl", KEY.with_revisions(None).pseudonym("anna")
    places = assembly.parts_of(BUNDLED)
    assembly.assemble(folder, places, shared=tuple(places))
    there = voicenym.load("word-codes", weights=str(folder))
    bundled = voicenym.load("word-codes")
    assert torch.equal(there(speech, pseudonym).samples, bundled(speech, pseudonym).samples)
    own = assembly.located(BUNDLED, "synthesizer")
    assembly.assemble(folder, {"synthesizer": own}, shared=("synthesizer",))
    former = voicenym.load("word-codes", revision=6)
    assert torch.equal(there(speech, pseudonym).samples, former(speech, pseudonym).samples)


def test_a_first_pass_computes_what_the_revision_needs(speech):
    system, first = voicenym.load("word-codes", timing="drawn"), KEY.pseudonym("anna")
    latest, kinds = KEY.with_revisions(None).pseudonym("anna"), {}
    for name, known in (("unknown", None), ("first", first), ("latest", latest)):
        profiling = system.profiling(16_000, pseudonym=known)
        profiling.push(speech.samples.reshape(1, -1))
        kinds[name] = set(profiling.result().ratios)
    assert kinds["first"] == {ContentKind("kept", coarse_silence=False)}
    assert kinds["latest"] == {ContentKind("drawn", coarse_silence=True)}
    assert kinds["unknown"] == {*kinds["first"], *kinds["latest"]} | {
        ContentKind("native", coarse_silence=False),
        ContentKind("drawn", coarse_silence=False),
    }


@pytest.mark.parametrize(
    ("name", "vocoder"), [("b1a", "nsf"), ("b1b", "hifigan"), ("ssl-select", "hifigan")]
)
def test_another_vocoder_says_the_same_with_the_same_voice(parts, speech, name, vocoder):
    """The first part of the synthesizer is the same, so that words and voices are near those of the
    usual vocoder, and further from other words and from the speaker.
    """
    usual, other = voicenym.load(name), voicenym.load(name, vocoder=vocoder)
    assert usual.version != other.version
    other.check()
    pseudonym = KEY.pseudonym("anna")
    before, made = (system(speech, pseudonym) for system in (usual, other))
    assert made.samples.shape == speech.samples.shape
    assert torch.equal(made.samples, other(speech, pseudonym).samples)
    assert not torch.equal(made.samples, before.samples)
    assert likeness(codes(parts, before), codes(parts, made)) > 0.6
    assert likeness(codes(parts, speech), codes(parts, made)) > 0.5
    assert likeness(codes(parts, speech).roll(7, 0), codes(parts, made)) < 0.3, "of other words"
    own, first, second = (
        conditioning.whole_vector(parts, audio.samples.reshape(-1))
        for audio in (speech, before, made)
    )
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(own, second, dim=0) < cosine(first, second, dim=0)
    level = (tenths(made) - tenths(speech))[tenths(speech) > -50].abs().mean()
    assert float(level) < 3.0, "the level over 0.1 s is kept, as published"
    silence = voicenym.Audio(torch.zeros(speech.rate), speech.rate)
    assert not other(silence, pseudonym).samples.any()


@pytest.mark.parametrize("name", ["ssl-select", "ssl-roh", "ssl-loh", "ssl-gmm"])
def test_the_later_hifigan_keeps_the_voice_better(parts, speech, name):
    """Its training asked for the speaker's vector. Whatever has another vocoder stays the same."""
    latest = system_class(name).revisions[-1]
    pseudonym = KEY.with_revisions(None).pseudonym("anna")
    copies, usual = (
        [
            voicenym.load(name, revision=revision, **settings)(speech, pseudonym)
            for revision in (latest - 1, latest)
        ]
        for settings in ({"identity": "copy", "units": "soft", "vocoder": "hifigan"}, {})
    )
    assert torch.equal(usual[0].samples, usual[1].samples)
    own, former, later = (
        conditioning.whole_vector(parts, audio.samples.reshape(-1)) for audio in (speech, *copies)
    )
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(own, later, dim=0) > cosine(own, former, dim=0) + 0.02


@pytest.mark.parametrize("name", ["ssl-select", "b1a", "b1b", "word-codes"])
def test_scaled_frequencies_speak_through_weights_of_vectors(parts, speech, name):
    """identity=formant-pitch: the same words in another voice, which follows its frequencies."""
    usual = voicenym.load(name)
    system = voicenym.load(name, identity="formant-pitch")
    system.check()
    assert system.version != usual.version
    assert system.parts.speaker.hertz
    assert not usual.parts.speaker.hertz
    pseudonym, other = (KEY.pseudonym(who) for who in ("anna", "bert"))
    made, again, another = (system(speech, one) for one in (pseudonym, pseudonym, other))
    assert torch.equal(made.samples, again.samples)
    assert not torch.equal(made.samples, another.samples)
    assert made.samples.shape == speech.samples.shape
    assert likeness(codes(parts, speech), codes(parts, made)) > 0.5
    half = voicenym.load("b1a", identity="half:of=(formant-pitch)", f0="moved")
    half.check()


@pytest.mark.parametrize("name", ["ssl-select", "ssl-roh", "ssl-loh", "ssl-gmm"])
def test_soft_units_say_the_same_with_the_same_voice(parts, speech, name):
    usual, soft = voicenym.load(name), voicenym.load(name, units="soft")
    soft.check()
    pseudonym = KEY.pseudonym("anna")
    before, made = (system(speech, pseudonym) for system in (usual, soft))
    assert made.samples.shape == speech.samples.shape
    assert torch.equal(made.samples, soft(speech, pseudonym).samples)
    assert not torch.equal(made.samples, before.samples)
    assert likeness(codes(parts, before), codes(parts, made)) > 0.7
    assert likeness(codes(parts, speech), codes(parts, made)) > 0.7
    own, first, second = (
        conditioning.whole_vector(parts, audio.samples.reshape(-1))
        for audio in (speech, before, made)
    )
    cosine = torch.nn.functional.cosine_similarity
    assert cosine(own, second, dim=0) < cosine(first, second, dim=0)


@pytest.mark.parametrize("accent", ["native", "drawn"])
def test_native_codes_are_of_the_same_words(parts, speech, accent):
    opened = assembly.opened(BUNDLED, natives=[accent])
    samples = speech.samples.reshape(1, -1)
    own, other = codes(parts, speech), opened.content.native(samples, accent)[0]
    assert other.shape == own.shape
    assert likeness(own, own.roll(7, 0)) < 0.3, "of other words"
    assert 0.4 < likeness(own, other) < 0.99


def test_accents_differ_from_pseudonym_to_pseudonym_and_say_the_same(speech):
    opened = assembly.opened(BUNDLED, natives=["drawn"])
    encoder, samples = opened.natives["drawn"], speech.samples.reshape(1, -1)
    numbers = torch.tensor(
        [
            KEY.pseudonym(name).normals("pipeline.accent", encoder.accents + encoder.sizes.code)
            for name in ("anna", "berta")
        ],
        dtype=torch.float32,
    )
    none = opened.content.native(samples, "drawn")[0]
    one, other = (
        opened.content.native(samples, "drawn", encoder.drawn(row[None]))[0] for row in numbers
    )
    for found in (one, other):
        assert 0.4 < likeness(none, found) < 0.99
    assert likeness(one, other) < 0.99
    both = opened.content.native(samples.expand(2, -1), "drawn", encoder.drawn(numbers))
    assert torch.equal(both[0], one)
    assert torch.equal(both[1], other)


def test_own_weights_without_native_codes_keep_the_accent(tmp_path, monkeypatch, speech):
    folder = tmp_path / "ssl"
    for part in assembly.there_are(BUNDLED):
        if part not in ("native", "drawn", "live", "live-8"):
            shutil.copytree(assembly.located(BUNDLED, part), folder / part)
    without_them = ("native", "drawn", "live", "live-8", "roh-2")
    parts = {p: folder / p for p in assembly.there_are(BUNDLED) if p not in without_them}
    assembly.assemble(folder, parts)
    pseudonym = KEY.with_revisions(None).pseudonym("anna")
    without = voicenym.load("word-codes", weights=str(folder))
    kept = voicenym.load("word-codes", accent="kept")
    assert torch.equal(without(speech, pseudonym).samples, kept(speech, pseudonym).samples)
    with pytest.raises(WeightsError, match="--native"):
        voicenym.load("word-codes", weights=str(folder), accent="native").check()
    versions = {without.version}
    for part in ("native", "drawn"):
        assembly.assemble(folder, {part: assembly.located(BUNDLED, part)})
        versions.add(without.version)
        alone = voicenym.load("word-codes", accent=part)(speech, pseudonym)
        assert torch.equal(without(speech, pseudonym).samples, alone.samples)
    assert len(versions) == 3, "other weights of one's own are another version"
    with pytest.raises(VoicenymError, match="no directions of accents"):
        assembly.assemble(folder, {"drawn": assembly.located(BUNDLED, "native")})


def test_predicted_f0_does_not_depend_on_the_speakers_f0(parts, speech, monkeypatch):
    system, pseudonym = voicenym.load("ssl-gmm", f0="predicted"), KEY.pseudonym("anna")
    spoken = system(speech, pseudonym)
    assert likeness(codes(parts, speech), codes(parts, spoken)) > 0.7

    def unvoiced(*_):
        raise AssertionError("F0 of the recording was extracted")

    monkeypatch.setattr(conditioning, "pitch_of", unvoiced)
    assert torch.equal(system(speech, pseudonym).samples, spoken.samples)


def test_weights_are_the_named_ones_then_the_own_ones_then_the_bundled_ones(tmp_path, monkeypatch):
    assert voicenym.load("ssl-loh").folder == BUNDLED
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    shutil.copytree(BUNDLED, tmp_path / "ssl")
    assert voicenym.load("ssl-loh").folder == tmp_path / "ssl"
    assert str(voicenym.load("ssl-loh", weights="elsewhere").folder) == "elsewhere"


@pytest.mark.parametrize("samples", [1, 320, 700])
def test_very_short_recordings_keep_their_length(speech, samples):
    short = voicenym.Audio(speech.samples[8000 : 8000 + samples], speech.rate)
    made = voicenym.load("word-codes")(short, KEY.pseudonym("anna")).samples
    assert made.shape == (samples,)
    assert torch.isfinite(made).all()


def test_speech_that_the_codes_do_not_fit_gets_a_warning(sample, tmp_path, monkeypatch):
    """Without language scores."""
    system, pseudonym = voicenym.load("word-codes"), KEY.pseudonym("anna")
    content = system.parts.content
    monkeypatch.setattr(content, "_scores", ())
    result = anonymize_file(system, pseudonym, sample, tmp_path / "a.wav")
    assert not any("language of the weights" in text for text in result.warnings)
    assert content.most_misfit is not None
    monkeypatch.setattr(content, "most_misfit", 0.05)
    result = anonymize_file(system, pseudonym, sample, tmp_path / "b.wav")
    assert any(
        "language of the weights" in text and str(sample) in text for text in result.warnings
    )


TEXTS = {
    "de": "Guten Morgen, meine Damen und Herren. Heute sprechen wir über das Wetter in den Bergen, "
    "über den Schnee und über die langen Nächte im Winter.",
    "fr": "Bonjour à tous. Aujourd'hui nous parlons du temps qu'il fait dans les montagnes, de la "
    "neige et des longues nuits de l'hiver.",
    "ru": "Доброе утро, дамы и господа. Сегодня мы говорим о погоде в горах, о снеге и о длинных "
    "зимних ночах.",
    "en-us": "Good morning, ladies and gentlemen. Today we talk about the weather in the "
    "mountains, about the snow and about the long nights of winter.",
}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """``spoken(language)``: the path of its text, read by espeak-ng."""
    if not shutil.which("espeak-ng"):
        pytest.skip("espeak-ng is not installed")
    folder = tmp_path_factory.mktemp("languages")

    def speak(language):
        path = folder / f"{language}.wav"
        command = ["espeak-ng", "-v", language, "-w", path, "--", TEXTS[language]]
        subprocess.run(command, check=True)
        return path

    return speak


@pytest.mark.parametrize("language", ["de", "fr", "ru"])
def test_other_languages_are_refused_and_the_fallback_makes_them(language, spoken, tmp_path):
    source, system = spoken(language), voicenym.load("word-codes")
    output = tmp_path / "out.wav"
    with pytest.raises(RefusedError, match=rf"{language}\.wav: the speech is likely not of the"):
        anonymize_file(system, KEY.pseudonym("anna"), source, output)
    assert not output.exists()
    recast = voicenym.load("recast")
    made = anonymize_file(system, KEY.pseudonym("anna"), source, output, fallback=recast)
    assert made.refusal is not None
    anonymize_file(recast, KEY.pseudonym("anna"), source, tmp_path / "alone.wav")
    assert output.read_bytes() == (tmp_path / "alone.wav").read_bytes()


def test_english_is_not_refused_and_is_analysed_once(sample, spoken, tmp_path, monkeypatch):
    encoder, calls = assembly.opened(BUNDLED).content.encoder, []
    plain = type(encoder).forward
    monkeypatch.setattr(
        type(encoder),
        "forward",
        lambda self, x, *kept: calls.append(len(x)) or plain(self, x, *kept),
    )
    system = voicenym.load("word-codes")
    for number, source in enumerate((sample, spoken("en-us"))):
        made = anonymize_file(system, KEY.pseudonym("anna"), source, tmp_path / f"{number}.wav")
        assert made.refusal is None
        assert made.warnings == ()
        assert len(calls) <= number + 1, "both passes read the same window"


def test_a_stated_language_is_believed(sample, spoken, tmp_path):
    german, anna = spoken("de"), KEY.pseudonym("anna")
    for language in ("en", "en-GB"):
        system = voicenym.load("word-codes", language=language)
        made = anonymize_file(system, anna, german, tmp_path / f"{language}.wav")
        assert made.refusal is None
        assert made.warnings == ()
    with pytest.raises(RefusedError, match=r"another language \(en\) than the speech \(de\)"):
        anonymize_file(voicenym.load("word-codes", language="de"), anna, sample, tmp_path / "d.wav")
    with pytest.raises(UnknownSystemError, match="language=english is no code"):
        voicenym.load("word-codes", language="english")


def noise(kind):
    time = torch.arange(8 * 16_000) / 16_000
    white = torch.randn(len(time), generator=torch.Generator().manual_seed(0))
    chord = sum(torch.sin(2 * torch.pi * hertz * time) for hertz in (220.0, 277.2, 329.6))
    beats = torch.exp(-4.0 * (time % 0.5))
    return {
        "white": 0.1 * white,
        "hiss": 3e-4 * white,
        "faint hiss": 1e-4 * white,
        "hum": 0.1 * torch.sin(2 * torch.pi * 50 * time),
        "music": 0.1 * chord * beats,
        "silence": torch.zeros(len(time)),
    }[kind]


NOISES = ("white", "hiss", "hum", "music")


@pytest.mark.parametrize(
    ("kind", "revision"), [*((kind, r) for kind in NOISES for r in (4, 5)), ("faint hiss", 4)]
)
def test_music_and_noise_are_refused_and_are_no_other_language(kind, revision):
    audio = voicenym.Audio(noise(kind), 16_000)
    refusal = voicenym.load("word-codes", revision=revision).refuses(audio)
    assert refusal is not None
    assert "mostly music or noise" in refusal.reason
    assert voicenym.load("word-codes", language="en").refuses(audio) is None


def test_silence_is_not_refused():
    assert voicenym.load("word-codes").refuses(voicenym.Audio(noise("silence"), 16_000)) is None


def test_the_latest_revision_warns_of_hiss_that_it_takes_for_speech_in_part(tmp_path):
    voicenym.write(tmp_path / "hiss.wav", voicenym.Audio(noise("faint hiss"), 16_000))
    system, anna = voicenym.load("word-codes", revision=5), KEY.pseudonym("anna")
    made = anonymize_file(system, anna, tmp_path / "hiss.wav", tmp_path / "out.wav", lenient=True)
    assert any("sound like music or noise" in text for text in made.warnings)


@pytest.mark.parametrize("revision", [1, 5])
def test_music_between_speech_is_spoken_with_a_warning(revision, sample, tmp_path):
    speech = voicenym.read(sample)
    assert speech.rate == 16_000
    parts = [speech.samples.reshape(-1)] * 4
    mixed = torch.cat([*parts[:2], noise("music"), *parts[2:]])
    voicenym.write(tmp_path / "mixed.wav", voicenym.Audio(mixed, 16_000))
    system = voicenym.load("word-codes", revision=revision)
    made = anonymize_file(
        system, KEY.pseudonym("anna"), tmp_path / "mixed.wav", tmp_path / "out.wav"
    )
    assert made.refusal is None
    assert any("sound like music or noise" in text for text in made.warnings)


def test_too_little_speech_is_not_refused_and_a_warning_says_so(spoken, tmp_path):
    whole = voicenym.read(spoken("de"))
    short = tmp_path / "short.wav"
    voicenym.write(short, voicenym.Audio(whole.samples[..., : whole.rate], whole.rate))
    system = voicenym.load("word-codes")
    made = anonymize_file(system, KEY.pseudonym("anna"), short, tmp_path / "out.wav")
    assert made.refusal is None
    assert any("short.wav: too little speech to detect" in text for text in made.warnings)


def test_language_scores_change_no_version(tmp_path):
    without = [name for name in assembly.there_are(BUNDLED) if name != "language"]
    parts = {name: assembly.part(BUNDLED, name) for name in without}
    assembly.assemble(tmp_path / "ssl", parts)
    assert assembly.version(tmp_path / "ssl") == assembly.version(BUNDLED)
    assert not voicenym.load("word-codes", weights=str(tmp_path / "ssl")).may_refuse


def joined(folder, rows, seconds):
    parts, held = [], 0
    for row in rows:
        audio = voicenym.read(folder / row["path"])
        parts.append(audio.samples.reshape(-1))
        held += len(parts[-1])
        if held > seconds * audio.rate:
            break
    return voicenym.Audio(torch.cat(parts)[: seconds * audio.rate], audio.rate)


def test_real_arabic_is_refused_and_real_english_is_not(speech_folder):
    """Arabic of speakers that nothing was trained on is refused, English of others is not."""
    with (speech_folder / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    arabic = [row for row in rows if row["corpus"] == "arabic_cmds"]
    untrained = sorted({row["speaker"] for row in arabic})[1::2][:3]
    english = [row for row in rows if row["split"] == "dev"]
    adults = sorted({row["speaker"] for row in english if float(row["age"]) >= 18})[:3]
    system = voicenym.load("word-codes")
    for some, speakers, refused in ((arabic, untrained, True), (english, adults, False)):
        for speaker in speakers:
            own = [row for row in some if row["speaker"] == speaker]
            audio = joined(speech_folder, own, 20)
            assert (system.refuses(audio) is not None) == refused, speaker
