"""Cores that break their rules, and settings of torch that would change a voice."""

from __future__ import annotations

import signal
import sys

import pytest
import torch

from voicenym import Audio, Key, load
from voicenym.anonymizer import Stream
from voicenym.errors import AudioError, VoicenymError

RATE = 16_000
SOUND = 0.1 * torch.sin(0.05 * torch.arange(RATE))
PSEUDONYM = Key(bytes(range(32))).pseudonym("anna")


class Core:
    """Gives what ``made`` makes of a block."""

    latency = 0

    def __init__(self, made):
        self.push = made

    def flush(self):
        return torch.zeros(1, 0)


def through(made) -> torch.Tensor:
    stream = Stream(Core(made), RATE, RATE, 1, "cpu", system="theirs")
    first = stream.push(SOUND[:8000])
    return torch.cat([first, stream.finish(SOUND[8000:])])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda block: block[:, ::2], "it gave 8000 samples for 16000"),
        (lambda block: torch.cat([block, block], 1), "it gave 16000 samples for 8000"),
        (lambda block: float("nan") * block, "it gave NaN or infinity"),
        (lambda block: block / 0.0, "it gave NaN or infinity"),
        (lambda block: block[0], r"it gave torch.float32 \[8000\] in place of floats \[1, time\]"),
        (lambda block: (1000 * block).int(), r"it gave torch.int32 \[1, 8000\] in place of floats"),
        (lambda block: block.numpy(), "it gave no tensor of torch but ndarray"),
        (lambda block: None, "it gave no tensor of torch but NoneType"),
    ],
)
def test_a_core_that_breaks_its_rules_is_an_error_that_names_the_system(made, message):
    """Half of the samples would be filled up with silence, NaN would be given to the caller."""
    with pytest.raises(AudioError, match=f"the system theirs is defective: {message}"):
        through(made)


def test_a_core_without_a_part_of_its_interface_is_named():
    class Nothing:
        pass

    with pytest.raises(AudioError, match="theirs is defective: it has a core without latency"):
        Stream(Nothing(), RATE, RATE, 1, "cpu", system="theirs")


def test_double_precision_and_gradients_of_a_core_stay_inside():
    weight = torch.full((), 0.5, requires_grad=True)
    found = through(lambda block: weight * block.double())
    assert found.dtype == torch.float32
    assert not found.requires_grad
    assert torch.equal(found, 0.5 * SOUND)


def test_frames_that_go_beyond_the_end_are_cut():
    end = []

    def rounded(block):
        end.append(block)
        return torch.nn.functional.pad(block, (0, 100 if len(end) == 2 else 0))

    assert torch.equal(through(rounded), SOUND)


@pytest.mark.parametrize("name", ["base", "mcadams", "musa", "word-codes"])
def test_a_block_of_a_stream_can_be_changed_and_trained_on(name):
    stream = load(name).stream(PSEUDONYM, RATE)
    blocks = [stream.push(part) for part in (SOUND, SOUND, SOUND)]
    gain = torch.ones((), requires_grad=True)
    (gain * torch.cat(blocks)).square().sum().backward()
    blocks[-1].mul_(0.5)
    assert not any(block.is_inference() for block in blocks)


def test_another_default_type_or_mixed_precision_is_an_error_and_not_another_voice():
    system, audio = load("recast"), Audio(SOUND, RATE)
    before = system(audio, PSEUDONYM).samples
    stream = system.stream(PSEUDONYM, RATE)

    def refused(what):
        for use in (
            lambda: system(audio, PSEUDONYM),
            lambda: system.stream(PSEUDONYM, RATE),
            lambda: stream.push(SOUND),
        ):
            with pytest.raises(VoicenymError, match=what):
                use()

    torch.set_default_dtype(torch.float64)
    try:
        refused(r"torch\.set_default_dtype\(torch\.float32\)")
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        refused(r"torch\.autocast\('cpu', enabled=False\)")
        with torch.autocast("cpu", enabled=False):
            assert torch.equal(system(audio, PSEUDONYM).samples, before)


def test_samples_of_another_layout_or_scale_are_refused():
    """Of [time, channel] each row would have two samples, which come out nearly as they are; 16-bit
    integers as floats would become noise at full scale.
    """
    system = load("vtln")
    with pytest.raises(AudioError, match=r"16000 channels of 2, and at most 256 .* by \.T"):
        system(Audio(torch.stack([SOUND, SOUND], 1), RATE), PSEUDONYM)
    with pytest.raises(AudioError, match=r"samples reach 3276\.8, where full scale is 1; divide"):
        system(Audio(32768 * SOUND / SOUND.max() / 10, RATE), PSEUDONYM)
    with pytest.raises(AudioError, match="1 channel or more, not 0"):
        system.stream(PSEUDONYM, RATE, channels=0)
    loud = system(Audio(50 * SOUND, RATE), PSEUDONYM).samples
    assert loud.abs().max() <= 1


def test_a_label_that_is_no_text_is_named():
    with pytest.raises(TypeError, match=r"is text, such as str\(label\), and no int"):
        Key.generate().pseudonym(3)


def test_a_core_that_ends_the_program_is_an_error_that_names_the_system():
    """A command would have ended with status 0 and without a word, and written nothing."""
    with pytest.raises(AudioError, match=r"theirs is defective: it tried to end .*SystemExit: 0"):
        through(lambda block: sys.exit(0))


def test_an_exit_that_a_signal_asks_for_during_a_core_passes():
    """SIGTERM ends a command whatever its system does at that moment."""

    def ended(number, frame):
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, ended)
    try:
        with pytest.raises(SystemExit) as found:
            through(lambda block: signal.raise_signal(signal.SIGTERM))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert found.value.code == 128 + signal.SIGTERM
