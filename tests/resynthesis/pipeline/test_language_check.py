"""Language check: misfit of speech frames, a verdict after some seconds, and a warning of a run."""

import pytest
import torch

from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper import Whisper
from voicenym.nets.words.word_code_content import WordCodeContent
from voicenym.resynthesis.pipeline.language_check import LEAST_SECONDS, LanguageCheck

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
    torch.testing.assert_close(misfit, wanted)
    assert content.with_language_score(wave[:, :0])[1].shape == (1, 0)


def test_loud_frames_decide_once_there_are_enough(content):
    wave = torch.cat([noise(2.0), 1e-3 * noise(2.0)], dim=1)
    frames = wave.shape[1] // content.hop
    misfit = torch.where(torch.arange(frames) < frames // 2, 0.5, 0.0)[None]
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
