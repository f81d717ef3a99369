"""Simulates a run over a very large corpus with measured costs; small runs check it.

    python benchmarks/scale_simulation.py --measure [--system mcadams]   # small runs; the error
    python benchmarks/scale_simulation.py --measure-ray                  # cost of Ray's driver
    python benchmarks/scale_simulation.py [--hours 1e6] [--cores 1024] [--seconds 10] [--spot]
                                          [--engine ray] [--system base]

``--measure`` fits the costs of a recording (a constant and a part by its length), of a second
worker on one machine, of the driver, and the start, to runs of recordings of equal lengths; then it
predicts runs with recordings of mixed lengths, which took no part in the fit. It writes
``benchmarks/scale_costs.json``. ``--measure-ray`` adds to it what the driving process needs for a
recording with Ray, in processor time, which holds on a machine that others use, too; workers sleep
as long as a recording takes, so that batches are as large as in a run. Prices and failure rates are
assumptions, in ``scale_prices.toml``. A large run of another system than the measured one reckons
with the RTF of its card in the place of the cost of a second.

The simulation is by events: a worker asks the driver for a bundle of recordings, which serves one
worker at a time; all share one storage; machines fail at random (Poisson), lose the recordings that
they hold, and are replaced.
"""

from __future__ import annotations

import argparse
import functools
import heapq
import json
import multiprocessing
import resource
import shutil
import statistics
import tempfile
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from speed import RATE, signal
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.batches.engines import LOCAL
from voicenym.corpus.plans.file_plan import plan
from voicenym.corpus.run_records.run_log import RunLog
from voicenym.pseudonym import Key

HERE = Path(__file__).parent
COSTS, PRICES = HERE / "scale_costs.json", HERE / "scale_prices.toml"
BYTES_PER_SECOND = 2 * RATE
"""Of 16-bit mono sound at 16 kHz; read once, written once."""


@dataclass(frozen=True)
class Costs:
    """Measured costs.

    Args:
        system: that was measured.
        per_file, per_second: of a worker, in seconds, for a recording and a second of it.
        sharing: factor on both with as many workers as cores.
        start: until workers work, in seconds.
        driver: of the driving process, for a recording, in seconds.
        driver_bytes: of its memory, for a recording.
        ray_driver: of the driving process with Ray, for a recording, in seconds of a processor
            beyond ``driver``.
    """

    system: str
    per_file: float
    per_second: float
    sharing: float
    start: float
    driver: float
    driver_bytes: float
    ray_driver: float = 0.0


@dataclass
class Outcome:
    """What a simulated run took: seconds of the clock, and shares of it."""

    wall: float
    busy: float
    driver: float
    storage: float
    losses: int
    repeated: float


def simulate(
    lengths: np.ndarray,
    files: int,
    workers: int,
    costs: Costs,
    *,
    sharing: float,
    bandwidth: float = np.inf,
    losses_per_second: float = 0.0,
    replacement: float = 0.0,
    rng: np.random.Generator,
) -> Outcome:
    """Runs bundles through workers.

    Args:
        lengths: ``[bundle]`` seconds of speech in each.
        files: recordings of a bundle.
        workers: that work at a time.
        costs: measured.
        sharing: factor on the costs of a recording.
        bandwidth: of the storage in bytes per second.
        losses_per_second: of a worker.
        replacement: seconds until a lost worker works again.
        rng: of losses.
    """
    free = [costs.start] * workers
    driver = storage = 0.0
    busy = repeated = 0.0
    losses = 0
    for length in lengths:
        now = heapq.heappop(free)
        driver = max(driver, now) + files * costs.driver
        work = sharing * (files * costs.per_file + length * costs.per_second)
        lost = rng.poisson(losses_per_second * work) if losses_per_second else 0
        again = lost * work / files  # a finished recording is not repeated; one, or a part, is
        storage = max(storage, driver) + 2 * length * BYTES_PER_SECOND / bandwidth
        end = max(driver + work + again + lost * replacement, storage)
        losses, repeated, busy = losses + lost, repeated + again, busy + work
        heapq.heappush(free, end)
    wall = max(free)
    sent = len(lengths) * files * costs.driver
    moved = 2 * float(lengths.sum()) * BYTES_PER_SECOND / bandwidth
    return Outcome(wall, busy, sent / wall, moved / wall, losses, repeated)


# ---- small runs ----


def make(folder: Path, lengths: np.ndarray, rng: np.random.Generator) -> None:
    """Writes recordings of ten speakers, of these lengths in seconds."""
    sound = signal(90.0, None).numpy()
    for number, length in enumerate(lengths):
        start = rng.integers(len(sound) - round(RATE * length))
        path = folder / f"s{number % 10}" / f"{number}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, sound[start : start + round(RATE * length)], RATE)


def clocked(source: Path, workers: int, system: str) -> tuple[float, float]:
    """Seconds until the first output, and until the last."""
    out = Path(tempfile.mkdtemp())
    try:
        items = plan([source], out)
        job = Job(system, {}, Key(bytes(32), None), log=out / "voicenym.jsonl")
        times = [time.perf_counter()]
        run(job, items, workers, lambda outcome: times.append(time.perf_counter()), engine=LOCAL)
        return times[1] - times[0], times[-1] - times[0]
    finally:
        shutil.rmtree(out)


def driver_costs(count: int = 20_000) -> tuple[float, float]:
    """Seconds of a recording in the driving process: pseudonym and line of the log; and bytes of
    memory: its entry in the plan, and what the log keeps of it.
    """
    seconds = _logged(5_000)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        size = fresh.submit(_driver_bytes, count).result()
    return seconds / 5_000, size / count


def _driver_bytes(count: int) -> int:
    """Growth of this process with a plan and a log of so many recordings; empty files suffice."""
    folder = Path(tempfile.mkdtemp())
    try:
        for number in range(100 + count):
            path = folder / f"in/speaker-{number % 1000}/session/recording-{number}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            if number == 99:
                _logged(100)
                plan([folder / "in"], folder / "out")
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        items = plan([folder / "in"], folder / "out")
        _logged(count)
        assert len(items) == 100 + count
        return 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    finally:
        shutil.rmtree(folder)


def _logged(count: int) -> float:
    """Seconds of pseudonyms and lines of a log for some recordings."""
    folder = Path(tempfile.mkdtemp())
    key, log = Key(bytes(32), None), RunLog(folder / "log")
    begun = time.perf_counter()
    for number in range(count):
        name = f"speaker-{number % 1000}/session/recording-{number}.wav"
        key.pseudonym(name)
        log.append(
            {
                "version": "0.1.0", "system": "mcadams", "revision": 1, "derivation": 1,
                "parameters": {"low": 0.5, "high": 0.9, "order": 20}, "per": "speaker",
                "key_check": f"{number:016x}", "output": name, "speaker_rule": 2,
                "speaker_check": f"{number:016x}", "input": f"/corpus/{name}",
                "input_check": f"{number:032x}", "duration": 10.0, "rate": 16000, "channels": 1,
                "sha256": f"{number:064x}",
            }
        )  # fmt: skip
    seconds = time.perf_counter() - begun
    log.close()
    shutil.rmtree(folder)
    return seconds


def measure(system: str, rounds: int) -> None:
    """Fits costs to runs of equal lengths, and prints the error on runs of mixed lengths."""
    rng = np.random.default_rng(0)
    mixed = np.clip(rng.lognormal(np.log(6), 0.8, 24), 0.5, 60)
    runs = {
        "short": (np.full(20, 1.0), 1),
        "long": (np.full(8, 20.0), 1),
        "two": (np.full(24, 8.0), 2),
        "mixed, 1 worker": (mixed, 1),
        "mixed, 2 workers": (mixed, 2),
    }
    root = Path(tempfile.mkdtemp())
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    try:
        for name, (lengths, _) in runs.items():
            make(root / name, lengths, rng)
        for _ in range(rounds):
            for name, (_, workers) in runs.items():
                found[name].append(clocked(root / name, workers, system))
    finally:
        shutil.rmtree(root)
    first = {name: statistics.median(t[0] for t in times) for name, times in found.items()}
    total = {name: statistics.median(t[1] for t in times) for name, times in found.items()}

    def a_file(name: str) -> float:
        return (total[name] - first[name]) / (len(runs[name][0]) - 1)

    per_second = (a_file("long") - a_file("short")) / 19.0
    per_file = a_file("short") - per_second
    alone = per_file + 8.0 * per_second
    sharing = 2 * a_file("two") / alone
    driver, size = driver_costs()
    start = max(0.0, first["two"] - sharing * alone)
    before = json.loads(COSTS.read_text("utf-8")) if COSTS.is_file() else {}
    ray_driver = before.get("ray_driver", 0.0)
    costs = Costs(system, per_file, per_second, sharing, start, driver, size, ray_driver)
    for name, workers in (("mixed, 1 worker", 1), ("mixed, 2 workers", 2)):
        begin = start if workers > 1 else max(0.0, first["short"] - per_file - per_second)
        known = Costs(**{**asdict(costs), "start": begin, "driver": 0.0})
        factor = 1.0 if workers == 1 else sharing
        guess = simulate(mixed, 1, workers, known, sharing=factor, rng=rng).wall
        times = [t[1] for t in found[name]]
        error = 100 * (guess / total[name] - 1)
        print(
            f"{name}: predicted {guess:.2f} s, measured {total[name]:.2f} "
            f"({min(times):.2f} to {max(times):.2f}), error {error:+.1f} %"
        )
    COSTS.write_text(json.dumps(asdict(costs), indent=1) + "\n", "utf-8")
    print(json.dumps(asdict(costs), indent=1))


def nap(task: tuple[float, bytes]) -> bytes:
    """Answer as large as a task, after the seconds that a recording takes."""
    time.sleep(task[0])
    return task[1]


def ray_driver_costs(seconds: float, counts: tuple[int, ...] = (100, 100, 900)) -> float:
    """Processor seconds of the driving process for a task, of the last two runs, after a first, so
    that start and end do not count.
    """
    from voicenym.corpus.workers.ray_pool import RayPool

    spent = []
    with RayPool(2, functools.partial, nap) as pool:
        for count in counts:
            begun = time.process_time()
            found = list(pool.answers((seconds, bytes(1000)) for _ in range(count)))
            spent.append(time.process_time() - begun)
            assert len(found) == count
    return (spent[-1] - spent[-2]) / (counts[-1] - counts[-2])


def measure_ray(rounds: int) -> None:
    """Adds the cost of Ray's driver to the stored costs, and prints its range."""
    costs = Costs(**json.loads(COSTS.read_text("utf-8")))
    each = costs.per_file + 10 * costs.per_second
    found = [ray_driver_costs(each) for _ in range(rounds)]
    cost = statistics.median(found)
    print(
        f"driving process with Ray, recordings of {1e3 * each:.0f} ms: {1e6 * cost:.0f} "
        f"({1e6 * min(found):.0f} to {1e6 * max(found):.0f}) us of a processor for each"
    )
    new = {**asdict(costs), "ray_driver": cost}
    COSTS.write_text(json.dumps(new, indent=1) + "\n", "utf-8")


# ---- the large run ----


def costs_of(system: str) -> Costs:
    """Stored costs; those of another system by its card, whose RTF is of one core alone."""
    from voicenym.anonymizer import SYSTEMS

    costs = Costs(**json.loads(COSTS.read_text("utf-8")))
    if system == costs.system:
        return costs
    figures = SYSTEMS.get(system).card.figures
    (rtf,) = {one.value for one in figures if one.metric == "RTF"}
    return replace(costs, system=system, per_second=rtf)


def large(hours: float, cores: int, seconds: float, spot: bool, engine: str, system: str) -> None:
    """Prints days, money, storage, failures, and the load of each part."""
    costs = costs_of(system)
    if engine == "ray":
        costs = replace(costs, driver=costs.driver + costs.ray_driver)
    prices = tomllib.loads(PRICES.read_text("utf-8"))
    rng = np.random.default_rng(0)
    count = hours * 3600 / seconds
    bundles = int(min(200_000, count))
    files = max(1, round(count / bundles))
    spread = rng.lognormal(-0.5 * (0.8**2) / files, 0.8 / np.sqrt(files), bundles)
    lengths = files * seconds * spread
    nodes = max(1, cores // prices["cores_per_node"])
    rate = prices["spot_losses_per_day"] * 365 if spot else prices["node_failures_per_year"]
    done = simulate(
        lengths, files, cores, costs, sharing=costs.sharing,
        bandwidth=prices["network_gb_per_second"] * 1e9,
        losses_per_second=rate / (365 * 86_400),
        replacement=60 * prices["node_replacement_minutes"],
        rng=rng,
    )  # fmt: skip
    core_hours = done.wall * cores / 3600
    money = core_hours * prices["spot_core_hour" if spot else "core_hour"]
    terabytes = hours * 3600 * BYTES_PER_SECOND / 1e12
    stored = 2 * terabytes * 1000 * prices["storage_gb_month"] * max(1, done.wall / 2_592_000)
    asked = 2 * count / 1e6 * prices["requests_per_million"]
    memory = count * costs.driver_bytes / 1e9
    unit = prices["currency"]
    print(f"{hours:,.0f} h of {costs.system}, {count:,.0f} recordings of {seconds:g} s")
    print(f"{cores:,} cores on {nodes:,} {'spot ' if spot else ''}machines, no GPU")
    print(f"days {done.wall / 86_400:.2f}; core-hours {core_hours:,.0f}; "
          f"workers busy {100 * done.busy / (done.wall * cores):.0f} %")  # fmt: skip
    print(f"{unit} {money:,.0f} of cores, {stored:,.0f} of storage, {asked:,.0f} of requests")
    price = prices["gpu_hour"] / prices["spot_core_hour" if spot else "core_hour"]
    print(f"no GPU was measured; one costs less than cores if it does the work of {price:.0f}")
    print(f"storage: {terabytes:,.1f} TB read and {terabytes:,.1f} TB written")
    print(f"lost machines {done.losses / prices['cores_per_node']:,.0f}; repeated work "
          f"{done.repeated / 3600:,.1f} core-hours; bad recordings "
          f"{count * prices['bad_recordings_per_million'] / 1e6:,.0f}")  # fmt: skip
    loads = {
        "memory of the driving process": memory / prices["driver_memory_gb"],
        "time of the driving process": done.driver,
        "storage": done.storage,
    }
    print(f"the driving process holds {memory:,.0f} GB of plan and log")
    for name, load in sorted(loads.items(), key=lambda item: -item[1]):
        print(f"  {name}: {100 * load:,.1f} % of its limit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--system", default="mcadams")
    parser.add_argument("--rounds", type=int, default=3, help="of each run; the median counts")
    parser.add_argument("--hours", type=float, default=1e6)
    parser.add_argument("--cores", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--spot", action="store_true")
    parser.add_argument("--engine", choices=("local", "ray"), default="ray")
    parser.add_argument("--measure-ray", action="store_true")
    given = parser.parse_args()
    if given.measure:
        measure(given.system, given.rounds)
    elif given.measure_ray:
        measure_ray(given.rounds)
    else:
        large(given.hours, given.cores, given.seconds, given.spot, given.engine, given.system)


if __name__ == "__main__":
    main()
