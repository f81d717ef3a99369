"""Recordings that fail in commands over a corpus: skipped, counted and named at the end.

The exit status is then 1, because the result does not cover the whole corpus.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import typer

from voicenym.corpus.skipped import STRICT, LeftOut

FAIL_FAST = typer.Option(
    False,
    "--fail-fast",
    help="Stop at the first recording that fails. Without it, recordings that fail are left out "
    "and named at the end, and the exit status is 1.",
)


_current: ContextVar[LeftOut] = ContextVar("left_out", default=STRICT)


@contextmanager
def leaving_out(fail_fast: bool, quiet: bool) -> Iterator[LeftOut]:
    """Context that collects recordings left out, and lists them at the end.

    Raises:
        typer.Exit: status 1, if recordings were left out.
        VoicenymError: from within, with the recordings left out before.
    """

    def say(text: str) -> None:
        if not quiet:
            typer.echo(f"voicenym: {text}", err=True)

    left_out = LeftOut(fail_fast, say)
    with left_out.explaining():
        yield left_out
    if len(left_out):
        typer.echo(f"voicenym: {left_out.summary()}", err=True)
        raise typer.Exit(1)


def leaves_out(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that adds ``--fail-fast`` to a command; :func:`current` is its collector."""

    @functools.wraps(command)
    def run(*args: Any, fail_fast: bool, **options: Any) -> None:
        with leaving_out(fail_fast, bool(options.get("quiet"))) as left_out:
            before = _current.set(left_out)
            try:
                command(*args, **options)
            finally:
                _current.reset(before)

    signature = inspect.signature(command, eval_str=True)
    extra = inspect.Parameter(
        "fail_fast", inspect.Parameter.KEYWORD_ONLY, default=FAIL_FAST, annotation=bool
    )
    own = list(signature.parameters.values())
    run.__signature__ = signature.replace(parameters=[*own, extra])  # type: ignore[attr-defined]
    run.__annotations__ = {**{p.name: p.annotation for p in own}, "fail_fast": bool}
    return run


def current() -> LeftOut:
    """Collector of the running command; without one, the first failure is raised."""
    return _current.get()
