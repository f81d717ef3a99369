"""Where a listener is in a session: the next page as the browser gets it, and checks of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voicenym.listening.design.headphone_checks import ASKED, NEEDED
from voicenym.listening.questions import LINE_UP, SLIDERS, TEXT, Question, kind, problem
from voicenym.listening.study import COMPARE, CONSENT, HEADPHONES, INTRO, ITEM, Page, Study

Answers = Mapping[str, Mapping[str, Any]]
"""Answers by page."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_PLAYS = 1000


def headphones_passed(pages: tuple[Page, ...], answered: Answers, attempt: int) -> bool | None:
    """Whether an attempt of the headphone check was passed; None if it is not finished."""
    own = [page for page in pages if page.name.startswith(f"{HEADPHONES}-{attempt}-")]
    if not own or any(page.name not in answered for page in own):
        return None
    right = sum(str(answered[page.name].get(HEADPHONES)) == page.expected for page in own)
    return right >= NEEDED[own[0].test]


def open_pages(pages: tuple[Page, ...], answered: Answers) -> list[Page]:
    """Pages of a session that are asked of this listener: without a needless second attempt."""
    passed = headphones_passed(pages, answered, 1)
    second = f"{HEADPHONES}-2-"
    return [page for page in pages if not (passed is True and page.name.startswith(second))]


def refused(study: Study, pages: tuple[Page, ...], answered: Answers) -> bool:
    """Whether a listener without headphones is sent home."""
    failed = [headphones_passed(pages, answered, attempt) is False for attempt in (1, 2)]
    return study.need_headphones and all(failed)


def current(study: Study, listener: str, answered: Answers) -> Page | None:
    """The page that is to be answered next; None at the end."""
    pages = study.sessions[listener]
    if refused(study, pages, answered):
        return None
    return next((p for p in open_pages(pages, answered) if p.name not in answered), None)


def state(study: Study, listener: str, answered: Answers) -> dict[str, Any]:
    """What the browser shows: the next page and the progress.

    The second attempt of a headphone check is not counted before it is needed.
    """
    pages = study.sessions[listener]
    open_now = open_pages(pages, answered)
    waiting = headphones_passed(pages, answered, 1) is None
    counted = [p for p in open_now if not (waiting and p.name.startswith(f"{HEADPHONES}-2-"))]
    page = current(study, listener, answered)
    done = sum(p.name in answered for p in counted)
    found: dict[str, Any] = {"title": study.title, "done": done, "total": len(counted)}
    if page is None:
        return {**found, "finished": True, "refused": refused(study, pages, answered)}
    after = [p for p in open_now if p.name not in answered and p is not page]
    ahead = list(after[0].clips) if after else []
    return {**found, "finished": False, "page": payload(study, page), "ahead": ahead}


def payload(study: Study, page: Page) -> dict[str, Any]:
    """A page as the browser gets it: no role, no system, no right answer."""
    found: dict[str, Any] = {
        "name": page.name, "kind": page.kind, "test": page.test, "training": page.training,
        "whole": study.whole, "title": "", "text": "", "clips": [], "questions": [],
    }  # fmt: skip
    if page.kind == CONSENT:
        found |= {"title": study.title, "text": study.consent}
    elif page.kind == HEADPHONES:
        found |= {"title": "Headphones", "text": ASKED[page.test] + " Please wear headphones."}
    elif page.kind == COMPARE:
        found |= {"title": "Your surroundings", "text": "Which recording has less noise?"}
    elif page.kind == INTRO:
        test = kind(page.test)
        hint = (
            f" In some recordings you hear short beeps. Then {test.beeps}. This shows that "
            "somebody listens."
        )
        found |= {"title": test.title, "text": test.instruction + (hint if test.beeps else "")}
    else:
        found["title"] = kind(page.test).title
    found["clips"] = [
        {"label": label, "clip": clip} for label, clip in zip(labels(page), page.clips, strict=True)
    ]
    found["questions"] = [_plain(question) for question in questions(page)]
    return found


def labels(page: Page) -> list[str]:
    """Labels of a page's clips."""
    if page.kind == COMPARE:
        return ["A", "B"]
    if page.kind != ITEM:
        return ["listen"] * len(page.clips)
    fixed = list(kind(page.test).labels)
    rest = len(page.clips) - len(fixed)
    numbered = page.test == "linkage"
    return fixed + [str(i + 1) if numbered else LETTERS[i] for i in range(rest)]


def questions(page: Page) -> tuple[Question, ...]:
    """Questions of a page."""
    if page.kind == ITEM:
        return kind(page.test).questions
    if page.kind == HEADPHONES:
        return (Question(HEADPHONES, "choice", "Which one?", labels=("1", "2", "3")),)
    if page.kind == COMPARE:
        return (Question(COMPARE, "choice", "Which has less noise?", labels=("A", "B")),)
    return (Question(page.kind, "choice", "", labels=("yes",)),)


def wrong(page: Page, answers: object) -> str:
    """What is wrong with the answers of a page; empty if nothing is.

    Args:
        page: that is answered.
        answers: values by question; of sliders by ``QUESTION:CLIP``, one for each rated clip.
    """
    if not isinstance(answers, Mapping):
        return "answers are an object of values by question"
    rated = page.clips[1:]
    expected = set()
    for question in questions(page):
        names = [question.name]
        if question.kind == SLIDERS:
            names = [f"{question.name}:{clip}" for clip in rated]
        for name in names:
            expected.add(name)
            if name not in answers:
                return f"the answer to {question.name} is missing"
            found = problem(question, answers[name], rated)
            if found:
                return found
    if set(answers) != expected:
        return "there are answers to questions that the page does not ask"
    return ""


def _plain(question: Question) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": question.name, "kind": question.kind, "text": question.text,
        "labels": list(question.labels),
    }  # fmt: skip
    if question.kind not in (TEXT, LINE_UP):
        found |= {"low": question.low, "high": question.high}
    return found
