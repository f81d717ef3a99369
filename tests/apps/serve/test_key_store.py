"""Keys of a server."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

import pytest

from voicenym.apps.serve import key_store
from voicenym.apps.serve.key_store import KeyStore
from voicenym.apps.web.problem_details import Problem
from voicenym.errors import DiskFullError, VoicenymError


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


@pytest.mark.parametrize(("number", "status"), [(errno.EROFS, 500), (errno.ENOSPC, 507)])
def test_keys_that_cannot_be_changed_are_the_operator_s_to_mend(
    tmp_path, monkeypatch, caplog, number, status
):
    """The message of the folder names it, and the owner of the token in it."""
    store = KeyStore(tmp_path / "keys")
    store.make("anna", "project")
    logger = logging.getLogger("voicenym.web")
    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    monkeypatch.setattr(logger, "propagate", False)

    def fails(*_args, **_options):
        raise OSError(number, os.strerror(number), "of-anna")

    def refuses(folder):
        try:
            fails()
        except OSError as error:
            kind = DiskFullError if number == errno.ENOSPC else VoicenymError
            raise kind("keys/of-anna: cannot be made; choose another folder") from error

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", fails)
        with pytest.raises(Problem) as deleting:
            store.delete("anna", "project")
    monkeypatch.setattr(key_store, "private_folder", refuses)
    with pytest.raises(Problem) as making:
        store.make("anna", "other")
    for caught in (deleting, making):
        assert caught.value.status == status
        assert "operator" in caught.value.cure
        assert "of-anna" not in str(caught.value.body())
    assert caplog.text.count(os.strerror(number)) == (2 if status == 500 else 0)
    assert "of-anna" not in caplog.text
