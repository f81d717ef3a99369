"""Stores besides S3, missing packages, and schemes that are not supported."""

from __future__ import annotations

import threading
from typing import ClassVar

import pytest
from shard_material import said, sound, web_shard

from voicenym.corpus.shards.stores import object_store, object_writes
from voicenym.errors import DependencyError

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("s3fs")
PATIENCE = 60.0
"""Seconds that a test waits for what does not come."""


@pytest.mark.parametrize("url", ["ssh://host/x", "simplecache::s3://b/x", "http://host/a.tar"])
def test_other_schemes_are_refused(anonymize, url):
    done = anonymize(url, "-o", "out")
    assert done.returncode == 1
    assert "is not supported" in said(done)


@pytest.mark.parametrize(("scheme", "package"), [("gs", "gcsfs"), ("hf", "huggingface_hub")])
def test_a_missing_package_of_a_store_is_named(anonymize, monkeypatch, scheme, package):
    real = fsspec.filesystem

    def without(name, *arguments, **options):
        if name == scheme:
            raise ImportError(f"install {package}")
        return real(name, *arguments, **options)

    monkeypatch.setattr(fsspec, "filesystem", without)
    done = anonymize(f"{scheme}://corpus/in", "-o", "out")
    assert done.returncode == 1
    assert f"needs the package {package}: pip install {package}" in said(done)
    assert said(done).count("\n") == 1


def test_a_package_that_would_replace_objects_is_refused(monkeypatch):
    """As fsspec and s3fs before 2024.12, which ignore the wish for a conditional put."""
    from fsspec.implementations.memory import MemoryFileSystem

    def put_file(self, lpath, rpath, callback=None, **options):
        raise AssertionError

    object_writes.check_writable("memory://out")
    monkeypatch.setattr(fsspec.AbstractFileSystem, "put_file", put_file)
    monkeypatch.setattr(fsspec, "filesystem", lambda scheme: MemoryFileSystem())
    with pytest.raises(DependencyError, match=r"would replace .*; pip install --upgrade fsspec s3"):
        object_writes.check_writable("s3://corpus/out")


def forget(scheme: str) -> None:
    """Removes an implementation that was registered."""
    from fsspec.registry import _registry

    _registry.pop(scheme, None)


@pytest.mark.parametrize("scheme", ["gs", "hf"])
def test_other_stores_are_read_and_written_through_fsspec_alone(anonymize, tmp_path, scheme):
    """A file system in memory takes the place of Google's and of Hugging Face's: paths, conditional
    puts and versions go through the interface that all have.
    """
    from fsspec.implementations.memory import MemoryFileSystem

    class Other(MemoryFileSystem):
        protocol = scheme
        store: ClassVar[dict] = {}
        pseudo_dirs: ClassVar[list] = [""]

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.removeprefix(f"{scheme}:/"))

    fsspec.register_implementation(scheme, Other, clobber=True)
    try:
        web_shard(tmp_path / "a.tar", range(2))
        Other().pipe_file("/corpus/in/a.tar", (tmp_path / "a.tar").read_bytes())
        done = anonymize(f"{scheme}://corpus/in", "-o", "down")
        assert done.returncode == 0, said(done)
        if scheme == "hf":
            done = anonymize("a.tar", "-o", "hf://corpus/out")
            assert "can be read and not written" in said(done)
            return
        done = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
        assert done.returncode == 0, said(done)
        made = Other().cat_file("/corpus/out/a.tar")
        assert made == (tmp_path / "down/a.tar").read_bytes()
        again = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
        assert "0 shards and files written, 1 already done" in said(again)
        Other().rm_file("/corpus/out/voicenym-ledger/a.tar.json")
        Other().pipe_file("/corpus/out/a.tar", b"of another")
        done = anonymize("gs://corpus/in", "-o", "gs://corpus/out")
        assert "exists already and is not what this run writes" in said(done)
        assert Other().cat_file("/corpus/out/a.tar") == b"of another"
    finally:
        forget(scheme)


def test_memory_and_file_urls(anonymize, tmp_path):
    web_shard(tmp_path / "a.tar", range(1))
    fsspec.filesystem("memory").store.clear()
    assert anonymize(f"file://{tmp_path}/a.tar", "-o", "memory://box/out").returncode == 0
    assert anonymize("memory://box/out/a.tar", "-o", "twice").returncode == 0
    assert (tmp_path / "twice/a.tar").is_file()
    done = anonymize("a.tar", "-o", "hf://datasets/x/y")
    assert "can be read and not written" in said(done)


def test_a_rerun_asks_a_store_about_several_outputs_at_a_time(anonymize, tmp_path, monkeypatch):
    """One at a time, 10,000 outputs of a store that is 30 ms away would be five minutes."""
    for number in range(4):
        (tmp_path / f"in/{number}.wav").parent.mkdir(exist_ok=True)
        (tmp_path / f"in/{number}.wav").write_bytes(sound(number))
    fsspec.filesystem("memory").store.clear()
    assert anonymize("in", "-o", "memory://box/out").returncode == 0
    real, together = object_store.identity, threading.Barrier(4, timeout=PATIENCE)

    def identity(location):
        if location.startswith("memory://"):
            together.wait()
        return real(location)

    monkeypatch.setattr(object_store, "identity", identity)
    done = anonymize("in", "-o", "memory://box/out")
    assert "0 shards and files written, 4 already done" in said(done), said(done)


def test_a_recording_that_is_replaced_after_it_was_fetched_is_not_done(anonymize, monkeypatch):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe_file("/box/in/anna/a.wav", sound(1))
    real = object_store.download

    def replaced_afterwards(location, path):
        real(location, path)
        memory.pipe_file("/box/in/anna/a.wav", sound(2))

    monkeypatch.setattr(object_store, "download", replaced_afterwards)
    assert anonymize("memory://box/in", "-o", "memory://box/out").returncode == 0
    again = anonymize("memory://box/in", "-o", "memory://box/out")
    assert again.returncode == 1
    assert "changed since its output was made" in said(again)
