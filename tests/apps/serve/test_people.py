"""Several speakers: who speaks when is found, and the chosen people are hidden."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import soundfile

from voicenym.audio import read

RTTM = (
    "SPEAKER recording 1 0.000 0.700 <NA> <NA> speaker-1 0.95 <NA>\n"
    "SPEAKER recording 1 0.700 0.800 <NA> <NA> host 0.95 <NA>\n"
)


def post(client, speech, path="/v1/anonymize", **fields):
    return client.post(path, files={"file": ("Anna.wav", speech)}, data=fields)


def difference(one, two, start, end):
    return np.abs(one[int(16_000 * start) : int(16_000 * end)] - two[: len(one)][
        int(16_000 * start) : int(16_000 * end)
    ]).max()  # fmt: skip


def test_speakers_are_found_and_nothing_is_kept(server, sample):
    with server.client() as client:
        found = post(client, sample.read_bytes(), "/v1/speakers").json()
        assert found["seconds"] == pytest.approx(5.585, abs=0.01)
        labels = [one["label"] for one in found["speakers"]]
        assert labels[0] == "speaker-1"
        for turn in found["turns"]:
            assert 0.0 <= turn["start"] < turn["end"] <= found["seconds"] + 0.01
            assert turn["speaker"] in labels
        (doubt,) = found["warnings"]  # five seconds are little to count people in
        assert doubt["kind"] == "little"
        assert doubt["figures"] == {"seconds": doubt["figures"]["seconds"], "speakers": len(labels)}
        assert 1 <= doubt["figures"]["seconds"] <= 6
        assert "little to find the number" in doubt["detail"]
        assert "--" not in doubt["detail"]
        assert server.is_wiped()
        again = post(client, sample.read_bytes(), system="mcadams", turns=found["rttm"])
        assert again.status_code == 200


def test_who_is_kept_is_kept_bit_by_bit_and_who_is_hidden_is_not(server, speech):
    before = read(io.BytesIO(speech)).samples.numpy()
    with server.client() as client:
        kept = post(client, speech, system="mcadams", turns=RTTM, keep='["host"]')
        hidden = post(client, speech, system="mcadams", turns=RTTM, only='["host"]')
    assert kept.status_code == hidden.status_code == 200, kept.text[:300]
    one, two = (read(io.BytesIO(found.content)).samples.numpy() for found in (kept, hidden))
    assert one.shape == two.shape == before.shape
    assert difference(one, before, 0.1, 0.6) > 0.01
    assert difference(one, before, 1.0, 1.5) == 0.0
    assert difference(two, before, 0.0, 0.4) == 0.0
    assert difference(two, before, 0.8, 1.4) > 0.01
    assert server.is_wiped()


def test_a_name_has_one_voice_under_a_key(server, speech):
    with server.client() as client:
        client.post("/v1/keys/people")
        fields = {"system": "mcadams", "key_id": "people", "turns": RTTM}
        named = {"names": '{"speaker-1": "anna", "host": "ben"}'}
        one, two = (post(client, speech, **fields, **named).content for _ in range(2))
        other = post(client, speech, **fields).content
    assert one == two
    assert one != other


def test_a_job_hides_people_too_and_says_why_it_has_no_audit(server, speech):
    with server.client() as client:
        job = post(
            client, speech, "/v1/jobs", system="mcadams", turns=RTTM, keep='["host"]', audit="true"
        ).json()
        with client.stream("GET", job["links"]["events"]) as stream:
            last = [line for line in stream.iter_lines() if line.startswith("data: ")][-1]
        done = json.loads(last.removeprefix("data: "))
        assert done["status"] == "done", done
        audit = client.get(f"/v1/audit/{done['audit']}").json()
        assert "turns" in audit["refused"]
        assert client.get(job["links"]["result"]).status_code == 200
        assert client.delete(job["links"]["result"]).status_code == 204
    assert server.is_wiped()


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"turns": "no rttm"}, "RTTM"),
        ({"turns": " "}, "0 recordings"),
        ({"turns": RTTM + RTTM.replace("recording", "other")}, "2 recordings"),
        ({"turns": RTTM.replace("0.700 0.800", "0.700 9.900")}, "does not fit"),
        ({"turns": RTTM, "only": '["nobody"]'}, "no turn has this label"),
        ({"turns": RTTM, "only": "host"}, "no list"),
        ({"turns": RTTM, "keep": '["host", "speaker-1"]'}, "nobody would be hidden"),
        ({"turns": RTTM, "unsure": "perhaps"}, "unsure"),
        ({"turns": RTTM, "names": '{"none": "anna"}'}, "no turn has this label"),
        ({"turns": RTTM, "names": "[]"}, "no object"),
        ({"turns": RTTM, "speaker": "anna"}, "do not go together"),
        ({"keep": '["host"]'}, "no turns"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_left(server, speech, fields, word):
    with server.client() as client:
        found = post(client, speech, system="mcadams", **fields)
    assert found.status_code == 422
    problem = found.json()
    assert word in problem["detail"] + problem["cure"]
    assert "--" not in problem["detail"]
    assert str(server.folder) not in found.text
    assert server.is_wiped()


def test_speakers_of_what_is_no_recording_are_refused(server, speech):
    silence = io.BytesIO()
    soundfile.write(silence, np.zeros(16_000), 16_000, format="WAV")
    with server.client() as client:
        for data, fields, word in (
            (b"no recording", {}, "not a recording"),
            (silence.getvalue(), {}, "no speech"),
            (speech, {"speakers": "0"}, "number of speakers"),
            (speech, {"speakers": "many"}, "number of speakers"),
            (speech, {"system": "mcadams"}, "unknown"),
        ):
            found = post(client, data, "/v1/speakers", **fields)
            assert found.status_code == 422
            assert word in found.json()["detail"], found.json()
    assert server.is_wiped()


def test_too_many_speakers_are_refused_in_words_that_a_client_can_use(server, speech):
    with server.client() as client:
        found = post(client, speech, "/v1/speakers", speakers="20")
    problem = found.json()
    assert found.status_code == 422
    assert "of 20 speakers were found" in problem["detail"]
    assert problem["cure"] == "ask for fewer, or leave their number out."
    assert "--" not in found.text  # no option of the command
