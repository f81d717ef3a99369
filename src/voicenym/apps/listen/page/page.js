// The session: shows one page after the other, and sends each answer once.
"use strict";

const main = document.getElementById("main");
const notice = document.getElementById("notice");
let page = null;
let answers = {};
let began = 0;
let sending = false;
let next = null;
let player = null;
let outbox = null;

function say(text) {
  notice.textContent = text;
}

function show(state) {
  document.title = state.title;
  const share = state.total ? state.done / state.total : 0;
  document.getElementById("done").style.width = 100 * share + "%";
  const bar = document.getElementById("bar");
  bar.setAttribute("aria-valuemax", state.total);
  bar.setAttribute("aria-valuenow", state.done);
  document.getElementById("count").textContent = state.done + " of " + state.total;
  main.replaceChildren();
  sending = false;
  if (state.finished) return end(state);
  page = state.page;
  answers = {};
  began = performance.now(); // not the clock, which may be set meanwhile
  player.begin(page.clips.map((one) => one.clip), state.ahead);
  main.append(element("h1", { tabIndex: -1 }, page.title));
  if (page.training) main.append(element("p", { className: "practice" }, "for practice"));
  for (const part of page.text.split("\n\n")) if (part) main.append(element("p", {}, part));
  const sliders = page.questions.some((one) => one.kind === "sliders");
  const row = element("div", { className: "clips" });
  page.clips.forEach((one, place) => {
    if (place === 0 || !sliders) row.append(player.button(one.clip, one.label, place));
  });
  if (page.clips.length) main.append(row);
  if (page.kind === "consent" || page.kind === "intro") {
    answers[page.kind] = "yes";
  } else {
    for (const one of page.questions) {
      main.append(Questions.make(one, page, player, answers, update));
    }
  }
  const label = { consent: "I agree and begin", intro: "Go on" }[page.kind] || "Next";
  next = element("button", { type: "button", className: "next" }, label);
  next.addEventListener("click", send);
  main.append(next);
  if (page.clips.length) {
    const keys = element("p", { className: "keys" });
    keys.append(element("kbd", {}, "space"), " plays, ", element("kbd", {}, "1"), " to ",
      element("kbd", {}, "0"), " answer, ", element("kbd", {}, "Enter"), " goes on");
    main.append(keys);
  }
  update();
  scrollTo(0, 0);
  main.querySelector("h1").focus({ preventScroll: true });
}

function end(state) {
  page = null;
  const text = state.refused
    ? "This test needs headphones, and the check was not passed. Thank you for your time."
    : "Thank you. All your answers are stored. You can close this page.";
  main.append(element("h1", {}, state.refused ? "Headphones" : "Finished"), element("p", {}, text));
}

function complete() {
  const needed = page.questions.flatMap((one) => one.kind === "sliders"
    ? page.clips.slice(1).map((clip) => one.name + ":" + clip.clip) : [one.name]);
  return needed.every((name) => answers[name] !== undefined && answers[name] !== "");
}

function update() {
  if (!page || !next) return;
  const heard = !page.whole || player.all;
  next.disabled = sending || !complete() || !heard;
  next.title = heard ? "" : "Listen to every recording to its end first";
}

async function send() {
  if (sending || next.disabled) return;
  sending = true; // a double click sends one answer
  next.disabled = true;
  player.stop();
  const seconds = Math.round(performance.now() - began) / 1000;
  const sent = { page: page.name, answers, seconds, plays: player.plays };
  try {
    const state = await outbox.send(sent);
    show(state);
    if (state.stored === false) say("This page was answered before, perhaps in another tab.");
  } catch (error) {
    say(error.message);
  }
}

// The radio buttons of the question that a digit answers: the first without an answer, or the last.
function group() {
  const all = [...main.querySelectorAll("[role=radiogroup]")];
  return all.find((one) => !one.querySelector("[aria-checked=true]")) || all.at(-1);
}

addEventListener("keydown", (event) => {
  if (!page || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("textarea, input");
  if (event.key === "Enter" && !event.shiftKey && !event.target.matches("button:not(.next)")) {
    event.preventDefault();
    send();
  } else if (event.key === " " && !typing && !event.target.matches("button")) {
    event.preventDefault();
    player.toggle();
  } else if (!typing && /^[0-9]$/.test(event.key)) {
    const asked = group();
    const buttons = [...(asked?.children || [])];
    const wanted = event.key === "0" ? "10" : event.key;
    const found = asked?.dataset.numbers
      ? buttons.find((one) => one.dataset.value === wanted) : buttons[Number(wanted) - 1];
    if (found) found.click();
  }
});

async function start() {
  const token = location.hash.slice(1);
  if (!token) {
    main.replaceChildren(element("h1", {}, "Listening test"),
      element("p", {}, "Please use the whole link that you were given, with the part after #."));
    return;
  }
  outbox = new Outbox(token, say);
  player = new Player(outbox, update);
  try {
    const left = outbox.waiting(); // of a tab that was closed before its answer was stored
    show(left ? await outbox.send(left) : await outbox.next());
    if (notice.textContent.startsWith("No connection")) say("");
  } catch (error) {
    main.replaceChildren(element("h1", {}, "Listening test"), element("p", {}, error.message));
  }
}

addEventListener("hashchange", start);
start();
