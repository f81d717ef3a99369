"""``voicenym systems``: the list by protection, and the page of one system."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from voicenym.anonymizer import available, system_class
from voicenym.apps.cli.commands.systems import page, ranked
from voicenym.apps.cli.measured_systems import measured
from voicenym.apps.cli.terminal import tables


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_fits_the_terminal_with_a_line_a_system(columns, command, monkeypatch):
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    lines = command("systems", COLUMNS=str(columns)).stdout.decode().splitlines()
    assert max(map(len, lines)) <= columns
    known = [n for n in available() if measured.strongest(system_class(n).card)]
    rows = lines[2 : 2 + len(known)]
    assert {row.split()[0] for row in rows} == set(known)
    rates = [float(row.split()[1]) for row in rows]
    assert rates == sorted(rates, reverse=True)
    end = " ".join(lines[2 + len(known) :])
    assert all(f" {name}" in end for name in set(available()) - set(known))


def test_records_have_the_strongest_attacker_without_the_key():
    records = {record["system"]: record for record in ranked(map(system_class, available()))}
    for name, record in records.items():
        rates = [
            figure.value
            for figure in system_class(name).card.figures
            if figure.metric == "EER" and "key-holder" not in figure.condition
        ]
        assert record["EER"] == (min(rates) if rates else None)
        assert record["weights"] in ("none", "bundled", "your own")
    assert records["base"]["weights"] == "bundled"
    assert records["recast"]["weights"] == "none"
    assert records["musa"]["weights"] == records["b1b"]["weights"] == "bundled"
    assert records["asr-tts"]["weights"] == "your own"
    assert (records["mcadams"]["live"], records["formant"]["live"]) == ("yes", "no")


def test_a_pipe_gets_a_line_of_values_for_every_system(command):
    head, *rows = command("systems").stdout.decode().splitlines()
    assert head.split("\t")[:2] == ["system", "EER"]
    assert sorted(row.split("\t")[0] for row in rows) == available()
    assert {row.count("\t") for row in rows} == {head.count("\t")}


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", available())
def test_the_page_of_a_system_fits_and_names_data_once(name, columns):
    cls = system_class(name)
    lines = page(cls, columns)
    assert max(len(line) for text in lines for line in text.splitlines()) <= columns
    text = " ".join("\n".join(lines).split())
    whole, _, _ = text.partition("Measured live on")
    for figure in cls.card.figures:
        assert whole.count(figure.data) == 1
        for word in f"{figure.metric} {figure.condition.partition(', ')[0]}".split():
            assert word in text
    for line in (*cls.card.fails, *cls.card.promises):
        assert " ".join(line.split()) in text


def test_the_page_and_the_cards(command):
    shown = command("systems", "mcadams").stdout.decode()
    assert "Where it fails" in shown
    rows = json.loads(command("systems", "--json").stdout)
    assert [row["name"] for row in rows] == available()


def test_the_end_of_a_run_states_protection_and_price():
    card = system_class("base").card
    top, wer = measured.strongest(card), measured.metric(card, "WER")
    first, price, more = measured.summary(card)
    assert f"EER {top.value:.1f} [{top.low:.1f}, {top.high:.1f}] %" in first
    assert top.condition.partition(",")[0] in first
    before = {figure.metric: figure.value for figure in card.figures_without}
    wide = f"WER {wer.value:.1f} [{wer.low:.1f}, {wer.high:.1f}] %"
    speakers = wer.data.rpartition(", ")[2]
    assert wer.data != top.data, "words are measured on fewer speakers, which the line says"
    assert f"{wide} ({before['WER']:.1f} before) on {speakers}, DNSMOS" in price
    assert "voicenym systems base" in more
    (unknown,) = measured.summary(dataclasses.replace(card, name="of-somebody-else"))
    assert "not measured" in unknown


def test_a_run_ends_with_the_same_figure_without_a_system_as_the_readme(root):
    """Of all figures of original speech the strongest attacker's counts, in both places."""
    from voicenym.anonymizer import system_class
    from voicenym.apps.cli.measured_systems.measured import summary

    (row,) = [
        line for line in (root / "README.md").read_text().splitlines() if "| (original) |" in line
    ]
    (least,) = re.findall(r"\| \(original\) \| (\d+\.\d)", row)
    assert f"({least} % without a system, " in summary(system_class("recast").card)[0]
