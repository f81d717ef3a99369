"""Resources are named as recipes' ``train`` functions name them."""

from __future__ import annotations

import pytest

from voicenym.errors import VoicenymError
from voicenym.training.run.resources import resources

pytest.importorskip("lightning")


def test_resources_are_arguments_of_train():
    lines: list[str] = []
    found = resources("2m", lines.append, "cpu", 2, "32-true", 3)
    assert found["seconds"] == 120.0
    machine = found["machine"]
    assert (machine.accelerator, machine.devices, machine.workers) == ("cpu", 2, 3)
    found["say"]("hello")
    assert lines == ["hello"]
    with pytest.raises(VoicenymError, match="--budget soon"):
        resources("soon", lines.append)
    with pytest.raises(VoicenymError, match="auto, cpu or gpu"):
        resources(None, lines.append, "tpu")
