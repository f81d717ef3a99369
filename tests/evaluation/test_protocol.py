"""Evaluation by the command, from recordings to a report, with a verifier without weights."""

import csv
import dataclasses
import json
from functools import partial
from types import SimpleNamespace

import pytest
from split_manifest import write_split

pytest.importorskip("matplotlib")
pytest.importorskip("jiwer")

from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.attack.searches import inversion
from voicenym.errors import VoicenymError
from voicenym.evaluation import card_figures, card_table, protocol, results_file
from voicenym.evaluation.comparisons import saved_scores
from voicenym.evaluation.evaluation_plan import Plan
from voicenym.evaluation.measurements import diversity
from voicenym.evaluation.protocol import evaluate
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.trials import build
from voicenym.registry import Entry
from voicenym.verification import verifiers as verifiers

OPTIONS = ["--keys", "2", "--replicates", "20", "--enrolment", "2", "--tried", "2", "--sample", "3"]
OPTIONS += ["--recogniser", "none", "--verifier", "resemblyzer", "-q"]


@pytest.fixture
def desk(corpus, spectrum, tmp_path, monkeypatch):
    """A manifest of the corpus: four speakers are evaluated, two are the pool. Systems are inverted
    for three guesses of the voice.
    """
    monkeypatch.setattr(inversion, "inversions", partial(inversion.inversions, count=3))
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    root = tmp_path / "speech"
    write_split(corpus, root)
    return root


def run(*arguments):
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_a_system_is_evaluated_resumed_and_reported(desk, spectrum, tmp_path, monkeypatch, request):
    monkeypatch.setattr(diversity, "PER_DIMENSION", 2)  # eight recordings are few
    report = tmp_path / "report"
    command = ["evaluate", desk, "--split", "dev", "--pool", desk, "--pool-split", "train"]
    command += ["--system", "mcadams", "-o", report, "--no-denoise", *OPTIONS]
    command += ["--normalise", "as-norm"]
    assert run(*command).exit_code == 0
    found = results_file.load(report)
    assert (found.speakers, found.recordings) == (4, 8)
    names = {a.attacker for a in found.systems[0].attacks}
    assert names == {
        "ignorant", "lazy-informed", "key search", "nearest in target voice", "inversion",
        "key-holder",
        "key-holder (A3 of V-Cloak)",
        "semi-informed (back end)", "ignorant + AS-norm", "lazy-informed + AS-norm",
        "key-holder + AS-norm", "semi-informed (back end) + AS-norm",
    }  # fmt: skip
    trivial = [a for a in found.systems[0].attacks if a.verifier == "voice statistics"]
    assert {a.attacker for a in trivial} == {"ignorant", "lazy-informed"}
    bare = {"unprotected", "unprotected (per trial)", "unprotected + AS-norm"}
    assert {a.attacker for a in found.unprotected} == bare
    assert found.unprotected[0].eer.value < 5.0
    utility = {"G_VD", "DeID", "D_KS", "rho_F0", "rho_F0 by chance", "SNR", "RTF"}
    assert utility <= set(found.systems[0].utility)
    assert any("words were not measured: no recording has a text" in w for w in found.warnings)
    for attack in found.systems[0].attacks:
        kept = attack.verifier != "voice statistics" or attack.attacker == "ignorant"
        kept &= not attack.attacker.startswith(("semi-informed", "nearest"))  # another scale
        assert ({"MMR", "WMR"} <= set(attack.figures)) == kept, attack.attacker
    assert (report / "index.html").stat().st_size > 50_000
    with (report / "results.csv").open() as file:
        assert {row["system"] for row in csv.DictReader(file)} == {"original", "mcadams"}

    kinds = {"entropy", "effective voices", "M_aa own", "M_aa others"}
    assert kinds <= set(found.systems[0].utility)
    assert "entropy" in found.utility
    printed = run("compare", report, report).stdout
    assert "paired" in printed.split(" against ")[1]
    with pytest.raises(VoicenymError, match="one system only"):
        run("compare", report)

    before = spectrum.embedded
    request.getfixturevalue("brief")
    assert run(*command).exit_code == 0
    assert spectrum.embedded == before, "the second run embeds nothing anew"
    again = results_file.load(report)
    assert again.systems[0].attacks == found.systems[0].attacks


def test_two_settings_of_a_system_stand_side_by_side(desk, spectrum, tmp_path, brief):
    """A system that draws nothing has one voice: whoever knows its settings needs no key."""
    report = tmp_path / "report"
    command = ["evaluate", desk, "--split", "dev", "-o", report, "--no-denoise", *OPTIONS]
    command += ["-s", "mcadams", "-s", "mcadams:high=0.70,low=0.7", "-s", "mcadams:low=0.5"]
    for attacker in ("ignorant", "lazy", "key-holder", "inversion"):
        command += ["--attacker", attacker]
    assert run(*command).exit_code == 0
    found = results_file.load(report)
    drawn, fixed = found.systems
    name = "mcadams:high=0.7,low=0.7"
    assert (drawn.name, drawn.parameters) == ("mcadams", {})
    assert (fixed.name, fixed.parameters) == (name, {"high": 0.7, "low": 0.7})
    rates = [{a.attacker: a.figures for a in system.attacks} for system in found.systems]
    assert rates[1]["lazy-informed"] == rates[1]["key-holder"]
    assert rates[0]["lazy-informed"] != rates[0]["key-holder"]
    assert rates[0]["ignorant"] != rates[1]["ignorant"]
    with (report / "results.csv").open() as file:
        assert {row["system"] for row in csv.DictReader(file)} == {"original", "mcadams", name}
    saved = saved_scores.load(report)
    assert set(saved.scores) == {"mcadams", name}
    assert (saved.scores["mcadams"] != saved.scores[name]).any()
    assert f"{name} against" in " ".join(run("compare", report).stdout.split())
    page = (report / "index.html").read_text("utf-8")
    assert page.count(f"<h3>{name}: ") == 1
    assert page.count("<h3>mcadams: ") == 1

    embedded = spectrum.embedded
    assert run(*command).exit_code == 0
    assert spectrum.embedded == embedded, "the second run embeds nothing anew"

    cards = tmp_path / "figures.json"
    card_figures.write(found, cards)
    assert set(json.loads(cards.read_text())) == {"original", "mcadams"}
    assert card_figures.left_out(found) == [name]
    with pytest.raises(VoicenymError, match=r"bundled weights only; evaluate .* without settings"):
        card_figures.write(dataclasses.replace(found, systems=(fixed,)), cards)


def test_the_same_settings_twice_are_refused(corpus):
    trials = build(corpus[:16], enrolment=2, trials=2)
    systems = (("mcadams", {"low": 0.8}), ("mcadams", {"high": 0.9, "low": 0.8}))
    with pytest.raises(VoicenymError, match=r"mcadams:low=0\.8 is evaluated 2 times"):
        evaluate(Plan("speech", trials, systems=systems, verifiers=()))


def test_files_of_somebody_else_are_evaluated(desk, tmp_path, brief):
    anonymized = tmp_path / "anon"
    done = run(
        "anonymize", desk, "-o", anonymized, "--system", "vtln", "--key", _key(tmp_path), "-q"
    )
    assert done.exit_code == 0
    (anonymized / "manifest.tsv").unlink(missing_ok=True)
    report = tmp_path / "report"
    command = ["evaluate", "--original", desk, "--anonymized", anonymized, "--split", "dev"]
    command += ["--pool", desk, "--pool-split", "train"]  # of whom nothing is anonymized
    assert run(*command, "-o", report, "--no-denoise", *OPTIONS).exit_code == 0
    system = results_file.load(report).systems[0]
    assert system.name == "files"
    assert {a.attacker for a in system.attacks} == {"ignorant", "key-holder"}
    assert any("upper bounds" in note for note in system.notes)


def test_statistics_are_trained_on_what_their_attacker_knows(corpus):
    """The ignorant know originals alone; the informed protect the pool with their own key."""
    from voicenym.attack.scenario import Protection, Scenario
    from voicenym.corpus.embedder import Embedder
    from voicenym.evaluation.evaluation_plan import key
    from voicenym.evaluation.measurements import protection
    from voicenym.verification.voice_statistics import VoiceStatistics

    transcripts = []

    class Spying(Embedder):
        def vectors_or_reasons(self, verifier, recordings, transform):
            transcripts.append((list(recordings), transform.steps))
            return super().vectors_or_reasons(verifier, recordings, transform)

    trials = build(corpus[:16], enrolment=2, trials=2)
    case = Scenario(
        trials.models,
        trials.recordings,
        Protection.by("vtln", key(0, "user")),
        key(0, "attacker"),
        tuple(corpus[16:]),
    )
    protection.trivial(case, trials, VoiceStatistics(), Spying(), replicates=20)
    pool = [steps for recordings, steps in transcripts if recordings == corpus[16:]]
    assert pool[0] == ()
    assert [step.key for step in pool[1]] == [key(0, "attacker")]


def _key(folder):
    run("key", "new", folder / "a.key")
    return folder / "a.key"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--system", "mcadamz"], "no system 'mcadamz'"),
        ([], "nothing to evaluate"),
        (["--system", "vtln", "--pool", "{desk}"], "is also evaluated"),
        (["--system", "vtln", "--half", "middle"], "tune or report"),
        (["--system", "vtln", "--anonymized", "{desk}"], "belong together"),
        (["--system", "vtln", "--trials", "{desk}"], "belong together"),
        (["--system", "vtln", "--normalise", "z-norm"], "as-norm, not 'z-norm'"),
        (["--system", "vtln", "--normalise", "as-norm"], "give some with --pool"),
        (["--system", "vtln", "--transcripts", "words.txt"], "give SYSTEM=FILE"),
        (["--system", "vtln", "--transcripts", "mcadams=a.txt"], "one of vtln, original"),
        (["--system", "vtln", "--recogniser", "nobody"], "no recogniser 'nobody'"),
        (["--system", "vtln", "--recogniser", "sphinx"], "no recording has a text"),
    ],
)
def test_mistakes_are_reported(desk, tmp_path, arguments, message, brief):
    arguments = [a.format(desk=desk) for a in arguments]
    with pytest.raises(VoicenymError, match=message):
        run("evaluate", desk, "--split", "dev", "-o", tmp_path / "r", *OPTIONS, *arguments)


def test_only_the_attackers_that_are_asked_for_are_run(desk, tmp_path, brief):
    report = tmp_path / "report"
    command = ["evaluate", desk, "--split", "dev", "--system", "mcadams", "-o", report, *OPTIONS]
    assert run(*command, "--attacker", "LAZY", "--attacker", "key-").exit_code == 0
    found = results_file.load(report).systems[0]
    names = {"lazy-informed", "key-holder", "key-holder (A3 of V-Cloak)"}
    assert {a.attacker for a in found.attacks} == names
    assert "only these were run: LAZY, key-" in found.notes[0]
    for names in (["--attacker", "psychic"], ["--attacker", "key-holder"]):
        with pytest.raises(VoicenymError, match=r"no attacker without the key is .* lazy-informed"):
            run(*command, *names)


def test_a_pool_with_one_recording_a_speaker_trains_what_it_can(desk, tmp_path, brief):
    report = tmp_path / "report"
    command = ["evaluate", desk, "--split", "dev", "--pool", desk, "--pool-split", "train"]
    command += ["--pool-size", "2", "--system", "mcadams", "-o", report, "--no-denoise", *OPTIONS]
    command += ["--attacker", "semi-informed", "--attacker", "lazy"]
    assert run(*command).exit_code == 0
    found = {a.attacker: a.learned_from for a in results_file.load(report).systems[0].attacks}
    assert found["semi-informed (back end)"] == 2
    assert found["lazy-informed"] == 0


def test_attackers_who_were_run_later_join_a_card(found, tmp_path):
    evaluation, _ = found
    file = tmp_path / "figures.json"
    system = dataclasses.replace(evaluation.systems[0], name="mcadams")
    lost = [a for a in system.attacks if a.attacker == "ignorant"]
    others = [a for a in system.attacks if a.attacker != "ignorant"]
    assert lost
    first, later = (
        dataclasses.replace(
            evaluation, systems=(dataclasses.replace(system, attacks=tuple(attacks)),)
        )
        for attacks in (others, [*lost, *others[:1]])
    )
    whole = dataclasses.replace(evaluation, systems=(system,))
    card_figures.write(whole, file)
    expected = json.loads(file.read_text())["mcadams"]
    card_figures.write(first, file)
    assert len(json.loads(file.read_text())["mcadams"]) < len(expected)
    card_figures.write(later, file, add=True)
    joined = json.loads(file.read_text())["mcadams"]
    assert joined[0] == expected[0]
    key = json.dumps
    assert sorted(map(key, joined)) == sorted(map(key, expected))
    foreign = dataclasses.replace(later, data="elsewhere")
    with pytest.raises(VoicenymError, match="different data"):
        card_figures.write(foreign, file, add=True)


def test_a_card_is_written_from_a_report_and_never_by_hand(found, tmp_path):
    evaluation, _ = found
    systems = [
        dataclasses.replace(system, name=name)
        for system, name in zip(evaluation.systems, ("mcadams", "vtln"), strict=True)
    ]
    ours = dataclasses.replace(evaluation, systems=tuple(systems))
    file = tmp_path / "figures.json"
    other = {
        "metric": "EER", "condition": "lazy-informed, x", "value": 60.0, "low": None, "high": None,
        "unit": "%", "data": "elsewhere", "date": "2026-01-01",
    }  # fmt: skip
    same = {**other, "data": f"{evaluation.data}, {evaluation.speakers} speakers"}
    file.write_text(json.dumps({"recast": [other], "formant": [same]}))
    card_figures.write(ours, file)
    rows = json.loads(file.read_text())
    assert rows["recast"] == [other]
    first = rows["vtln"][0]
    assert first["condition"] == "key search, Resemblyzer" or first["metric"] == "EER"
    assert first["value"] == min(
        r["value"] for r in rows["vtln"]
        if r["metric"] == "EER" and not r["condition"].startswith("key-holder")
    )  # fmt: skip
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{card_table.BEGIN}\nold\n{card_table.END}\nafter\n")
    card_table.write_readme(readme, ours, file)
    text = readme.read_text()
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert text.index("| `formant` | 60.0 | lazy-informed |") < text.index("| `mcadams` |")
    assert "recast" not in text  # measured on other data
    card_table.write_readme(readme, ours, file)
    assert readme.read_text() == text
    with pytest.raises(VoicenymError, match="is no system of voicenym"):
        card_figures.write(evaluation, file)


def test_cards_keep_figures_of_each_amount_of_speech_that_attackers_learned_from(found, tmp_path):
    evaluation, _ = found

    def with_pool(size, rate):
        attack = dataclasses.replace(
            evaluation.systems[0].strongest,
            attacker="semi-informed (content trained)",
            figures={"EER": Measured(rate, rate - 1.0, rate + 1.0, "%")},
            learned_from=size,
        )
        system = dataclasses.replace(evaluation.systems[0], name="mcadams", attacks=(attack,))
        return dataclasses.replace(evaluation, systems=(system,))

    file = tmp_path / "figures.json"
    card_figures.write(with_pool(300, 28.0), file)
    card_figures.write(with_pool(2400, 25.0), file, add=True)
    rates = [r for r in json.loads(file.read_text())["mcadams"] if r["metric"] == "EER"]
    assert [(r["value"], card_figures.learned_from(r)) for r in rates] == [
        (25.0, 2400),
        (28.0, 300),
    ]
    data = card_figures.data_of(evaluation)
    assert "learned from 2,400 recordings" in card_table.markdown(
        json.loads(file.read_text()), data
    )


@pytest.mark.parametrize(("metric", "subject"), [("RTF", "speed"), ("DNSMOS", "naturalness")])
def test_one_figure_alone_is_put_on_cards(found, tmp_path, metric, subject):
    evaluation, _ = found
    write = getattr(card_figures, f"write_{subject}")
    utility = {metric: Measured(0.02, 0.01, 0.03, "of 5")}
    first = dataclasses.replace(evaluation.systems[0], name="mcadams", utility={})
    file = tmp_path / "figures.json"
    without = dataclasses.replace(evaluation, systems=(first,), utility={})
    card_figures.write(without, file)
    with pytest.raises(VoicenymError, match=f"no figures of {subject}.*--metric {metric}"):
        write(without, file)
    before = json.loads(file.read_text())
    for value in (0.04, 0.02):  # the second takes the place of the first
        utility[metric] = dataclasses.replace(utility[metric], value=value)
        measured = dataclasses.replace(
            without, systems=(dataclasses.replace(first, utility=utility),), data="others"
        )
        write(measured, file)
    cards = json.loads(file.read_text())
    found_rows = [row for row in cards["mcadams"] if row["metric"] == metric]
    assert [row["value"] for row in found_rows] == [0.02]
    assert found_rows[0]["data"].startswith("others")
    for name in ("mcadams", "original"):
        others = [row for row in before[name] if ", " in row["condition"] or row["metric"] != "WER"]
        assert [row for row in cards[name] if row not in found_rows] == others


def test_words_alone_are_put_on_cards_with_who_recognised_them(found, tmp_path):
    evaluation, _ = found
    system = dataclasses.replace(evaluation.systems[0], name="mcadams")
    first = dataclasses.replace(evaluation, systems=(system,), data="everybody")
    file, readme = tmp_path / "figures.json", tmp_path / "README.md"
    readme.write_text(f"{card_table.BEGIN}\n{card_table.END}\n")
    card_figures.write(first, file)
    card_table.write_readme(readme, None, file)
    assert "40.0 (30.0–50.0)" not in readme.read_text(), "nobody says who recognised the words"
    assert "Words not measured by a recogniser without knowledge of the texts." in (
        readme.read_text()
    )
    with pytest.raises(VoicenymError, match="no figures of words"):
        card_figures.write_words(first, file)

    utility = {"WER": Measured(61.0, 50.0, 70.0, "%"), "DNSMOS": Measured(1.0, 1.0, 1.0, "of 5")}
    adults = dataclasses.replace(
        first,
        systems=(dataclasses.replace(system, utility=utility),),
        data="adults",
        utility={"WER": Measured(21.0, 15.0, 27.0, "%")},
        recognisers={"words": "whisper-tiny.en"},
    )
    before = json.loads(file.read_text())
    card_figures.write_words(adults, file)
    cards = json.loads(file.read_text())
    words = [row for row in cards["mcadams"] if row["metric"] in ("WER", "CER")]
    assert [(r["value"], r["condition"], r["data"]) for r in words] == [
        (61.0, "anonymized, whisper-tiny.en", "adults, 8 speakers")
    ]
    others = [r for r in before["mcadams"] if r["metric"] not in ("WER", "CER")]
    assert [r for r in cards["mcadams"] if r not in words] == others
    card_table.write_readme(readme, None, file)
    text = readme.read_text()
    assert "| 61.0 (50.0–70.0) | not measured |" in text
    assert "| 21.0 (15.0–27.0) | not measured |" in text
    assert "WER by whisper-tiny.en on adults, 8 speakers." in text
    assert "Phones not measured." in text


def test_keys_are_counted_where_a_search_tried_them():
    """A report of files, or of other attackers alone, said that 24 keys were searched."""
    plan = SimpleNamespace(settings="seed 0", keys=24)
    searched, other = (
        SimpleNamespace(attacks=[SimpleNamespace(attacker=name)])
        for name in ("key search", "ignorant")
    )
    assert protocol._settings(plan, [other, searched]) == "seed 0, 24 keys searched"
    assert protocol._settings(plan, [other]) == "seed 0"
