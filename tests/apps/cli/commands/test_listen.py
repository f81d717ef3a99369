"""The commands of listening tests, as somebody types them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys

import httpx
import pytest
from listening_material import folders

import voicenym
from voicenym.listening import demo_study
from voicenym.listening import study as files


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    folders(root, ("a", "b"), 2, 2, 0.3)
    return root


@pytest.fixture
def options(corpus):
    return ("listen", "design", corpus / "original", "--system", f"a={corpus / 'a'}",
            "--system", f"b={corpus / 'b'}")  # fmt: skip


def test_design_export_and_analyse(command, options, tmp_path):
    done = command(*options, "--listeners", 6, "--ratings", 3, "-o", "study")
    assert done.returncode == 0, done.stderr
    text = done.stderr.decode()
    assert "acr: " in text
    assert "6 sessions of about" in text
    assert "planning 6 sessions\nmaking " in text, "of many listeners, it takes a while"
    again = command(*options, "--listeners", 6, "-o", "study").stderr.decode()
    assert again.startswith("voicenym: error: study: holds something already"), "before the work"
    done = command("listen", "analyse", "study", "-o", "report")
    assert (done.returncode, b"nobody has rated anything yet" in done.stderr) == (1, True)
    answer(tmp_path / "study")
    done = command("listen", "analyse", "study", "-o", "report")
    assert done.returncode == 0, done.stderr
    assert b"a: quality " in done.stdout
    assert (tmp_path / "report" / "index.html").stat().st_mode & 0o077 == 0
    for form in ("csv", "json", "tsv", "webmushra-config"):
        done = command("listen", "export", "study", "--format", form, "-o", f"out.{form}")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"out.{form}").stat().st_size > 100
    done = command("listen", "export", "study", "-o", "out.csv")
    assert b"exists already" in done.stderr
    done = command("listen", "export", "study", "--format", "p808", "-o", "lists")
    assert b"--address" in done.stderr
    done = command("listen", "export", "study", "--format", "p808", "--address", "https://x.org",
                   "-o", "lists")  # fmt: skip
    assert (tmp_path / "lists" / "rating_clips.csv").read_text().count("https://x.org/") == 12
    done = command("listen", "analyse", "out.csv", "-o", "report-2", "--intervals", "mixed")
    assert done.returncode == 0, done.stderr


def answer(folder):
    from voicenym.apps.cli.listening.listen_demo import _simulate

    _simulate(folder, 6)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--difference", 0.5), "ask "),
        (("--test", "linkage"), "5 people"),
        (("--test", "nonsense"), "no test 'nonsense'"),
        (("--level", -2), "suits all"),
        (("--level", "nan"), "nobody would hear"),
        (("--level", -200), "nobody would hear"),
        (("--system", "c"), "NAME=FOLDER"),
        (("--system", " =/nowhere"), "NAME=FOLDER"),
        (("--system", "c=/nowhere"), "no such folder"),
        (("--consent", "/nowhere"), "cannot be read as text"),
        (("--headphones", "ears"), "no headphone check"),
        (("--listeners", 0), "a listener"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_nothing(command, options, tmp_path, more, message):
    done = command(*options, "--listeners", 4, "--ratings", 3, *more, "-o", "study")
    assert done.returncode == 1
    text = done.stderr.decode()
    assert message in text
    assert len([line for line in text.splitlines() if "error" in line]) == 1
    assert not (tmp_path / "study").exists()


def test_a_missing_counterpart_is_named(command, corpus, tmp_path):
    shutil.copytree(corpus / "a", tmp_path / "few")
    (tmp_path / "few" / "s0" / "u1.wav").unlink()
    done = command("listen", "design", corpus / "original", "--system", "few=few", "-o", "study")
    assert done.returncode == 1
    assert b"s0/u1" in done.stderr
    assert b"anonymize it" in done.stderr


@pytest.mark.parametrize("content", [b"", b"no recording", b"RIFF\x00\x00\x00\x00WAVE"])
def test_files_that_are_no_recordings_are_refused(command, corpus, tmp_path, content):
    shutil.copytree(corpus / "a", tmp_path / "bad")
    (tmp_path / "bad" / "s0" / "u1.wav").write_bytes(content)
    done = command("listen", "design", corpus / "original", "--system", "bad=bad", "-o", "study")
    assert done.returncode == 1
    assert b"u1.wav" in done.stderr
    assert not (tmp_path / "study").exists()


def test_the_number_of_listeners_is_computed_and_simulated(command):
    done = command("listen", "power", "--difference", "0.5", "--ratings", "4", "--simulate")
    assert done.stdout.startswith(b"18 listeners")
    assert b"simulated: 8" in done.stdout or b"simulated: 7" in done.stdout
    done = command("listen", "power", "--share", "0.4", "--chance", "0.2", "--ratings", "5")
    assert done.stdout.startswith(b"8 listeners")
    assert command("listen", "power").returncode == 1


def test_serve_in_a_process_of_its_own(process, command, options, tmp_path):
    assert command(*options, "--listeners", 2, "--ratings", 3, "-o", "study").returncode == 0
    line = [sys.executable, "-m", "voicenym", "listen", "serve", "study", "--port", "0"]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        address = server.stderr.readline().split()[-1]
        tokens = files.load_tokens(tmp_path / "study")
        headers = {"Authorization": f"Bearer {tokens['L001']}"}
        state = httpx.get(f"{address}/api/next", headers=headers, timeout=30).json()
        assert state["page"]["kind"] == "consent"
        links = (tmp_path / "study" / "links.csv").read_text()
        assert f"{address}/#{tokens['L002']}" in links
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        rest = server.stderr.read()
        assert tokens["L001"] not in rest
        assert "GET" not in rest


def test_the_sample_of_the_package_is_that_of_the_repository(sample):
    packed, open_ = voicenym.read(demo_study.sample_file()), voicenym.read(sample)
    assert packed.rate == open_.rate
    assert packed.samples.equal(open_.samples)


def test_demo_with_simulated_listeners_says_so(command, tmp_path, monkeypatch):
    monkeypatch.setattr(demo_study, "SYSTEMS", ("vtln", "mcadams"))
    done = command("listen", "demo", "--simulated", "5", "-o", "demo")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "demo" / "report" / "index.html").read_text("utf-8")
    assert "THE LISTENERS ARE SIMULATED" in page
    key = files.load_key(tmp_path / "demo" / "study")
    assert set(key.systems) == {"original", "vtln", "mcadams"}
    spoken = {item.text for item in key.items.values()}
    assert spoken == set(demo_study.SENTENCES)
    results = json.loads((tmp_path / "demo" / "report" / "results.json").read_text())
    assert {one["question"] for one in results["questions"]} == {"quality", "word error rate"}
    done = command("listen", "demo", "--simulated", "5", "-o", "demo")
    assert b"holds something already" in done.stderr
