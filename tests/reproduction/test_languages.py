"""Figures by language, matches with targets, and vectors of the codec's speaker encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.reproduction import languages
from voicenym.reproduction.bench import LAZY, Bench
from voicenym.reproduction.deng import deng_targets
from voicenym.reproduction.table_rows import attacked
from voicenym.reproduction.yao import codec_speakers


@pytest.fixture
def spoken(bench) -> Bench:
    """The synthetic corpus twice, as if it were of two languages."""
    root = bench.speech.source
    head, *rows = (root / "manifest.tsv").read_text().splitlines()
    lines = [f"{head}\tcorpus"]
    for corpus in ("arabic_cmds", "espeak-cmn"):
        for row in rows:
            name, path, speaker, *rest = row.split("\t")
            cells = (f"{corpus}-{name}", path, f"{corpus}-{speaker}", *rest, corpus)
            lines.append("\t".join(cells))
    (root / "languages.tsv").write_text("\n".join(lines) + "\n")
    given = replace(bench.speech, source=root / "languages.tsv", pool=None)
    return replace(bench, speech=given, _kept={})


def test_a_language_has_the_figures_of_its_own_speech_alone(spoken, monkeypatch):
    monkeypatch.setattr(languages, "MUSA", "mcadams")
    every = languages.by_language(spoken)
    assert list(every) == ["arabic_cmds", "espeak-cmn"]
    assert {r.corpus for r in every["espeak-cmn"].recordings} == {"espeak-cmn"}
    found = languages.languages(spoken)
    rows = {row.label: row.figures for row in found.panels[1].rows}
    lazy = found.panels[1].columns.index("EER, %, lazy-informed")
    alone = replace(spoken, speech=replace(spoken.speech, part="espeak-cmn"), _kept={})
    assert rows["espeak-cmn, MUSA"][lazy] == attacked(alone, "mcadams", LAZY, "EER")
    both = [rows[f"{part}, MUSA"][lazy].value for part in every]
    whole = {row.label: row.figures for row in found.panels[0].rows}
    assert whole["ours MUSA, mean"][1].value == pytest.approx(np.mean(both))
    assert whole["ours MUSA, mean"][2].missing == languages.WORDS
    assert any("espeak-cmn rests on synthetic speech" in note for note in found.notes)
    assert "arabic_cmds is real speech" in found.notes


def test_tables_of_mandarin_need_mandarin(spoken, bench, mute):
    tables = (languages.mandarin_of_yao, languages.mandarin_of_miao, languages.chinese_of_deng)
    arabic = replace(spoken, speech=replace(spoken.speech, part="arabic_cmds"), _kept={})
    for table in tables:
        assert table(mute).notes[0] == languages.NO_SPEECH
        with pytest.raises(VoicenymError, match="has no corpus espeak-cmn"):
            table(arabic)
        with pytest.raises(CorpusError, match="no corpora in speech"):
            table(bench)


def test_chinese_stands_beside_the_papers_figure(spoken, monkeypatch):
    monkeypatch.setattr(languages, "CLOAK", "mcadams")
    found = languages.chinese_of_deng(spoken)
    (row,) = found.panels[0].rows
    assert row.figures[1] == attacked(languages.by_language(spoken)["espeak-cmn"], "mcadams",
                                      "ignorant", "EER")  # fmt: skip
    assert row.figures[2].missing == languages.WORDS


class Becomes(deng_targets.Anonymize):
    """Stands in for V-Cloak: every output is the target, or remains the original."""

    reached = True

    def identity(self, recording):
        return f"test {dict(self.parameters)['target']} {self.reached}"

    def __call__(self, samples, recording):
        import soundfile

        target = soundfile.read(dict(self.parameters)["target"], dtype="float32")[0]
        return target if self.reached else samples

    def without_key(self, recordings):
        return self


@pytest.mark.parametrize("reached", [True, False])
def test_matches_with_a_target_that_is_reached_and_one_that_is_not(bench, monkeypatch, reached):
    monkeypatch.setattr(Becomes, "reached", reached)
    monkeypatch.setattr(deng_targets, "Anonymize", Becomes)
    found = deng_targets.matched(replace(bench, cache=None, _kept={}))
    before, after, *_ = (figure.value for figure in found.panels[1].rows[0].figures)
    assert found.panels[0].rows[0].figures[0].value == after
    assert (after > before) if reached else (after == before)


def test_targets_are_as_many_as_the_papers(bench):
    (model,) = bench.trials.models[:1]
    assert len(deng_targets._targets([model] * 37)) == deng_targets.MOST_TARGETS
    with pytest.raises(CorpusError, match="two enrolled recordings"):
        deng_targets._targets([replace(model, recordings=model.recordings[:1])])


class OneDirectionEach:
    """Stands in for the speaker encoder: a direction for each of the corpus's speakers."""

    speakers: tuple[str, ...] = ()

    def __init__(self, codec):
        self.noise = torch.Generator().manual_seed(0)

    def embed(self, recordings):
        people = list(dict.fromkeys(self.speakers))
        clean = torch.eye(len(people) or 8)[[people.index(s) for s in self.speakers]]
        return clean + 0.01 * torch.randn(clean.shape, generator=self.noise)


def test_separate_speakers_are_distinct_and_mixed_ones_are_not(bench, monkeypatch):
    monkeypatch.setattr(codec_speakers, "CodecSpeakers", OneDirectionEach)
    own = [recording.speaker for recording in bench.recordings]
    for speakers, distinct in ((own, None), ([f"s{i % 4}" for i in range(len(own))], False)):
        monkeypatch.setattr(OneDirectionEach, "speakers", tuple(speakers))
        found = codec_speakers.encoder_vectors(bench)
        assert found.findings[0].holds is distinct, "four speakers without errors decide nothing"
        assert found.drawings[0][1].startswith("<svg")
    assert found.panels[0].rows[0].figures[1].value == len(own)
