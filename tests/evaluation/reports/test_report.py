"""Report: its content, in one file without a network, and shown by a browser."""

import csv
import dataclasses
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from voicenym.attack.attackers import Ignorant, KeyHolder
from voicenym.attack.searches.key_search import KeySearch
from voicenym.corpus.recording import Recording
from voicenym.evaluation import figures, results_file
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures import similarity_figures
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.reports import report, verdict
from voicenym.evaluation.results import AttackFigures, Control, Evaluation, Measured, SystemResults
from voicenym.evaluation.trial_plans.trials import build

VOID = {"meta", "br", "link", "img", "hr"}
FIGURES = 15
"""The first page's, four of results, five of scores, three of vectors, and one a system."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NASTY = "--><script>alert('$x^$')</script>&\"多"


class Balance(HTMLParser):
    """Elements that are opened and not closed, words, and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.words, self.attributes, self.tags = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def parsed(source):
    parser = Balance()
    parser.feed(source)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    return report.write(*found, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def source(page):
    return page.read_text("utf-8")


@pytest.fixture(scope="module")
def text(source):
    return parsed(source).text


def attacked(value, low=None, high=None, knows="knows the system, not the key; tries", **more):
    figures = {"EER": Measured(value, low, high, "%")}
    return AttackFigures("finder", knows, "verifier", figures, "C", 10, 90, **more)


def one(*attacks, notes=(), utility=None, warnings=()):
    system = SystemResults("bent", "title", {}, "speaker", attacks, utility or {}, (), notes)
    return Evaluation("0.1", "2026-11-21", "drawn", 8, 9, (), (system,), {}, warnings)


def printed(evaluation):
    return parsed(report.html(evaluation, None)).text


def test_the_first_screen_names_the_strongest_attacker_and_its_figure(found, text):
    evaluation, _ = found
    for system in evaluation.systems:
        top = system.strongest
        assert not top.holds_key
        assert f"Strongest attacker tried: {top.attacker}, {top.verifier}" in text
        assert f"mistakes one voice for another in {top.eer.value:.1f} % of cases" in text
    assert "50 % is chance" in text
    assert "Only 4 speakers are compared" in text
    assert "A note & more" in text
    assert (
        text.index("Only 4 speakers")
        < text.index("Verdict")
        < text.index("Summary Privacy and utility")
    )


def test_the_first_page_is_a_sentence_a_system_a_figure_and_a_table(found, source):
    first, *deeper = source.split("<section ")
    assert first.count("<li class=") == len(found[0].systems)
    assert first.count("<figure>") == first.count("<table>") == 1
    assert [re.match(r'id="([^"]*)"', part)[1] for part in deeper] == [
        "systems", "by-attacker", "utility"
    ]  # fmt: skip
    links = re.findall(r'<a href="#([^"]*)"', first)
    assert links == ["systems", "by-attacker", "utility"]
    bent, sturdy = re.findall(r'<li class="verdict.*?</li>', first)
    top = found[0].systems[0].strongest
    assert f"the strongest attacker, {top.attacker}, errs in" in bent
    assert "a recogniser gets 40.0&nbsp;% of the words wrong (30.0 to 50.0&nbsp;%" in bent
    assert "words were not measured" in sturdy
    for item in (bent, sturdy):
        sentence = parsed(item).text
        assert sentence.endswith(".")
        assert not re.search(r"\. [A-Z]", sentence), "one sentence"


def test_the_failure_of_a_weak_attacker_is_no_protection():
    weak = attacked(45.0, 40.0, 50.0, knows="does not know", informed=False)
    nobody = "is not graded, since no attacker that knows it attacked it, which is no protection"
    assert nobody in printed(one(weak))
    works = Control("original speech", Measured(3.0, 1.0, 5.0, "%"))
    strong = attacked(46.0, 41.0, 51.0, controls=(works,))
    assert "bent resists the attackers tried here" in printed(one(weak, strong))
    unchecked = printed(one(weak, attacked(46.0, 41.0, 51.0)))
    assert "no attacker that knows it was shown to work, on it or on controls" in unchecked
    assert "bent resists" not in unchecked
    assert "no protection shown" in printed(one(weak, attacked(1.0, holds_key=True)))


@pytest.mark.parametrize(
    ("note", "bounded"),
    [
        ("of all attackers, only these were run: lazy; the others may find more", True),
        ("no neural verifier was trained on anonymized speech (--attacker-budget)", True),
        ("attackers who train i-vectors or prosody need 100 and were not run", True),
        ("the enrolment was not published under the user's key: the key-holder was not run", False),
    ],
)
def test_omitted_attackers_bound_figures_by_a_flag_or_by_former_notes(note, bounded):
    former = one(attacked(30.0, 28.0, 32.0), notes=(note,))
    assert ("which is an upper bound" in printed(former)) == bounded
    for flag in (True, False):
        system = dataclasses.replace(former.systems[0], upper_bound=flag)
        page = printed(dataclasses.replace(former, systems=(system,)))
        assert ("which is an upper bound" in page) == flag
        assert ("The figure is an upper bound" in page) == flag


def test_a_bounded_figure_says_so_in_its_sentence():
    note = "the semi-informed attacker was not tried, and figures are upper bounds"
    assert "of cases (28.0 to 32.0 %), which is an upper bound, and words" in printed(
        one(attacked(30.0, 28.0, 32.0), notes=(note,))
    )


def test_a_voice_is_never_called_anonymous(text):
    assert not re.search(r"\banonymous\b", text)


def test_a_verdict_is_one_plain_sentence():
    assert (
        "An attacker who knows the system but not the key mistakes one voice for another in "
        "10.0 % of cases (8.0 to 13.0 %); 50 % is chance."
    ) in printed(one(attacked(10.0, 8.0, 13.0)))


@pytest.mark.parametrize(
    ("value", "low", "style", "advice"),
    [
        (12.0, 8.0, "hardly", "Do not rely on it against an attacker who knows"),
        (25.0, 10.0, "weakly", "Do not rely on it against an attacker who knows"),
        (40.0, 20.0, "partly", "Do not rely on it alone against"),
        (45.0, 35.0, "resists", "This is no proof"),
        (9.0, None, "hardly", "Do not rely on it against"),
    ],
)
def test_grades_go_by_the_lower_end_of_the_interval(value, low, style, advice):
    evaluation = one(attacked(value, low, 49.0))
    assert verdict.grade(evaluation.systems[0])[0] == style
    assert advice in printed(evaluation)


def test_the_key_holder_is_no_headline():
    words = printed(one(attacked(40.0, 38.0, 42.0), attacked(1.5, 1.0, 2.0, holds_key=True)))
    assert "resists the attackers tried here" in words
    assert "mistakes one voice for another in 1.5 % of cases." in words


def test_figures_are_called_upper_bounds_where_attackers_were_not_tried():
    note = "the semi-informed attacker was not tried, and figures are upper bounds"
    assert "The figure is an upper bound" in printed(one(attacked(30.0, 28.0, 32.0), notes=(note,)))
    assert "upper bound" not in printed(one(attacked(30.0, 28.0, 32.0)))


def test_what_was_not_measured_is_reported_with_the_reason(text):
    assert "sturdy, WER, PER, DNSMOS, rho_F0, G_VD, DeID, RTF: no reason was noted" in text
    words = printed(
        one(
            attacked(30.0),
            notes=("words were not measured: no model", "naturalness was not measured: no MOS"),
            utility={"G_VD": Measured(-1.0), "DeID": Measured(0.9), "RTF": Measured(0.1)},
        )
    )  # fmt: skip
    assert "bent, WER: words were not measured: no model." in words
    assert "bent, DNSMOS: naturalness was not measured: no MOS." in words
    assert "bent, PER, rho_F0: no reason was noted." in words
    assert "bent, EER if the key is lost: no attacker who has the key was run." in words


def test_changes_from_the_original_stand_beside_the_figures(text):
    assert "+10.0" in text
    assert "−0.60" in text
    assert "−∞" in text
    assert "-inf" not in text


def test_a_retrained_recogniser_has_a_column_where_there_is_one(found, text, tmp_path):
    evaluation, _ = found
    assert "etrained" not in text
    first, *others = evaluation.systems
    utility = {**first.utility, "WER retrained": Measured(12.5, 10.0, 15.0, "%")}
    changed = dataclasses.replace(first, utility=utility)
    more = dataclasses.replace(evaluation, systems=(changed, *others))
    source = report.write(more, None, tmp_path).read_text("utf-8")
    assert '<th scope="col">WER, %, retrained</th>' in source
    assert "12.5" in source
    assert "trained on this system's output" in source


def test_a_system_that_nobody_attacked_has_no_verdict():
    assert "bent: not attacked" in printed(one())
    assert "bent: not attacked" in printed(one(attacked(1.0, holds_key=True)))


def test_names_from_data_are_escaped(source):
    assert "bent &lt;script&gt;" in source
    assert "<script" not in source


def test_all_texts_of_the_data_are_escaped_in_page_and_figures(tmp_path):
    """Speakers, systems, titles, notes, warnings, attackers: nothing becomes an element."""
    rng = np.random.default_rng(0)
    trials = build(
        [Recording(f"{s}-{u}", f"{NASTY}{s}", Path("x"), "f") for s in range(4) for u in range(5)]
    )
    evidence = Evidence(trials)
    attacks = []
    for attacker in (Ignorant(), KeySearch(), KeyHolder()):
        scores = rng.standard_normal(trials.tested.shape) + trials.target
        scores[0, 0], scores[-1, 0] = np.inf, -np.inf
        made = protection.measured(attacker, scores, trials, NASTY, 5).figures
        works = (Control(NASTY, Measured(3.0, 1.0, 5.0, "%")),)
        attacks.append(dataclasses.replace(made, knows=f"knows {NASTY}; {NASTY}", controls=works))
        evidence.scores.setdefault(NASTY, {})[f"{made.attacker}, {NASTY}"] = scores
    evidence.vectors = {n: rng.standard_normal((len(scores.T), 6)) for n in ("original", NASTY)}
    evidence.matrices[NASTY] = {n: rng.uniform(size=(4, 4)) for n in ("oo", "oa", "aa")}
    system = SystemResults(
        NASTY, NASTY, {NASTY: NASTY}, "speaker", tuple(attacks), {"WER": Measured(float("nan"))},
        protection.exposed(scores, trials), (NASTY,),
    )  # fmt: skip
    evaluation = Evaluation("0", NASTY, NASTY, 4, 5, tuple(attacks), (system,), {}, (NASTY,))
    source = report.write(evaluation, evidence, tmp_path).read_text("utf-8")
    assert "<script" not in source
    found = parsed(source)
    assert "script" not in found.tags
    # one system has no figure of words; infinite scores have no crowd
    assert found.tags.count("svg") == FIGURES - 2
    assert NASTY in found.text


def test_characters_that_turn_or_end_text_are_shown(tmp_path):
    system = SystemResults("a\x1b[31m\u202eb\udcff", "t", {}, "speaker", (), {}, (), ())
    evaluation = Evaluation("0", "2026-11-21", "c\x00", 4, 5, (), (system,), {}, ())
    source = report.write(evaluation, None, tmp_path).read_text("utf-8")
    assert r"a\x1b[31m\u202eb\udcff" in source
    assert r"c\x00" in source
    assert not set(source) & set("\x1b\u202e\x00")


def test_it_needs_no_network_and_no_script(source):
    assert "http" not in source
    assert not re.search(r'(src|href)="(?!#|data:)', source)
    assert "@import" not in source
    assert not any(name.startswith("on") for _, name, _ in parsed(source).attributes)
    assert len(source) < 1_000_000


def test_every_figure_has_a_title_words_for_the_blind_and_a_sentence(found, source):
    assert source.count("<figure>") == source.count("<figcaption>") == FIGURES
    labels = [
        dict((name, value) for tag, name, value in parsed(svg).attributes if tag == "svg")
        for svg in re.findall(r"<svg.*?</svg>", source, re.DOTALL)
    ]
    assert len(labels) == FIGURES
    for label in labels:
        assert label["role"] == "img"
        assert len(label["aria-label"]) > 40
    strongest = found[0].systems[0].strongest
    assert f"{strongest.eer.value:.1f} % by {strongest.attacker}" in labels[0]["aria-label"]
    for title in ("Protection and words", "Every attacker",
                  "Privacy and utility", "least protected speakers",
                  "Linkability", "Detection error", "Empirical cross-entropy",
                  "Voice similarity", "Diversity of voices", "Speaker vectors",
                  "Scores on sturdy"):  # fmt: skip
        assert re.search(rf"<h3>[^<]*{title}", source), title


def test_ids_are_the_page_s_own_and_what_refers_to_them_finds_them(source):
    ids = re.findall(r' id="([^"]*)"', source)
    assert [name for name in ids if ids.count(name) > 1] == []
    uses = set(re.findall(r'href="#([^"]*)"', source)) | set(re.findall(r"url\(#([^)]*)\)", source))
    assert uses
    assert uses <= set(ids)


def test_headings_and_tables_can_be_walked_through(source):
    found = parsed(source)
    levels = [int(tag[1]) for tag in found.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert found.tags.count("caption") == found.tags.count("table") == 7
    assert "scope" in {name for tag, name, _ in found.attributes if tag == "th"}


def test_a_page_is_the_same_whenever_it_is_written(found, source, drawn, monkeypatch):
    monkeypatch.setattr(report, "gallery", lambda *again: drawn)
    assert report.html(*found) == source


def test_a_system_has_one_colour_everywhere(found):
    palette = figures.colours(found[0])
    assert len(set(palette.values())) == 2
    for svg in (
        figures.attackers(found[0].systems, palette),
        figures.radar(found[0].systems, palette),
        figures.exposed(found[0].systems, palette),
        figures.everybody(found[0].systems, palette),
    ):
        assert all(colour.lower() in svg for colour in palette.values())


def test_drawing_leaves_matplotlib_as_it_was(found):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figures.attackers(found[0].systems, figures.colours(found[0]))
    assert dict(matplotlib.rcParams) == before


def test_vectors_that_are_all_the_same_are_drawn_at_one_place():
    flat = similarity_figures.flattened(np.ones((12, 5)) + 1e-9 * np.eye(12, 5))
    assert np.abs(flat).max() < 1e-8


def test_without_scikit_learn_principal_components_are_drawn_and_named(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    evaluation, evidence = found
    vectors = dataclasses.replace(evidence, scores={}, matrices={})
    nothing = dataclasses.replace(evaluation, systems=())
    shown = {s.title: s.how for s in figures.gallery(nothing, vectors)}
    assert "first two principal components" in shown["Speaker vectors"]
    flat = similarity_figures.flattened(
        np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0]])
    )
    assert np.abs(flat[:, 0]) == pytest.approx([3, 3, 0, 0, 0])
    assert np.abs(flat[:, 1]) == pytest.approx([0, 0, 1, 1, 0])


def test_without_evidence_the_page_still_has_the_figures_of_the_results(found, tmp_path):
    page = report.write(found[0], None, tmp_path)
    assert page.read_text("utf-8").count("<figure>") == 5


def test_results_come_back_as_they_were_saved(found, tmp_path):
    evaluation, _ = found
    results_file.save(evaluation, tmp_path)
    assert results_file.load(tmp_path) == evaluation
    assert results_file.load(tmp_path / "results.json") == evaluation


def test_infinities_and_gaps_come_back(tmp_path):
    figures = {
        "EER": Measured(10.0, 8.0, 13.0, "%"),
        "worst case": Measured(float("inf"), 1.5, float("inf"), "log10 l"),
        "ROCCH-EER": Measured(9.0, unit="%"),
    }
    attack = dataclasses.replace(attacked(10.0), figures=figures)
    evaluation = one(attack, utility={"G_VD": Measured(float("-inf"))})
    results_file.save(evaluation, tmp_path)
    assert results_file.load(tmp_path) == evaluation
    assert "∞" in printed(evaluation)


def test_every_figure_is_in_the_table(found, tmp_path):
    evaluation, _ = found
    results_file.save(evaluation, tmp_path)
    with (tmp_path / "results.csv").open(newline="", encoding="utf-8") as file:
        rows = {tuple(row[:4]): row[4:] for row in csv.reader(file)}
    assert rows.pop(("system", "attacker", "verifier", "metric"))
    expected = {}
    for name, attacks, utility in (
        ("original", evaluation.unprotected, evaluation.utility),
        *((s.name, s.attacks, s.utility) for s in evaluation.systems),
    ):
        for a in attacks:
            for metric, m in a.figures.items():
                expected[name, a.attacker, a.verifier, metric] = m
        for metric, m in utility.items():
            expected[name, "", "", metric] = m
    assert rows.keys() == expected.keys()
    for where, m in expected.items():
        read = [float(v) if v else None for v in rows[where][:3]]
        assert [*read, rows[where][3]] == [m.value, m.low, m.high, m.unit]
    metrics = {where[3] for where in rows}
    assert metrics >= {"EER", "EER f", "EER m", "ROCCH-EER", "min C_llr", "D_ECE", "worst case"}
    assert metrics >= {"D_sys", "WER", "DNSMOS", "G_VD"}


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "missing"), ("[]", "is no report"), ('{"format": 99}', "another release")],
)
def test_what_is_no_report_is_refused(tmp_path, content, message):
    from voicenym.errors import VoicenymError

    if content is not None:
        (tmp_path / "results.json").write_text(content)
    with pytest.raises(VoicenymError, match=message):
        results_file.load(tmp_path)


def browse(page, *options):
    """Chromium's standard output and error, with a profile that is thrown away."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("chromium is not installed: make system")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", "--enable-logging=stderr", *options]
        done = subprocess.run(
            [*command, page.as_uri()], capture_output=True, text=True, timeout=600
        )
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr
    return done.stdout


def test_it_opens_in_a_browser_and_is_not_blank(page, tmp_path):
    picture = tmp_path / "page.png"
    browse(page, f"--screenshot={picture}", "--window-size=1100,1400")
    from matplotlib.image import imread

    pixels = imread(picture)[..., :3]
    assert pixels.shape[:2] == (1400, 1100)
    assert 0.02 < (pixels.mean(-1) < 0.9).mean() < 0.9, "there is ink, and paper"
    assert np.ptp(pixels, axis=-1).max() > 0.3, "and colour"


def test_a_browser_understands_it_as_it_was_meant(page, source):
    dom = parsed(browse(page, "--dump-dom").strip())
    meant = parsed(source)
    assert dom.tags.count("svg") == meant.tags.count("svg") == FIGURES
    assert dom.tags.count("td") == meant.tags.count("td")
    assert dom.tags.count("path") == meant.tags.count("path")
    assert dom.text == meant.text
