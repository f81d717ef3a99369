"""A VoicePrivacy Challenge from its folders to its results files."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jiwer")
pytest.importorskip("lightning")

from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.apps.cli.commands import evaluate as evaluate_command
from voicenym.attack.attacker_list import ATTACKERS
from voicenym.attack.attackers import LazyInformed
from voicenym.errors import VoicenymError
from voicenym.evaluation.challenge_tables import Challenge, TrialSet, results, summary
from voicenym.evaluation.results import AttackFigures, Measured, SystemResults
from voicenym.registry import Entry
from voicenym.verification import verifiers

FAST = ["--replicates", "20", "--sample", "2", "--recogniser", "none", "--verifier", "resemblyzer"]
SETS = (
    TrialSet("LibriSpeech dev f", "libri", "dev", "f", False),
    TrialSet("VCTK common test m", "vctk", "test", "m", True),
)


def drawn(year):
    def of(name, eer):
        keys = ("EER", "C_llr", "min C_llr", "ROCCH-EER", "D_sys", "D_ECE", "worst case")
        values = (eer, 1.5, 0.75, eer - 0.5, 0.25, 0.125, 3.25)
        figures = {
            f"{key} {one.label}": Measured(value)
            for one in SETS
            for key, value in zip(keys, values, strict=True)
        }
        figures |= {f"weighted EER {subset}": Measured(eer + 1) for subset in ("dev", "test")}
        return AttackFigures(name, "", "some verifier", figures | {"EER": Measured(eer)}, "C", 3, 9)

    utility = {
        "WER LibriSpeech dev": Measured(12.345), "weighted WER dev": Measured(12.345),
        "rho_F0 LibriSpeech dev f": Measured(0.5), "G_VD VCTK common test m": Measured(-3.0),
        "weighted G_VD test": Measured(-3.0),
    }  # fmt: skip
    system = SystemResults("mcadams", "", {}, "speaker", (), utility)
    original = {"WER LibriSpeech dev": Measured(5.0)}
    attacks = of("unprotected", 2.0), of("ignorant", 40.0), of(f"asv-eval-{year}", 10.0)
    return Challenge(year, system, SETS, attacks[0], original, *attacks[1:])


def test_results_have_the_lines_of_2022():
    """Names, order and numbers of the published RESULTS of the baselines."""
    lines = results(drawn(2022)).splitlines()
    first = lines.index("ASV-libri_dev_enrolls-libri_dev_trials_f")
    assert lines[first + 1 : first + 7] == [
        "  EER: 2.000%",
        "  Cllr (min/act): 0.750/1.500",
        "  ROCCH-EER: 1.500%",
        "  linkability: 0.250000",
        "  Population: 0.125 bit",
        "  Individual: 3.250 (C)",
    ]
    heads = [line for line in lines if line.startswith("ASV-")]
    assert heads == [
        "ASV-libri_dev_enrolls-libri_dev_trials_f",
        "ASV-vctk_test_enrolls-vctk_test_trials_m_common",
        "ASV-libri_dev_enrolls-libri_dev_trials_f_anon",
        "ASV-vctk_test_enrolls-vctk_test_trials_m_common_anon",
        "ASV-libri_dev_enrolls_anon-libri_dev_trials_f_anon",
        "ASV-vctk_test_enrolls_anon-vctk_test_trials_m_common_anon",
    ]
    assert lines[lines.index("ASR-libri_dev_asr_anon") + 1] == "  %WER 12.35"
    assert lines[lines.index("libri_dev_trials_f") + 1] == "  Pitch_correlation: mean=0.5000"
    assert "Weighted average EER dev orig: 3.000" in lines
    assert "Weighted average EER test anon: 11.000" in lines
    assert "Average WER dev anon: 12.345" in lines
    assert "Weighted average gain of voice distinctiveness test: -3.000" in lines
    assert not any(line.startswith("Average WER test") for line in lines)


def test_an_attacker_who_is_outdone_by_an_ignorant_one_is_no_measure():
    found = drawn(2022)
    assert "overstates the protection" not in summary(found)
    swapped = dataclasses.replace(found, ignorant=found.informed, informed=found.ignorant)
    notes = [line for line in summary(swapped).splitlines() if "overstates" in line]
    assert [note[: len("- in dev")] for note in notes] == ["- in dev", "- in tes"]
    assert "(41.0 against 11.0 %)" in notes[0]


def test_warnings_about_the_trials_stand_in_the_summary():
    text = summary(dataclasses.replace(drawn(2022), warnings=("only 2 speakers are compared",)))
    assert text.count("- only 2 speakers are compared") == 1


def test_results_have_the_columns_of_2024():
    assert results(drawn(2024)).splitlines() == [
        "---- ASV_eval results ----",
        "      dataset split gender enrollment    trial   EER",
        "0       libri   dev      f   original original 2.000",
        "1 vctk_common  test      m   original original 2.000",
        "",
        "---- ASV_eval^anon results ----",
        "      dataset split gender enrollment trial    EER",
        "0       libri   dev      f       anon  anon 10.000",
        "1 vctk_common  test      m       anon  anon 10.000",
        "",
        "---- ASR results ----",
        "  dataset split      asr    WER",
        "0   libri   dev original  5.000",
        "1   libri   dev     anon 12.345",
        "",
    ]
    text = summary(drawn(2024))
    assert "| libri_dev_trials_f | 2.0 | 40.0 | 10.0 | 0.50 | – |" in text
    assert "| weighted mean, test | 3.0 | 41.0 | 11.0 | – | −3.0 |" in text
    assert "recall of emotions is not measured" in text


class Untrained2022(LazyInformed):
    """Stands in for the challenge's attacker, whose training has tests of its own."""

    name = "asv-eval-2022"


class Untrained2024(LazyInformed):
    name = "asv-eval-2024"


@pytest.fixture
def challenge(laid_out, spectrum, tmp_path, monkeypatch):
    """A copy of the challenge's folders without the anonymized ones."""
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    for kind in (Untrained2022, Untrained2024):
        monkeypatch.setitem(ATTACKERS.own, kind.name, Entry(kind))
    ignored = shutil.ignore_patterns("*_mcadams", "IEMOCAP_dev")
    shutil.copytree(laid_out.parent, tmp_path, dirs_exist_ok=True, ignore=ignored)
    return tmp_path / "data"


def run(*arguments):
    return CliRunner().invoke(app, ["challenge", *map(str, arguments), *FAST, "-q"])


@pytest.mark.parametrize("year", [2022, 2024])
def test_one_command_writes_the_files_of_a_year(year, challenge, tmp_path):
    out = tmp_path / "results"
    arguments = [challenge, "-s", "mcadams", "--year", year, "-o", out, "--attacker-budget", "1s"]
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    table = (out / "summary.md").read_text("utf-8")
    for subset in ("dev", "test"):
        for sex in "fm":
            (row,) = [line for line in table.splitlines() if f"libri_{subset}_trials_{sex}" in line]
            assert "–" not in row.split("|")[4], "the challenge's attacker ran"
    name = "results.txt" if year == 2022 else "result_for_rank_mcadams"
    lines = (out / name).read_text("utf-8").splitlines()
    if year == 2022:
        assert "ASV-libri_test_enrolls_anon-libri_test_trials_m_anon" in lines
        assert any(line.startswith("Weighted average EER dev anon: ") for line in lines)
    else:
        assert "---- ASV_eval^anon results ----" in lines
    assert (out / "report" / "index.html").is_file()


def test_mistakes_are_one_line(challenge, tmp_path):
    def refused(*arguments):
        done = run(*arguments, "-s", "mcadams", "-o", tmp_path / "out")
        assert isinstance(done.exception, VoicenymError), done.output
        return str(done.exception)

    assert "2020, 2022, 2024, not 2021" in refused(challenge, "--year", 2021)
    assert "give the challenge's data/" in refused(tmp_path / "train-clean-360")
    trials = challenge / "libri_dev_trials_f" / "trials"
    rows = trials.read_text()
    for spoiled in (lambda: trials.write_text("\n"), trials.unlink):
        spoiled()
        printed = refused(challenge)
        assert f"{trials.parent}: has no list trials" in printed
    (challenge / "libri_dev").mkdir()  # the lists of a test set may be in one folder
    (challenge / "libri_dev" / "trials_f").write_text(rows)
    (challenge / "libri_test_enrolls" / "enrolls").unlink()
    assert "libri_test_enrolls: has no list enrolls" in refused(challenge)
    (challenge / "libri_dev_enrolls" / "wav.scp").unlink()
    assert "libri_dev_enrolls: has no wav.scp" in refused(challenge)


def test_lists_without_a_place_in_the_tables_are_refused_before_the_work(
    challenge, tmp_path, monkeypatch
):
    monkeypatch.setattr(evaluate_command, "measured", lambda _: pytest.fail("it was measured"))
    genders = list(challenge.glob("*/spk2gender"))
    known = [path.read_text() for path in genders]
    for path in genders:
        path.unlink()
    done = run(challenge, "-s", "mcadams", "-o", tmp_path / "out")
    assert "is unknown; name the folders" in str(done.exception), done.exception
    assert "in spk2gender" in str(done.exception)
    for path, text in zip(genders, known, strict=True):
        path.write_text(text)
    for folder in challenge.glob("libri_test_*"):  # whose lists alone would tell which one applies
        shutil.rmtree(folder)
    (challenge / "libri_dev_trials_f").rename(challenge / "ours_trials_f")
    done = run(challenge, "-s", "mcadams", "-o", tmp_path / "out")
    assert "ours_trials_f/trials is not named after a data set" in str(done.exception)


def test_without_other_speech_the_cure_is_the_pool(challenge, tmp_path):
    shutil.rmtree(tmp_path / "train-clean-360")
    done = run(challenge, "-s", "mcadams", "-o", tmp_path / "out")
    assert "give --pool DIR" in str(done.exception)
