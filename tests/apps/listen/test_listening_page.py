"""The page in headless Chromium: a whole session by keyboard, and what goes wrong in real tabs."""

from __future__ import annotations

import os
import re

import pytest

from voicenym.listening import session_progress
from voicenym.listening.answer_store import NotStoredError

STOPPED_CLOCKS = """
Date.now = () => Math.floor(Math.random() * 4e12);
setInterval(() => {}, 1000);
"""


def opened(browser, served, listener, **options):
    """A tab of a listener, and what it complained of."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(served.link(listener))
    page.wait_for_selector("button.next")
    return page, faults


def current(served, listener):
    return session_progress.current(served.study, listener, served.store.answered(listener))


def answer_rest(served, listener, until):
    """Answers pages without the browser until one of a kind and test comes."""
    while (page := current(served, listener)) is not None and (page.kind, page.test) != until:
        given = {}
        for question in session_progress.questions(page):
            given[question.name] = question.high or question.labels[0]
        served.store.add(
            listener, page.name, {page.kind: page.expected} if page.expected else given
        )
    return page


def listen_and_press(page, *keys):
    """Plays all clips by the space bar, and answers by keys."""
    clips = page.locator("button.clip")
    for number in range(clips.count()):
        clips.nth(number).and_(page.locator(":enabled")).wait_for()
        page.keyboard.press("Space")
        clips.nth(number).and_(page.locator(".heard")).wait_for()
    for key in keys:
        page.keyboard.press(key)


def test_a_session_by_keyboard_from_consent_to_the_end(served, browser):
    page, faults = opened(browser, served, "L001")
    page.add_init_script(STOPPED_CLOCKS)
    assert "agree" in page.inner_text("button.next")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text-is('Headphones')")
    assert served.store.answered("L001") == {"consent": {"consent": "yes"}}
    due = answer_rest(served, "L001", ("item", "acr"))
    page.reload()
    page.wait_for_selector("[role=radiogroup]")
    assert page.is_disabled("button.next")
    page.keyboard.press("4")
    assert page.is_disabled("button.next"), "not before the recording was heard to its end"
    listen_and_press(page)
    assert page.is_enabled("button.next")
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-checked=true]", state="detached")
    assert served.store.answered("L001")[due.name] == {"quality": 4}
    kept = next(one for one in served.store.everything() if one.page == due.name)
    assert 0.2 < kept.seconds < 60
    assert kept.plays == 1
    due = answer_rest(served, "L001", ("item", "same"))
    page.reload()
    page.wait_for_selector("[role=radiogroup]")
    listen_and_press(page, "2", "3", "Enter")
    page.wait_for_selector("[aria-checked=true]", state="detached")
    assert served.store.answered("L001")[due.name] == {"same": "different", "confidence": 3}
    answer_rest(served, "L001", ("none", ""))
    page.reload()
    page.wait_for_selector("h1:text-is('Finished')")
    assert page.get_attribute("#bar", "aria-valuenow") == page.get_attribute(
        "#bar", "aria-valuemax"
    )
    assert faults == []


TABS = int(os.environ.get("VOICENYM_TABS", "6"))
"""Tabs at once; 50 take two minutes on two cores."""
LISTENER = """
window.agent = setInterval(() => {
  const idle = document.querySelector("button.clip:not(.heard):not([disabled])");
  if (idle && !document.querySelector("button.playing")) idle.click();
  for (const asked of document.querySelectorAll("[role=radiogroup]")) {
    const one = Math.floor(Math.random() * asked.children.length);
    if (!asked.querySelector("[aria-checked=true]")) asked.children[one].click();
  }
  const next = document.querySelector("button.next");
  if (next && !next.disabled) { next.click(); next.click(); }
}, 200)
"""
"""A listener in the page: plays what was not heard, chooses anything, and clicks twice."""


@pytest.mark.slow
def test_listeners_in_many_tabs_lose_no_answer_and_give_none_twice(served, browser):
    listeners = list(served.tokens)[:TABS]
    tabs = []
    for number, listener in enumerate(listeners):
        page, _ = opened(browser, served, listener)
        page.set_default_timeout(120_000)
        page.evaluate(LISTENER)
        if number % 5 == 4:  # a tab is closed, and another one goes on
            page.close()
            page, _ = opened(browser, served, listener)
            page.evaluate(LISTENER)
        tabs.append(page)
    for page in tabs:
        page.wait_for_selector("#count:text-matches('^([6-9]|[1-9][0-9]+) ')")
        page.evaluate("clearInterval(agent)")
        page.context.close()
    stored = list(served.store.everything())
    assert len({(one.listener, one.page) for one in stored}) == len(stored)
    for listener in listeners:
        answered = served.store.answered(listener)
        assert len(answered) >= 5, "the count shows the page that is asked, from 1"
        order = [page.name for page in served.study.sessions[listener]]
        places = [order.index(name) for name in answered if name in order]
        assert places == sorted(places)


def test_a_double_click_and_a_second_tab_store_one_answer(served, browser):
    first, faults = opened(browser, served, "L002")
    second = first.context.new_page()
    second.goto(served.link("L002"))
    second.wait_for_selector("button.next")
    first.dblclick("button.next")
    first.wait_for_selector("h1:text-is('Headphones')")
    second.click("button.next")
    second.wait_for_selector("h1:text-is('Headphones')")
    assert "another tab" in second.inner_text("#notice")
    assert list(served.store.answered("L002")) == ["consent"]
    assert faults == []


def test_a_lost_connection_and_a_closed_tab_lose_no_answer(served, browser):
    page, faults = opened(browser, served, "L003")
    context = page.context
    context.set_offline(True)
    page.click("button.next")
    page.wait_for_selector("#notice:not(:empty)")
    assert "kept here" in page.inner_text("#notice")
    assert served.store.answered("L003") == {}
    page.close()  # the answer waits in the browser
    context.set_offline(False)
    again = context.new_page()
    again.goto(served.link("L003"))
    again.wait_for_selector("h1:text-is('Headphones')")
    assert served.store.answered("L003") == {"consent": {"consent": "yes"}}
    context.set_offline(True)
    again.evaluate("outbox.send({page: 'headphones-1-1', answers: {headphones: '1'}})"
                   ".then(show), undefined")  # fmt: skip
    again.wait_for_selector("#notice:not(:empty)")
    context.set_offline(False)  # the browser tells the page, which sends at once
    again.wait_for_selector("#count:text-matches('^2 ')")
    assert list(served.store.answered("L003")) == ["consent", "headphones-1-1"]
    assert faults == []


def test_a_full_disk_is_shown_and_the_answer_is_sent_again(served, browser):
    size = served.store._base.execute("PRAGMA page_count").fetchone()[0]
    page, _ = opened(browser, served, "L004")
    served.store._base.execute(f"PRAGMA max_page_count={size}")
    with pytest.raises(NotStoredError):
        [served.store.add("nobody", f"p{count}", {"words": "x" * 20}) for count in range(1000)]
    page.click("button.next")
    page.wait_for_selector("#notice:not(:empty)")
    assert "disk is full" in page.inner_text("#notice")
    served.store._base.execute("PRAGMA max_page_count=1000000")
    page.wait_for_selector("h1:text-is('Headphones')")
    assert served.store.answered("L004") == {"consent": {"consent": "yes"}}


@pytest.mark.parametrize("width", [360, 1200])
def test_pages_fit_phones_and_desktops(served, browser, width):
    answer_rest(served, "L006", ("item", "acr"))
    page, faults = opened(browser, served, "L006", viewport={"width": width, "height": 700})
    page.wait_for_selector("[role=radiogroup]")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    small = page.evaluate(
        "[...document.querySelectorAll('button')].filter(one => one.offsetHeight < 44).length"
    )
    assert small == 0, "buttons are high enough for a finger"
    assert faults == []


def test_nothing_is_asked_of_other_hosts_and_no_cookie_is_set(served, browser):
    context = browser.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served.link("L007"))
    page.wait_for_selector("button.next")
    assert asked
    assert all(url.startswith((served.url, "blob:")) for url in asked)
    assert not any(served.tokens["L007"] in url.partition("#")[0] for url in asked)
    assert context.cookies() == []
    page.goto(f"{served.url}/#{'x' * 32}")
    page.reload()
    page.wait_for_selector("#main:has-text('token')")
    page.goto(served.url)
    page.wait_for_selector("#main:has-text('whole link')")
    assert re.search("Listening test", page.title())
