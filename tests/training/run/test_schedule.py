import pytest
import torch

from voicenym.training.run.schedule import Cyclical, Falling, RateSchedule, seeded


def test_one_triangle():
    schedule = Cyclical(cycles=1, rise=0.25, floor=0.1)
    assert schedule(0.0) == pytest.approx(0.1)
    assert schedule(0.125) == pytest.approx(0.55)
    assert schedule(0.25) == pytest.approx(1.0)
    assert schedule(0.625) == pytest.approx(0.55)
    assert schedule(1.0) == pytest.approx(0.1, abs=1e-6)


def test_each_triangle_is_half_as_high():
    schedule = Cyclical(cycles=3, rise=0.5, floor=0.0)
    assert [schedule((k + 0.5) / 3) for k in range(3)] == pytest.approx([1.0, 0.5, 0.25])


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Trainer:
    """What the callback reads of Lightning's."""

    world_size = 1
    should_stop = False

    def __init__(self):
        self.optimizers = [torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=2.0)]


def steps(pace, trainer, clock, count, each=1.0):
    rates = []
    for _ in range(count):
        pace.on_train_batch_start(trainer, None, None, 0)
        rates.append(trainer.optimizers[0].param_groups[0]["lr"])
        clock.now += each
        pace.on_train_batch_end(trainer, None, None, None, 0)
    return rates


def test_time_ends_a_training_and_rates_fall_towards_that_end():
    clock, trainer = Clock(), Trainer()
    pace = RateSchedule(Cyclical(rise=0.5, floor=0.0), steps=1000, seconds=10.0, clock=clock)
    pace.on_train_start(trainer, None)
    rates = steps(pace, trainer, clock, 9)
    assert not trainer.should_stop
    rates += steps(pace, trainer, clock, 1)
    assert trainer.should_stop
    assert rates == pytest.approx([0.0, 0.4, 0.8, 1.2, 1.6, 2.0, 1.6, 1.2, 0.8, 0.4], abs=1e-9)


def test_steps_end_it_too():
    clock, trainer = Clock(), Trainer()
    pace = RateSchedule(Cyclical(), steps=3, clock=clock)
    pace.on_train_start(trainer, None)
    steps(pace, trainer, clock, 3)
    assert trainer.should_stop


def test_an_interrupted_run_goes_on_where_it_was_and_a_finished_one_begins_again():
    clock, trainer = Clock(), Trainer()
    first = RateSchedule(Cyclical(), steps=10, clock=clock)
    first.on_train_start(trainer, None)
    steps(first, trainer, clock, 4)
    second = RateSchedule(Cyclical(), steps=10, clock=clock)
    second.load_state_dict(first.state_dict())
    assert second.share() == pytest.approx(0.4)
    second.on_train_start(trainer, None)
    steps(second, trainer, clock, 6)
    third = RateSchedule(Cyclical(), steps=10, clock=clock)
    third.load_state_dict(second.state_dict())
    assert third.share() == 0.0
    third.on_train_start(trainer, None)
    assert max(steps(third, trainer, clock, 5)) == pytest.approx(2.0, rel=0.2)


def test_generators_by_their_numbers():
    def draw(*numbers):
        return torch.rand(1, generator=seeded(torch.device("cpu"), *numbers)).item()

    assert draw(1, 2, 3) == draw(1, 2, 3)
    assert len({draw(1, 2, 3), draw(1, 3, 2), draw(2, 1, 3), draw(1, 2)}) == 4


def test_the_rate_falls_by_its_factor_every_epoch():
    falling = Falling(0.5, epochs=4)
    assert [falling(s) for s in (0.0, 0.25, 1.0)] == pytest.approx([1.0, 0.5, 0.0625])
    assert Falling(1.0, 1, rise=0.1)(0.05) == pytest.approx(0.51)
