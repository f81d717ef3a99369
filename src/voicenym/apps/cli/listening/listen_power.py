"""``voicenym listen power``: how many listeners a difference or a share needs."""

from __future__ import annotations

import typer

from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.errors import VoicenymError

app = new_app()


@command(
    app,
    "voicenym listen power --difference 0.5 --ratings 4",
    "voicenym listen power --share 0.4 --chance 0.2 --ratings 5",
)
def power(
    difference: float | None = typer.Option(
        None, "--difference", help="Difference of two systems' means, in points of the scale."
    ),
    ratings: int = typer.Option(
        4, "--ratings", help="Ratings of each system by each listener, or trials of each."
    ),
    rating: float = typer.Option(
        0.8, "--deviation", help="Standard deviation of one rating, in points."
    ),
    opinion: float = typer.Option(
        0.3, "--listeners-differ", help="Deviation between listeners' opinions of a system."
    ),
    systems: int = typer.Option(2, "--systems", help="Systems, all pairs of which are compared."),
    share: float | None = typer.Option(
        None, "--share", help="Share of right answers to tell from chance, instead."
    ),
    chance: float = typer.Option(0.5, "--chance", help="Share of a listener who guesses."),
    simulate: bool = typer.Option(
        False, "--simulate", help="Also simulate studies of that size, and print their power."
    ),
) -> None:
    """Compute how many listeners a difference needs.

    The defaults of the deviations are of ratings from 1 to 5; the power is 80 % and the level of
    error 5 %, shared among all pairs of systems.
    """
    from voicenym.listening.design import power as computed

    if (difference is None) == (share is None):
        raise VoicenymError("give --difference for ratings, or --share for right answers")
    if share is not None:
        found = computed.listeners_for_share(share, chance, ratings)
        typer.echo(
            f"{found} listeners: with {ratings} trials each, {100 * share:g} % of right answers "
            f"are told from {100 * chance:g} % in four of five studies"
        )
        return
    assert difference is not None
    if systems < 2:
        raise VoicenymError("--systems: a comparison needs two at least")
    pairs = systems * (systems - 1) // 2
    found = computed.listeners_needed(difference, ratings, rating, opinion, comparisons=pairs)
    typer.echo(
        f"{found} listeners: with {ratings} ratings of each system each, a difference of "
        f"{difference:g} is found in four of five studies ({pairs} comparisons)"
    )
    if simulate:
        level = 0.05 / pairs
        share = computed.simulated_power(found, difference, ratings, rating, opinion, level=level)
        typer.echo(f"simulated: {100 * share:.1f} % of 4000 studies find it")
