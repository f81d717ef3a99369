"""``voicenym listen demo``: a listening test to try, from the bundled sample to the report."""

from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import VoicenymError, counted

if TYPE_CHECKING:
    from voicenym.listening.design.study_design import Design

app = new_app()


@command(app, "voicenym listen demo", "voicenym listen demo --simulated 12 -o demo/")
def demo(
    output: Path = typer.Option(
        Path("listen-demo"), "--output", "-o", help="New folder for study and report."
    ),
    simulated: int = typer.Option(
        0, "--simulated", help="Let so many simulated listeners answer, and serve nothing."
    ),
    sample: Path | None = typer.Option(
        None, "--sample", help="Another recording than the bundled one."
    ),
    port: int = typer.Option(0, "--port", help="Port on this machine; 0 for a free one."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page."),
) -> None:
    """Try a listening test of five minutes on the bundled sample.

    Three systems anonymize the sample. You rate and type what you hear in the browser; then the
    report of your answers is written.
    """
    from voicenym.listening.demo_study import build
    from voicenym.private import private_folder

    if output.exists() and any(output.iterdir()):
        raise VoicenymError(f"{output}: holds something already; name a new folder with --output")
    if simulated < 0:
        raise VoicenymError("--simulated: a number of listeners, 0 for yourself")
    private_folder(output)
    typer.echo("anonymizing the sample by three systems ...", err=True)
    made = build(output, max(1, simulated), sample)
    made.save(output / "study")
    if simulated:
        _simulate(output / "study", simulated)
    elif not _serve(output / "study", made, port, browser):
        typer.echo(
            "the session is not finished; its answers are stored. Go on with: voicenym listen "
            f"serve {output / 'study'}",
            err=True,
        )
        return
    _report(output, simulated)


def _simulate(study: Path, listeners: int) -> None:
    """Answers of simulated listeners, one of whom cheats if there are four."""
    import numpy as np

    from voicenym.listening.answer_store import AnswerStore
    from voicenym.listening.exchange.simulated_listeners import Listener, answer_all
    from voicenym.listening.study import ANSWERS, load, load_key

    found, key = load(study), load_key(study)
    rng = np.random.default_rng(0)
    opinions = {"original": 0.9, "formant": 0.65, "recast": 0.5, "base": 0.35}
    people = {}
    for number, name in enumerate(found.sessions):
        bias = 0.08 * float(rng.standard_normal())
        cheats = number == 3
        people[name] = Listener(0.9, bias, 0.1, cheats, opinions)
    store = AnswerStore(study / ANSWERS)
    answer_all(found, key, store, people, rng)
    store.close()


def _serve(study: Path, made: Design, port: int, browser: bool) -> bool:
    """Serves until the session is finished or the user stops; whether it is finished."""
    from voicenym.apps.listen.listening_server import application
    from voicenym.apps.web.bind_rules import Binding
    from voicenym.apps.web.local_server import need_web, run_server
    from voicenym.apps.web.quiet_log import LOGGER
    from voicenym.listening.answer_store import AnswerStore
    from voicenym.listening.study import ANSWERS

    need_web()
    binding = Binding(port=port, has_tokens=True)
    store = AnswerStore(study / ANSWERS)
    done = threading.Event()
    token = next(iter(made.tokens.values()))

    def finished(listener: str) -> None:
        done.set()
        # the last page is still to be answered before the server ends
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()

    def ready(address: str) -> None:
        logging.getLogger(LOGGER).setLevel(logging.WARNING)
        link = f"{address}/#{token}"
        typer.echo(f"about {counted(round(made.minutes), 'minute')}: open {link}", err=True)
        if browser:
            import webbrowser

            webbrowser.open(link)

    try:
        run_server(
            application(study, made.study, made.tokens, store, binding, finished), binding, ready
        )
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        store.close()
    return done.is_set()


def _report(output: Path, simulated: int) -> None:
    from voicenym.listening.analysis import listening_report
    from voicenym.listening.analysis.listening_analysis import analyse
    from voicenym.listening.analysis.quality_control import Criteria
    from voicenym.listening.analysis.report_sentences import sentences
    from voicenym.listening.answer_store import AnswerStore
    from voicenym.listening.ratings import of_study
    from voicenym.listening.study import ANSWERS, load, load_key

    study = output / "study"
    found, key = load(study), load_key(study)
    store = AnswerStore(study / ANSWERS)
    ratings, checks = of_study(found, key, store.everything())
    store.close()
    # who tries it alone sees figures, whatever the checks say of the answers
    alone = Criteria(None, None, None, None, None, None, None)
    results = analyse(ratings, checks, criteria=None if simulated else alone)
    about = (
        "THE LISTENERS ARE SIMULATED: nobody heard anything, and the figures say nothing of the "
        "systems."
        if simulated
        else "One person tried it."
    )
    page = listening_report.write(results, output / "report", found.title, about)
    for system, text in sentences(results).items():
        typer.echo(f"{system}: {text}")
    if simulated:
        typer.echo("these listeners are simulated", err=True)
    typer.echo(f"wrote {page}", err=True)
