"""Language check: misfit of speech frames, a verdict after some seconds, and a warning of a run."""

import pytest
import torch

from voicenym.nets.content.language_scores import LanguageScores
from voicenym.nets.content.tdnnf import TdnnF
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.resynthesis.pipeline.language_check import (
    ENOUGH_SECONDS,
    LEAST_SECONDS,
    MUSIC_SECONDS,
    LanguageCheck,
    SpeechScore,
    refusal,
)

WHISPER = {"width": 12, "heads": 2, "layers": 2, "bands": 80, "states": 100, "tokens": 30}
CODES = {"states": 12, "window": 100, "width": 16, "inner": 24, "code": 6, "entries": 9}


@pytest.fixture(scope="module")
def content():
    torch.manual_seed(0)
    codes = WordCodes(**CODES).train()
    codes(torch.randn(3, 50, 12), torch.tensor([50, 40, 30]))
    made = WordCodeContent.of(Whisper(**WHISPER).eval(), codes.eval())
    made.most_misfit = 0.4
    return made


def noise(seconds, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 0.1 * torch.randn(1, round(seconds * 16_000), generator=generator)


def test_frames_are_those_of_a_call_and_the_misfit_is_what_the_codebook_does_not_hold(content):
    wave = noise(1.3)
    with torch.inference_mode():
        frames, misfit = content.with_language_score(wave)
        torch.testing.assert_close(frames, content(wave))
        vectors = content._vectors(torch.nn.functional.pad(wave, (0, -wave.shape[1] % content.hop)))
    wanted = (vectors - frames).square().sum(2) / vectors.square().sum(2)
    torch.testing.assert_close(misfit, wanted[:, :, None])
    assert content.with_language_score(wave[:, :0])[1].shape == (1, 0, 1)


def test_loud_frames_decide_once_there_are_enough(content):
    wave = torch.cat([noise(2.0), 1e-3 * noise(2.0)], dim=1)
    frames = wave.shape[1] // content.hop
    misfit = torch.where(torch.arange(frames) < frames // 2, 0.5, 0.0)[None, :, None]
    check = LanguageCheck(content)
    check.add(misfit, wave)
    assert check.warnings == ()  # two seconds of speech
    check.add(misfit, wave)
    assert LEAST_SECONDS <= 4.0
    (text,) = check.warnings
    assert "0.50" in text
    assert "0.40" in text
    fitting = LanguageCheck(content)
    for _ in range(2):
        fitting.add(0.7 * misfit, wave)
    assert fitting.warnings == ()


@pytest.mark.parametrize("samples", [0, 1, 320, 639, 641])
def test_less_than_a_frame_has_no_verdict(content, samples):
    check = LanguageCheck(content)
    with torch.inference_mode():
        check.add(content.with_language_score(noise(1.0)[:, :samples])[1], noise(1.0)[:, :samples])
    assert check.warnings == ()


def test_without_a_limit_or_a_misfit_there_is_no_verdict(content):
    check = LanguageCheck(content)
    check.add(None, noise(10.0))
    assert check.warnings == ()


@pytest.fixture
def told(content):
    """A check whose encoder has language scores, which tests do not call."""
    content.score_languages(LanguageScores(12, limit=0.0, tells_music=True))
    yield LanguageCheck(content)
    content.score_languages(None)


def scored(language, music, seconds):
    """Scores ``[1, frame, 2]`` of one value each."""
    frames = round(seconds * 25)
    return torch.tensor([language, music]).expand(1, frames, 2)


def test_music_does_not_count_as_speech_of_a_language(told):
    told.add(scored(-1.0, -2.0, 8.0), noise(8.0))
    told.add(scored(5.0, 2.0, 4.0), noise(4.0))
    (score,) = told.scores
    assert score.seconds == pytest.approx(8.0, abs=0.3)  # all but frames below the mean
    assert score.music == pytest.approx(4.0, abs=0.2)
    assert score.mean == pytest.approx(-1.0)
    (text,) = told.warnings
    assert "4 s sound like music or noise" in text


@pytest.mark.parametrize(
    ("seconds", "found"), [((60.0, 30.0, 60.0), True), ((60.0, 4.0, 300.0), False)]
)
def test_a_passage_in_another_language_is_told_where_the_whole_is_not(told, seconds, found):
    wave, parts = noise(sum(seconds)), zip((-1.0, 3.0, -1.0), seconds, strict=True)
    scores = torch.cat([scored(value, -2.0, length) for value, length in parts], 1)
    told.add(scores, wave)
    (score,) = told.scores
    assert score.mean < 0.0  # as that of a recording in one language
    assert refusal(told._content.language_scores, told.scores) is None
    assert (score.foreign >= seconds[1]) == found
    assert [text.startswith("passages of ") for text in told.warnings] == [True] * found


def test_a_passage_is_known_while_it_lasts(told):
    """Live streams are silent for so long, whatever was said before."""
    heard = []
    for value in [-1.0] * 6 + [3.0] * 2 + [-1.0] * 2:
        told.add(scored(value, -2.0, 10), noise(10))
        heard.append(told.foreign_now)
    assert heard == [(False,)] * 6 + [(True,)] * 3 + [(False,)]


def test_passages_do_not_depend_on_how_frames_arrive(told):
    values = 2.0 * torch.randn(1, 25 * 120, 1, generator=torch.Generator().manual_seed(3))
    scores = torch.cat([values, values.new_full(values.shape, -2.0)], 2)
    loud = torch.ones(1, scores.shape[1], dtype=torch.bool)
    told.add(scores, noise(120.0), loud)
    pieces = LanguageCheck(told._content)
    for start in range(0, scores.shape[1], 150):
        some = slice(start, start + 150)
        pieces.add(scores[:, some], noise(6.0), loud[:, some])
    assert pieces.scores[0].foreign == told.scores[0].foreign > 0.0


def test_frames_of_music_count_by_the_mean_of_two_seconds(told):
    """A burst does not make music of speech, nor a word speech of music."""
    music = torch.where(torch.arange(100) % 50 < 5, 2.0, -1.0)
    told.add(torch.stack([torch.zeros(100), music], 1)[None], noise(4.0))
    assert told.scores[0].music == 0.0
    told.add(torch.stack([torch.zeros(100), -music], 1)[None], noise(4.0))
    assert told.scores[0].music == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize(
    ("rows", "refused"),
    [
        ([SpeechScore(2.0, -1.0, 10.0)], True),
        ([SpeechScore(10.0, -1.0, 2.0)], False),
        ([SpeechScore(ENOUGH_SECONDS, -1.0, 300.0)], False),
        ([SpeechScore(0.0, 0.0, 1.0)], False),
        ([SpeechScore(2.0, -1.0, 10.0), SpeechScore(10.0, -1.0, 2.0)], False),
        ([SpeechScore(2.0, -1.0, 10.0), SpeechScore(0.0, 0.0, 0.0)], True),
        ([SpeechScore(0.0, 0.0, 0.0)], False),
        ([], False),
    ],
)
def test_mostly_music_is_refused_unless_there_is_a_minute_of_speech(rows, refused):
    found = refusal(LanguageScores(12, limit=0.0, tells_music=True), tuple(rows))
    assert (found is not None) == refused
    if found is not None:
        assert "mostly music or noise" in found.reason
        assert MUSIC_SECONDS < 10.0


def test_an_encoder_without_codebook_names_its_language_unless_it_is_stated():
    tiny = {"size": 6, "bands": 8, "width": 16, "narrow": 4, "strides": (1, 0)}
    made = TdnnF(**tiny, language="en").eval()
    check = LanguageCheck(made)
    check.add(made.with_language_score(noise(1.0))[1], noise(1.0))
    assert check.enough
    (text,) = check.warnings
    assert "of en" in text
    assert "--language en" in text
    assert LanguageCheck(made, known=True).warnings == ()
    assert LanguageCheck(TdnnF(**tiny)).warnings == ()
    assert TdnnF(**made.config()).language == "en"
    assert "language" not in TdnnF(**tiny).config()
