"""Figures of a system's card that the commands print: protection, words, quality, speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voicenym.anonymizer.card import attackers_in
from voicenym.apps.cli.terminal.tables import interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voicenym.anonymizer import Card, Declaration, Figure

KEY_HOLDER = "key-holder"
"""Name of the attacker with the user's key, who ranks no system, because a key links by design."""


def attacks(card: Card) -> list[Figure]:
    """EERs of the attackers without the key, the strongest first."""
    return attacks_of(card.figures)


def attacks_of(figures: Iterable[Figure]) -> list[Figure]:
    """Those of the figures that are EERs of attackers without the key, the strongest first."""
    found = [
        figure
        for figure in figures
        if figure.metric == "EER" and not figure.condition.startswith(KEY_HOLDER)
    ]
    return sorted(found, key=lambda figure: figure.value)


def strongest(card: Card) -> Figure | None:
    """EER of the strongest measured attacker; None without figures."""
    return next(iter(attacks(card)), None)


def against_attackers(card: Card, instead_of: Card) -> str:
    """Clause that compares the protection of a system with that of the one it replaces."""
    now, before = strongest(card), strongest(instead_of)
    if now is None:
        return f"the protection of {card.name} was not measured"
    figure = f"{card.name} has an EER of {now.value:.1f} % against the strongest attacker measured"
    if before is None:
        return f"{figure}; the card of {instead_of.name} says: {instead_of.protects}"
    compared = "protects less" if now.value < before.value else "protects no less"
    return f"{card.name} {compared}: {figure}, {instead_of.name} {before.value:.1f} %"


def metric(card: Card, name: str) -> Figure | None:
    """Figure of the anonymized speech, such as WER; None if it was not measured."""
    return next((figure for figure in card.figures if figure.metric == name), None)


def attacker(figure: Figure) -> str:
    """Kind of the attacker, such as "key search", without its training."""
    return figure.condition.partition(",")[0].partition(" (")[0]


def value(figure: Figure | None, digits: int = 1) -> str:
    """Text of a figure with its interval; empty without one."""
    return "" if figure is None else interval(figure.value, figure.low, figure.high, digits)


def speed(card: Card) -> float | None:
    """Seconds of speech that one core processes in a second."""
    figure = metric(card, "RTF")
    return 1.0 / figure.value if figure is not None and figure.value > 0 else None


def weights(card: Card) -> str:
    """Origin of the system's weights, in words."""
    if card.needs.startswith(("no weights", "nothing")):
        return "none"
    return "bundled" if card.needs.startswith("bundled") else "your own"


def live(system: Declaration) -> str:
    """Whether the system also runs live; every system processes whole files."""
    return "yes" if system.streams else "no"


def revision_in_use(system: str, revision: int, latest: int) -> list[str]:
    """A sentence where a system runs in another revision than the latest, whose figures are
    printed.
    """
    if revision == latest:
        return []
    return [
        f"{system}: revision {revision}, as the key or the setting says; the latest is {latest}, "
        f"with other voices (docs/howto/keys.md); the figures are of revision {latest}"
    ]


def live_protection(system: Declaration) -> list[str]:
    """Sentences on the protection of a live stream beside that of whole recordings.

    Fewer attackers may have run on the stream; the sentences say so, because a figure of few
    attackers is kinder than the truth. Empty for a system that does not work live.
    """
    if not system.streams:
        return []
    card = system.card
    whole, streamed = attacks(card), attacks_of(card.figures_live)
    every, ran_live = (attackers_in(f.condition for f in some) for some in (whole, streamed))
    lines = []
    if streamed:
        ran = {figure.condition for figure in streamed}
        same = [figure for figure in whole if figure.condition in ran]
        text = f"live: EER {value(streamed[0])} %, {attacker(streamed[0])}"
        text += f", the strongest of {ran_live} attackers that ran"
        if same:
            text += f"; whole recordings: {value(same[0])} % by these"
        if every > ran_live:
            text += f", {value(whole[0])} % by the strongest of {every} ({attacker(whole[0])})"
        lines.append(text)
    if not system.running_averages:
        lines.append(
            "the live stream has the samples of the whole recording, so that all its figures hold"
        )
    elif not streamed:
        lines.append("live: not measured; a stream protects less than a whole recording")
    elif every > ran_live:
        lines.append(
            "attackers that did not run on the live stream may find more; the first seconds are "
            "protected least"
        )
    else:
        lines.append("the first seconds of a live stream are protected least")
    return lines


def summary(card: Card) -> list[str]:
    """Lines for the end of a run: the strongest attacker's EER, the price, where to read more."""
    top = strongest(card)
    if top is None:
        return ["strongest attacker: not measured; treat the protection as unknown"]
    bare = [figure.value for figure in card.figures_without if figure.metric == "EER"]
    without = f"{min(bare):.1f} % without a system, " if bare else ""
    lines = [
        f"strongest attacker measured: {top.condition.partition(',')[0]}, EER {value(top)} % "
        f"({without}50 % is chance)"
    ]
    before = {figure.metric: figure for figure in card.figures_without}
    prices = []
    for name, digits, unit in (("WER", 1, " %"), ("DNSMOS", 2, " of 5")):
        figure = metric(card, name)
        if figure is not None:
            old = f" ({before[name].value:.{digits}f} before)" if name in before else ""
            # words may be measured on fewer speakers than attacks
            where = f" on {figure.data.rpartition(', ')[2]}" if figure.data != top.data else ""
            prices.append(f"{name} {value(figure, digits)}{unit}{old}{where}")
    if prices:
        lines.append(f"price: {', '.join(prices)}")
    return [*lines, f"measured on {top.data}; more: voicenym systems {card.name}"]
