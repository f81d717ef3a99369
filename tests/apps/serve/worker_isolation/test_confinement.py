"""A worker opens no connection, starts no program, leaves other processes alone, and has bounded
memory, time and files.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from voicenym.apps.serve.worker_isolation import call_filter, process_access
from voicenym.apps.serve.worker_isolation.call_filter import can_filter

pytestmark = pytest.mark.skipif(not can_filter(), reason="no filter of system calls here")
HEAD = """
import os, socket, sys, errno
from voicenym.apps.serve.worker_isolation.confinement import confine
confine(200 << 20, 2, 1000)
def refused(what):
    try:
        what()
    except OSError as error:
        assert error.errno in (errno.EPERM, errno.EACCES), error
        return
    raise SystemExit("was not refused")
"""


def confined(code):
    return subprocess.run(
        [sys.executable, "-c", HEAD + code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "call",
    [
        "socket.socket",
        "lambda: socket.socket(socket.AF_UNIX)",
        "lambda: socket.socketpair()",
        "lambda: os.execv('/bin/true', ['true'])",
        "lambda: os.kill(os.getppid(), 0)",
    ],
)
def test_calls_are_refused(call):
    found = confined(f"refused({call})")
    assert found.returncode == 0, found.stderr


def test_a_child_starts_no_program():
    code = """
child = os.fork()
if not child:
    refused(lambda: os.execv('/bin/true', ['true']))
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    found = confined(code)
    assert found.returncode == 0, found.stderr


def test_an_inherited_connection_still_speaks():
    """The worker's own pipe to the server."""
    assert confined("os.write(1, b'answer')").stdout == "answer"


def test_memory_is_bounded():
    found = confined(
        "bytearray(100 << 20)\ntry:\n    bytearray(400 << 20)\nexcept MemoryError: os._exit(9)"
    )
    assert found.returncode == 9


def test_files_are_bounded(tmp_path):
    code = f"""
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open({str(tmp_path / "large")!r}, "wb", buffering=0) as file:
    try:
        file.write(b"x" * 1000)
        file.write(b"x" * 1000)
    except OSError as error:
        assert error.errno == errno.EFBIG
        os._exit(9)
"""
    assert confined(code).returncode == 9


def test_time_is_bounded():
    assert confined("while True: pass").returncode in (-signal.SIGXCPU, -signal.SIGKILL)


VICTIM = """
import ctypes, os, sys
from voicenym.apps.serve.worker_isolation.process_access import close_memory
USER
libc = ctypes.CDLL(None)
libc.prctl(4, 1, 0, 0, 0)  # a change of the user closes it
CLOSE
kept = ctypes.create_string_buffer(b"secret")
print(os.getpid(), ctypes.addressof(kept), flush=True)
sys.stdin.read()
print(kept.value.decode())
"""
# It imports everything first: another user cannot read the interpreter's folder everywhere.
ATTACK = """
import ctypes, encodings.ascii, fcntl, os, platform, resource, struct, sys
from voicenym.apps.serve.worker_isolation import confinement
victim, place = int(sys.argv[1]), int(sys.argv[2])
got = []
def attempt(name, what):
    try:
        what()
    except OSError as error:
        assert error.errno in (1, 3, 13, 22), (name, error)
    else:
        got.append(name)
libc = ctypes.CDLL(None, use_errno=True)
def call(x86_64, aarch64, *arguments):
    number = x86_64 if platform.machine() == "x86_64" else aarch64
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def memory(flags, what):
    handle = os.open(f"/proc/{victim}/mem", flags)
    os.lseek(handle, place, 0)
    what(handle)
def owned():
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETSIG, 9)
    fcntl.fcntl(reader, fcntl.F_SETOWN, victim)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writer, b"x")
info = struct.pack("=iii", 9, 0, -1) + bytes(116)
local = ctypes.create_string_buffer(8)
areas = [struct.pack("=QQ", one, 6) for one in (ctypes.addressof(local), place)]
USER
PREPARE
attempt("read", lambda: memory(os.O_RDONLY, lambda handle: os.read(handle, 6)))
attempt("write", lambda: memory(os.O_WRONLY, lambda handle: os.write(handle, b"broken")))
attempt("environ", lambda: open(f"/proc/{victim}/environ").read())
attempt("readv", lambda: call(310, 270, victim, areas[0], 1, areas[1], 1, 0))
attempt("writev", lambda: call(311, 271, victim, areas[0], 1, areas[1], 1, 0))
attempt("ptrace", lambda: call(101, 117, 16, victim, 0, 0))
attempt("pidfd", lambda: call(434, 434, victim, 0))
attempt("prlimit", lambda: call(302, 261, victim, 0, struct.pack("=QQ", 0, 0), 0))
attempt("owner", owned)
attempt("kill", lambda: os.kill(victim, 9))
attempt("tkill", lambda: call(200, 130, victim, 9))
attempt("tgkill", lambda: call(234, 131, victim, victim, 9))
attempt("queue", lambda: call(129, 138, victim, 9, info))
attempt("tgqueue", lambda: call(297, 240, victim, victim, 9, info))
print(*got)
"""


def attack(prepare, close="", unprivileged=False):
    """What a process could do to another of its user, and what is left of that one's memory."""
    user = "os.setgroups([]); os.setgid(65534); os.setuid(65534)" if unprivileged else ""

    def code(text):
        return text.replace("USER", user).replace("CLOSE", close).replace("PREPARE", prepare)

    victim = subprocess.Popen(
        [sys.executable, "-c", code(VICTIM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with victim:
        given = victim.stdout.readline().split()
        found = subprocess.run(
            [sys.executable, "-c", code(ATTACK), *given], capture_output=True, text=True, timeout=60
        )
        assert found.returncode == 0, found.stderr
        left = victim.communicate("", timeout=60)[0].strip()
    assert (victim.returncode == 0) == bool(left)
    return set(found.stdout.split()), left


USERS = [False, pytest.param(True, marks=pytest.mark.skipif(os.geteuid() != 0, reason="not root"))]
CONFINE = "confinement.confine(200 << 20, 20, 1000)"
NO_LANDLOCK = "confinement.leave_others_alone = lambda: False; "


@pytest.mark.parametrize("unprivileged", USERS)
def test_another_process_of_the_user_is_neither_read_nor_changed_nor_ended(unprivileged):
    before = attack("", unprivileged=unprivileged)[0]
    assert before >= {"prlimit", "owner", "tgkill"}, "what is tried works without confinement"
    got, left = attack(CONFINE, unprivileged=unprivileged)
    if not has_landlock():
        got -= {"read", "write", "environ"}
        left = "secret"
    assert not got
    assert left == "secret"


@pytest.mark.parametrize("unprivileged", USERS)
def test_a_closed_process_is_neither_read_nor_changed_without_landlock(unprivileged):
    """As the server is closed, on a system without it."""
    got, left = attack(NO_LANDLOCK + CONFINE, "close_memory()", unprivileged)
    assert not got
    assert left == "secret"


def has_landlock():
    code = "from voicenym.apps.serve import process_access as access; access.give_up_privileges(); "
    code += "raise SystemExit(not access.leave_others_alone())"
    return not subprocess.run([sys.executable, "-c", code], check=False).returncode


def test_nothing_is_given_up_where_nothing_is_held(monkeypatch):
    """Filters of services refuse ``capset``, whatever it gives up."""

    class Libc:
        def prctl(self, *given):
            return 0

        capget = prctl  # which leaves the zeros that are there

        def capset(self, *given):
            raise AssertionError("refused")

    monkeypatch.setattr(process_access, "_libc", Libc)
    process_access.give_up_privileges()


def test_a_process_still_ends_itself():
    assert confined("os.abort()").returncode == -signal.SIGABRT
    code = "import signal\nsignal.raise_signal(signal.SIGTERM)"
    assert confined(code).returncode == -signal.SIGTERM
    found = confined("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))")
    assert found.returncode == 0, found.stderr


def test_programs_for_other_machines_have_the_same_rules():
    for machine in call_filter._REFUSED:
        program = call_filter._program(machine, 4711)
        refused = call_filter._REFUSED[machine][1]
        assert len(refused) == len(set(refused)) == len(call_filter._REFUSED["x86_64"][1])
        for number in refused:
            assert outcome(program, machine, number) == "refused"
        for number in call_filter._SIGNALS[machine]:
            assert outcome(program, machine, number, 4711) == "allowed"
            assert outcome(program, machine, number, 4712) == "refused"
        limits, (fcntl, ioctl) = call_filter._LIMITS[machine], call_filter._FILES[machine]
        assert outcome(program, machine, limits, 0) == "allowed"
        assert outcome(program, machine, limits, 1) == "refused"
        assert outcome(program, machine, fcntl, 3, 3) == "allowed"
        assert outcome(program, machine, fcntl, 3, 8) == "refused"
        assert outcome(program, machine, ioctl, 3, 0x5413) == "allowed"
        assert outcome(program, machine, ioctl, 3, 0x5412) == "refused"
        assert outcome(program, machine, 0x40000000 + refused[0]) == "refused"
        assert outcome(program, "another", 0) == "killed"


def outcome(program, machine, number, *arguments):
    """What a filter says of a call: the machine of a Berkeley packet filter, in Python."""
    architecture = call_filter._REFUSED.get(machine, (0,))[0]
    data = struct.pack("=IIQ", number, architecture, 0)
    data += struct.pack("=6Q", *arguments, *[0] * (6 - len(arguments)))
    at, value = 0, 0
    while True:
        code, yes, no, given = struct.unpack_from("HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, given)
        elif code == 0x06:
            return {0x7FFF0000: "allowed", 0x50001: "refused", 0x80000000: "killed"}[given]
        else:
            at += yes if (value == given if code == 0x15 else value >= given) else no


@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_root_s_capabilities_are_given_up():
    code = "print(next(line for line in open('/proc/self/status') if line.startswith('CapEff')))"
    assert int(confined(code).stdout.split()[1], 16) & ~4 == 0


def test_the_process_that_workers_are_copied_from_is_closed():
    code = """
import sys
from voicenym import processes
from voicenym.apps.serve.job_task import MODULES
context = processes.copying(MODULES[:1] if sys.argv[1] == "closed" else ["json"])
told = "import ctypes, os; os._exit(40 + ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
process = context.Process(target=exec, args=(told,))
process.start()
process.join()
raise SystemExit(process.exitcode)
"""
    for given, dumpable in (("closed", 0), ("open", 1)):
        found = subprocess.run([sys.executable, "-c", code, given], timeout=60, check=False)
        assert found.returncode == 40 + dumpable


def test_a_worker_of_a_server_is_confined(server, long_speech):
    """Its limits and its filter, as the system shows them."""
    with server.client() as client:
        data = long_speech.read_bytes()
        job = client.post(
            "/v1/jobs", files={"file": ("a.flac", data)}, data={"system": "base"}
        ).json()
        with client.stream("GET", job["links"]["events"]) as stream:
            lines = stream.iter_lines()
            while '"seconds": 0.0' in (line := next(lines)) or "data" not in line:
                pass
            (worker,) = server.workers()
            threads = [
                dict(line.split(":\t") for line in file.read_text().splitlines() if ":\t" in line)
                for file in Path(f"/proc/{worker}/task").glob("*/status")
            ]
            with open(f"/proc/{worker}/limits") as file:
                limits = file.read()
            os.kill(worker, signal.SIGKILL)
        client.delete(job["links"]["self"])
    assert threads
    for status in threads:
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
        assert int(status["CapEff"], 16) & ~4 == 0
    line = next(line for line in limits.splitlines() if line.startswith("Max address space"))
    assert line.split()[3].isdigit()
