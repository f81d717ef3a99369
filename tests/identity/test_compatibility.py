"""Compatibility of identity methods with systems."""

from dataclasses import replace

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity import identity
from voicenym.identity.compatibility import fit, tried, within
from voicenym.identity.copy import Copy, Half
from voicenym.identity.distinct import Distinct
from voicenym.identity.lookup import Lookup
from voicenym.identity.mixture import Mixture

TWO = ("acoustic", "vocoder")


def test_halves_need_two_parts():
    half = Half(identity("blank"))
    fit(half, "b1a", TWO)
    with pytest.raises(UnknownSystemError, match=r"^base: half .* b1a has two") as raised:
        fit(half, "base")
    assert "\n" not in str(raised.value)


def test_frequencies_and_speaker_vectors_are_distinguished():
    scaled, nested = identity("formant-pitch"), identity("half:of=(formant-pitch)")
    fit(scaled, "b1b", hertz=True)
    fit(nested, "b1a", TWO, hertz=True)
    for method in (scaled, nested):
        with pytest.raises(UnknownSystemError, match="voicenym models formants"):
            fit(method, "b1a", TWO)
    fit(Copy(), "b1a", hertz=True)
    with pytest.raises(UnknownSystemError, match="blank is for speaker vectors"):
        fit(identity("blank"), "b1a", hertz=True)


def test_halves_stand_around_other_methods(pool):
    half = Half(Lookup(pool))
    for name, within_another in (
        ("half", lambda: Half(half)),
        ("distinct", lambda: Distinct(half, pool)),
        ("autoencoder", lambda: identity("autoencoder:model=m,of=(half:of=(copy))")),
    ):
        with pytest.raises(UnknownSystemError, match=f"{name}: half .* never within"):
            within_another()
    assert [some.name for some in within(Half(Distinct(Lookup(pool), pool)))] == [
        "half", "distinct", "lookup",
    ]  # fmt: skip


def test_what_a_method_lacks_is_found_out_and_bad_luck_is_not(pool, users):
    from voicenym.training.identity.train_mixture import MixtureConfig, train

    tried(Lookup(pool), users[0])
    with pytest.raises(VoicenymError):
        tried(Lookup("no/such/pool"), users[0])
    with pytest.raises(VoicenymError, match="element"):
        tried(Lookup(pool), torch.ones(7))
    model = train(pool, MixtureConfig())
    picky = Mixture(model, theta=-1.0, retries=1)
    tried(picky, users[0])  # no draw is the opposite of the speaker; for others it may be


def test_what_was_made_of_another_encoders_vectors_is_refused(pool, users):
    theirs = replace(pool, version="0123456789abcdef")
    for method in (Lookup(theirs), Half(Lookup(theirs)), Distinct(Lookup(theirs), pool, 5.0, 16)):
        tried(method, users[0], ["0123456789abcdef"])
        tried(method, users[0])
        with pytest.raises(VoicenymError, match=r"another speaker encoder \(0123456789abcdef\)"):
            tried(method, users[0], ["fedcba9876543210"])
    tried(Lookup(pool), users[0], ["fedcba9876543210"])  # of which nothing is known


SILENT = {
    "blank:strength=0": "keeps the speaker's own vector",
    "half:of=(copy)": "both modules get the speaker's own vector",
    "half:of=(blank:strength=0)": "blank: strength=0",
    "formant-pitch:pitch=(1.0,1.2),formants=(1.0,1.1)": "both factors may be 1",
    "householder:model=ecapa-small,turns=model": "the network has no reflections",
}
"""Settings that leave the speaker's own voice without saying so."""


@pytest.mark.parametrize("text", SILENT)
def test_settings_that_return_their_input_are_refused(text):
    hertz = text.startswith("formant")
    with pytest.raises(UnknownSystemError, match=f"^b1a: .*{SILENT[text]}.* or copy, which keeps"):
        fit(identity(text), "b1a", TWO, hertz=hertz)


def test_settings_of_pools_that_return_their_input_are_refused(pool):
    from voicenym.identity.singular import SingularValues

    for method, clause in (
        (Distinct(Copy(), pool), "10 degrees from the speaker's own vector"),
        (SingularValues(pool, keep=1.0, blend=0.0), "nothing is attenuated"),
        (SingularValues(pool, gain=1.0, blend=0.0), "nothing is attenuated"),
    ):
        with pytest.raises(UnknownSystemError, match=clause):
            fit(method, "ssl-gmm")
    fit(SingularValues(pool, blend=0.0), "ssl-gmm")


def test_half_of_the_own_vector_is_the_own_voice_where_lengths_do_not_count():
    blend = identity("blank:strength=0.5")
    fit(blend, "musa")
    with pytest.raises(UnknownSystemError, match="the system ignores the length of vectors"):
        fit(blend, "ssl-gmm", direction=True)
    fit(identity("blank"), "ssl-gmm", direction=True)


def test_a_copy_by_name_and_a_network_with_reflections_are_accepted():
    from voicenym.identity.householder import Householder
    from voicenym.nets.identity.householder_checkpoint import Rotation
    from voicenym.nets.identity.householder_network import Householder as Network

    fit(Copy(), "ssl-gmm", direction=True)
    for layers, refused in ((0, True), (1, False)):
        method = Householder(
            Rotation(Network("roh", 8, layers=layers, reflections=3)), turns="model"
        )
        assert bool(method.own_voice()) == refused
        assert not replace(method, turns="both").own_voice()
