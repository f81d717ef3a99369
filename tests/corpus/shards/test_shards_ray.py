"""Shards and stores with Ray: the bytes of the local engine, no key in tasks, dead actors."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shard_material import parquet_shard, tree, web_shard

from voicenym.corpus.batches.batch import Job
from voicenym.corpus.batches.engines import LOCAL, RayEngine
from voicenym.corpus.shards.shard_ledger import ledger_of
from voicenym.corpus.shards.shard_plan import plan_units
from voicenym.corpus.shards.shard_runner import ShardSummary, run_shards
from voicenym.corpus.shards.shard_survey import SpeakerChoice, survey
from voicenym.corpus.shards.shard_task import ShardTask
from voicenym.corpus.shards.shard_voices import assignments
from voicenym.corpus.workers.ray_session import RaySession
from voicenym.pseudonym import Key

pytest.importorskip("ray")
pytestmark = pytest.mark.slow
KEY = Key(bytes(range(100, 132)))


@pytest.fixture(scope="module")
def session():
    with RaySession(workers=2) as session:
        yield session


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    for number in range(3):
        web_shard(folder / f"in/{number}.tar", range(2 * number, 2 * number + 2))
    parquet_shard(folder / "in/p.parquet", range(3))
    return folder


def anonymized(inputs, out: Path, workers: int = 1, engine=LOCAL) -> ShardSummary:
    plan = plan_units([str(path) for path in inputs], str(out))
    job = Job("mcadams", {}, KEY, log=out / "voicenym.jsonl")
    state = ledger_of(str(out), [unit.name for unit in plan.units])
    return run_shards(job, plan.units, state, SpeakerChoice(), workers, engine=engine)


def outputs(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(folder).items() if "voicenym" not in name}


def test_ray_writes_the_bytes_of_the_local_engine_in_any_order_and_partition(
    session, shards, tmp_path_factory
):
    everything = sorted((shards / "in").iterdir())
    assert anonymized([shards / "in"], shards / "local").done == 4
    reference = outputs(shards / "local")

    @settings(
        max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(st.permutations(everything), st.integers(0, 4), st.sampled_from([1, 2]))
    def same(order, first, workers):
        out = tmp_path_factory.mktemp("out")
        if first:  # a part in one run, with the other engine, and the rest in the next
            assert anonymized(order[:first], out).done == first
        summary = anonymized(order, out, workers, RayEngine())
        assert (summary.done, summary.skipped) == (4 - first, first)
        assert summary.failures == []
        assert outputs(out) == reference

    same()


def test_a_run_with_nothing_to_do_starts_no_engine(shards, tmp_path):
    assert anonymized([shards / "in"], tmp_path).done == 4
    # an address that nobody has: a connection would fail
    again = anonymized([shards / "in"], tmp_path, 2, RayEngine("127.0.0.1:9"))
    assert (again.skipped, again.failures) == (4, [])


def test_a_task_holds_the_voices_of_its_shard_and_no_key(shards, tmp_path):
    plan = plan_units([str(shards / "in")], str(tmp_path))
    job = Job("mcadams", {}, KEY)

    def voices(unit):
        return assignments(job, survey(unit, SpeakerChoice(), lenient=False))

    task = ShardTask(plan.units[0], voices(plan.units[0]))
    data = pickle.dumps((task, job.for_workers()))
    assert bytes(range(100, 132)) not in data
    assert bytes(range(100, 132)).hex().encode() not in data
    others = {a.pseudonym for a in voices(plan.units[3]).values()}
    assert not others & {a.pseudonym for a in task.assigned.values()}


def test_a_damaged_shard_is_named_and_the_others_go_on(session, shards, tmp_path):
    (tmp_path / "in").mkdir()
    data = (shards / "in/0.tar").read_bytes()
    (tmp_path / "in/bad.tar").write_bytes(data[:2000])
    (tmp_path / "in/good.tar").write_bytes(data)
    summary = anonymized([tmp_path / "in"], tmp_path / "out", 2, RayEngine())
    assert summary.done == 1
    ((source, reason),) = summary.failures
    assert source.endswith("bad.tar")
    assert "get a whole copy of it" in reason
    assert list(outputs(tmp_path / "out")) == ["good.tar"]
