"""The page where a microphone, a file, a connection or the page itself is gone."""

from __future__ import annotations

import re

import pytest
from browser_page import CHROMIUM

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: make system")
FOCUS = "document.activeElement.id"


@pytest.fixture
def page(browser, own):
    """The page, which must throw nothing."""
    with browser.new_context(permissions=["microphone"]) as context:
        found = context.new_page()
        thrown = []
        found.on("pageerror", lambda error: thrown.append(str(error)))
        found.goto(own.url)
        found.wait_for_selector("input[name=system]:checked", state="attached")
        found.check("#system-mcadams")
        yield found
        assert thrown == []


def wait(page, condition):
    for _ in range(600):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come")


MICROPHONE = """() => {
    const devices = navigator.mediaDevices;
    const ask = devices.getUserMedia.bind(devices);
    window.tracks = [];
    devices.getUserMedia = async (wanted) => {
        const stream = await ask(wanted);
        window.tracks.push(...stream.getTracks());
        return stream;
    };
}"""


def test_what_an_unplugged_microphone_recorded_is_kept_and_can_be_forgotten(page):
    page.evaluate(MICROPHONE)
    page.click("#record")
    page.wait_for_selector("#record[aria-pressed=true]")
    page.wait_for_timeout(500)
    page.evaluate("for (const track of window.tracks) track.stop()")
    page.wait_for_selector("#record[aria-pressed=false]")
    playwright.expect(page.locator("#error")).to_contain_text("stopped by itself")
    playwright.expect(page.locator("#chosen")).to_contain_text("is ready")
    assert page.is_enabled("#start")
    page.click("#forget")
    playwright.expect(page.locator("#status")).to_contain_text("forgotten")
    assert page.is_disabled("#start")


def test_a_microphone_is_closed_where_the_browser_cannot_record(page):
    page.evaluate(MICROPHONE)
    page.evaluate("() => { window.MediaRecorder = function () { throw new Error(); }; }")
    page.click("#record")
    playwright.expect(page.locator("#error")).to_contain_text("cannot be used")
    assert page.evaluate("window.tracks.map((track) => track.readyState)") == ["ended"]


@pytest.mark.parametrize("button", ["#start", "#find"])
def test_a_file_that_is_gone_is_not_taken_for_a_server_that_is_gone(page, tmp_path, button, sample):
    place = tmp_path / "moved.wav"
    place.write_bytes(sample.read_bytes())
    page.set_input_files("#file", place)
    place.unlink()
    page.focus(button)
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#error")).to_contain_text("cannot be read")
    assert page.evaluate(FOCUS) == button[1:]


def test_a_connection_that_breaks_loses_no_work(page, own, sample):
    """Of the events, and of the request for the result."""
    broken = []

    def once(route):
        if route.request.url in broken:
            route.continue_()
        else:
            broken.append(route.request.url)
            route.abort("connectionreset")

    page.route(re.compile("/(events|result)$"), once)
    page.set_input_files("#file", sample)
    page.click("#start")
    playwright.expect(page.locator("#status")).to_contain_text("broke")
    playwright.expect(page.locator("#status")).to_have_text(re.compile("^Done"), timeout=60_000)
    assert len(broken) == 2
    assert own.is_wiped()


def test_a_job_that_the_server_has_lost_is_said(page, sample):
    page.route("**/events", lambda route: route.fulfill(body="event: progress\n", status=200))
    page.set_input_files("#file", sample)
    page.click("#start")
    playwright.expect(page.locator("#status")).to_contain_text("broke")
    refusal = {"status": 404, "detail": "There is no such job.", "cure": "Send it again."}
    page.unroute("**/events")
    page.route("**/events", lambda route: route.fulfill(json=refusal, status=404))
    playwright.expect(page.locator("#error")).to_contain_text("no such job", timeout=60_000)
    assert page.evaluate(FOCUS) == "start"


BREAKS = """(times) => {
    const blob = Response.prototype.blob;
    window.broken = 0;
    Response.prototype.blob = async function () {
        const whole = await blob.call(this);
        if (window.broken >= times) return whole;
        window.broken += 1;
        throw new TypeError("network error");
    };
}"""


def test_a_result_whose_transfer_breaks_is_fetched_again(page, own, sample):
    page.evaluate(BREAKS, 2)
    page.set_input_files("#file", sample)
    page.click("#start")
    playwright.expect(page.locator("#status")).to_contain_text("broke", timeout=180_000)
    assert own.left(), "the server keeps it meanwhile"
    playwright.expect(page.locator("#status")).to_have_text(re.compile("^Done"), timeout=60_000)
    assert page.evaluate("window.broken") == 2
    assert page.get_attribute("#download", "href").startswith("blob:")
    assert own.is_wiped()


def test_a_result_that_does_not_arrive_is_given_up_and_wiped(page, own, sample):
    page.evaluate(BREAKS, 1000)
    page.evaluate("window.setTimeout = ((wait) => (go) => wait(go, 0))(window.setTimeout)")
    page.set_input_files("#file", sample)
    page.click("#start")
    playwright.expect(page.locator("#error")).to_contain_text("start again", timeout=180_000)
    assert page.is_enabled("#start")
    assert own.is_wiped()


def test_all_is_forgotten_while_the_browser_asks_for_the_microphone(page, sample):
    page.set_input_files("#file", sample)
    page.click("#start")
    status = page.locator("#status")
    playwright.expect(status).to_have_text(re.compile("^Done"), timeout=60_000)
    page.evaluate(MICROPHONE)
    page.evaluate(
        """() => {
        const ask = navigator.mediaDevices.getUserMedia;
        const asked = new Promise((resolve) => (window.allow = resolve));
        navigator.mediaDevices.getUserMedia = async (wanted) => (await asked, ask(wanted));
        }"""
    )
    page.click("#record")
    page.click("#forget")
    playwright.expect(status).to_contain_text("forgotten")
    assert page.is_hidden("#result")
    assert page.get_attribute("#record", "aria-pressed") == "false"
    page.evaluate("window.allow()")
    wait(page, lambda: page.evaluate("window.tracks.map((track) => track.readyState)") == ["ended"])
    assert page.is_disabled("#start")


def test_one_can_go_on_after_everything_is_forgotten(page, sample):
    usual = page.get_attribute("input[name=system][checked]", "value")
    page.set_input_files("#file", sample)
    page.click("#forget")
    playwright.expect(page.locator("#status")).to_contain_text("forgotten")
    assert page.get_attribute("input[name=system]:checked", "value") == usual == "recast"
    page.click("#record")
    page.wait_for_selector("#record[aria-pressed=true]")
    page.click("#record")
    page.wait_for_selector("#start:not([disabled])")


def test_nothing_begins_before_the_server_has_told_its_systems(page, sample):
    refusal = {"status": 503, "detail": "It is busy.", "cure": "Wait."}
    page.route("**/v1/systems", lambda route: route.fulfill(json=refusal, status=503))
    page.reload()
    playwright.expect(page.locator("#error")).to_contain_text("busy")
    page.set_input_files("#file", sample)
    assert page.is_disabled("#start")
    assert page.is_disabled("#live-start")


DROP = """(place) => {
    const data = new DataTransfer();
    for (const name of ["a.wav", "b.wav"]) data.items.add(new File(["x"], name));
    return ["dragover", "drop"].map((kind) => {
        const event = new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
        document.querySelector(place).dispatchEvent(event);
        return event.defaultPrevented;
    });
}"""


@pytest.mark.parametrize("place", ["#drop", "h1"])
def test_of_several_files_one_is_taken_and_said_wherever_they_are_dropped(page, place):
    """The browser would open a file that misses its place, and leave the page."""
    assert page.evaluate(DROP, place) == [True, True]
    chosen = page.text_content("#chosen")
    assert "a.wav" in chosen
    assert "2 files" in chosen


def test_a_long_result_is_there_without_its_spectrograms(page, sample):
    """Decoded, it would take the memory of the page, and the result with it."""

    def longer(route):
        answer = route.fetch()
        route.fulfill(response=answer, headers={**answer.headers, "voicenym-seconds": "7200.000"})

    page.route("**/result", longer)
    page.set_input_files("#file", sample)
    page.click("#start")
    playwright.expect(page.locator("#status")).to_have_text(re.compile("^Done"), timeout=60_000)
    for side in ("before", "after"):
        assert "too long" in page.get_attribute(f"#spectrum-{side}", "aria-label")
        assert page.locator(f"#play-{side} audio").count() == 1


def test_a_page_that_is_left_leaves_no_job_behind(page, own, long_speech):
    """Its place would be taken until the result, which nobody can fetch, is forgotten."""

    def jobs():
        with own.client() as client:
            return re.search(r"^voicenym_jobs (\d+)", client.get("/metrics").text, re.MULTILINE)[1]

    page.set_input_files("#file", long_speech)
    page.check("#system-recast")
    page.click("#start")
    wait(page, lambda: jobs() == "1")
    playwright.expect(page.locator("#status")).to_contain_text("done")
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]
    wait(page, lambda: jobs() == "0")
    assert own.is_wiped()


def test_names_of_speakers_are_read_on_a_phone(page, sample):
    """Beside the button they had a sixth of the width, and were broken within words."""
    page.set_viewport_size({"width": 360, "height": 740})
    turn = {"start": 0.5, "end": 4.5, "speaker": "speaker-1", "confidence": 1.0}
    found = {"seconds": 5.0, "speakers": [{"label": "speaker-1", "seconds": 4.0}]}
    found |= {"turns": [turn], "rttm": "", "warnings": []}
    page.route("**/v1/speakers", lambda route: route.fulfill(json=found))
    page.set_input_files("#file", sample)
    page.click("#find")
    playwright.expect(page.locator("#found")).to_contain_text("Speakers found: 1")
    assert page.locator(".speaker label").bounding_box()["width"] > 180
    assert page.evaluate("document.documentElement.scrollWidth") == 360
