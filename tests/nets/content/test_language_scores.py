"""Language scores: limits, storage, and a content encoder that gives them instead of misfits."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content import language_scores
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.nets.content.tdnnf import TdnnF
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

WHISPER = {"width": 12, "heads": 2, "layers": 2, "bands": 80, "states": 100, "tokens": 30}
CODES = {"states": 12, "window": 100, "width": 16, "inner": 24, "code": 6, "entries": 9}


@pytest.fixture
def content():
    torch.manual_seed(0)
    codes = WordCodes(**CODES).train()
    codes(torch.randn(3, 50, 12), torch.tensor([50, 40, 30]))
    return WordCodeContent.of(Whisper(**WHISPER).eval(), codes.eval())


@pytest.fixture
def scores():
    torch.manual_seed(1)
    return LanguageScores(12, "de", 0.5, 2.0, 1.5).eval().requires_grad_(False)


@pytest.fixture
def wave():
    return 0.1 * torch.randn(2, 20_000, generator=torch.Generator().manual_seed(0))


def test_the_limit_falls_with_the_seconds(scores):
    assert scores.limit_for(1.0) == pytest.approx(2.5)
    assert scores.limit_for(4.0) == pytest.approx(1.5)
    assert scores.limit_for(1e8) == pytest.approx(0.5, abs=1e-3)


def test_scores_are_stored_with_their_limits(scores, tmp_path):
    language_scores.save(scores, tmp_path)
    loaded = language_scores.load(tmp_path)
    assert loaded.config() == scores.config()
    states, misfit = torch.randn(2, 9, 12), torch.rand(2, 9)
    torch.testing.assert_close(loaded(states, misfit), scores(states, misfit))
    assert scores(states, misfit).shape == (2, 9)


@pytest.mark.parametrize(
    "options", [{"size": 0}, {"size": 3, "kernel": 4}, {"size": 3, "width": 0}]
)
def test_sizes_that_cannot_be(options):
    with pytest.raises(VoicenymError):
        language_scores.make("language-scores", options)


@torch.inference_mode()
def test_the_encoder_gives_scores_of_its_states_instead_of_misfits(content, scores, wave):
    frames, by_misfit = content.with_language_score(wave)
    misfit = by_misfit[:, :, 0]
    states, of_evidence = content.states_and_misfits(wave)
    assert states.shape == (*frames.shape[:2], content.state_size)
    torch.testing.assert_close(of_evidence, misfit)
    before = set(content.state_dict())
    content.score_languages(scores)
    assert set(content.state_dict()) == before, "they are no part of the network"
    assert content.config() == WordCodeContent(**content.config()).config()
    for _ in range(2):  # the second time from memory
        again, found = content.with_language_score(wave)
        assert torch.equal(again, frames)
        torch.testing.assert_close(found, scores(states, misfit)[:, :, None])
    with_music = LanguageScores(content.state_size, tells_music=True)
    content.score_languages(with_music)
    wanted = [with_music(states, misfit), with_music.music(states)]
    torch.testing.assert_close(content.with_language_score(wave)[1], torch.stack(wanted, 2))
    content.score_languages(None)
    torch.testing.assert_close(content.with_language_score(wave)[1], by_misfit)


def test_scores_of_music_are_optional(scores, tmp_path):
    assert "tells_music" not in scores.config(), "weights of earlier releases load"
    with pytest.raises(ValueError, match="do not tell music from speech"):
        scores.music(torch.zeros(1, 3, scores.size))
    with_music = LanguageScores(12, tells_music=True)
    language_scores.save(with_music, tmp_path / "scores")
    states = torch.randn(1, 3, 12, generator=torch.Generator().manual_seed(0))
    loaded = language_scores.load(tmp_path / "scores")
    torch.testing.assert_close(loaded.music(states), with_music.music(states))


def test_an_encoder_without_a_codebook_has_no_evidence(wave):
    network = TdnnF.__new__(TdnnF)
    torch.nn.Module.__init__(network)
    assert network.state_size is None
    with pytest.raises(VoicenymError, match="give a content encoder of word codes"):
        network.states_and_misfits(wave)
