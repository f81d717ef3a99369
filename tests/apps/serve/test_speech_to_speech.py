"""The client of a voice service works by the address of this server alone."""

from __future__ import annotations

import io
import wave

import httpx
import pytest

from voicenym.audio import read

elevenlabs = pytest.importorskip("elevenlabs")


@pytest.fixture
def service(server):
    """The vendor's client, with nothing but an address and a key."""
    return elevenlabs.ElevenLabs(base_url=server.url, api_key=server.tokens["anna"])


def test_the_client_gets_mp3_as_it_expects(service, server, speech):
    sound = service.speech_to_speech.convert("recast", audio=io.BytesIO(speech))
    after = read(io.BytesIO(b"".join(sound)))
    assert after.rate == 44_100
    assert after.format.codec == "mp3"
    assert after.duration == pytest.approx(1.5, abs=0.1)
    assert server.is_wiped()


def test_the_client_streams_samples(service, server, speech):
    with server.client() as client:
        client.post("/v1/keys/vendor")
    sounds = [
        b"".join(
            service.speech_to_speech.stream(
                "mcadams.vendor.s1",
                audio=io.BytesIO(speech),
                output_format="pcm_16000",
                model_id="eleven_multilingual_sts_v2",
                voice_settings='{"stability": 0.5, "similarity_boost": 0.8}',
                seed=7,
            )
        )
        for _ in range(2)
    ]
    assert sounds[0] == sounds[1], "one key and one speaker"
    assert len(sounds[0]) == pytest.approx(2 * 24_000, abs=4)


def test_a_speaker_without_a_key_is_refused(server, speech):
    with server.client() as client:
        found = client.post("/v1/speech-to-speech/recast..s1", files={"audio": ("a.wav", speech)})
    assert found.status_code == 422
    assert "no key_id" in found.json()["detail"]
    assert server.is_wiped()


@pytest.mark.parametrize(
    "settings",
    ['{"stability": 0.5, "style": null}', '{"strength": 0.5}', '{"weights": "x", "speed": [1]}'],
)
def test_settings_that_the_system_does_not_have_are_ignored(server, speech, settings):
    with server.client() as client:
        client.post("/v1/keys/ignored")
        plain, other = (
            client.post(
                "/v1/speech-to-speech/recast.ignored.s1",
                files={"audio": ("a.wav", speech)},
                data=data,
                params={"output_format": "pcm_16000"},
            )
            for data in ({}, {"voice_settings": settings})
        )
    assert other.status_code == 200, other.text
    assert other.content == plain.content


def test_settings_that_the_system_has_are_used(server, speech):
    with server.client() as client:
        found = client.post(
            "/v1/speech-to-speech/mcadams",
            files={"audio": ("a.wav", speech)},
            data={"voice_settings": '{"low": 9}'},
        )
        assert found.status_code == 422
        assert "alpha" in found.json()["detail"]
        found = client.post(
            "/v1/speech-to-speech/mcadams",
            files={"audio": ("a.wav", speech)},
            data={"voice_settings": "[1"},
        )
        assert "voice_settings" in found.json()["detail"]


def test_headerless_samples_are_taken(service, speech):
    with wave.open(io.BytesIO(speech)) as file:
        assert (file.getframerate(), file.getsampwidth()) == (16_000, 2)
        raw = file.readframes(file.getnframes())
    sound = service.speech_to_speech.convert(
        "recast", audio=raw, file_format="pcm_s16le_16", output_format="wav_16000"
    )
    after = read(io.BytesIO(b"".join(sound)))
    assert (after.rate, after.samples.shape) == (16_000, (24_000,))


def test_refusals_are_the_client_s_own_errors(service, server, speech):
    from elevenlabs.core.api_error import ApiError

    with pytest.raises(ApiError) as caught:
        b"".join(service.speech_to_speech.convert("nobody", audio=io.BytesIO(speech)))
    assert caught.value.status_code == 422
    stranger = elevenlabs.ElevenLabs(base_url=server.url, api_key="x" * 43)
    with pytest.raises(ApiError) as caught:
        b"".join(stranger.speech_to_speech.convert("recast", audio=io.BytesIO(speech)))
    assert caught.value.status_code == 401


def test_the_older_path_answers_too(server, speech):
    headers = {"xi-api-key": server.tokens["anna"]}
    url = f"{server.url}/v1/speech-to-speech/recast"
    files = {"audio": ("a.wav", speech)}
    found = httpx.post(url, files=files, headers=headers, timeout=60)
    assert found.headers["content-type"] == "audio/mpeg"
    query = {"output_format": "mp3_1_1"}
    assert httpx.post(url, files=files, headers=headers, params=query).status_code == 422
