"""Every identity method in every system that takes one: heard, or refused before anything is."""

import pytest
import torch

from voicenym import Audio, Key, load
from voicenym.errors import VoicenymError
from voicenym.identity import identities
from voicenym.nets.checkpoint import configuration
from voicenym.nets.identity.vector_autoencoder import Autoencoder
from voicenym.nets.identity.vector_autoencoder import save as save_autoencoder
from voicenym.nets.speakers.speaker_encoders import SMALL

SIZES = {"base": 192, "ssl": 12, "b1a": 14, "b1b": 14, "musa": 16}
SYSTEMS = {
    "base": "base",
    "ssl-select": "ssl",
    "ssl-roh": "ssl",
    "ssl-loh": "ssl",
    "ssl-gmm": "ssl",
    "word-codes": "ssl",
    "b1a": "b1a",
    "b1b": "b1b",
    "musa": "musa",
}
SELECTED = "selection:pool={folder}/pool"
METHODS = {
    "autoencoder": f"autoencoder:model={{folder}}/autoencoder,of=({SELECTED})",
    "blank": "blank:strength=0.5",
    "copy": "copy",
    "distinct": f"distinct:pool={{folder}}/pool,of=({SELECTED})",
    "formant-pitch": "formant-pitch",
    "half": f"half:of=({SELECTED})",
    "householder": "householder:model={folder}/roh",
    "indistinguishable": "indistinguishable:pool={folder}/pool",
    "lookup": "lookup:pool={folder}/pool",
    "mixture": "mixture:model={folder}/mixture",
    "regression": "regression:pool={folder}/pool",
    "selection": SELECTED,
    "singular-values": "singular-values:pool={folder}/pool",
}
ONE_PART = "gives two parts of a system different voices"
IN_HERTZ = "scales formants and pitch in Hz"
TOO_FEW = "directions, and 65 are needed"
REFUSED = {
    **{(name, "formant-pitch"): IN_HERTZ for name in SYSTEMS},
    **{(name, "half"): ONE_PART for name in SYSTEMS if name != "b1a"},
    ("base", "blank"): "ignores the length of vectors",
    **{(name, "distinct"): TOO_FEW for name in SYSTEMS if name != "base"},
}
"""What is refused, and the words: parts that systems lack, and vectors as small as those here."""


@pytest.fixture(scope="module")
def folders(small_parts, choices, tmp_path_factory):
    """What methods need, by family: of vectors as large as the family's."""
    root = tmp_path_factory.mktemp("choices")
    versions = {"base": configuration(SMALL)["sha256"][:16]}
    found = {}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        for family, size in SIZES.items():
            found[family] = root / family
            if family in small_parts:
                found[family] = small_parts[family]["pool"].parent
            else:
                choices(root / family, size, "invented", versions.get(family, ""))
            network = Autoencoder(size, 4, 8).eval()
            save_autoencoder(network, found[family] / "autoencoder", "invented", "", {})
    return found


@pytest.fixture(autouse=True)
def weights(pipelines, monkeypatch):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(pipelines))


def speech(seconds=0.3):
    time = torch.arange(round(seconds * 16_000)) / 16_000
    buzz = sum(torch.cos(2 * torch.pi * 130 * k * time) / k for k in range(1, 25))
    return 0.1 * buzz * (0.6 + 0.4 * torch.sin(20 * time))


def test_every_method_is_tried():
    assert sorted(METHODS) == identities()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_method_works_or_is_refused_at_construction(name, method, folders):
    text = METHODS[method].format(folder=folders[SYSTEMS[name]])
    if (name, method) in REFUSED:
        with pytest.raises(VoicenymError, match=REFUSED[name, method]) as raised:
            load(name, identity=text).check()
        assert "\n" not in str(raised.value)
        return
    system = load(name, identity=text)
    system.check()
    audio = Audio(speech(), 16_000)
    who = Key(bytes(range(32))).pseudonym("a")
    made = system(audio, who).samples
    assert made.shape == audio.samples.shape
    assert torch.isfinite(made).all()
    assert made.any()
    if name in ("ssl-select", "musa", "base"):
        for nobody in (torch.zeros(2, 1600), torch.zeros(0)):
            result = system(Audio(nobody, 16_000), who).samples
            assert result.shape == nobody.shape
            assert not result.any()


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("method", [m for m, text in METHODS.items() if "{folder}" in text])
def test_missing_files_of_a_method_are_reported_before_a_recording_is_read(
    name, method, folders, tmp_path
):
    empty = METHODS[method].format(folder=tmp_path / "nothing")
    with pytest.raises(VoicenymError):
        load(name, identity=empty).check()
    other = "musa" if SYSTEMS[name] != "musa" else "ssl"
    with pytest.raises(VoicenymError):
        load(name, identity=METHODS[method].format(folder=folders[other])).check()


def test_a_pool_of_another_encoder_is_refused_though_it_is_as_large(choices, tmp_path):
    for family, name in (("base", "base"), ("ssl", "ssl-loh"), ("b1a", "b1a")):
        choices(tmp_path / family, SIZES[family], "ecapa", "0123456789abcdef")
        for method in ("selection", "mixture", "householder", "half"):
            if (name, method) not in REFUSED:
                text = METHODS[method].format(folder=tmp_path / family)
                with pytest.raises(VoicenymError, match="another speaker encoder"):
                    load(name, identity=text).check()
    load("base", identity="householder:model=ecapa-small").check()
