"""The results as text, which a run prints at its end."""

import dataclasses

from voicenym.evaluation.reports.text_summary import summary


def test_attackers_that_did_not_run_are_named_before_the_figures(found):
    evaluation, _ = found
    bent, sturdy = evaluation.systems
    words = "words were not measured"
    note = "these attackers were not run: inversion; figures are upper bounds"
    changed = dataclasses.replace(
        evaluation,
        warnings=(words,),
        systems=(dataclasses.replace(bent, notes=(note, words)), sturdy),
    )
    lines = summary(changed).splitlines()
    own = [line for line in lines if line.startswith(f"warning: {bent.name}: ")]
    assert own == [f"warning: {bent.name}: {note}"]  # what holds for all is said once
    head = f"{bent.name}: the strongest attacker is {bent.strongest.attacker}"
    assert lines.index(own[0]) < next(i for i, line in enumerate(lines) if line.startswith(head))
