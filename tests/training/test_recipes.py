"""Recipes by name, and training from Python."""

from __future__ import annotations

import inspect
import json
import shlex
import subprocess
import sys
from dataclasses import fields
from math import nan
from pathlib import Path

import pytest

import voicenym
from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.training.recipe import Recipe, Trained, assembling
from voicenym.training.recipes import RECIPES, SUMMARIES
from voicenym.training.run.progress_report import Report


@pytest.mark.parametrize("name", RECIPES.names())
def test_every_recipe_documents_its_options(name):
    recipe = RECIPES.get(name)
    assert inspect.isclass(recipe)
    assert issubclass(recipe, Recipe)
    assert recipe.example
    assert SUMMARIES[name].endswith(".")
    helps = {item.name: item.help for item in RECIPES.parameters(name)}
    assert set(helps) == {item.name for item in fields(recipe)}
    assert not [option for option, help in helps.items() if not help[:1].strip()]
    if recipe.configuration:
        assert "config" in helps


def test_no_recipe_imports_torch():
    """Help on options is quick."""
    code = (
        "import sys; from voicenym.training.recipes import RECIPES\n"
        "[RECIPES.parameters(name) for name in RECIPES]\n"
        "print(sorted({'torch', 'lightning'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


TINY = """
options: {channels: 16, size: 12, attention: 8, squeeze: 8}
seconds: 0.4
batch: 8
speeds: [1.0]
every: 2
steps: 4
"""


def test_a_verifier_is_trained_from_python(voices, tmp_path):
    pytest.importorskip("lightning")
    (tmp_path / "tiny.yaml").write_text(TINY)
    data = Path(voices[0].path).parents[1]
    lines: list[str] = []
    options = {
        "data": str(data),
        "config": f"{tmp_path}/tiny.yaml",
        "accelerator": "cpu",
        "workers": 0,
        "say": lines.append,
    }
    outcome = voicenym.train("verifier", out=tmp_path / "verifier", budget="25m", **options)
    assert outcome.folder == tmp_path / "verifier"
    assert outcome.steps == 4
    assert outcome.details[-1]["step"] == 4
    assert 0.0 <= outcome.figures["EER % on held-out speakers"] <= 100.0
    assert any(line.startswith("step 4") for line in lines)
    card = json.loads((tmp_path / "verifier" / "config.json").read_text())["card"]
    assert card["data"] == data.name
    more = voicenym.train("verifier", out=tmp_path / "verifier", steps=6, **options)
    assert more.steps == 6  # continues


def test_a_mixture_needs_no_configuration(tmp_path):
    with pytest.raises(VoicenymError, match="--covariance is diag or full"):
        voicenym.train("mixture", source="pool", output=tmp_path, covariance="round")


@pytest.mark.parametrize(
    ("recipe", "options", "message"),
    [
        ("verifer", {}, "did you mean verifier"),
        ("verifier", {"data": "x", "out": "y"}, "needs config"),
        ("verifier", {"data": "x", "out": "y", "config": "ecapa", "dta": 3}, "dta"),
        ("verifier", {"data": "x", "out": "y", "config": "ecapa", "steps": 0}, "steps: 0"),
        ("verifier", {"data": "x", "out": "y", "config": "ecapa", "steps": "many"}, "steps"),
        ("resynthesis", {"data": "x", "out": "y", "config": "base", "share": 2}, "share: 2"),
    ],
)
def test_mistakes_are_named(recipe, options, message):
    with pytest.raises(VoicenymError, match=message):
        voicenym.train(recipe, **options)


def test_a_run_ends_with_its_price_its_figure_and_its_folder():
    trained = Trained(
        Path("net"), 400, {"EER % on held-out speakers": 12.345, "x": 1.0}, seconds=90
    )
    assert trained.summary() == [
        "trained: 400 steps, 1.5 min",
        "result: EER 12.35 % on held-out speakers",
        "written to: net",
    ]
    stopped = Trained(Path("net"), 4, {"loss on held-out speakers": nan}, seconds=6, finished=False)
    assert stopped.summary() == [
        "trained: 4 steps, 0.1 min",
        "interrupted: the same command continues the training",
        "written to: net",
    ]
    fitted = Trained(Path("ubm"), 0, {"mel distance on held-out speakers": 0.5}, ("2 groups",))
    assert fitted.summary() == [
        "2 groups",
        "result: mel distance 0.5 on held-out speakers",
        "written to: ubm",
    ]


def test_a_path_without_a_separator_is_a_path_and_never_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VoicenymError, match=r"my\.yaml: cannot be read as a configuration"):
        voicenym.train("verifier", config=Path("my.yaml"), data="corpus", out="out")


@pytest.mark.parametrize("recipe", ["units", "ubm", "verifier", "register"])
@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("work/corpus", "is the folder of the recordings"),
        ("work/link", "is the folder of the recordings"),
        ("work", "holds the folder of the recordings"),
        ("work/corpus/out", "lies in the folder of the recordings"),
    ],
)
def test_a_result_is_not_written_into_the_recordings(tmp_path, recipe, place, why):
    corpus = tmp_path / "work" / "corpus"
    (corpus / "anna").mkdir(parents=True)
    corpus.chmod(0o755)
    (tmp_path / "work" / "link").symlink_to(corpus)
    more = {"verifier": {"config": "ecapa"}, "register": {"speaker": "./x"}}.get(recipe, {})
    with pytest.raises(VoicenymError, match=f"{place}: {why}.*; choose another folder with -o"):
        voicenym.train(recipe, data=corpus, out=tmp_path / place, **more)
    assert [path.name for path in corpus.iterdir()] == ["anna"]
    assert corpus.stat().st_mode & 0o777 == 0o755


def test_a_result_is_not_written_where_others_can_enter(tmp_path):
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    (corpus / "anna").mkdir(parents=True)
    out.mkdir()
    (out / "notes").touch()
    out.chmod(0o755)
    with pytest.raises(VoicenymError, match="others can enter it"):
        voicenym.train("units", data=corpus, out=out)
    assert [path.name for path in out.iterdir()] == ["notes"]


def test_every_folder_of_recordings_and_vectors_counts(tmp_path):
    for name in ("own", "other", "vectors"):
        (tmp_path / name).mkdir()
    given = {"data": tmp_path / "own", "other": tmp_path / "other", "content": tmp_path / "c"}
    with pytest.raises(VoicenymError, match="lies in the folder of the recordings"):
        voicenym.train("language", **given, out=tmp_path / "other" / "out")
    for recipe, option in (("mixture", "source"), ("householder", "vectors")):
        more = {} if recipe == "mixture" else {"config": "householder"}
        place = {option: tmp_path / "vectors", "out": tmp_path / "vectors"}
        with pytest.raises(VoicenymError, match="holds the vectors to train on"):
            voicenym.train(recipe, **place, **more)


def test_parts_without_a_seed_of_their_own_depend_on_that_of_the_configuration(tmp_path):
    """Discriminators and classifiers begin alike in every run, and with other weights than networks
    that begin with the seed itself.
    """
    import torch

    from voicenym.training.codec.musa_config import MusaConfig

    def first(seed):
        (tmp_path / "musa.yaml").write_text(f"seed: {seed}")
        made = RECIPES.make(
            "musa", data=(tmp_path,), output=tmp_path, config=str(tmp_path / "musa.yaml")
        )
        made.configured(MusaConfig)
        return torch.nn.Linear(3, 3).weight

    assert torch.equal(first(4), first(4))
    assert not torch.equal(first(4), first(5))
    torch.manual_seed(4)
    assert not torch.equal(first(4), torch.nn.Linear(3, 3).weight)


def test_a_command_that_uses_a_result_can_be_pasted():
    line = assembling("f0", Path("my f0"), Path("$(reboot)/it's"))
    _, _, command = line.partition(": ")
    assert shlex.split(command) == [
        "voicenym", "models", "assemble", "--f0", "./my f0", "-o", "$(reboot)/it's",
    ]  # fmt: skip
    assert assembling("live", Path("live")).endswith(" --live ./live -o PIPELINE")


@pytest.mark.parametrize("parts", [["f0"], ["f0", "register"]])
def test_an_f0_predictor_names_the_register_that_a_pipeline_lacks(parts):
    recipe = RECIPES.make("f0-predictor", data=(), output=Path("f0"), pipeline=Path("ssl"))
    said = "train register --data DATA --speaker" in "".join(recipe._usage(parts))
    assert said is ("register" not in parts)


@pytest.mark.parametrize("speakers", [1, 2])
def test_figures_of_one_speaker_are_said_to_be_of_that_speaker(speakers, monkeypatch):
    monkeypatch.setattr("voicenym.training.speech.preparation.prepared", lambda *given: ([], []))
    recordings = [Recording(str(n), f"s{n % speakers}", Path(f"{n}.wav")) for n in range(4)]
    messages = []
    recipe = RECIPES.make("musa", data=(), output=Path("musa"), config="musa")
    recipe.prepared(recordings[::2], recordings[1::2], Report(messages.append))
    assert len(messages) == (1 if speakers == 1 else 0)
