"""``voicenym serve``: the systems behind an HTTP interface and a page."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app

app = new_app()
LISTEN, WORK, STORE = "Where it listens, and for whom", "Limits", "What it stores"
LONGEST = 366 * 24 * 60
"""Minutes of a limit: infinity is none."""


@command(
    app,
    "voicenym serve",
    "voicenym serve --token-file tokens --new-token desk",
    "voicenym serve --host 0.0.0.0 --token-file tokens --keys keys/",
)
def serve(
    host: str = typer.Option(
        "127.0.0.1",
        "--host",
        rich_help_panel=LISTEN,
        help="Address; another than this machine's own needs --token-file or --tls-client-ca.",
    ),
    port: int = typer.Option(8765, "--port", rich_help_panel=LISTEN, help="0 for a free one."),
    token_file: Path | None = typer.Option(
        None,
        "--token-file",
        rich_help_panel=LISTEN,
        help="File of those who may ask (mode 0600): a name and a token a line.",
    ),
    new_token: str | None = typer.Option(
        None,
        "--new-token",
        metavar="NAME",
        rich_help_panel=LISTEN,
        help="Add a token of this name to --token-file, print it, and end.",
    ),
    certificate: Path | None = typer.Option(
        None, "--tls-certificate", rich_help_panel=LISTEN, help="PEM chain of the server."
    ),
    private_key: Path | None = typer.Option(
        None, "--tls-key", rich_help_panel=LISTEN, help="PEM of its private key."
    ),
    client_ca: Path | None = typer.Option(
        None,
        "--tls-client-ca",
        rich_help_panel=LISTEN,
        help="PEM of the authority of clients' certificates (mutual TLS).",
    ),
    workers: int | None = typer.Option(
        None,
        "--workers",
        "-j",
        min=1,
        rich_help_panel=WORK,
        help="Recordings in work at once; the number of processors unless given.",
    ),
    waiting: int = typer.Option(
        16, "--waiting", min=0, rich_help_panel=WORK, help="Recordings that wait at most."
    ),
    megabytes: int = typer.Option(
        200, "--max-megabytes", min=1, rich_help_panel=WORK, help="Of a request."
    ),
    minutes: float = typer.Option(
        10.0,
        "--max-minutes",
        min=0.01,
        max=LONGEST,
        rich_help_panel=WORK,
        help="Of a recording of a request.",
    ),
    job_minutes: float = typer.Option(
        240.0,
        "--max-job-minutes",
        min=0.01,
        max=LONGEST,
        rich_help_panel=WORK,
        help="Of a recording of a job.",
    ),
    work_seconds: float = typer.Option(
        3600.0,
        "--max-seconds",
        min=1.0,
        max=60.0 * LONGEST,
        rich_help_panel=WORK,
        help="Of work on one recording.",
    ),
    memory: int = typer.Option(
        3072, "--worker-memory", min=256, rich_help_panel=WORK, help="MiB of a worker."
    ),
    rate: float = typer.Option(
        20.0,
        "--rate",
        min=0.0,
        max=1e6,
        rich_help_panel=WORK,
        help="Requests a second of one client; 0: any.",
    ),
    live_sessions: int | None = typer.Option(
        None,
        "--live-sessions",
        min=0,
        rich_help_panel=WORK,
        help="Live sessions at once, each of which takes a worker; all workers but one unless "
        "given, 0: none.",
    ),
    live_minutes: float = typer.Option(
        60.0,
        "--max-live-minutes",
        min=0.01,
        max=LONGEST,
        rich_help_panel=WORK,
        help="Of a live session.",
    ),
    keys: Path | None = typer.Option(
        None,
        "--keys",
        rich_help_panel=STORE,
        help="Folder of the clients' keys. Default: serve-keys in ~/.local/share/voicenym.",
    ),
    folder: Path | None = typer.Option(
        None,
        "--folder",
        rich_help_panel=STORE,
        help="Private folder of recordings in work; one in memory (tmpfs) leaves no trace on disk.",
    ),
) -> None:
    """Serve the systems to programs and browsers, on this machine unless told otherwise."""
    from voicenym.apps.web.bearer_tokens import BearerTokens, add_token
    from voicenym.errors import VoicenymError
    from voicenym.special_files import refuse_named_pipe

    if token_file is not None:
        if token_file.is_dir():
            raise VoicenymError(f"{token_file}: is a folder; name a file, which --new-token makes")
        refuse_named_pipe(token_file)
    if new_token is not None:
        if token_file is None:
            raise VoicenymError("--new-token needs --token-file FILE, to which it is added")
        token = add_token(token_file, new_token)
        try:
            typer.echo(token)
        except OSError:  # nobody has seen it
            _take_back(token_file, f"{new_token} {token}\n")
            raise
        return
    from voicenym.apps.web.local_server import need_web

    need_web()
    from voicenym.apps.cli.measured_systems.system_cards import system_cards
    from voicenym.apps.serve.application import application, is_metered, is_open
    from voicenym.apps.serve.key_store import KeyStore
    from voicenym.apps.serve.live_processes.live_sessions import LiveLimits
    from voicenym.apps.serve.service import Service, WorkLimits
    from voicenym.apps.web.bind_rules import Binding
    from voicenym.apps.web.hardening import Protection
    from voicenym.apps.web.local_server import run_server
    from voicenym.apps.web.request_body import Limits
    from voicenym.apps.web.upload_folder import UploadFolder
    from voicenym.corpus.workers.cpu_count import cores
    from voicenym.nets.weights import weights_home

    tokens = None if token_file is None else BearerTokens.load(token_file)
    binding = Binding(host, port, tokens is not None, certificate, private_key, client_ca)
    workers = workers or cores()
    work = WorkLimits(
        workers,
        waiting,
        60.0 * minutes,
        60.0 * job_minutes,
        work_seconds,
        memory << 20,
    )
    live = LiveLimits(
        max(1, workers - 1) if live_sessions is None else live_sessions, 60.0 * live_minutes
    )
    protection = Protection(
        Limits(megabytes << 20, per_second=rate, burst=max(1, int(3 * rate))),
        tokens,
        is_open=is_open,
        is_metered=is_metered,
        allowed_hosts=binding.allowed_hosts(),
        has_tls=binding.has_tls,
    )
    with UploadFolder(folder) as uploads:
        stored = KeyStore(keys or weights_home.home() / "serve-keys")
        service = Service(uploads, stored, system_cards(), work, live)
        if uploads.swept:
            typer.echo(f"wiped what ended servers left (folders: {uploads.swept})", err=True)
        run_server(
            application(service, protection),
            binding,
            lambda address: typer.echo(f"voicenym serves at {address} (Ctrl-C ends it)", err=True),
            service.end,
        )


def _take_back(token_file: Path, line: str) -> None:
    """Removes a line of a token file, and the file if it holds nothing else."""
    from voicenym.private import write_private

    rest = token_file.read_text("utf-8").replace(line, "")
    if rest:
        write_private(token_file, rest)
    else:
        token_file.unlink()
