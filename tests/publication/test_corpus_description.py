"""Statements of a publisher: nothing required is empty, and no word claims too much."""

from __future__ import annotations

import datetime
import json
import re

import pytest

from voicenym.errors import CorpusError
from voicenym.publication.corpus_description import read, template


def test_filled_fields_are_read(stated):
    found = read(stated)
    assert found.date == datetime.date(2026, 11, 30)
    assert found.languages == ("en",)
    assert found.key == "kept"


def test_a_template_is_refused_until_it_is_filled_in(tmp_path):
    path = tmp_path / "about.toml"
    template(path)
    with pytest.raises(CorpusError, match=r"licence, consent.*must be filled in"):
        read(path)
    with pytest.raises(CorpusError, match="exists already; fill it in, or choose another name"):
        template(path)


@pytest.mark.parametrize("name", ["licence", "consent", "contact", "key_custody", "creators"])
@pytest.mark.parametrize("empty", ['""', '"  "', "[]", None])
def test_a_required_field_that_is_empty_is_named(stated, name, empty):
    lines = [line for line in stated.read_text("utf-8").splitlines() if line[: len(name)] != name]
    if name == "key":
        lines = [*lines, 'key_custody = "x"']
    lines += [] if empty is None else [f"{name} = {empty}"]
    stated.write_text("\n".join(lines), "utf-8")
    with pytest.raises(CorpusError, match=name):
        read(stated)


@pytest.mark.parametrize(
    "text",
    [
        "The data are anonymous.",
        "Fully anonymous speech",
        "It guarantees ANONYMITY",
        "Anonyme Aufnahmen, deren Anonymität gewahrt ist",
        "des enregistrements anonymes",
        "grabaciones ano\u0301nimas",  # an accent of its own
        "registrazioni anonime",
        "anonieme opnamen",
        "анонимные записи",
        "匿名の音声",
    ],
)
def test_claims_that_no_figure_supports_are_refused(stated, text):
    with stated.open("a", encoding="utf-8") as file:
        file.write(f'limitations = ["{text}"]\n')
    with pytest.raises(CorpusError, match="no measured figure supports"):
        read(stated)


@pytest.mark.parametrize(
    "text",
    [
        "anonymized, pseudonymous voices",
        "anonymisierte Stimmen",
        "voix anonymisées",
        "voces anonimizadas",
        "voci anonimizzate",
        "geanonimiseerde stemmen",
        "анонимизированные голоса",
        "匿名化された音声",
    ],
)
def test_what_was_done_may_be_said_in_any_language(stated, text):
    with stated.open("a", encoding="utf-8") as file:
        file.write(f'limitations = ["{text}"]\n')
    assert read(stated).limitations == (text,)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('licence_url = "x"', "no field licence_url"),
        ("biases = 3", "biases must be a list"),
        ("url = 3", "url must be a text"),
        ('title = "x"', "is no TOML file"),  # twice
    ],
)
def test_wrong_fields_are_named(stated, line, message):
    with stated.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(CorpusError, match=message):
        read(stated)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("contact", "nobody", "no mail address and no page"),
        ("contact", "the institute, room 5", "no mail address and no page"),
        ("contact", "privacy@example", "no mail address and no page"),
        ("contact", "https://localhost", "no mail address and no page"),
        ("contact", "-", "contact says nothing yet"),
        ("consent", "TODO", "consent says nothing yet"),
        ("consent", "tbd: ask the clinic", "consent says nothing yet"),
        ("collection", "...", "collection says nothing yet"),
        ("creators", ["n/a"], "creators says nothing yet"),
        ("licence", "ask us", "SPDX"),
        ("licence", "CC-BY", "CC-BY.? is not on SPDX's list"),
        ("licence", "LicenseRef-ours", "is not on SPDX's list"),
        ("languages", ["English, please"], "BCP 47"),
        ("languages", ["en", "german"], "languages has german; .*BCP 47"),
    ],
)
def test_words_that_state_nothing_are_refused(stated, name, value, message):
    lines = [
        one for one in stated.read_text("utf-8").splitlines() if not one.startswith(f"{name} ")
    ]
    stated.write_text("\n".join([*lines, f"{name} = {json.dumps(value)}"]), "utf-8")
    with pytest.raises(CorpusError, match=message):
        read(stated)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("contact", "A. Keeper <privacy@speech.example.org>"),
        ("contact", "the form on https://example.org/report?of=voices"),
        ("licence", "https://example.org/licence.txt"),
        ("languages", ["de-CH", "zh-Hant-TW", "mul"]),
        ("sensitive", "Nothing."),
    ],
)
def test_words_that_state_something_are_taken(stated, name, value):
    lines = [
        one for one in stated.read_text("utf-8").splitlines() if not one.startswith(f"{name} ")
    ]
    stated.write_text("\n".join([*lines, f"{name} = {json.dumps(value)}"]), "utf-8")
    assert read(stated)


def test_an_unknown_fate_of_the_key_is_refused(stated):
    stated.write_text(stated.read_text("utf-8").replace('"kept"', '"lost"'), "utf-8")
    with pytest.raises(CorpusError, match="destroyed, kept, never stored"):
        read(stated)


def test_a_missing_file_names_the_cure(tmp_path):
    with pytest.raises(CorpusError, match="--template"):
        read(tmp_path / "none.toml")


def test_a_licence_is_spelled_as_on_the_list(stated):
    text = re.sub(r"(?m)^licence = .*$", 'licence = "cc-by-nc-4.0"', stated.read_text("utf-8"))
    stated.write_text(text, "utf-8")
    assert read(stated).licence == "CC-BY-NC-4.0", "addresses of spdx.org know case"
