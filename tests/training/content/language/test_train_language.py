"""Training of language scores: folds, seeds, and the recipe at a tiny size."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import soundfile
import torch

import voicenym
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content import content_encoders, language_scores
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.language import language_examples
from voicenym.training.content.language import train_language as steps
from voicenym.training.content.language.language_examples import Example
from voicenym.training.content.language.train_language import LanguageConfig
from voicenym.training.run.config import build

RATE = 25.0
TINY = {"width": 4, "inner": 4, "blocks": 1, "kernel": 3}


def examples(shift, speakers=8, frames=200, seed=0):
    """States of random walks; those of the other language have another mean."""
    found = []
    for number in range(2 * speakers):
        rng = np.random.default_rng([seed, number])
        other = number >= speakers
        states = rng.standard_normal((frames, 3)) + (shift if other else 0.0)
        speech = rng.random(frames) < 0.8
        found.append(
            Example(
                torch.from_numpy(states).half(),
                torch.rand(frames, generator=torch.Generator().manual_seed(number)),
                torch.from_numpy(speech),
                other,
                f"s{number}",
                f"g{number % 2}",
            )
        )
    return found


def test_training_separates_languages_that_differ_and_no_others():
    config = LanguageConfig(options=TINY, steps=60, batch=16, folds=2)
    for shift, least, most in ((1.5, 0.95, 1.0), (0.0, 0.2, 0.8)):
        some = examples(shift)
        found = steps.out_of_fold(3, some, config, RATE)
        own = [one[3.0] for one, e in zip(found, some, strict=True) if not e.other]
        other = [one[3.0] for one, e in zip(found, some, strict=True) if e.other]
        auc = np.mean([a > b for a in other for b in own])
        assert least <= auc <= most


def test_the_same_seed_gives_the_same_network_and_one_side_is_an_error():
    config = LanguageConfig(options=TINY, steps=3, batch=4)
    one, two = (steps.fitted(3, examples(1.0), config, RATE).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)
    with pytest.raises(CorpusError, match="--other"):
        steps.fitted(3, [e for e in examples(1.0) if not e.other], config, RATE)


WHISPER = {"width": 12, "heads": 2, "layers": 2, "bands": 80, "states": 500, "tokens": 30}
CODES = {"states": 12, "window": 500, "width": 16, "inner": 24, "code": 6, "entries": 9}


def test_the_recipe_makes_what_a_pipeline_loads(tmp_path, monkeypatch):
    torch.manual_seed(0)
    codes = WordCodes(**CODES).train()
    codes(torch.randn(3, 50, 12), torch.tensor([50, 40, 30]))
    content_encoders.save(WordCodeContent.of(Whisper(**WHISPER), codes), tmp_path / "content")
    for side, pitch in (("own", 100.0), ("other", 400.0), ("songs", 900.0)):
        for speaker in range(6):
            rng = np.random.default_rng([int(pitch), speaker])
            time = np.arange(5 * 16_000) / 16_000
            sound = np.sign(np.sin(2 * np.pi * (pitch + speaker) * time))
            path = tmp_path / side / f"{side}{speaker}" / "a.wav"
            path.parent.mkdir(parents=True)
            soundfile.write(path, 0.1 * sound + 0.01 * rng.standard_normal(len(time)), 16_000)
    (tmp_path / "tiny.yaml").write_text(
        f"{{options: {json.dumps(TINY | {'tells_music': True})}, steps: 20, seconds: 4.0, "
        "no_speech: 2, folds: 2, alarms: 0.2}\n"
    )
    (tmp_path / "deaf.yaml").write_text(f"{{options: {json.dumps(TINY)}, steps: 20}}\n")
    options = {
        "config": str(tmp_path / "tiny.yaml"),
        "content": tmp_path / "content",
        "out": tmp_path / "language",
        "language": "xx",
        "music": tmp_path / "songs",
    }
    made = voicenym.train("language", data=tmp_path / "own", other=tmp_path / "other", **options)
    found = language_scores.load(made.folder)
    assert (found.language, found.size) == ("xx", 12)
    card = json.loads((made.folder / "config.json").read_text())["card"]
    assert (card["data"], card["others"]) == ("own", "other")
    assert card["music"] == "songs, generated chords and noise"
    assert {
        "missed % of 3 s on held-out speakers",
        "music or noise taken for speech, % of 2 s",
    } <= set(made.figures)
    assert found.of_music is not None
    with pytest.raises(CorpusError, match="both in --data and in --other"):
        voicenym.train("language", data=tmp_path / "own", other=tmp_path / "own", **options)
    monkeypatch.setattr(language_examples, "analysed", lambda *a: pytest.fail("speech was read"))
    options["music"] = tmp_path / "songs" / "songs0"
    with pytest.raises(CorpusError, match="songs0: its recordings lie in no speaker's folder"):
        voicenym.train("language", data=tmp_path / "own", other=tmp_path / "other", **options)
    options["config"] = str(tmp_path / "deaf.yaml")
    with pytest.raises(CorpusError, match="needs tells_music: true"):
        voicenym.train("language", data=tmp_path / "own", other=tmp_path / "other", **options)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("folds", 1), ("folds", 0), ("alarms", 0.0), ("alarms", 1.0), ("examples", 0),
        ("seconds", 0.0), ("shortest", 0.0), ("shortest", 9.0), ("longest", -1.0),
    ],
)  # fmt: skip
def test_settings_with_which_nothing_can_be_learnt_are_named(setting, value):
    with pytest.raises(VoicenymError, match=rf"my\.yaml: .*{setting}"):
        build(LanguageConfig, {setting: value}, "my.yaml")


def test_speakers_of_whom_no_limit_can_be_found_are_told_before_any_analysis():
    config = LanguageConfig()  # 100 examples for alarms of 1 %
    others = [f"other{number}" for number in range(9)]
    own = {f"own{number}": "read" if number % 2 else "calls" for number in range(50)}
    steps.check_speakers(own, others, config)
    with pytest.raises(CorpusError, match="24 speakers in --data give 96 examples at most"):
        steps.check_speakers(dict(list(own.items())[:24]), others, config)
    with pytest.raises(CorpusError, match="25 speakers in --data give 50 examples"):
        steps.check_speakers(own, others, replace(config, limit_by=["read"], changed=0.0))
    with pytest.raises(CorpusError, match="fall into one of 4 folds"):
        steps.check_speakers(own, others[:1], config)
    for sides in (({}, others), (own, ())):
        with pytest.raises(CorpusError, match="one of the two sides"):
            steps.check_speakers(*sides, config)
