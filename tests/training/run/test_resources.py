"""Resources have the names of the arguments of ``train`` functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

from voicenym.errors import VoicenymError
from voicenym.training.run.resources import duration, resources

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


@pytest.mark.parametrize(
    ("text", "expected"), [("90", 90.0), ("90s", 90.0), ("25m", 1500.0), ("1.5h", 5400.0)]
)
def test_durations_are_read_in_seconds_minutes_and_hours(text, expected):
    assert duration(text) == expected


@pytest.mark.parametrize("text", ["", "m", "-3m", "soon", "0", "inf"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError):
        duration(text)


def test_times_are_read_without_the_libraries_of_training():
    """A command that may train reads its budget; it loads them when it does train."""
    script = "import sys; from voicenym.training.run.resources import seconds\n"
    script += "assert seconds(None) is None and seconds('2m') == 120.0\n"
    script += "assert not {'torch', 'lightning'} & set(sys.modules), 'imported'"
    subprocess.run([sys.executable, "-c", script], check=True)
