"""Tables of answers, and the formats of other tools."""

from __future__ import annotations

import csv
import io
import json

import pytest
from listening_material import folders

from voicenym.errors import VoicenymError
from voicenym.listening.design.sessions import Plan
from voicenym.listening.design.study_design import design
from voicenym.listening.exchange import other_tools
from voicenym.listening.exchange.answer_tables import (
    COLUMNS,
    as_answers,
    as_csv,
    as_json,
    column_map,
    read_table,
)
from voicenym.listening.ratings import Rating
from voicenym.reproduction.listening import answers

RATINGS = [
    Rating("L001", "i1", "acr", "quality", "original", "u1", "s1", 5.0, seconds=3.5),
    Rating("L001", "i2", "verifiability", "similarity", "a", "u, 2", "s1", 2.0, "same"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    material = folders(tmp_path_factory.mktemp("exchange"), ("a", "b"), 2, 3, 0.3)
    return design(material, Plan(("acr", "dcr", "mushra", "abx"), 4, 6, 2, headphones=""))


def test_tables_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(as_csv(RATINGS))
    found = read_table(path)
    assert [as_csv([one]) for one in found] == [as_csv([one]) for one in RATINGS]
    assert next(csv.reader(io.StringIO(as_csv(RATINGS)))) == list(COLUMNS)
    data = json.loads(as_json(RATINGS))
    assert data[0]["duration"] is None
    assert data[1]["utterance"] == "u, 2"
    path.write_text(as_answers(RATINGS))
    read = [(one.question, one.kind, one.score) for one in answers(path)]
    assert read == [("MOS", "", 5.0), ("similarity", "same", 2.0)]


def test_columns_of_another_tool_are_mapped(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("\ufeffworker;condition;file;rating\nann;ref;1.wav;5\nbob;x;1.wav;3\n")
    with pytest.raises(VoicenymError, match=r"no column 'listener'.*worker.*--column listener="):
        read_table(path)
    columns = column_map(
        ["listener=worker", "system=condition", "score=rating", "item=file", "question==quality"]
    )
    found = read_table(path, columns, original="ref")
    assert [(r.listener, r.system, r.utterance, r.question, r.score) for r in found] == [
        ("ann", "original", "1.wav", "quality", 5.0),
        ("bob", "x", "1.wav", "quality", 3.0),
    ]
    with pytest.raises(VoicenymError, match="no column 'nothing'"):
        read_table(path, {**columns, "kind": "nothing"})
    for pair in ("listener", "listener=", "age=years"):
        with pytest.raises(VoicenymError, match="FIELD=COLUMN"):
            column_map([pair])


@pytest.mark.parametrize(
    ("question", "score", "scale", "message"),
    [
        (
            "quality",
            "6",
            None,
            r"line 2: the rating 6 of quality is outside the scale 1 to 5.*--sc",
        ),
        ("naturalness", "0", None, "outside the scale 1 to 10"),
        ("other", "11", (0, 10), "outside the scale 0 to 10"),
        ("quality", "good", None, "line 2: the score 'good' is no number"),
        ("quality", "", None, "is no number"),
        ("quality", "inf", None, "is no number"),
    ],
)
def test_ratings_outside_the_scale_are_refused(tmp_path, question, score, scale, message):
    path = tmp_path / "table.csv"
    path.write_text(f"listener,system,question,score\nann,a,{question},{score}\n")
    with pytest.raises(VoicenymError, match=message):
        read_table(path, scale=scale)


@pytest.mark.parametrize("content", [b"", b"listener,system,score\n", b"\xff\xfe\x00", b'"a'])
def test_files_that_are_no_tables(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(VoicenymError, match=r"table\.csv"):
        read_table(path)


def test_a_study_goes_to_webmushra(made):
    config = json.loads(other_tools.webmushra_config(made.study, made.key))
    consent, (order, *pages), finish = config["pages"]
    assert (consent["type"], order, finish["type"]) == ("generic", "random", "finish")
    kinds = {page["type"] for page in pages}
    assert kinds == {"mushra", "paired_comparison", "likert_single_stimulus"}
    page = next(page for page in pages if page["type"] == "mushra")
    assert page["createAnchor35"]
    assert page["createAnchor70"]
    systems = {made.key.clips[clip].system for clip in page["stimuli"]}
    assert systems == {"a", "b"}, "it makes reference and anchors itself"
    for file in page["stimuli"].values():
        assert file.removeprefix("configs/stimuli/").removesuffix(".wav") in made.clips
    scale = next(page for page in pages if page["type"] == "likert_single_stimulus")
    assert [one["value"] for one in scale["response"]] == [1, 2, 3, 4, 5]
    text = json.dumps(pages)
    assert "original" not in text


def test_answers_of_webmushra(tmp_path):
    path = tmp_path / "mushra.csv"
    path.write_text(
        "session_test_id,email,age,trial_id,rating_stimulus,rating_score,rating_time,rating_comment"
        "\ntest,ann,9,t1,reference,100,5000,\ntest,ann,9,t1,C1,40,5000,fine\n"
    )
    found = other_tools.read_webmushra(path)
    assert [(r.listener, r.system, r.utterance, r.score) for r in found] == [
        ("ann", "original", "t1", 100.0),
        ("ann", "C1", "t1", 40.0),
    ]
    ours = [Rating("L001", "t1", "mushra", "MUSHRA quality", s, "t1", "", v)
            for s, v in (("original", 100.0), ("C1", 40.0))]  # fmt: skip
    path.write_text(other_tools.webmushra_answers(ours))
    assert [(r.system, r.score) for r in other_tools.read_webmushra(path)] == [
        ("original", 100.0), ("C1", 40.0),
    ]  # fmt: skip
    path.write_text(
        "session_test_id,email,trial_id,stimuli_rating,stimuli,rating_time\nt,a,1,4,C1,9"
    )
    assert other_tools.read_webmushra(path)[0].score == 4.0
    path.write_text("a,b\n1,2\n")
    with pytest.raises(VoicenymError, match="--column"):
        other_tools.read_webmushra(path)


def test_a_study_goes_to_the_p808_toolkit_and_its_answers_come_back(made, tmp_path):
    lists = other_tools.p808_lists(made.study, made.key, "acr", "https://example.org/clips/")
    rows = {name: list(csv.DictReader(io.StringIO(text))) for name, text in lists.items()}
    assert set(rows) == {
        "rating_clips.csv", "training_clips.csv", "gold_clips.csv", "trapping_clips.csv",
    }  # fmt: skip
    assert {row["gold_clips_ans"] for row in rows["gold_clips.csv"]} <= {"1", "5"}
    assert {row["trapping_ans"] for row in rows["trapping_clips.csv"]} <= set("12345")
    dcr = other_tools.p808_lists(made.study, made.key, "dcr", "x")["rating_clips.csv"]
    assert dcr.startswith("rating_clips,references\n")
    with pytest.raises(VoicenymError, match="acr and dcr"):
        other_tools.p808_lists(made.study, made.key, "abx", "x")

    clips = [row["rating_clips"] for row in rows["rating_clips.csv"]][:3]
    trap, gold = (rows[f"{kind}_clips.csv"][0][f"{kind}_clips"] for kind in ("trapping", "gold"))
    order = [*clips, trap, gold]
    heading = ["WorkerId", "WorkTimeInSeconds", "Input.TP", "Input.gold_clips"]
    heading += [f"Answer.Q{i}_URL" for i in range(1, 6)] + [f"Answer.q{i}" for i in range(1, 6)]
    path = tmp_path / "Batch_results.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heading, ["ANN", "99", trap, gold, *order, 4, 3, 2, 1, 5]])
    found = other_tools.read_p808(path, made.key)
    assert [one.score for one in found] == [4.0, 3.0, 2.0]
    for one, clip in zip(found, clips, strict=True):
        meant = made.key.clips[clip.rsplit("/", 1)[1].removesuffix(".wav")]
        assert (one.system, one.utterance) == (meant.system, meant.utterance)
    assert other_tools.read_p808(path)[0].system == "clips", "without a key, the folder"
    path.write_text(path.read_text().replace(",4,3,2,", ",4,9,2,"))
    with pytest.raises(VoicenymError, match="line 2: the rating '9' is outside the scale 1 to 5"):
        other_tools.read_p808(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(VoicenymError, match="--column"):
        other_tools.read_p808(path)


@pytest.mark.parametrize("read", [read_table, other_tools.read_webmushra])
def test_what_is_no_file_of_answers_is_refused_in_our_own_words(read, tmp_path, sample):
    with pytest.raises(VoicenymError, match="none: does not exist; give the folder of a study"):
        read(tmp_path / "none")
    with pytest.raises(VoicenymError, match=r"cannot be read \(Is a directory\)"):
        read(tmp_path)
    with pytest.raises(VoicenymError, match=r"sample\.wav: is no table in UTF-8; give"):
        read(sample)
