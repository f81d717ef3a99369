"""Keys of a server."""

from __future__ import annotations

import pytest

from voicenym.apps.serve.key_store import KeyStore
from voicenym.apps.web.problem_details import Problem


def test_a_damaged_key_is_said_and_can_be_deleted_and_made_anew(tmp_path):
    """Its id would be taken for good, and what is left of it would stay."""
    store = KeyStore(tmp_path / "keys")
    store.make("anna", "project")
    (file,) = (tmp_path / "keys").rglob("*.key")
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(Problem, match="damaged") as caught:
        store.key("anna", "project")
    assert caught.value.status == 500
    store.delete("anna", "project")
    assert store.ids("anna") == []
    with pytest.raises(Problem) as caught:
        store.delete("anna", "project")
    assert caught.value.status == 404
    store.make("anna", "project")
    assert store.key("anna", "project")
