"""Scores of music: states that differ, few false alarms, and pieces of what is loud."""

import pytest
import torch

from voicenym.errors import CorpusError
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.training.content.language.language_examples import MUSIC, NO_SPEECH, Example
from voicenym.training.content.language.train_music import ALARMS, add_music_scores, pieces

RATE = 25.0


def examples(group, shift, count, seed, frames=250):
    """States of 12 elements; those of music are shifted along one of them."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for number in range(count):
        states = torch.randn(frames, 12, generator=generator)
        states[:, 3] += shift
        loud = torch.rand(frames, generator=generator) < 0.8
        zeros = torch.zeros(frames)
        found.append(Example(states.half(), zeros, loud, False, f"{group} {number}", group))
    return found


def scores_of(network, some):
    speech, music = pieces(some, RATE)
    with torch.inference_mode():
        return [network.music(x[None])[0] for x in (speech, music)]


def test_held_out_music_and_noise_are_told_from_speech():
    network = LanguageScores(12, tells_music=True)
    train = [
        *examples("english", 0.0, 40, 0),
        *examples(MUSIC, 3.0, 4, 1),
        *examples(NO_SPEECH, 3.0, 4, 2),
    ]
    figures = add_music_scores(network, train, RATE)
    assert figures == {"music or noise taken for speech, % of 2 s": 0.0}
    speech, music = scores_of(
        network, [*examples("arabic", 0.0, 40, 3), *examples(MUSIC, 3.0, 4, 4)]
    )
    assert float((speech >= 0.0).double().mean()) <= 0.01
    assert float((music >= 0.0).double().mean()) >= 0.9


def test_music_like_speech_is_rather_missed_than_speech_lost():
    network = LanguageScores(12, tells_music=True)
    train = [*examples("english", 0.0, 60, 0), *examples(MUSIC, 0.1, 60, 1)]
    figures = add_music_scores(network, train, RATE)
    speech, _ = scores_of(network, train)
    assert float((speech >= 0.0).double().mean()) <= ALARMS
    assert figures["music or noise taken for speech, % of 2 s"] > 50.0


def test_pieces_are_means_of_loud_frames():
    (one,) = examples("english", 0.0, 1, 5, frames=120)
    silent = one._replace(speech=torch.zeros(120, dtype=torch.bool), group=MUSIC)
    speech, music = pieces([one, silent], RATE)
    assert speech.shape == (2, 12), "two pieces of 50 frames, and a rest of 20"
    assert music.shape == (0, 12)
    torch.testing.assert_close(speech[1], one.states[50:100].float()[one.speech[50:100]].mean(0))


def test_without_music_or_without_speech_there_is_an_error():
    network = LanguageScores(12, tells_music=True)
    for group in ("english", MUSIC):
        with pytest.raises(CorpusError, match="music or noise, or none of speech"):
            add_music_scores(network, examples(group, 0.0, 3, 0), RATE)
