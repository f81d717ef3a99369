import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.training.speakers.row_file import RowFile


def test_rows_come_back_in_any_part(tmp_path):
    rows = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
    with RowFile(tmp_path / "new", 3) as queue:
        assert queue.rows().shape == (0, 3)
        queue.add(rows[:4])
        assert torch.equal(queue.rows(), rows[:4])
        queue.add(rows[4:].double())
        assert queue.count == 10
        assert torch.equal(queue.rows(2, 9), rows[2:9])
        assert torch.equal(queue.rows(step=3), rows[::3])
        assert not list((tmp_path / "new").iterdir())


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(VoicenymError, match="choose another folder"):
        RowFile(tmp_path / "file" / "below", 3)
