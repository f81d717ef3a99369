// The panel of the live session: button, light, levels and the measured delay.
import { sentences } from "./choices.js";
import { LiveSession } from "./live-session.js";
import { text } from "./texts.js";

const at = (id) => document.getElementById(id);
const LIGHTS = {
  sound: "lightSound",
  starting: "lightStarting",
  waiting: "lightWaiting",
  overloaded: "lightOverloaded",
  failed: "lightFailed",
  lost: "lightLost",
  still: "lightStill",
  stopped: "lightWaiting",
  ended: "lightFailed",
  off: "lightOff",
};
const RANGE_DB = 60;
let session = null;

// The systems that work live.
export function offer(cards) {
  const usable = cards.filter((card) => card.usable && card.live && card.attackers.length);
  const options = usable.map((card) => {
    const option = new Option(card.name, card.name, card.is_default, card.is_default);
    option.dataset.about = [sentences(card), ...card.live_protection.map(sentence)].join(" ");
    return option;
  });
  at("live-system").replaceChildren(...options);
  at("live-start").disabled = options.length === 0;
  explain();
}

// What was measured of the live stream, in the server's words.
function sentence(line) {
  return `${line[0].toUpperCase()}${line.slice(1)}.`;
}

function explain() {
  at("live-about").textContent = at("live-system").selectedOptions[0]?.dataset.about ?? "";
}

function light(name) {
  const place = at("live-light");
  if (place.dataset.light === name) return;
  place.dataset.light = name;
  at("live-says").textContent = text(LIGHTS[name]);
}

function level(id, peak) {
  const decibels = 20 * Math.log10(Math.max(peak, 1e-6));
  at(id).value = Math.max(0, Math.min(1, 1 + decibels / RANGE_DB));
}

function told(news) {
  if ("ended" in news) {
    session = null;
    show(news.ended);
    return;
  }
  light(news.light);
  level("live-in", news.input);
  level("live-out", news.output);
  if (news.light !== "sound") at("live-delay").textContent = "";
  else if (news.delay !== null) {
    const values = { delay: (1000 * news.delay).toFixed(0), devices: (1000 * news.devices).toFixed(0) };
    at("live-delay").textContent = text("liveDelay", values);
  }
  const gaps = text("liveGaps", { dropouts: news.dropouts, late: news.late });
  at("live-gaps").textContent = news.strained ? `${gaps} ${text("liveStrained")}` : gaps;
}

function show(error = "") {
  const button = at("live-start");
  button.setAttribute("aria-pressed", String(session !== null));
  button.textContent = text(session ? "liveStop" : "liveStart");
  at("live-panel").hidden = session === null;
  at("live-system").disabled = session !== null;
  at("live-error").textContent = error;
  light(session ? "starting" : "off");
  for (const id of ["live-delay", "live-gaps"]) at(id).textContent = "";
}

async function toggle() {
  if (session) {
    await session.stop();
    return;
  }
  session = new LiveSession(told);
  show();
  try {
    await session.start(at("live-system").value);
  } catch (error) {
    session = null;
    show(error.message);
  }
}

export async function endLive() {
  await session?.stop();
}

export function prepareLive() {
  at("live-system").addEventListener("change", explain);
  at("live-start").addEventListener("click", toggle);
  show();
}
