"""``voicenym listen serve``: the page of a study, for listeners with a link."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import counted

app = new_app()
network_option = partial(typer.Option, rich_help_panel="Network")
LINKS = "links.csv"


@command(
    app,
    "voicenym listen serve study/",
    "voicenym listen serve study/ --base-url https://listen.example.org --behind-proxy",
)
def serve(
    study: Path = typer.Argument(help="Folder of voicenym listen design."),
    host: str = network_option("127.0.0.1", "--host", help="Address to listen on."),
    port: int = network_option(8765, "--port", help="Port; 0 for a free one."),
    base_url: str | None = network_option(
        None, "--base-url", help="Address of the links, if others see another one."
    ),
    certificate: Path | None = network_option(
        None, "--tls-certificate", help="PEM chain, for TLS."
    ),
    private_key: Path | None = network_option(None, "--tls-key", help="PEM key, for TLS."),
    log: bool = network_option(False, "--log", help="Print a line for each request."),
    behind_proxy: bool = network_option(
        False, "--behind-proxy", help="A proxy with TLS passes requests of another name on."
    ),
) -> None:
    """Serve a study's page to listeners.

    Each listener has a link of their own, in links.csv of the study. Answers go to answers.sqlite
    in it at once. The server never opens the key that unblinds the study.
    """
    from voicenym.apps.listen.listening_server import application
    from voicenym.apps.web.bind_rules import Binding
    from voicenym.apps.web.local_server import need_web, run_server
    from voicenym.apps.web.quiet_log import LOGGER
    from voicenym.listening.answer_store import AnswerStore
    from voicenym.listening.study import ANSWERS, load, load_tokens
    from voicenym.private import write_private

    need_web()
    found, tokens = load(study), load_tokens(study)
    binding = Binding(host, port, has_tokens=True, certificate=certificate, private_key=private_key)
    if not (binding.is_local or binding.has_tls or behind_proxy):
        typer.echo(
            f"--host {host}: links and answers cross the network without TLS; give "
            "--tls-certificate and --tls-key, or stand behind a proxy",
            err=True,
        )
    store = AnswerStore(study / ANSWERS)

    def ready(address: str) -> None:
        logging.getLogger(LOGGER).setLevel(logging.INFO if log else logging.WARNING)
        base = (base_url or address).rstrip("/")
        lines = [f"{name},{base}/#{token}" for name, token in tokens.items()]
        write_private(study / LINKS, "\n".join(["listener,link", *lines]) + "\n")
        typer.echo(f"serving {counted(len(found.sessions), 'listener')} at {base}", err=True)
        typer.echo(f"links, one for each listener: {study / LINKS}", err=True)
        typer.echo("stop with Ctrl-C; answers are stored as they come", err=True)

    try:
        run_server(
            application(study, found, tokens, store, binding, behind_proxy=behind_proxy),
            binding,
            ready,
        )
    finally:
        store.close()
