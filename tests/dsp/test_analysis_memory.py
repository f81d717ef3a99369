import pytest
import torch

import voicenym
from voicenym.dsp.analysis_memory import (
    AnalysisMemory,
    analysed,
    analysing_anew,
    bytes_of,
    keeping_analyses,
)
from voicenym.nets.words.word_codes.code_memory import fresh_memory

RATE = 16_000
KEY = voicenym.Key(bytes(range(32)))


class Counted:
    def __init__(self, signal):
        self.signal, self.calls = signal, 0

    def __call__(self):
        self.calls += 1
        return self.signal.sum(), [self.signal.double()]


def speech(seconds=1.0, seed=0):
    n = torch.arange(round(seconds * RATE)) / RATE
    noise = torch.randn(len(n), generator=torch.Generator().manual_seed(seed))
    buzz = sum(torch.cos(2 * torch.pi * 130.0 * k * n) / k for k in range(1, 20))
    return (0.1 * buzz * (torch.sin(5.0 * n) > -0.5) + 0.01 * noise).float()


def test_nothing_is_remembered_unless_wanted():
    count = Counted(torch.ones(8))
    for _ in range(2):
        analysed(count.signal, "sum", count)
    memory = AnalysisMemory()
    with keeping_analyses(memory):
        with keeping_analyses(None):
            analysed(count.signal, "sum", count)
        for measured in (analysing_anew, fresh_memory):
            with measured():
                analysed(count.signal, "sum", count)
    assert count.calls == 5
    assert len(memory) == 0


def test_an_analysis_is_of_its_samples_and_its_kind():
    count = Counted(torch.arange(8.0))
    with keeping_analyses(AnalysisMemory()):
        first = analysed(count.signal, "sum", count)
        assert analysed(count.signal.clone(), "sum", count) is first
        assert count.calls == 1
        analysed(count.signal + 1, "sum", count)
        analysed(count.signal, "other", count)
        analysed(count.signal.view(2, 4), "sum", count)
    assert count.calls == 4


def test_memory_is_bounded_and_the_oldest_goes_first():
    memory = AnalysisMemory(most=3 * 100 * 8)
    counts = [Counted(torch.full((100,), float(i))) for i in range(4)]
    assert bytes_of(counts[0]()) == 4 + 100 * 8
    counts = [Counted(count.signal) for count in counts]
    with keeping_analyses(memory):
        for i in (0, 1, 0, 2, 0, 1):
            analysed(counts[i].signal, "sum", counts[i])
    assert [count.calls for count in counts] == [1, 2, 1, 0]
    assert len(memory) == 2


@pytest.mark.parametrize("name", ["mcadams", "mcadams-radius", "vtln", "formant", "recast"])
def test_a_further_key_gives_the_same_samples_from_memory(name):
    system = voicenym.load(name)
    recordings = [speech(1.0), torch.stack([speech(0.7, 1), speech(0.7, 2)])]
    audios = [voicenym.Audio(samples, RATE) for samples in recordings]
    pseudonyms = [KEY.pseudonym(who) for who in "ab"]
    alone = [system(audio, p).samples for p in pseudonyms for audio in audios]
    memory = AnalysisMemory()
    with keeping_analyses(memory):
        found = [system(audio, p).samples for p in pseudonyms for audio in audios]
    assert all(torch.equal(one, other) for one, other in zip(alone, found, strict=True))
    assert len(memory) == 2
