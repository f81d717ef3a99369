"""Numbers in cards are those of the code, of the bundled weights, and of the measured figures."""

import json
import math
import re

import pytest
import torch

from voicenym import Key, load
from voicenym.anonymizer import available, system_class
from voicenym.nets.codec.codec_config import CodecConfig
from voicenym.nets.identity.householder_checkpoint import load as rotation
from voicenym.resynthesis.bundled.model_parts import Parts
from voicenym.resynthesis.pipeline import assembly
from voicenym.systems.base import BUNDLED as BASE

KEY = Key(bytes(32))
BUNDLED = assembly.BUNDLED / "ssl"
MEASURED = r"EER of ([\d.]+) % \(([\d.]+) to ([\d.]+)"


def claims(name):
    card = system_class(name).card
    return " ".join((card.protects, *card.promises, *card.fails, *card.approximations))


def holds_key(figure):
    return "key-holder" in figure.condition


@pytest.mark.parametrize("name", [n for n in available() if system_class(n).card.figures])
def test_quoted_error_rates_are_measured_and_the_least_is_among_them(name):
    figures = [f for f in system_class(name).card.figures if f.metric == "EER" and not holds_key(f)]
    measured = {(f"{f.value:.1f}", f"{f.low:.1f}", f"{f.high:.1f}"): f.value for f in figures}
    quoted = re.findall(MEASURED, claims(name))
    assert set(quoted) <= set(measured), "new figures: mend the sentence"
    if quoted:
        least = min(measured.values())
        assert least in {measured[one] for one in quoted}, "a harsher figure: quote it"


@pytest.mark.parametrize("name", ["mcadams", "vtln", "pv-tsm", "vcloak"])
def test_live_latencies_are_those_that_cards_state(name):
    (found,) = re.findall(r"live latency is ([^;]+)", claims(name) + ";")
    stated = re.findall(r"(\d+) ms(?: at (\d+) kHz)?", found)
    assert stated
    for milliseconds, kilohertz in stated:
        rate = 1000 * int(kilohertz or 16)
        latest = load(name, revision=load(name).revisions[-1])
        stream = latest.stream(KEY.pseudonym("a"), rate, low_delay=True)
        latency = stream.latency
        assert round(1000 * latency / rate) == int(milliseconds)


def test_bits_of_content_are_those_that_the_card_of_base_states():
    content = Parts.load(BASE).content
    (bits,) = re.findall(r"at most ([\d,]+) bits a second", claims("base"))
    assert math.floor(content.bits()) == int(bits.replace(",", ""))


def test_the_noise_that_bounds_them_is_known_with_the_key():
    content = Parts.load(BASE).content
    generator = torch.Generator().manual_seed(1)
    numbers = torch.rand(1, 50, content.size, generator=generator) * 2 - 1
    seed = torch.tensor([7])
    noise = content.noisy(torch.zeros_like(numbers), seed)
    torch.testing.assert_close(content.noisy(numbers, seed) - noise, numbers, atol=1e-6, rtol=0)
    assert noise.abs().max() > 0.1


def test_bits_of_musa():
    pytest.importorskip("lightning", reason="recipes need the extra train")
    from voicenym.training.codec.musa_config import MusaConfig
    from voicenym.training.run import config

    def bits(sizes):
        return sizes.codebooks, round(math.log2(sizes.entries))

    text = claims("musa")
    (paper,) = re.findall(r"the codes are (\d+) of (\d+) bits .*?\(([\d,]+) bits a second", text)
    (small,) = re.findall(r"(\d+) of (\d+) bits in musa-small", text)
    assert tuple(map(int, paper[:2])) == bits(CodecConfig())
    assert int(paper[2].replace(",", "")) == math.prod(bits(CodecConfig())) * 50
    assert tuple(map(int, small)) == bits(
        CodecConfig(**config.load("musa-small", MusaConfig).codec)
    )


def test_bundled_networks_are_as_large_as_the_cards_say():
    parts = assembly.opened(BUNDLED)

    def size(network):
        return sum(parameter.numel() for parameter in network.parameters())

    text = claims("ssl-select")
    (millions,) = re.findall(r"vocoder of ([\d.]+) million weights", text)
    assert millions == f"{size(parts.synthesizer) / 1e6:.1f}"
    assert "ecapa-small is an eighth of its ECAPA-TDNN" in text
    assert round(6_194_048 / size(parts.speaker)) == 8  # 512 channels, without the classifier
    people, voices = 318, len(json.loads((BUNDLED / "pool" / "config.json").read_text())["sexes"])
    assert f"the bundled pool has {people} speakers" in text
    assert voices == 2 * people


def test_bundled_rotations_are_what_the_cards_say():
    former, roh, loh = (rotation(assembly.part(BUNDLED, n)) for n in ("roh", "roh-2", "loh"))
    untrained = "in revision 1 the bundled roh/ has no reflections" in claims("ssl-roh")
    assert untrained == (former.network.layers * former.network.reflections == 0)
    card = json.loads((BUNDLED / "roh-2" / "config.json").read_text())["card"]
    assert f"for {card['steps']:,} steps on {card['speakers']} speakers" in claims("ssl-roh")
    # the statistics of loh/, in half precision
    for name in ("mean", "colouring", "whitening"):
        ours, theirs = getattr(roh.network, name), getattr(loh.network, name)
        torch.testing.assert_close(ours, theirs, atol=3e-3, rtol=1e-3)
    card = json.loads((BUNDLED / "loh" / "config.json").read_text())["card"]
    text = claims("ssl-loh")
    assert f"for {card['steps']:,} steps on {card['speakers']} speakers" in text
    vector = torch.randn(1, loh.network.size, generator=torch.Generator().manual_seed(0))
    network = type(loh.network)(**loh.network.config()).double()  # the loaded one is shared
    network.load_state_dict({k: v.clone() for k, v in loh.network.state_dict().items()})
    change = network.rotation(vector.double()) - torch.eye(network.size, dtype=torch.float64)
    (turned,) = re.findall(r"turns at most (\d+) of the 192 dimensions", text)
    assert int(torch.linalg.matrix_rank(change, atol=1e-9)) == int(turned)
