"""The live session of the page in a browser with a fake microphone: what the loudspeaker gets."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from browser_page import CHROMIUM, FLAGS, picture, violations

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: make system"),
    pytest.mark.skipif(
        os.getloadavg()[0] > 5 * (os.cpu_count() or 1),
        reason="the machine is too busy for sound in real time",
    ),
]
LISTEN = """
(() => {
  // A copy of what goes to the loudspeaker, and of the frames that go to the server.
  window.heard = [];
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode && !(this instanceof ScriptProcessorNode)) {
      const ear = this.context.createScriptProcessor(1024, 1, 1);
      ear.onaudioprocess = (event) => window.heard.push(...event.inputBuffer.getChannelData(0));
      connect.call(this, ear);
      connect.call(ear, target);
      window.ear = ear;  // or it is collected
    }
    return connect.call(this, target, ...rest);
  };
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    window.socket = this;
    if (window.holds && typeof data !== "string") return;
    const wait = typeof data === "string" ? window.waits : 0;
    if (wait) setTimeout(() => send.call(this, data), wait);
    else send.call(this, data);
  };
})();
"""

PAGE = Path(__file__).parents[4] / "src" / "voicenym" / "apps" / "serve" / "page"
AUDIBLE = "window.heard.some((value) => Math.abs(value) > 0.01)"


@pytest.fixture(scope="module")
def browser_flags(sample):
    """A microphone that hears the sample, and a loudspeaker without a click before."""
    heard = f"--use-file-for-fake-audio-capture={sample}"
    return [*FLAGS, heard, "--autoplay-policy=no-user-gesture-required"]


@pytest.fixture
def page(browser, own):
    with browser.new_context(permissions=["microphone"]) as context:
        found = context.new_page()
        asked, said = [], []
        found.on("request", lambda request: asked.append(request.url))
        found.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        found.on("pageerror", lambda error: said.append(str(error)))
        found.add_init_script(LISTEN)
        found.goto(own.url)
        found.wait_for_selector("#live-system option", state="attached")
        found.select_option("#live-system", "mcadams")
        yield found
        assert [url for url in asked if not url.startswith((own.url, "blob:"))] == []
        assert said == []


def click(page):
    page.click("#live-start")


def keys(page):
    page.focus("#live-system")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def begin(page, press=click):
    """Start, and wait until anonymized sound goes out; again while another session still ends."""
    for _ in range(60):
        press(page)
        answer = page.wait_for_selector(
            "#live-light[data-light=sound], #live-error:not(:empty)", timeout=60_000
        )
        if answer.get_attribute("id") == "live-light":
            return
        refusal = page.text_content("#live-error")
        assert "as many live sessions" in refusal
        page.wait_for_timeout(500)
    raise AssertionError(refusal)


def until(page, expression):
    """Value of an expression when it is true; the page's policy refuses Playwright's own wait."""
    for _ in range(600):
        if found := page.evaluate(expression):
            return found
        page.wait_for_timeout(100)
    raise AssertionError(f"{expression} did not come")


def last_heard(page, milliseconds):
    """What the loudspeaker gets for a while."""
    page.evaluate("window.heard = []")
    page.wait_for_timeout(milliseconds)
    return np.array(page.evaluate("window.heard"))


def test_the_anonymized_voice_goes_out_with_its_measured_delay(page, own):
    begin(page)
    until(page, AUDIBLE)
    shown = "document.getElementById('live-delay').textContent"
    text = until(page, shown)
    delay = int(re.search(r"(\d+) ms", text)[1])
    assert delay > 60
    assert page.get_attribute("#live-start", "aria-pressed") == "true"
    page.click("#live-start")
    page.wait_for_selector("#live-light[data-light=off]")
    assert page.is_hidden("#live-panel")
    assert page.text_content("#live-error") == ""
    ended(own)


def test_a_browser_that_converts_no_rates_sends_its_own(page, own):
    """As Firefox, which refuses a microphone of another rate than the context's."""
    page.evaluate(
        """() => {
        const source = AudioContext.prototype.createMediaStreamSource;
        AudioContext.prototype.createMediaStreamSource = function (stream) {
          if (this.sampleRate === 16000) throw new DOMException("another rate");
          window.rate = this.sampleRate;
          return source.call(this, stream);
        };
        }"""
    )
    begin(page)
    assert page.evaluate("window.rate") in (44_100, 48_000)
    until(page, AUDIBLE)
    page.click("#live-start")
    ended(own)


def test_a_browser_whose_sound_has_more_than_48_khz_converts_it(page, own):
    """As with some sound cards: the server takes no such rate, and the page no other one."""
    page.evaluate(
        """() => {
        const source = AudioContext.prototype.createMediaStreamSource;
        AudioContext.prototype.createMediaStreamSource = function (stream) {
          if (this.sampleRate === 16000) throw new DOMException("another rate");
          return source.call(this, stream);
        };
        const Context = AudioContext;
        window.AudioContext = function (options) {
          return new Context({ sampleRate: 96000, ...options });
        };
        const send = WebSocket.prototype.send;
        window.rates = new Set();
        WebSocket.prototype.send = function (data) {
          if (typeof data === "string") window.rates.add(JSON.parse(data).rate);
          else window.rates.add(new DataView(data).getUint32(4, true));
          send.call(this, data);
        };
        }"""
    )
    begin(page)
    until(page, AUDIBLE)
    assert page.evaluate("window.ear.context.sampleRate") == 96_000
    assert page.evaluate("[...window.rates]") == [48_000]
    page.click("#live-start")
    ended(own)


ECHO = """
(rate, factor, hertz) => {
    const sampleRate = rate;
    const frames = [];
    class AudioWorkletProcessor {
        constructor() {
            this.port = { postMessage: (news) => news.samples && frames.push(news) };
        }
    }
    let Voice;
    const registerProcessor = (name, kind) => (Voice = kind);
    %s
    const voice = new Voice({ processorOptions: { factor } });
    voice.begin();
    const [taken, given] = [[], []];
    let delay = null;
    for (let start = 0; start < 0.3 * rate; start += 128) {
        const block = Float32Array.from({ length: 128 }, (_, place) => {
            return 0.5 * Math.sin((2 * Math.PI * hertz * (start + place)) / rate);
        });
        const out = new Float32Array(128);
        voice.process([[block]], [[out]]);
        given.push(...out);
        delay = voice.last.delay ?? delay;
        for (const { at, samples } of frames.splice(0)) {
            taken.push(...samples);
            voice.add({ samples: samples.slice(), source: at });
        }
    }
    return { taken, given, delay };
}
"""


@pytest.mark.parametrize(("rate", "factor"), [(48_000, 1), (88_200, 2), (192_000, 4)])
def test_what_the_audio_thread_converts_is_the_same_sound(page, rate, factor):
    program = ECHO % (PAGE / "live-worklet.js").read_text("utf-8")

    def through(hertz):
        found = page.evaluate(f"({program})({rate}, {factor}, {hertz})")
        return np.array(found["taken"]), np.array(found["given"]), found["delay"]

    low = rate // factor
    taken, given, delay = through(1_000)
    assert len(taken) == pytest.approx(0.3 * low, abs=0.03 * low)
    sounds = rate // 7  # when the first answers have come
    assert not given[: rate // 20].any()
    for sound, of in ((taken[200:], low), (given[sounds:], rate)):
        tone = np.exp(2j * np.pi * 1_000 * np.arange(len(sound)) / of)
        assert 2 * abs((sound * tone).mean()) == pytest.approx(0.5, abs=0.02)
    # the phase of the tone says how much later it comes, less whole periods of it
    tone = np.exp(-2j * np.pi * 1_000 * np.arange(sounds, len(given)) / rate)
    late = -np.angle(1j * (given[sounds:] * tone).mean()) / (2 * np.pi * 1_000)
    error = delay - 128 / rate - late  # the delay counts the block that is being played
    assert error % 1e-3 == pytest.approx(0.0, abs=2e-5) or error % 1e-3 > 0.98e-3
    if factor > 1:
        taken, _, _ = through(low // 2 + 2_000)
        assert np.abs(taken[200:]).max() < 0.005, "no alias"


def test_the_running_session_is_accessible(page, own):
    begin(page)
    picture(page, "live", "#live")
    assert violations(page) == []
    page.click("#live-start")
    ended(own)


def ended(server):
    for _ in range(600):
        if not server.workers():
            return
        time.sleep(0.1)
    raise AssertionError("the worker is still there")


def test_a_killed_worker_is_silence_and_a_sentence(page, own):
    begin(page)
    os.kill(own.workers()[0], signal.SIGKILL)
    page.wait_for_selector("#live-light[data-light=off]", timeout=60_000)
    assert "killed" in page.text_content("#live-error")
    assert not last_heard(page, 500).any()
    assert violations(page) == []
    ended(own)


def test_a_stopped_worker_is_silence_and_a_red_light(page, own):
    """The model lags: nothing of the microphone is heard until its answers come again."""
    begin(page)
    (worker,) = own.workers()
    os.kill(worker, signal.SIGSTOP)
    page.wait_for_selector("#live-light[data-light=lost]", timeout=60_000)
    assert not last_heard(page, 600).any()
    os.kill(worker, signal.SIGCONT)
    page.wait_for_selector("#live-light[data-light=sound]", timeout=60_000)
    page.click("#live-start")
    ended(own)


def test_a_connection_that_lags_is_silence(page, own):
    begin(page)
    page.evaluate("window.holds = true")
    page.wait_for_selector("#live-light[data-light=lost]", timeout=60_000)
    assert not last_heard(page, 600).any()
    picture(page, "live-silence", "#live")
    page.evaluate("window.socket.close()")
    page.wait_for_selector("#live-light[data-light=off]", timeout=60_000)
    ended(own)


LIGHTS = """() => {
    window.lights = [];
    const light = document.getElementById("live-light");
    new MutationObserver(() => window.lights.push(light.dataset.light)).observe(
        light, { attributes: true });
}"""


def test_a_slow_start_is_not_taken_for_a_connection_that_lags(page, own):
    page.evaluate(LIGHTS)
    page.evaluate("window.waits = 1600")
    begin(page)
    assert set(page.evaluate("window.lights")) <= {"starting", "waiting", "sound", "off"}
    page.click("#live-start")
    ended(own)


def test_sound_of_the_browser_that_stands_still_is_said(page, own):
    begin(page)
    page.evaluate("window.ear.context.suspend()")
    page.wait_for_selector("#live-light[data-light=still]", timeout=60_000)
    page.evaluate("window.ear.context.resume()")
    page.wait_for_selector("#live-light[data-light=sound]", timeout=60_000)
    page.click("#live-start")
    ended(own)


def test_answers_that_all_come_too_late_are_silence_of_a_connection_that_lags(page, own):
    begin(page)
    page.evaluate(
        """() => {
        const take = window.socket.onmessage;
        window.socket.onmessage = (message) => setTimeout(() => take(message), 3000);
        }"""
    )
    page.wait_for_selector("#live-light[data-light=lost]", timeout=60_000)
    page.evaluate(LIGHTS)
    until(page, "/too late: [1-9]/.test(document.getElementById('live-gaps').textContent)")
    assert not last_heard(page, 1_000).any()
    assert "waiting" not in page.evaluate("window.lights.slice(1)")
    page.click("#live-start")
    ended(own)


def test_a_refusal_is_shown_and_nothing_is_heard(page, own):
    begin(page)
    second = page.context.new_page()
    second.add_init_script(LISTEN)
    second.goto(own.url)
    second.wait_for_selector("#live-system option", state="attached")
    second.click("#live-start")
    error = second.locator("#live-error")
    playwright.expect(error).to_contain_text("as many live sessions", timeout=60_000)
    assert second.get_attribute("#live-light", "data-light") == "off"
    assert not np.array(second.evaluate("window.heard")).any()
    second.close()
    page.click("#live-start")
    ended(own)


def test_the_keyboard_starts_and_stops_it(page, own):
    begin(page, keys)
    page.keyboard.press("Space")
    page.wait_for_selector("#live-light[data-light=off]")
    ended(own)


def test_a_server_with_tokens_takes_the_page_s(browser, server):
    with browser.new_context(permissions=["microphone"]) as context:
        page = context.new_page()
        page.goto(server.url)
        page.wait_for_selector("#token-form:not([hidden])")
        page.fill("#token", server.tokens["anna"])
        page.keyboard.press("Enter")
        page.wait_for_selector("#live-system option", state="attached")
        page.select_option("#live-system", "mcadams")
        begin(page)
        page.click("#live-start")
        page.wait_for_selector("#live-light[data-light=off]")
    ended(server)
