"""The catalogue holds together."""

from __future__ import annotations

import pytest

from voicenym.errors import VoicenymError
from voicenym.nets.catalogue import CATALOGUE, entry, known
from voicenym.nets.checkpoint_conversion import KINDS


def test_every_entry_can_be_had_and_has_terms():
    assert len({published.name for published in CATALOGUE}) == len(CATALOGUE)
    for published in CATALOGUE:
        assert published.licence
        assert published.papers
        fetched = bool(published.repository or published.package)
        assert fetched == bool(published.files) != bool(published.source)
        assert fetched <= bool(published.convert)
        assert published.convert in ("", *KINDS)
        assert set(published.digests) <= set(published.files)
        assert entry(published.name) is published
        assert known(published.name)


def test_terms_that_forbid_commerce_are_marked():
    for published in CATALOGUE:
        assert published.commercial != ("NC" in published.licence)


def test_there_is_no_other():
    assert not known("facebook/hubert-base-ls960")
    with pytest.raises(VoicenymError, match="no weights 'gpt' in the catalogue; there are: ecapa"):
        entry("gpt")
