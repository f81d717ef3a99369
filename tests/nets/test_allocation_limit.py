"""Networks of enormous sizes: an error that names the file before the memory is full."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets import allocation_limit
from voicenym.nets.allocation_limit import FREE, LEAST, PER_BYTE, limited
from voicenym.nets.checkpoint import CONFIG, WEIGHTS, rebuilding
from voicenym.nets.speakers import speaker_encoders as encoders

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


@pytest.fixture
def nothing_is_free(monkeypatch):
    monkeypatch.setattr(allocation_limit, "FREE", 0)


def test_a_network_of_an_enormous_size_is_refused(tmp_path):
    encoders.save(encoders.make("ecapa", SMALL), tmp_path)
    config = json.loads((tmp_path / CONFIG).read_text("utf-8"))
    for size in ("channels", "size", "attention"):
        options = {**config["options"], size: 10**9}
        (tmp_path / CONFIG).write_text(json.dumps({**config, "options": options}), "utf-8")
        with pytest.raises(VoicenymError, match=r"far larger than the [\d,]+ bytes") as caught:
            encoders.load(tmp_path)
        assert str(tmp_path / CONFIG) in str(caught.value)


def test_as_many_elements_are_made_as_the_files_allow(tmp_path, nothing_is_free):
    (tmp_path / WEIGHTS).write_bytes(bytes(4 * LEAST))
    most = PER_BYTE * 4 * LEAST
    with limited(tmp_path):
        torch.empty(most - LEAST)
        torch.zeros(1)
    with pytest.raises(VoicenymError), limited(tmp_path):
        torch.empty(most + 1)
    torch.empty(most + 1)  # the limit ends with the context


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(10**9, 10**3),
        lambda: torch.empty((10**9, 10**3)),
        lambda: torch.zeros(10**12),
        lambda: torch.arange(10**12),
        lambda: torch.linspace(0.0, 1.0, 10**12),
        lambda: torch.eye(10**7),
        lambda: torch.full((10**12,), 1.0),
        lambda: torch.hann_window(10**12),
        lambda: torch.randn(10**12, generator=torch.Generator()),
        lambda: torch.zeros(10).repeat(10**11),
        lambda: torch.zeros(10).new_zeros(10**12),
        lambda: torch.empty_like(torch.empty(10**12, device="meta"), device="cpu"),
        lambda: torch.Tensor(2 * 10**7).uniform_(),
        lambda: torch.nn.Linear(10**6, 10**6),
        lambda: torch.nn.LSTM(10**6, 10**6),
        lambda: torch.nn.Embedding(10**12, 1),
        lambda: torch.nn.ModuleList(torch.nn.LayerNorm(1) for _ in range(10**9)),
    ],
)
def test_every_way_to_make_a_tensor_is_counted(make, tmp_path, monkeypatch):
    monkeypatch.setattr(allocation_limit, "FREE", 1 << 20)
    with pytest.raises(VoicenymError, match="far larger"), rebuilding(tmp_path):
        make()


NUMBERS = torch.zeros(3, 4)


@pytest.mark.parametrize(
    ("make", "elements"),
    [
        (lambda: torch.zeros(5, 7), 35),
        (lambda: torch.zeros(()), 1),
        (lambda: torch.zeros(torch.Size((5, 7))), 35),
        (lambda: torch.ones(size=(5, 7)), 35),
        (lambda: torch.empty_strided((5, 7), (7, 1)), 35),
        (lambda: torch.full((5, 7), 3), 35),
        (lambda: torch.full(size=(5, 7), fill_value=2.0), 35),
        (lambda: torch.randint(9, (5, 7)), 35),
        (lambda: torch.randint(1, 9, size=(5, 7)), 35),
        (lambda: torch.randperm(11), 11),
        (lambda: torch.normal(0.0, 1.0, (5, 7)), 35),
        (lambda: torch.normal(NUMBERS, 1.0), 12),
        (lambda: torch.arange(10), 10),
        (lambda: torch.arange(2, 10, 3), 3),
        (lambda: torch.arange(0.0, 1.0, 0.25), 4),
        (lambda: torch.arange(end=10, start=4), 6),
        (lambda: torch.linspace(0.0, 1.0, 13), 13),
        (lambda: torch.linspace(0.0, 1.0, steps=13), 13),
        (lambda: torch.hann_window(400, periodic=False), 400),
        (lambda: torch.kaiser_window(window_length=30), 30),
        (lambda: torch.eye(5), 25),
        (lambda: torch.eye(5, 3), 15),
        (lambda: torch.tril_indices(4, 4), 32),
        (lambda: torch.zeros_like(NUMBERS), 12),
        (lambda: torch.full_like(NUMBERS, 2.0), 12),
        (lambda: NUMBERS.new_zeros(5, 7), 35),
        (lambda: NUMBERS.new_full((5, 7), 2.0), 35),
        (lambda: NUMBERS.repeat(2, 5), 120),
        (lambda: NUMBERS.repeat((2, 1, 5)), 120),
    ],
)
def test_elements_are_told_from_the_arguments(make, elements, tmp_path, monkeypatch):
    """Small tensors count as one of :data:`LEAST`; here as they are."""
    monkeypatch.setattr(allocation_limit, "LEAST", 0)
    counted = []

    class Noted(allocation_limit.Counter):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func in allocation_limit._COUNTED:
                counted.append(allocation_limit._elements(func, args, dict(kwargs or {})))
            return func(*args, **(kwargs or {}))

    with Noted(0, VoicenymError("no")):
        make()
    assert counted[0] == elements


def test_no_compiler_is_imported_to_count():
    code = (
        "import sys, torch\n"
        "from voicenym.nets.allocation_limit import limited\n"
        "with limited('.'):\n"
        "    torch.hann_window(400), torch.arange(0.0, 9.0), torch.zeros(3).repeat(2)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_is_on_no_device_takes_no_memory(tmp_path):
    with limited(tmp_path):
        assert torch.empty(FREE, FREE, device="meta").numel() == FREE**2
        with torch.device("meta"):
            torch.nn.Linear(10**6, 10**6)


def test_a_folder_inside_has_a_limit_of_its_own(tmp_path, nothing_is_free):
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    for folder, size in ((outer, LEAST), (inner, 4 * LEAST)):
        folder.mkdir()
        (folder / WEIGHTS).write_bytes(bytes(size))
    with limited(outer):
        with limited(inner):
            torch.empty(2 * PER_BYTE * LEAST)
        torch.empty(PER_BYTE * LEAST)
        with pytest.raises(VoicenymError, match="outer"):
            torch.empty(1)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.randn(3),
        lambda: torch.rand(3),
        lambda: torch.randint(9, (3,)),
        lambda: torch.randperm(9),
        lambda: torch.normal(0.0, 1.0, (3,)),
        lambda: torch.empty(3).normal_(),
        lambda: torch.empty(3).uniform_(-1.0, 1.0),
        lambda: torch.nn.init.trunc_normal_(torch.empty(3)),
        lambda: torch.nn.init.kaiming_normal_(torch.empty(3, 3)),
        lambda: torch.nn.init.orthogonal_(torch.empty(3, 3)),
        lambda: torch.nn.Conv1d(2, 2, 3),
        lambda: torch.nn.LSTM(3, 3),
        lambda: torch.nn.Embedding(3, 3),
        lambda: torch.nn.MultiheadAttention(4, 2),
    ],
)
def test_initial_weights_are_no_draws_of_the_program(draw, tmp_path):
    """A program that loads a network draws the same numbers as one that does not."""
    before = torch.get_rng_state()
    with limited(tmp_path):
        draw()
    assert torch.equal(torch.get_rng_state(), before)
    generator = torch.Generator().manual_seed(3)
    with limited(tmp_path):
        given = torch.randn(3, generator=generator)
    assert torch.equal(given, torch.randn(3, generator=generator.manual_seed(3)))
    with limited(tmp_path), torch.device("meta"):
        assert draw() is not None


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nn.Linear(3, 4),
        lambda: torch.nn.Conv1d(2, 2, 3),
        lambda: torch.nn.GRU(3, 3),
        lambda: torch.nn.Embedding(3, 3),
        lambda: torch.nn.MultiheadAttention(4, 2),
    ],
)
def test_initial_weights_are_zeros(make, tmp_path):
    with limited(tmp_path):
        network = make()
    assert not any(weights.any() for weights in network.parameters())
    assert all(weights.requires_grad for weights in network.parameters())
