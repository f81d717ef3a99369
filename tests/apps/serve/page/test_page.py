"""The page in a browser: each way to its end, by keyboard, on a phone's width, in the dark."""

from __future__ import annotations

import re

import pytest
from browser_page import CHROMIUM, picture, violations

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: make system")


@pytest.fixture
def page(browser, own):
    """The page, which must load nothing from elsewhere and complain of nothing."""
    with browser.new_context(accept_downloads=True, permissions=["microphone"]) as context:
        found = context.new_page()
        asked, said = [], []
        found.on("request", lambda request: asked.append(request.url))
        found.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        found.on("pageerror", lambda error: said.append(str(error)))
        found.goto(own.url)
        found.wait_for_selector("input[name=system]:checked", state="attached")
        yield found
        assert [url for url in asked if not url.startswith((own.url, "blob:"))] == []
        assert [line for line in said if "404" not in line] == []


def through(page, name="mcadams"):
    """Press start and wait for the result."""
    page.check(f"#system-{name}")
    page.click("#start")
    page.wait_for_selector("#result:not([hidden])", timeout=120_000)
    playwright.expect(page.locator("#status")).to_have_text(re.compile("^Done"), timeout=60_000)


def test_a_file_goes_through_to_the_download_and_is_forgotten(page, own, sample, tmp_path):
    assert page.is_disabled("#start")
    picture(page, "start")
    assert violations(page) == []
    page.set_input_files("#file", sample)
    through(page)
    assert "PROTECTED" in page.text_content("#verdict")
    assert page.locator("#attackers tbody tr").count() > 3
    for side in ("before", "after"):
        assert page.evaluate(f"document.querySelector('#play-{side} audio').duration") == (
            pytest.approx(5.585, abs=0.01)
        )
        pixels = f"document.getElementById('spectrum-{side}').getContext('2d')"
        values = page.evaluate(f"new Set({pixels}.getImageData(0, 0, 600, 160).data).size")
        assert values > 50, "a spectrogram is there"
    picture(page, "result", "#result .pair")
    assert violations(page) == []
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "anonymized.wav"
    download.value.save_as(tmp_path / "after.wav")
    assert (tmp_path / "after.wav").read_bytes() != sample.read_bytes()
    assert own.is_wiped()
    page.click("#forget")
    playwright.expect(page.locator("#status")).to_contain_text("forgotten")
    assert page.is_hidden("#result")
    assert page.is_disabled("#start")
    assert page.input_value("#file") == ""


def test_the_microphone_goes_through(page, own):
    page.click("#record")
    page.wait_for_selector("#record[aria-pressed=true]")
    page.wait_for_timeout(2_500)
    page.click("#record")
    page.wait_for_selector("#start:not([disabled])")
    through(page)
    assert page.get_attribute("#download", "download") == "anonymized.webm"
    assert own.is_wiped()


def test_what_was_measured_live_is_said_where_a_session_begins(page, own):
    """Less is known of the voice there than of a whole recording, and less may be hidden."""
    with own.client() as client:
        cards = {card["name"]: card for card in client.get("/v1/systems").json()["systems"]}
    page.select_option("#live-system", "word-codes")
    shown = page.text_content("#live-about")
    measured, *_ = cards["word-codes"]["live_protection"]
    assert measured.startswith("live: EER")
    assert measured[1:] in shown


def test_a_film_is_played_as_a_film(page, tmp_path):
    import av
    import numpy as np

    place = tmp_path / "film.webm"
    with av.open(str(place), "w") as film:
        picture_stream = film.add_stream("libvpx", rate=10, options={"deadline": "realtime"})
        picture_stream.width = picture_stream.height = 64
        picture_stream.pix_fmt = "yuv420p"
        sound = film.add_stream("libopus", rate=48_000, layout="mono")
        for number in range(20):
            image = np.full((64, 64, 3), 10 * number, np.uint8)
            film.mux(picture_stream.encode(av.VideoFrame.from_ndarray(image, "rgb24")))
        film.mux(picture_stream.encode(None))
        time = np.arange(96_000) / 48_000
        wave = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20))
        wave = wave * (1 + np.sin(2 * np.pi * 4 * time))
        frame = av.AudioFrame.from_ndarray((2000 * wave)[None].astype(np.int16), "s16", "mono")
        frame.rate = 48_000
        film.mux(sound.encode(frame))
        film.mux(sound.encode(None))
    page.set_input_files("#file", place)
    through(page)
    assert page.locator("#play-after video").count() == 1
    assert page.get_attribute("#download", "download") == "anonymized.webm"


def test_a_file_may_be_dropped(page, own):
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(["no recording"], "dropped.wav", { type: "audio/wav" }));
        for (const kind of ["dragover", "drop"]) {
          document.getElementById("drop").dispatchEvent(
            new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
        }
    }"""
    page.evaluate(drop)
    assert "dropped.wav" in page.text_content("#chosen")
    assert page.is_enabled("#start")
    assert page.get_attribute("#drop", "class") in (None, "")
    page.click("#start")
    playwright.expect(page.locator("#error")).to_contain_text("not a recording", timeout=60_000)
    assert own.is_wiped()


MICROPHONES = """() => {
    const devices = navigator.mediaDevices;
    const ask = devices.getUserMedia.bind(devices);
    window.tracks = [];
    devices.getUserMedia = async (wanted) => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        const stream = await ask(wanted);
        window.tracks.push(...stream.getTracks());
        return stream;
    };
}"""
OPEN = "window.tracks.filter((track) => track.readyState === 'live').length"


def test_a_double_click_opens_one_microphone_and_closes_it(page):
    page.evaluate(MICROPHONES)
    page.dblclick("#record")
    page.wait_for_selector("#record[aria-pressed=true]")
    page.wait_for_timeout(1_000)
    assert page.evaluate("window.tracks.length") == 1
    page.dblclick("#record")
    page.wait_for_selector("#record[aria-pressed=false]")
    page.wait_for_timeout(1_000)
    assert page.evaluate(OPEN) == 0
    assert page.is_enabled("#start")


def test_forgetting_closes_a_microphone_that_opens_late(page):
    page.evaluate(MICROPHONES)
    page.click("#record")
    page.click("#forget")
    playwright.expect(page.locator("#status")).to_contain_text("forgotten")
    page.wait_for_timeout(1_500)
    assert page.evaluate("window.tracks.length") == 1
    assert page.evaluate(OPEN) == 0
    assert page.get_attribute("#record", "aria-pressed") == "false"
    assert page.is_disabled("#start")


@pytest.mark.parametrize("how", ["#live-start", "#forget"])
def test_a_live_session_that_ends_before_its_microphone_opens_does_not_begin(page, how):
    page.evaluate(MICROPHONES)
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket))
    page.click("#live-start")
    page.click(how)
    page.wait_for_timeout(2_000)
    assert page.evaluate("window.tracks.length") == 1
    assert page.evaluate(OPEN) == 0
    assert sockets == []
    assert page.get_attribute("#live-start", "aria-pressed") == "false"


def test_another_file_meanwhile_is_not_shown_as_the_one_before(page, sample, tmp_path):
    other = tmp_path / "other.wav"
    other.write_bytes(sample.read_bytes()[: 44 + 32_000])
    page.set_input_files("#file", sample)
    page.check("#system-mcadams")
    page.click("#start")
    page.set_input_files("#file", other)
    page.wait_for_selector("#result:not([hidden])", timeout=120_000)
    playwright.expect(page.locator("#status")).to_have_text(re.compile("^Done"), timeout=60_000)
    for side in ("before", "after"):
        seconds = page.evaluate(f"document.querySelector('#play-{side} audio').duration")
        assert seconds == pytest.approx(5.585, abs=0.01)


def test_what_is_forgotten_does_not_come_back(page, sample):
    """The audit is asked for while everything is forgotten."""
    held = []

    def asked(route):
        if route.request.method == "GET":
            held.append(route)
        else:
            route.continue_()

    page.route("**/v1/audit/*", asked)
    page.set_input_files("#file", sample)
    page.check("#system-mcadams")
    page.click("#start")
    page.wait_for_selector("#result:not([hidden])", timeout=120_000)
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(100)
    page.click("#forget")
    playwright.expect(page.locator("#status")).to_contain_text("forgotten")
    found = {"verdict": "of the forgotten one", "searched": "", "attackers": []}
    held[0].fulfill(json=found)
    page.wait_for_timeout(1_000)
    assert "forgotten" in page.text_content("#status")
    assert page.text_content("#verdict") == ""
    assert page.text_content("#error") == ""
    assert page.is_hidden("#result")
    for side in ("before", "after"):
        pixels = f"document.getElementById('spectrum-{side}').getContext('2d')"
        assert page.evaluate(f"new Set({pixels}.getImageData(0, 0, 600, 160).data).size") == 1


def test_an_answer_of_a_proxy_is_no_riddle(page, sample):
    refusal = {"status": 404, "content_type": "text/html", "body": "<h1>Not found</h1>"}
    page.route("**/v1/jobs", lambda route: route.fulfill(**refusal))
    page.set_input_files("#file", sample)
    page.click("#start")
    playwright.expect(page.locator("#error")).to_contain_text("status 404", timeout=60_000)


def test_the_field_shows_no_other_file_than_the_one_in_work(page, sample):
    page.set_input_files("#file", sample)
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(["x"], "dropped.wav", { type: "audio/wav" }));
        document.getElementById("drop").dispatchEvent(
          new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop)
    assert "dropped.wav" in page.text_content("#chosen")
    assert page.input_value("#file") == ""
    page.set_input_files("#file", sample)
    assert sample.name in page.text_content("#chosen")


def test_doubts_about_the_turns_are_shown(page, own, say):
    page.set_input_files("#file", say("I have lived in this town for thirty years.", "slt"))
    page.click("#find")
    page.wait_for_selector("#timeline .speaker", timeout=120_000)
    assert page.locator("#doubts li").count() == 1
    assert "speech are little to tell how many people speak" in page.text_content("#doubts")
    assert "{" not in page.text_content("#doubts")
    assert violations(page) == []
    page.fill("#count", "2")
    page.click("#find")  # of one voice
    page.wait_for_selector("#timeline .speaker:nth-child(2)", timeout=120_000)
    assert "Two of the 2 people sound alike" in page.text_content("#doubts")
    page.click("#forget")
    assert page.locator("#doubts li").count() == 0


def test_one_chooses_whom_to_hide(page, own, say, tmp_path):
    import numpy as np
    import soundfile

    text = "I have lived in this town for thirty years, and nobody asked me about the harbour."
    voices = [soundfile.read(say(text, voice)) for voice in ("slt", "rms")]
    place = tmp_path / "two.wav"
    soundfile.write(place, np.concatenate([samples for samples, _ in voices]), voices[0][1])
    assert page.is_disabled("#find")
    page.set_input_files("#file", place)
    page.fill("#count", "2")
    page.click("#find")
    page.wait_for_selector("#timeline .speaker:nth-child(2)", timeout=120_000)
    assert page.locator("#timeline .speaker").count() == 2
    assert page.locator("#timeline svg rect").count() >= 2
    page.focus("#speaker-0")
    page.keyboard.press("Space")
    picture(page, "speakers", "#people")
    assert violations(page) == []
    page.uncheck("#speaker-1")
    assert page.is_disabled("#start")
    assert "Nobody would be hidden" in page.text_content("#unhidden")
    page.check("#speaker-1")
    through(page)
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "after.wav")
    before, hidden = (soundfile.read(tmp_path / name)[0] for name in ("two.wav", "after.wav"))
    middle = len(voices[0][0])
    same = before == hidden
    assert same[: middle // 2].all(), "the first person is kept"
    assert same[middle + middle // 4 : -4_000].mean() < 0.5
    assert "audit could not run" in page.text_content("#verdict")
    assert own.is_wiped()
    page.click("#forget")
    playwright.expect(page.locator("#status")).to_contain_text("forgotten")
    assert page.locator("#timeline .speaker").count() == 0


def test_what_is_no_recording_is_said_with_a_cure(page, tmp_path):
    place = tmp_path / "notes.wav"
    place.write_text("no recording")
    page.set_input_files("#file", place)
    page.click("#start")
    error = page.locator("#error")
    playwright.expect(error).to_contain_text("not a recording", timeout=60_000)
    assert page.is_enabled("#start")
    assert violations(page) == []


def test_the_keyboard_does_it_all(page, sample):
    page.set_input_files("#file", sample)
    page.focus("input[name=system]:checked")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.querySelector('input[name=system]:checked').value")
    assert chosen != "recast"
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "start":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#result:not([hidden])", timeout=120_000)
    playwright.expect(page.locator("#result-title")).to_be_focused(timeout=60_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it(browser, own, sample, scheme):
    size = {"width": 360, "height": 740}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(own.url)
        page.wait_for_selector("input[name=system]:checked", state="attached")
        page.set_input_files("#file", sample)
        through(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert violations(page) == []
        picture(page, f"phone-{scheme}")


def test_a_server_with_tokens_asks_for_one(browser, server):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(server.url)
        page.wait_for_selector("#token-form:not([hidden])")
        page.fill("#token", server.tokens["anna"])
        page.keyboard.press("Enter")
        page.wait_for_selector("input[name=system]:checked", state="attached")
        assert page.is_hidden("#token-form")
        assert page.evaluate("localStorage.length + sessionStorage.length") == 0
        assert context.cookies() == []


def test_texts_are_in_one_file(root):
    """No text of the page stands elsewhere, and none is left over."""
    folder = root / "src" / "voicenym" / "apps" / "serve" / "page"
    texts = (folder / "texts.js").read_text("utf-8")
    names = set(re.findall(r"^    (\w+):", texts, re.MULTILINE))
    used = set()
    for place in folder.glob("*.*"):
        if place.name != "texts.js":
            used |= set(re.findall(r'data-text="(\w+)"', place.read_text("utf-8")))
            used |= {name for name in names if f'"{name}"' in place.read_text("utf-8")}
    assert used == names
