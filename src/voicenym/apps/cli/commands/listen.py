"""``voicenym listen``: listening tests from design to figures, on one's own machine."""

from __future__ import annotations

from voicenym.apps.cli.terminal.command_group import Entry, Group, new_app

STUDY, ANSWERS = "Study", "Answers"


def _entry(name: str, section: str, summary: str) -> Entry:
    return Entry(name, section, f"voicenym.apps.cli.listening.listen_{name}", summary)


class _Listen(Group):
    """Commands of listening tests."""

    entries = (
        _entry("demo", STUDY, "Try a listening test of five minutes on the bundled sample."),
        _entry("power", STUDY, "Compute how many listeners a difference needs."),
        _entry("design", STUDY, "Design a study from original and anonymized folders."),
        _entry("serve", STUDY, "Serve a study's page to listeners."),
        _entry("export", ANSWERS, "Write answers or studies as files of other tools."),
        _entry("analyse", ANSWERS, "Analyse answers and write a report."),
    )


app = new_app("Listening tests: design, serve, analyse, or try one.", _Listen)


@app.callback()
def _root() -> None:
    pass
