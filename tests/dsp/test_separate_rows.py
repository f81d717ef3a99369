import torch

from voicenym.dsp.separate_rows import SeparateRows


class Late:
    """Core that gives its input times a factor, some samples late."""

    def __init__(self, latency, factor):
        self.latency, self.factor = latency, factor
        self.kept = None

    def push(self, block):
        block = block * self.factor
        whole = block if self.kept is None else torch.cat([self.kept, block], 1)
        self.kept = whole[:, max(0, whole.shape[1] - self.latency) :]
        return whole[:, : max(0, whole.shape[1] - self.latency)]

    def flush(self):
        return self.kept


def test_rows_keep_their_places_and_wait_for_the_slowest():
    signal = torch.arange(40.0).view(4, 10)
    core = SeparateRows([(Late(2, 1.0), [1, 3]), (Late(5, 1.0), [2, 0])])
    assert core.latency == 5
    parts = [core.push(part) for part in signal.split(4, dim=1)]
    assert [part.shape for part in parts] == [(4, 0), (4, 3), (4, 2)]
    assert torch.equal(torch.cat([*parts, core.flush()], 1), signal)


def test_each_row_is_that_of_its_core():
    signal = torch.ones(3, 6)
    core = SeparateRows([(Late(0, 2.0), [1]), (Late(0, 3.0), [0, 2])])
    assert core.push(signal)[:, 0].tolist() == [3.0, 2.0, 3.0]
