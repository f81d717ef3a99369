"""Networks by name: made, kept, found; and what is no such network refused."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

import voicenym
from voicenym.errors import VoicenymError
from voicenym.nets.architectures import Kinds, Network, sizes
from voicenym.nets.checkpoint import CONFIG, write
from voicenym.nets.cloak.cloak import Cloak
from voicenym.nets.content import content_encoders, word_code_bottleneck
from voicenym.nets.identity import vector_autoencoder
from voicenym.nets.speakers import speaker_encoders


class Line(Network):
    kind = "line"

    def __init__(self, size: int = 2):
        super().__init__()
        if size < 1:
            raise ValueError("one element at least")
        self.size = size
        self.weight = torch.nn.Parameter(torch.randn(size))
        self.dropout = torch.nn.Dropout()

    def config(self):
        return {"size": self.size}


def doubled(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: 2.0 * value for name, value in state.items()}


LINES = Kinds("line", {"line": f"{__name__}:Line", "absent": "voicenym.nets.no_such:Thing"})


def test_a_network_comes_back_from_its_folder(tmp_path):
    network = LINES.make("line", {"size": 3})
    LINES.save(network, tmp_path, {"steps": 7}, slope=1.5)
    again = LINES.load(tmp_path)
    assert isinstance(again, Line)
    assert torch.equal(again.weight, network.weight)
    assert not again.training
    given = json.loads((tmp_path / CONFIG).read_text())
    assert list(given) == ["kind", "options", "card", "slope", "sha256"]
    assert (given["kind"], given["options"]) == ("line", {"size": 3})
    assert (given["card"], given["slope"]) == ({"steps": 7}, 1.5)


def test_a_folder_may_be_text(tmp_path, monkeypatch):
    network = LINES.make("line", {"size": 3})
    LINES.save(network, tmp_path / "line")
    assert torch.equal(LINES.load(str(tmp_path / "line")).weight, network.weight)
    monkeypatch.chdir(tmp_path)
    assert torch.equal(LINES.load("line").weight, network.weight)
    with pytest.raises(VoicenymError, match=r"nowhere.config\.json: cannot be read"):
        LINES.load("nowhere")


@pytest.mark.parametrize(
    ("load", "folder"),
    [
        (content_encoders.load, "nets/content/bundled/word-codes-tiny.en"),
        (speaker_encoders.load, "nets/speakers/bundled/ecapa-small"),
        (vector_autoencoder.load, "nets/identity/bundled/autoencoder-small"),
        (word_code_bottleneck.load, "nets/content/bundled/word-codes-tiny.en"),
        (Cloak.load, "nets/cloak/bundled/vcloak-small"),
    ],
)
def test_every_loader_takes_a_folder_as_text(load, folder):
    whole = Path(voicenym.__file__).parent / folder
    one, other = load(str(whole)), load(whole)
    assert type(one) is type(other)


def test_half_precision_is_near(tmp_path):
    network = LINES.make("line", {"size": 50})
    LINES.save(network, tmp_path, half=True)
    torch.testing.assert_close(LINES.load(tmp_path).weight, network.weight, atol=0, rtol=2**-11)


def test_integers_are_near_and_take_a_quarter_of_the_space(tmp_path):
    network = LINES.make("line", {"size": 50})
    network.weight = torch.nn.Parameter(torch.randn(50, 40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "__init__", lambda self, size: _matrix(self, size))
        LINES.save(network, tmp_path / "whole")
        LINES.save(network, tmp_path / "integers", bits=8)
        found = LINES.load(tmp_path / "integers").weight
    step = network.weight.abs().amax(1, keepdim=True) / 127
    assert ((found - network.weight).abs() <= 0.502 * step).all()
    whole, integers = (
        (tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "integers")
    )
    assert integers < 0.3 * whole


def _matrix(network: Line, size: int) -> None:
    torch.nn.Module.__init__(network)
    network.size, network.weight = size, torch.nn.Parameter(torch.zeros(size, 40))


def test_what_is_stored_may_be_another_state(tmp_path):
    network = LINES.make("line", {})
    dataclasses.replace(LINES, stored=doubled).save(network, tmp_path)
    assert torch.equal(LINES.load(tmp_path).weight, 2.0 * network.weight)


def test_mistakes_are_named(tmp_path):
    with pytest.raises(VoicenymError, match="no line 'curve'; there are: absent, line"):
        LINES.make("curve", {})
    with pytest.raises(VoicenymError, match="sise"):
        LINES.make("line", {"sise": 3})
    with pytest.raises(VoicenymError, match="line: one element at least"):
        LINES.make("line", {"size": 0})
    for config in ({"kind": "curve", "options": {}}, {"kind": "line"}, {}):
        write(tmp_path, {"weight": torch.zeros(2)}, config)
        with pytest.raises(VoicenymError, match="holds no line; give one of voicenym train"):
            LINES.load(tmp_path)
    write(tmp_path, {"weight": torch.zeros(2)}, {"kind": "line", "options": {"size": 3}})
    with pytest.raises(VoicenymError, match="of another architecture"):
        LINES.load(tmp_path)


@dataclasses.dataclass(frozen=True)
class Sizes:
    widths: tuple[int, ...] = (1,)
    depth: int = 1

    def __post_init__(self):
        if self.depth < 1:
            raise ValueError("a depth of 1 at least")


def test_sizes_are_those_given_and_tuples_again():
    made = sizes(Sizes, json.loads('{"widths": [2, 3]}'), "here", "a net")
    assert made == Sizes(widths=(2, 3))


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"width": 3}, "here: no size 'width' of a net; there are: widths, depth"),
        ({"depth": 0}, "here: no sizes of a net: a depth of 1 at least"),
        ({"depth": "x"}, "here: no sizes of a net: "),
    ],
)
def test_sizes_that_cannot_be_are_refused(options, given):
    with pytest.raises(VoicenymError, match=given):
        sizes(Sizes, options, "here", "a net")
