"""Messages and pages show names without the effects of their characters."""

from __future__ import annotations

import os

from voicenym.errors import printable, printable_page


def test_control_characters_of_a_message_are_shown():
    assert printable("a\x1b[31m\nb") == r"a\x1b[31m\nb"
    assert printable("\u202egpj.exe") == r"\u202egpj.exe"
    assert printable("Müller 多") == "Müller 多"


def test_a_page_keeps_its_lines_and_shows_what_no_page_may_hold():
    half = os.fsdecode(b"\xff")
    assert printable_page(f"<p>\n\ta\x1b\x00{half}\u202eb</p>") == (
        "<p>\n\ta" r"\x1b\x00\udcff\u202eb</p>"
    )
    assert printable_page("Müller\u00a0多 😀") == "Müller\u00a0多 😀"
