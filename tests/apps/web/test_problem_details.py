"""Messages of the command line as problems of requests."""

from __future__ import annotations

import pytest

from voicenym.apps.serve.forms.setting_fields import settings_of
from voicenym.apps.web.problem_details import Problem, problem_of
from voicenym.errors import WeightsError
from voicenym.nets import names_and_paths


def test_a_client_is_not_told_which_folders_are_beside_the_server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = "there are: kokoro-82m"
    (tmp_path / "sources").mkdir()
    found = [
        problem_of(WeightsError(f"no weights; {there}{names_and_paths.hint(name)}")).body()
        for name in ("sources", "none")
    ]
    assert found[0] == found[1]
    assert there in found[0]["cure"]


@pytest.mark.parametrize("name", ["weights", "target", "verifier", "device", "revision"])
def test_what_names_files_of_the_server_is_no_setting_of_clients(name):
    with pytest.raises(Problem) as caught:
        settings_of(f'{{"{name}": "x"}}')
    assert caught.value.status == 422
