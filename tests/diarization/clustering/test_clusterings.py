"""Clusterings: scipy's linkage, sums over all paths, bounds that never fall, and true groups."""

import itertools

import numpy as np
import pytest

from voicenym.diarization.clustering import clusterings, speaker_means
from voicenym.diarization.clustering import linkage as linkage_module
from voicenym.diarization.clustering.clusterings import CLUSTERINGS, back_end, by_vbx, usual
from voicenym.diarization.clustering.linkage import agglomerative, linkage, ward
from voicenym.diarization.clustering.long_recordings import LONG, in_parts
from voicenym.diarization.clustering.vbx import VBxSettings, _forward_backward, vbx


def voices(count, each=40, seed=0):
    """Vectors of speakers and sounds that the bundled PLDA gives probability, of unit length."""
    rng = np.random.default_rng(seed)
    model = back_end()
    speakers = rng.multivariate_normal(model.mean, model.between, count, check_valid="ignore")
    rest = rng.multivariate_normal(0 * model.mean, model.within, count * each)
    labels = np.repeat(np.arange(count), each)
    order = np.concatenate([np.arange(count * each).reshape(count, -1, 10)[:, i] for i in range(4)])
    order = order.reshape(-1)
    found = speakers[labels] + rest
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found[order].astype(np.float32), labels[order]


def agreement(one, other):
    """Share of pairs that two groupings put together, or not, alike."""
    return np.mean((one[:, None] == one) == (other[:, None] == other))


def same_groups(one, other):
    return agreement(one, other) == 1.0


@pytest.mark.parametrize("count", [2, 3, 12, 60])
def test_linkage_is_scipys(count):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    x = np.random.default_rng(count).standard_normal((count, 5))
    distances = np.linalg.norm(x[:, None] - x, axis=2)
    ours = [merge[0] for merge in linkage(distances)]
    condensed = distances[np.triu_indices(count, 1)]
    assert np.allclose(ours, np.sort(hierarchy.linkage(condensed, "average")[:, 2]))


@pytest.mark.parametrize("count", [2, 3, 12, 60])
def test_ward_is_scipys(count):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    x = np.random.default_rng(count).standard_normal((count, 5))
    squares = np.square(x[:, None] - x).sum(2) / 2.0
    ours = [merge[0] for merge in linkage(squares, by_ward=True)]
    theirs = np.square(hierarchy.linkage(x, "ward")[:, 2]) / 2.0
    assert np.allclose(ours, np.sort(theirs))


def test_an_odd_vector_of_little_weight_takes_nobodys_place():
    x = np.array([[1.0, 0.0], [0.99, 0.1], [0.6, 0.8], [-1.0, 0.0]])
    weights = np.array([200.0, 200.0, 300.0, 2.0])
    found = ward(x, weights, 2)
    assert found[0] == found[1] != found[2]
    many, heavy = np.repeat(x, 500, axis=0), np.repeat(weights, 500)
    assert same_groups(ward(many, heavy, 2), np.repeat(found, 500))


def test_weights_count_as_copies():
    x = np.random.default_rng(0).standard_normal((6, 3))
    copies = np.repeat(x, [1, 3, 1, 2, 1, 1], axis=0)
    d = np.linalg.norm(copies[:, None] - copies, axis=2)
    whole = [merge[0] for merge in linkage(d) if merge[0] > 1e-12]
    d = np.linalg.norm(x[:, None] - x, axis=2)
    assert np.allclose(whole, [merge[0] for merge in linkage(d, np.array([1, 3, 1, 2, 1, 1]))])


def test_forward_backward_is_the_sum_over_all_paths():
    rng = np.random.default_rng(0)
    likelihood, prior, loop = rng.standard_normal((5, 3)), np.array([0.5, 0.3, 0.2]), 0.7
    total, gamma, drawn = 0.0, np.zeros((5, 3)), np.zeros(3)
    for path in itertools.product(range(3), repeat=5):
        p = prior[path[0]] * np.exp(likelihood[0, path[0]])
        anew = [1.0]
        for t in range(1, 5):
            stay = loop if path[t] == path[t - 1] else 0.0
            step = stay + (1.0 - loop) * prior[path[t]]
            anew.append((1.0 - loop) * prior[path[t]] / step)
            p *= step * np.exp(likelihood[t, path[t]])
        total += p
        for t in range(5):
            gamma[t, path[t]] += p
            drawn[path[t]] += p * anew[t]
    found, new, evidence = _forward_backward(likelihood, prior, loop)
    assert np.allclose(found, gamma / total)
    assert np.allclose(new, drawn / drawn.sum())
    assert np.isclose(evidence, np.log(total))


def test_the_evidence_never_falls_and_needless_speakers_go():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), 60)
    x = 3.0 * rng.standard_normal((3, 8))[truth] + rng.standard_normal((180, 8))
    found = vbx(x, np.full(8, 9.0), np.arange(180) // 15, VBxSettings(acoustic=1.0))
    assert (np.diff(found.bounds) > -1e-6).all()
    assert (found.priors > 0.01).sum() == 3
    assert same_groups(found.responsibilities.argmax(1), truth)
    assert np.allclose(found.responsibilities.sum(1), 1.0)


@pytest.mark.parametrize("name", CLUSTERINGS)
@pytest.mark.parametrize("count", [2, 4])
def test_true_groups_are_found_where_their_number_is_given(name, count):
    x, truth = voices(count)
    found = CLUSTERINGS[name](x, count).argmax(1)
    assert len(set(found.tolist())) == count
    assert agreement(found, truth) > 0.95


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_vbx_finds_the_number_by_itself(count):
    x, truth = voices(count, seed=count)
    found = CLUSTERINGS["vbx"](x, None).argmax(1)
    assert len(set(found.tolist())) == count
    assert agreement(found, truth) > 0.97


@pytest.mark.parametrize("name", CLUSTERINGS)
def test_more_speakers_than_windows_are_no_error(name):
    x, _ = voices(2)
    assert CLUSTERINGS[name](x[:3], 5).shape[0] == 3
    assert CLUSTERINGS[name](x[:1], None).shape == (1, 1)


def test_many_vectors_are_clustered_in_parts(monkeypatch):
    x, truth = voices(3, each=120)
    monkeypatch.setattr(linkage_module, "MOST_AT_ONCE", 60)
    assert agreement(agglomerative(x, 0.0, 3), truth) > 0.95


def test_weights_of_many_vectors_count_as_copies(monkeypatch):
    x, _ = voices(3, each=40)
    monkeypatch.setattr(linkage_module, "MOST_AT_ONCE", 60)
    whole = agglomerative(x, 0.0, 3)
    assert same_groups(agglomerative(x, 0.0, 3, weights=np.full(len(x), 5.0)), whole)


def talk(people, windows, seed=0):
    """Vectors of people who take turns of ten windows, and who they are."""
    rng = np.random.default_rng(seed)
    model = back_end()
    speakers = rng.multivariate_normal(model.mean, model.between, people, check_valid="ignore")
    truth = np.arange(windows) // 10 % people
    found = speakers[truth] + rng.multivariate_normal(0 * model.mean, model.within, windows)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32), truth


@pytest.mark.parametrize("count", [None, 2, 4])
def test_a_recording_of_four_minutes_of_speech_is_clustered_as_a_whole(count, monkeypatch):
    x, _ = talk(2, LONG)
    whole = by_vbx(x, count)
    monkeypatch.setattr(clusterings, "LONG", 10**9)
    assert np.array_equal(by_vbx(x, count), whole)


def test_means_and_cosines_of_many_vectors_are_those_of_all(monkeypatch):
    x, truth = talk(3, 1000)
    posteriors = np.eye(3)[truth]
    means = speaker_means.means_of(x, posteriors)
    assert np.allclose(means, means / np.linalg.norm(means, axis=1, keepdims=True))
    monkeypatch.setattr(speaker_means, "BLOCK", 64)
    assert np.allclose(speaker_means.means_of(x, posteriors), means, atol=1e-12)
    assert np.allclose(speaker_means.cosines_to(x, means), x @ means.T, atol=1e-12)


def test_the_usual_clustering():
    assert usual(LONG, 2) == "spectral"
    assert usual(LONG + 1, 2) == usual(10, None) == "vbx"


@pytest.mark.parametrize(("people", "count"), [(1, None), (2, None), (3, None), (3, 3)])
def test_a_long_recording_has_the_people_of_its_parts(people, count):
    x, truth = talk(people, 4 * LONG, seed=people)
    found = by_vbx(x, count)
    assert found.shape == (len(x), people)
    assert np.allclose(found.sum(1), 1.0)
    assert agreement(found.argmax(1), truth) > 0.97


def test_a_person_in_two_places_is_one_person():
    """A room moves the vectors of a person by less than people differ."""
    x, truth = talk(2, 480)
    place = np.random.default_rng(3).standard_normal(x.shape[1])
    moved = x + 0.5 * (np.arange(len(x)) >= 240)[:, None] * place / np.linalg.norm(place)
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    assert clusterings.refined(moved, None, None).shape[1] > 2
    found = by_vbx(moved)
    assert found.shape[1] == 2
    assert agreement(found.argmax(1), truth) > 0.97


def test_who_says_little_in_a_long_recording_joins_the_most_similar():
    x, truth = talk(3, 4 * LONG, seed=5)
    few = (truth != 2) | (np.arange(len(x)) < 900)
    x, truth = x[few], truth[few]
    found = by_vbx(x).argmax(1)
    assert len(set(found.tolist())) == 3  # 75 s of speech are a person
    few = (truth != 2) | (np.arange(len(x)) < 120)
    assert len(set(by_vbx(x[few]).argmax(1).tolist())) == 2


def test_a_number_that_the_parts_do_not_have_is_still_given():
    x, _ = talk(1, LONG + 40)
    assert len(set(by_vbx(x, 12).argmax(1).tolist())) == 12


def test_a_person_whom_a_part_divides_is_one_person():
    x, truth = talk(2, 2 * LONG)
    place = itertools.count()

    def cluster(part):
        labels = 2 * truth[: len(part)] + (np.arange(len(part)) % 2) * (next(place) % 2)
        return np.eye(4)[labels][:, np.unique(labels)]

    found = in_parts(x, cluster)
    assert found.shape[1] == 2
    assert same_groups(found.argmax(1), truth)
