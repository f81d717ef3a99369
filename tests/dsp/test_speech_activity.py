import torch

from voicenym.dsp.speech_activity import levelled, speech_frames


def plain(log_energy, threshold=5.5, share=0.5, context=2, proportion=0.12):
    """Kaldi's rule, a frame at a time."""
    least = threshold + share * sum(log_energy) / len(log_energy)
    kept = []
    for t in range(len(log_energy)):
        near = log_energy[max(0, t - context) : t + context + 1]
        kept.append(sum(e > least for e in near) >= proportion * len(near))
    return kept


def test_equals_the_rule_frame_by_frame():
    generator = torch.Generator().manual_seed(0)
    energy = 12.0 + 4.0 * torch.randn(3, 200, generator=generator).double()
    for proportion in (0.12, 0.6, 1.0):
        found = speech_frames(energy, proportion=proportion)
        for row, kept in zip(energy.tolist(), found.tolist(), strict=True):
            assert kept == plain(row, proportion=proportion)


def test_loud_frames_are_kept_and_silence_is_not():
    energy = torch.full((100,), 3.0)
    assert not speech_frames(energy).any()
    energy[40:60] = 20.0
    kept = speech_frames(energy)
    assert kept.nonzero().flatten().tolist() == list(range(38, 62))
    assert speech_frames(torch.zeros(2, 0)).shape == (2, 0)


def test_a_level_is_that_of_the_mean_power():
    signal = torch.randn(2, 16_000, generator=torch.Generator().manual_seed(1))
    loud = levelled(signal * torch.tensor([[1e-4], [3.0]]), -20.0)
    torch.testing.assert_close(loud.square().mean(1), torch.full((2,), 0.01))
    assert not levelled(torch.zeros(100)).any()
    assert levelled(torch.zeros(0)).shape == (0,)
