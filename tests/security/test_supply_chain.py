"""Installed packages and loaded weights match the digests in the source tree (docs/release.md)."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import voicenym
from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets import checkpoint as folder
from voicenym.nets import digests
from voicenym.nets.weights import weight_files

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(path.stem for path in (ROOT / "locks").glob("*.txt"))
FULL = ("base", "dev", "docs")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def locked(name: str) -> list[tuple[Requirement, set[str]]]:
    """Requirements of a lock and their hashes."""
    text = (ROOT / "locks" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [(Requirement(line.split("--hash")[0]), set(HASH.findall(line))) for line in lines]


def versions(name: str, python: str = "") -> dict[str, set[str]]:
    """Versions of each package in a lock; those of one Python if it is named."""
    found: dict[str, set[str]] = {}
    for requirement, _ in locked(name):
        if python and not holds(requirement, python):
            continue
        version = str(requirement.specifier).removeprefix("==")
        found.setdefault(canonicalize_name(requirement.name), set()).add(version)
    return found


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


# ---- locks ----


@pytest.mark.parametrize("name", LOCKS)
def test_each_line_of_a_lock_pins_one_version_and_has_hashes(name):
    found = locked(name)
    assert found
    for requirement, hashes in found:
        assert re.fullmatch(r"==[\w.+]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert requirement.url is None, requirement


def test_the_locks_that_the_makefile_names_are_all_there():
    named = set(re.findall(r"locks/([\w-]+)\.txt", (ROOT / "Makefile").read_text("utf-8")))
    assert named == set(LOCKS)


def holds(requirement: Requirement, python: str) -> bool:
    about = {"python_version": python, "python_full_version": f"{python}.0"}
    return requirement.marker is None or requirement.marker.evaluate(about)


def constraints() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and line[0] != "#"]


@pytest.mark.parametrize("python", PYTHONS)
def test_each_python_has_one_constraint_for_a_package(python):
    names = [canonicalize_name(one.name) for one in constraints() if holds(one, python)]
    assert len(set(names)) == len(names)
    assert set(names) == {canonicalize_name(one.name) for one in constraints()}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", LOCKS)
def test_locks_hold_the_versions_of_the_constraints(name, python):
    wanted = {
        canonicalize_name(one.name): one.specifier for one in constraints() if holds(one, python)
    }
    shared = wanted.keys() & versions(name, python).keys()
    assert shared or name in ("croissant", "gpu", "release", "resemblyzer")
    for package in shared:
        for version in versions(name, python)[package]:
            assert wanted[package].contains(version), f"{package} {version}: run make lock"


def extras(name: str) -> list[str]:
    given = project()["optional-dependencies"]
    names = {
        "dev": ["lhotse", "evaluate", "recognisers", "train", "docs", "dev"],
        "docs": ["docs"],
    }
    return [line for extra in names.get(name, []) for line in given[extra]]


@pytest.mark.parametrize("name", FULL)
def test_locks_hold_what_the_project_asks_for(name):
    found = versions(name)
    build = (ROOT / "locks" / "build.in").read_text("utf-8").splitlines()
    asked = [*project()["dependencies"], *extras(name), *(b for b in build if b[0] != "#")]
    for line in asked:
        requirement = Requirement(line)
        have = found.get(canonicalize_name(requirement.name))
        assert have, f"{line}: not in locks/{name}.txt; run make lock"
        assert all(requirement.specifier.contains(version) for version in have), line
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert backend["requires"] == ["hatchling"]


def test_locks_agree_with_each_other():
    base = versions("base")
    for name in ("dev", "docs"):
        other = versions(name)
        for package in base:
            assert other[package] == base[package], f"{package}: run make lock"
    (torch_version,) = base["torch"]
    (small,) = versions("torch-cpu")["torch"]
    assert small == f"{torch_version}+cpu"
    assert not versions("gpu").keys() & base.keys()


@pytest.mark.parametrize("name", FULL)
def test_a_lock_is_complete(name):
    """All that its packages ask for here is in it: pip looks nothing up beside a lock."""
    there = versions(name).keys() | versions("gpu").keys()
    seen = 0
    for package in versions(name):
        try:
            asked = importlib.metadata.requires(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        seen += 1
        for line in asked:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                assert canonicalize_name(requirement.name) in there, f"{package} asks for {line}"
    assert seen > 15


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_makefile_installs_by_hash_alone():
    goals = ["demo", "test", "docs", "audit", "sbom", "lock"]
    given = subprocess.run(
        ["make", "--always-make", "--dry-run", *goals, f"PYTHON={sys.executable}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.replace("\\\n", " ")  # fmt: skip
    installs = [
        part for part in re.split(r"\n|;|\|\|", given) if re.search(r"\bpip\b.*install", part)
    ]
    by_hash = [line for line in installs if "--require-hashes" in line]
    own = [line for line in installs if line not in by_hash]
    assert len(by_hash) >= 7
    for line in by_hash:
        assert "--no-deps" in line, line
        assert "--only-binary :all:" in line, line
        assert re.search(r" -r locks/[\w-]+\.txt", line), line
    assert len(own) == 3  # voicenym itself, in each of the three
    for line in own:
        assert line.strip().endswith("--no-deps --no-build-isolation --editable ."), line
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8")


def wheel(place: Path, content: str = "") -> Path:
    """A package of nothing."""
    path = place / "nothing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("nothing.py", content)
        file.writestr(
            "nothing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n"
        )
        file.writestr(
            "nothing-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr("nothing-1.0.dist-info/RECORD", "")
    return path


def installed(place: Path, line: str) -> subprocess.CompletedProcess[str]:
    """As the Makefile installs, from a folder."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    options = re.search(r"^LOCKED := (.*) \$\(PIP_ARGS\)$", makefile, re.MULTILINE)
    assert options
    (place / "lock.txt").write_text(line + "\n")
    command = [sys.executable, "-m", "pip", *options[1].split(), "-r", str(place / "lock.txt")]
    command += ["--no-index", "--find-links", str(place), "--target", str(place / "out")]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="pip is not installed")
def test_a_package_of_another_hash_is_not_installed(tmp_path):
    digest = hashlib.sha256(wheel(tmp_path).read_bytes()).hexdigest()
    wheel(tmp_path, "print('exchanged')")
    done = installed(tmp_path, f"nothing==1.0 --hash=sha256:{digest}")
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "out").exists()
    assert installed(tmp_path, "nothing==1.0").returncode != 0  # without a hash
    digest = hashlib.sha256((tmp_path / "nothing-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    done = installed(tmp_path, f"nothing==1.0 --hash=sha256:{digest}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "nothing.py").is_file()


# ---- bill of materials ----


def test_the_bill_of_materials_is_complete():
    bill = json.loads((ROOT / "locks" / "sbom.cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == ("voicenym", voicenym.__version__)
    packages = {}
    for part in bill["components"]:
        if part["type"] == "library":
            given = {h["content"] for r in part["externalReferences"] for h in r.get("hashes", [])}
            packages[canonicalize_name(part["name"]), part["version"]] = given
    wanted = {}
    for name in ("base", "gpu"):
        for requirement, hashes in locked(name):
            version = str(requirement.specifier).removeprefix("==")
            wanted[canonicalize_name(requirement.name), version] = hashes
    assert packages == wanted, "run make sbom"
    weights = {
        part["name"]: part["hashes"][0]["content"]
        for part in bill["components"]
        if part["type"] == "machine-learning-model"
    }
    bundled = {n: d for n, d in digests.pinned().items() if n.endswith(".safetensors")}
    assert weights == bundled, "run make sbom"


# ---- weights ----


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_bundled_file_of_weights_is_pinned():
    assert digests.pinned() == tool("digests").digests(), "run make digests"
    suffixes = (".safetensors", ".planes", ".difference", ".pt", ".bin")
    there = [path for path in digests.PACKAGE.rglob("*") if path.suffix in suffixes]
    weights = {name for name in digests.pinned() if name.endswith(".safetensors")}
    otherwise = (weight_files.PLANES, weight_files.DIFFERENCE)
    found = [path.with_suffix(".safetensors") if path.name in otherwise else path for path in there]
    assert sorted(path.relative_to(digests.PACKAGE).as_posix() for path in found) == sorted(weights)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of a bundled folder, in what is taken for the package."""
    name = "nets/identity/bundled/ecapa-small"
    shutil.copytree(digests.PACKAGE / name, tmp_path / name)
    monkeypatch.setattr(digests, "PACKAGE", tmp_path)
    folder.read(tmp_path / name)
    return tmp_path / name


def test_bundled_weights_with_another_byte_are_refused(package):
    path = package / folder.WEIGHTS
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(VoicenymError, match=r"model\.safetensors: not what this release"):
        folder.read(package)


def test_bundled_weights_that_were_exchanged_with_their_configuration_are_refused(package):
    state = {name: value + 1e-3 for name, value in folder.read(package)[1].items()}
    config = folder.configuration(package)
    folder.write(package, state, {n: v for n, v in config.items() if n != folder.DIGEST})
    with pytest.raises(VoicenymError, match=r"config\.json: not what this release"):
        folder.read(package)


def test_a_folder_that_was_put_into_the_package_is_refused(package):
    other = package.with_name("other")
    shutil.copytree(package, other)
    with pytest.raises(VoicenymError, match=r"other.config\.json: not what this release"):
        folder.read(other)


def test_a_command_refuses_exchanged_weights_and_writes_nothing(tmp_path, sample):
    copy = tmp_path / "installed" / "voicenym"
    shutil.copytree(ROOT / "src" / "voicenym", copy)  # with what was compiled
    path = copy / "resynthesis" / "bundled" / "base" / weight_files.PLANES
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import voicenym.apps.cli as v; v.main()"
    )
    asked = ["anonymize", sample, "-s", "base", "-o", "out.wav"]
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; c.main()", copy.parent, *asked],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert f"{path}: not what this release of voicenym brings" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.wav").exists()


# ---- pickles ----


class Bomb:
    """Leaves a mark where it is unpickled without care."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (os.mkdir, (str(self.mark),))


def bombs(mark: Path) -> dict[str, object]:
    """In each place of a checkpoint that something looks at."""
    bomb = Bomb(mark)
    nested = ("model_state", "state_dict", "generator", "hubert", "model")
    return {
        "whole": bomb,
        "beside": {"a": torch.zeros(1), "b": bomb},
        **{n: {n: bomb} for n in nested},
    }


def readers(path: Path) -> dict:
    """What ``models convert`` makes of a checkpoint."""
    from voicenym.nets.checkpoint_conversion import KINDS, convert

    out = path.parent / "converted"
    (path.parent / "config.json").write_text('{"sampling_rate": 16000}')
    return {kind: lambda kind=kind: convert(path, kind, out) for kind in KINDS}


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
def test_a_pickle_that_would_run_a_program_is_refused(tmp_path, legacy):
    mark, path = tmp_path / "mark", tmp_path / "in" / "checkpoint.pt"
    path.parent.mkdir()
    for what in bombs(mark).values():
        torch.save(what, path, _use_new_zipfile_serialization=not legacy)
        for read in readers(path).values():
            with pytest.raises(VoicenymError):
                read()
            assert not mark.exists()
    path.write_bytes(pickle.dumps(Bomb(mark)))
    for read in readers(path).values():
        with pytest.raises(VoicenymError):
            read()
        assert not mark.exists()
    pickle.loads(path.read_bytes())  # the bomb is one
    assert mark.exists()


@pytest.mark.parametrize("version", ["2.4.1", "2.5.1+cu121", "2.9.1"])
def test_a_torch_that_unpickles_more_than_it_says_is_not_used(tmp_path, monkeypatch, version):
    from voicenym.nets.weights import pickles

    torch.save({"a": torch.zeros(1)}, tmp_path / "a.pt")
    assert pickles.state(tmp_path / "a.pt")["a"].shape == (1,)
    monkeypatch.setattr(torch, "__version__", version)
    with pytest.raises(DependencyError, match=r"does not read checkpoints safely.*torch>=2\.10"):
        pickles.state(tmp_path / "a.pt")


def test_resemblyzers_weights_are_known_by_their_digest(tmp_path, monkeypatch):
    from voicenym.nets import hub
    from voicenym.nets.weight_pull import pull

    (tmp_path / "pretrained.pt").write_bytes(b"other")
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path / "home"))
    with pytest.raises(VoicenymError, match=r"pretrained\.pt: damaged, or not what"):
        pull("resemblyzer", fetch=lambda *_: str(tmp_path / "pretrained.pt"))
    assert not hub.is_pulled("resemblyzer")


def loaders(place: Path) -> dict:
    """Whatever loads weights that a user names, with the kind that it tells to convert to."""
    from voicenym.nets.content import content_encoders as contents
    from voicenym.nets.content.hubert_published import from_hubert
    from voicenym.nets.content.wav2vec import Wav2Vec
    from voicenym.nets.encoder_folders import folder_of
    from voicenym.nets.speakers import speaker_encoders as encoders
    from voicenym.nets.synthesis import synthesizers
    from voicenym.nets.weights.safetensors_file import tensors
    from voicenym.training.cloak.vcloak_recipe import words_loss
    from voicenym.training.content.units.soft_content_recipe import initial_network
    from voicenym.training.content.units.train_hubert_soft import SoftConfig
    from voicenym.training.content.units.unit_features import features_of
    from voicenym.training.run.machine import Machine
    from voicenym.verification.verifiers import encoder_of, verifier

    text = str(place)
    return {
        "ecapa": [
            lambda: verifier(f"ecapa:{text}"),
            lambda: encoder_of(f"ecapa:{text}"),
            lambda: folder_of("speaker", f"ecapa:{text}"),
        ],
        "xvector": [lambda: verifier(f"xvector:{text}")],
        "wav2vec2": [
            lambda: features_of(f"wav2vec2:{text}", 1, Machine()),
            lambda: Wav2Vec.from_published(text),
        ],
        "hubert": [
            lambda: features_of(text, 1, Machine()),
            lambda: initial_network(text, SoftConfig(), ()),
            lambda: from_hubert(place),
        ],
        "deepspeech2": [lambda: words_loss(place, "posteriorgram")],
        "KIND": [lambda: folder_of("content", text), lambda: folder_of("speaker", text)]
        + [lambda load=m.load: load(place) for m in (contents, encoders, synthesizers)]
        * place.is_file()
        + [lambda: tensors(place)] * place.is_file(),
    }


NAMES = (
    "embedding_model.ckpt",
    "pytorch_model.bin",
    "weights.pt",
    "w.pth",
    "model.safetensors",
    "w",
)


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_refused_by_what_it_holds_and_never_unpickled(
    tmp_path, monkeypatch, name, legacy
):
    pytest.importorskip("transformers")
    pytest.importorskip("lightning")
    mark, folder = tmp_path / "mark", tmp_path / "in"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "wav2vec2"}')

    def never(*arguments, **options):
        raise AssertionError("unpickled")

    monkeypatch.setattr(torch, "load", never)
    monkeypatch.setattr(pickle, "load", never)
    for content in (Bomb(mark), {"a": torch.zeros(1)}):
        torch.save(content, folder / name, _use_new_zipfile_serialization=not legacy)
        for place in (folder / name, folder):
            for kind, calls in loaders(place).items():
                for load in calls:
                    with pytest.raises(VoicenymError) as caught:
                        load()
                    command = f"voicenym models convert {place} --as {kind} -o FOLDER"
                    assert command in str(caught.value)
    assert not mark.exists()


def test_transformers_is_given_no_pickle(tmp_path):
    """Neither a model in its layout, nor a recogniser."""
    transformers = pytest.importorskip("transformers")
    from voicenym.nets.content.wav2vec import Wav2Vec
    from voicenym.recognition.published_recogniser import Pretrained

    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20,
        conv_dim=[8] * 7, num_conv_pos_embeddings=6, num_conv_pos_embedding_groups=4,
        vocab_size=3, architectures=["Wav2Vec2ForCTC"],
    )  # fmt: skip
    mark, folder = tmp_path / "mark", tmp_path / "in"
    transformers.Wav2Vec2ForCTC(config).save_pretrained(folder)
    (folder / "vocab.json").write_text('{"<pad>": 0, "a": 1, "|": 2}')
    transformers.Wav2Vec2Processor(
        transformers.Wav2Vec2FeatureExtractor(),
        transformers.Wav2Vec2CTCTokenizer(str(folder / "vocab.json")),
    ).save_pretrained(folder)
    assert Wav2Vec.from_published(str(folder)).layer == 2
    assert Pretrained(folder).name == "in"
    (folder / "model.safetensors").unlink()
    torch.save({"a": Bomb(mark)}, folder / "pytorch_model.bin")
    with pytest.raises(VoicenymError, match="--as wav2vec2 -o FOLDER"):
        Wav2Vec.from_published(str(folder))
    with pytest.raises(VoicenymError, match="no usable weights there"):
        Pretrained(folder)
    (folder / "pytorch_model.bin").rename(folder / "model.safetensors")
    for load in (lambda: Wav2Vec.from_published(str(folder)), lambda: Pretrained(folder)):
        with pytest.raises(VoicenymError):
            load()
    assert not mark.exists()


def test_nothing_else_in_the_package_unpickles():
    """Whoever adds a way to load says how it refuses programs."""
    forbidden = {"pickle.load", "pickle.loads", "joblib.load", "yaml.load", "torch.jit.load"}
    forbidden |= {"torch.hub.load", "pandas.read_pickle", "yaml.unsafe_load", "shelve.open"}
    safe = {"torch.load": ("weights_only", True), "np.load": ("allow_pickle", False)}
    seen = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            assert name not in forbidden, f"{path}:{node.lineno}: {name}"
            if name in safe:
                option, value = safe[name]
                given = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
                assert given.get(option) is value, f"{path}:{node.lineno}: {name} without {option}"
                seen.add((name, path.name))
    # torch.load: to convert checkpoints of others, and of our own in the folder of a training
    assert {file for name, file in seen if name == "torch.load"} == {"pickles.py", "fit.py"}


def test_only_converting_opens_pickles():
    """``checkpoint_conversion`` alone imports ``pickles``; only two modules import it."""
    pickles = "voicenym.nets.weights.pickles"
    conversion = "voicenym.nets.checkpoint_conversion"
    importers: dict[str, set[str]] = {pickles: set(), conversion: set()}
    used = set()
    for path in (ROOT / "src").rglob("*.py"):
        name = path.relative_to(ROOT / "src" / "voicenym").as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for module in importers:
                if isinstance(node, ast.ImportFrom):
                    whole = {f"{node.module}.{alias.name}" for alias in node.names}
                    found = {node.module, *whole}
                elif isinstance(node, ast.Import):
                    found = {alias.name for alias in node.names}
                else:
                    continue
                if module in found:
                    importers[module].add(name)
            if isinstance(node, ast.keyword) and node.arg == "use_safetensors":
                assert getattr(node.value, "value", None) is True
                used.add(name)
    assert importers[pickles] == {"nets/checkpoint_conversion.py"}
    assert importers[conversion] == {
        "nets/weight_pull.py",
        "apps/cli/commands/models.py",
    }
    assert used == {"nets/content/wav2vec.py", "recognition/published_recogniser.py"}


# ---- reporting ----


def test_the_message_says_how_to_report():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for heading in ("Report a defect", "What counts", "Supported versions"):
        assert f"\n## {heading}\n" in text
    assert Version(voicenym.__version__) < Version("1.0") or "before 1.0" not in text
    assert "SECURITY.md" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


# ---- what is released ----


def _built(copy: Path, when: float) -> dict[str, str]:
    """SHA-256 of wheel and source package of a copy of the tree with other times and modes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a clone of the repository")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
            os.utime(copy / name, (when, when))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "946684800"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", "dist"],
        cwd=copy, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    made = sorted((copy / "dist").iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def test_wheel_and_source_package_have_the_same_bytes_in_another_folder_at_another_time(tmp_path):
    pytest.importorskip("hatchling")
    one = _built(tmp_path / "a", 1_500_000_000)
    other = _built(tmp_path / "elsewhere" / "b", 1_700_000_000)
    assert len(one) == 2
    assert one == other


def test_the_release_fixes_the_time_of_its_files():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^export SOURCE_DATE_EPOCH", makefile, re.MULTILINE)


def _wheel(folder: Path, name: str, *needs: str) -> str:
    """Writes an empty wheel; its requirement with its hash."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    info = path.name.removesuffix("-py3-none-any.whl") + ".dist-info"
    asked = "".join(f"Requires-Dist: {one}\n" for one in needs)
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{asked}",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as file:
        for one, text in files.items():
            file.writestr(f"{info}/{one}", text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}==1.0 --hash=sha256:{digest}\n"


@pytest.mark.slow
def test_a_wheelhouse_holds_all_that_its_torch_asks_for(tmp_path):
    """A wheelhouse that is made before anything is installed once lacked torch's GPU libraries."""
    there, locks, folder = tmp_path / "there", tmp_path / "locks", tmp_path / "wheelhouse"
    for one in (there, locks, folder):
        one.mkdir()
    torch = _wheel(there, "torch", "nvidia-part", "plain; extra == 'x'")
    gpu = _wheel(there, "nvidia-part")
    _wheel(folder, "voicenym", "torch")
    (locks / "base.txt").write_text(torch)
    (locks / "gpu.txt").write_text(gpu)

    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "wheelhouse.py", folder, "--locks", locks,
         "--no-index", "--find-links", there],
        env={**os.environ, "PIP_CONFIG_FILE": os.devnull}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {path.name.partition("-")[0] for path in folder.glob("*.whl")}
    assert names == {"torch", "nvidia_part", "voicenym"}
    listed = (folder / "requirements.txt").read_text()
    assert all(f"{name}==1.0" in listed for name in ("torch", "nvidia-part", "voicenym"))
    assert listed.count("--hash=sha256:") == 3


def test_the_workflow_is_whole():
    """Each job has a machine and steps, each step does one thing, and what a job refers to is
    there; the tests of each job exist.
    """
    yaml = pytest.importorskip("yaml")
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        jobs = yaml.safe_load(text)["jobs"]
        for name, job in jobs.items():
            assert {"runs-on", "steps", "timeout-minutes"} <= job.keys(), name
            matrix = job.get("strategy", {}).get("matrix", {})
            used = set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", str(job)))
            assert used <= matrix.keys(), name
            assert all(used == one.keys() for one in matrix.get("include", [])), name
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step), name
                assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1")), name
                for word in re.findall(r"\btests/[\w/.]+", step.get("run", "")):
                    assert (ROOT / word).exists(), f"{name}: {word}"
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_a_release_is_tested_and_built_twice_before_its_origin_is_signed():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    steps = [step.get("run") or step["uses"].partition("@")[0] for step in job["steps"]]
    order = [
        "make test", "make release", "cmp first/SHA256SUMS dist/SHA256SUMS",
        "actions/attest-build-provenance", "actions/attest-sbom",
    ]  # fmt: skip
    places = [steps.index(step) for step in order]
    assert places == sorted(places)
    assert steps.count("make release") == 2
    assert steps[-1].startswith("gh release create")
    assert {"id-token": "write", "attestations": "write"}.items() <= job["permissions"].items()


def test_the_workflow_runs_all_supported_pythons_and_the_least_versions():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    named = set(re.findall(r'"(3\.\d+)"', text))
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert "lowest-direct" in text
    (extras,) = re.findall(r"for extra in (.*); do", text)
    assert set(extras.split()) == project()["optional-dependencies"].keys()
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(
        re.findall(r"\w+-latest", text)
    )
