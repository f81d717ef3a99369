"""Verdict on a system: how well it resists the strongest attacker, in a few sentences."""

from __future__ import annotations

import re
from html import escape

from voicenym.errors import counted
from voicenym.evaluation.grades import grade, ungraded
from voicenym.evaluation.reported_metrics import WEIGHTED, headline
from voicenym.evaluation.reports.html import number, sentence
from voicenym.evaluation.results import AttackFigures, Measured, SystemResults

VERBS = {
    "hardly": "hardly protects",
    "weakly": "protects weakly",
    "partly": "protects in part",
    "resists": "resists the attackers tried here",
}
"""Verdict of each class of :func:`voicenym.evaluation.grades.grade`."""


OMITTED = (
    "not tried",
    "upper bound",
    "were not run",
    "only these were run",
    "no neural verifier was trained",
)
"""Words by which notes of earlier releases tell that attackers did not run."""


def bounded(system: SystemResults) -> bool:
    """Whether attackers did not run that might find more, so that figures are upper bounds."""
    if system.upper_bound is not None:
        return system.upper_bound
    return any(words in note for note in system.notes for words in OMITTED)


def with_key(system: SystemResults) -> Measured | None:
    """EER of the best attacker that has the key."""
    return min((a.eer for a in system.attacks if a.holds_key), key=lambda m: m.value, default=None)


def trials(count: int) -> str:
    """A number of trials in words."""
    return counted(count, "trial")


def in_a_sentence(system: SystemResults, original: Measured | None, words: str) -> str:
    """Item of the first page: grade, strongest attacker's figure, and word error rate.

    Args:
        system: evaluated.
        original: word error rate of original speech.
        words: name of the metric of words.
    """
    name = f"<b>{escape(system.name)}</b>"
    if not system.attacked:
        return f'<li class="verdict">{name} was not attacked.</li>'
    style, _ = grade(system)
    top = system.strongest
    unknown = f"is not graded, since {ungraded(system)}, which is no protection shown"
    judged = VERBS.get(style, unknown)
    bound = ", which is an upper bound," if bounded(system) else ""
    wrong = "words were not measured"
    if (rate := system.utility.get(words)) is not None:
        before = f"; {number(original.value, 1)}&nbsp;% of the original's" if original else ""
        limits = _limits(rate).strip(" ()")
        inside = f" ({limits}{before})" if limits else before and f" ({before[2:]})"
        wrong = f"a recogniser gets {number(rate.value, 1)}&nbsp;% of the words wrong{inside}"
    if top.broken:
        return f'<li class="verdict {style}">{name} {unknown}, and {wrong}.</li>'
    return (
        f'<li class="verdict {style}">{name} {judged}: the strongest attacker, '
        f"{escape(top.attacker)}, errs in <b>{number(top.eer.value, 1)}&nbsp;%</b> of cases"
        f"{_limits(top.eer)}{bound or ','} and {wrong}.</li>"
    )


def verdict(system: SystemResults, common: list[str]) -> str:
    """Box of the page with the verdict.

    Args:
        system: evaluated.
        common: notes on all systems, which are printed elsewhere.
    """
    name = escape(system.name)
    if not system.attacked:
        why = "".join(f"<p><small>{sentence(n)}</small></p>" for n in system.notes)
        return f'<div class="verdict"><h3>{name}: not attacked</h3>{why}</div>'
    style, word = grade(system)
    top = system.strongest
    who, does = _knows(top)
    rate = f"<b>{number(top.eer.value, 1)}&nbsp;%</b> of cases{_limits(top.eer)}"
    lines = [
        f'<div class="verdict {style}"><h3>{name}: {word}</h3>',
        f"<p><small>{identified(system)}</small></p>" if system.title else "",
        ""
        if top.broken
        else f"<p>{who} mistakes one voice for another in {rate}; {headline().chance:g} % is "
        f"chance. (Strongest attacker tried: {escape(top.attacker)}, "
        f"{escape(top.verifier)}{does}.)</p>",
        f"<p>{_advice(style, who)}{_bound(system)}{_key_lost(system)}</p>",
        *weighted(system),
    ]
    if system.exposed and not top.broken:
        worst = system.exposed[0]
        always = sum(e.found == 1.0 for e in system.exposed)
        lines.append(
            f"<p>Least protected speaker: {escape(worst.speaker)}, who is the attacker's first "
            f"guess in {100 * worst.found:.0f} % of the speaker's trials. Speakers who are the "
            f"first guess in all of their trials: {always} of {len(system.exposed)}.</p>"
        )
    if system.left_out:
        lines.append(
            f"<p><b>The system failed on {trials(system.left_out)}</b>, which no figure counts "
            "(see Left out).</p>"
        )
    notes = [note for note in system.notes if note not in common]
    lines += [f"<p><small>{sentence(note)}</small></p>" for note in notes]
    return "\n".join([*filter(None, lines), "</div>"])


def identified(system: SystemResults) -> str:
    """The system's title, the digest of its weights, and its target voices; its settings stand in
    its name.
    """
    whose = "your own, not the bundled ones, " if system.own_weights else ""
    weights = f" Weights: {whose}SHA-256 {escape(system.weights)}." if system.weights else ""
    targets = f" Target voices: {escape(system.targets)}." if system.targets else ""
    return sentence(system.title) + weights + targets


def weighted(system: SystemResults) -> list[str]:
    """Lowest weighted mean of an attacker without the key, for each test set that has one.

    This attacker may differ from the strongest one, whose EER has one threshold for all data sets.
    """
    start = f"{WEIGHTED} {headline().name}"
    attacks = [attack for attack in system.attacks if not (attack.holds_key or attack.broken)]
    names = {key: None for attack in attacks for key in attack.figures}
    lines = []
    for name in names:
        if name != start and not name.startswith(f"{start} "):
            continue
        top = min(
            (attack for attack in attacks if name in attack.figures),
            key=lambda attack, name=name: attack.figures[name].value,  # type: ignore[misc]
        )
        mean = top.figures[name]
        whose = f" of {escape(name.removeprefix(start).strip())}" if name != start else ""
        lines.append(
            f"<p>Mean over data sets and sexes{whose} with the weights of the VoicePrivacy "
            f"Challenge: <b>{number(mean.value, 1)}&nbsp;%</b>{_limits(mean)}, by "
            f"{escape(top.attacker)}, {escape(top.verifier)}.</p>"
        )
    return lines


def _limits(m: Measured) -> str:
    if m.low is None or m.high is None:
        return ""
    return f" ({number(m.low, 1)} to {number(m.high, 1)}&nbsp;%)"


def _knows(attack: AttackFigures) -> tuple[str, str]:
    """The attacker's knowledge and action, from ``knows X; does Y``."""
    known, _, does = attack.knows.partition(";")
    does = f", which {escape(does.strip())}" if does.strip() else ""
    if not known.startswith(("knows ", "does ", "has ")):
        return "The strongest attacker", f", {escape(attack.knows)}"
    return f"An attacker who {escape(re.sub(', not ', ' but not ', known, count=1))}", does


def _advice(style: str, who: str) -> str:
    against = who[:1].lower() + who[1:]
    if style in ("hardly", "weakly"):
        return f"Do not rely on it against {against} and has other recordings of the speaker."
    if style == "partly":
        return f"Do not rely on it alone against {against}: this attacker identifies some speakers."
    if style == "ungraded":
        return "Do not rely on it: its protection is unknown."
    return "This is no proof: an attacker that did not run may find more."


def _bound(system: SystemResults) -> str:
    if not bounded(system) or ungraded(system):
        return ""
    return " The figure is an upper bound on protection: attackers were left out (see the notes)."


def _key_lost(system: SystemResults) -> str:
    rate = with_key(system)
    if rate is None:
        return ""
    return (
        " An attacker who has the key mistakes one voice for another in "
        f"{number(rate.value, 1)}&nbsp;% of cases."
    )
