"""The report says what was found, stands alone, and opens in a browser."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

pytest.importorskip("matplotlib")

from voicenym.benchmark import report, results
from voicenym.benchmark.comparison import compare, differences
from voicenym.benchmark.results import Measured

VOID = {"meta", "br", "link", "img", "hr"}


class Balance(HTMLParser):
    """Counts elements that are opened and not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    return report.write(*found, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def text(page):
    parser = Balance()
    parser.feed(page.read_text("utf-8"))
    assert parser.open == []
    return " ".join(" ".join(parser.words).split())


def test_the_first_screen_names_the_strongest_attacker_and_its_figure(found, text):
    evaluation, _ = found
    for system in evaluation.systems:
        top = system.strongest
        assert not top.holds_key
        assert f"The strongest attacker here ({top.attacker}, {top.verifier})" in text
        assert f"{top.eer.value:.1f}" in text
    assert "50 % would be a guess" in text
    assert "only 4 speakers are compared" in text
    assert "a note & more" in text


def test_a_voice_is_never_called_anonymous(text):
    assert not re.search(r"\b(is|are|was) anonymous\b", text)


def test_what_was_not_measured_is_said(text):
    assert "not measured" in text


def test_names_from_data_are_escaped(page):
    source = page.read_text("utf-8")
    assert "bent &lt;script&gt;" in source
    assert "<script" not in source


def test_it_needs_no_network(page):
    source = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page.read_text("utf-8"))
    assert not re.search(r'(src|href)="(?!#|data:)', source)
    assert "@import" not in source
    assert "url(http" not in source


def test_every_figure_has_a_title_a_label_and_a_sentence(page):
    source = page.read_text("utf-8")
    assert source.count("<figure>") == source.count("<figcaption>") == 10
    assert source.count('role="img" aria-label="') == 10


def test_grades_go_by_the_lower_end_of_the_interval(found):
    import dataclasses

    evaluation, _ = found
    system = evaluation.systems[0]

    def graded(value, low):
        attack = dataclasses.replace(
            system.attacks[0], figures={"EER": Measured(value, low, 60.0, "%")}, holds_key=False
        )
        return report.grade(dataclasses.replace(system, attacks=(attack,)))[0]

    assert graded(12.0, 8.0) == "hardly"
    assert graded(25.0, 15.0) == "weakly"
    assert graded(40.0, 30.0) == "partly"
    assert graded(45.0, 40.0) == "resists"


def test_without_evidence_the_page_still_has_the_figures_of_the_results(found, tmp_path):
    page = report.write(found[0], None, tmp_path)
    assert page.read_text("utf-8").count("<figure>") == 3


def test_results_come_back_as_they_were_saved(found, tmp_path):
    evaluation, _ = found
    results.save(evaluation, tmp_path)
    assert results.load(tmp_path) == evaluation
    assert results.load(tmp_path / "results.json") == evaluation
    table = (tmp_path / "results.csv").read_text("utf-8").splitlines()
    assert table[0] == "system,attacker,verifier,metric,value,low,high,unit"
    assert any(line.startswith("sturdy,key search,Resemblyzer,EER,") for line in table)
    assert any(",G_VD,-inf" in line for line in table)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "missing"), ("[]", "is no report"), ('{"format": 99}', "another release")],
)
def test_what_is_no_report_is_refused(tmp_path, content, message):
    from voicenym.errors import VoicenymError

    if content is not None:
        (tmp_path / "results.json").write_text(content)
    with pytest.raises(VoicenymError, match=message):
        results.load(tmp_path)


def test_it_opens_in_a_browser_and_is_not_blank(page, tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if browser is None:
        pytest.skip("chromium is not installed: make system")
    picture = tmp_path / "page.png"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--screenshot={picture}", "--window-size=1100,1400", f"--user-data-dir={tmp_path}"]
    done = subprocess.run(
        [*command, "--enable-logging=stderr", page.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert picture.is_file(), done.stderr
    assert "CONSOLE" not in done.stderr
    from matplotlib.image import imread

    pixels = imread(picture)[..., :3]
    assert pixels.shape[:2] == (1400, 1100)
    assert 0.02 < (pixels.mean(-1) < 0.9).mean() < 0.9, "there is ink, and paper"


def test_comparison_lists_systems_and_differences(found):
    said = compare([("a", found[0]), ("b", found[0])])
    assert "a: sturdy" in said
    assert "b: bent <script>" in said
    assert "a: sturdy against a: bent <script>" in said
    assert "no difference shown" in said


def test_differences_by_hand():
    """Half widths of 2 and 2: the gap of 10 is 10 / sqrt(2 (2 / 1.96)^2) = 6.93 deviations."""
    pairs = differences([("x", Measured(20.0, 18.0, 22.0)), ("y", Measured(30.0, 28.0, 32.0))])
    assert len(pairs) == 1
    assert pairs[0].points == pytest.approx(10.0)
    assert pairs[0].p == pytest.approx(4.2e-12, rel=0.1)
    three = differences(
        [("x", Measured(20.0, 15.0, 25.0)), ("y", Measured(26.0, 21.0, 31.0)),
         ("z", Measured(20.0, 15.0, 25.0))]
    )  # fmt: skip
    raw = 2 * 0.0481  # 6 / (sqrt(2) * 5 / 1.96) = 1.663 deviations
    assert sorted(d.p for d in three) == pytest.approx([3 * raw, 3 * raw, 1.0], abs=0.01)
