// The timeline of a recording's speakers, where one chooses whom to hide.
import { text } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 24;
const WIDTH = 1000;

// Shows the speakers that the server has found; changed is called at each choice.
export function showTimeline(place, found, file, changed) {
  const sound = new Audio(URL.createObjectURL(file));
  const rows = found.speakers.map((speaker, number) => {
    const turns = found.turns.filter((turn) => turn.speaker === speaker.label);
    return row(speaker, turns, found.seconds, number, sound, changed);
  });
  place.replaceChildren(...rows);
  return () => {
    sound.pause();
    URL.revokeObjectURL(sound.src);
    place.replaceChildren();
  };
}

const DOUBTS = { alike: "doubtAlike", little: "doubtLittle", long: "doubtLong", outside: "doubtOutside" };

// Shows what the server doubts about the turns, one sentence each.
export function showDoubts(place, doubts) {
  const rows = doubts.map(({ kind, detail, figures }) => {
    const row = document.createElement("li");
    row.textContent = text(DOUBTS[kind] ?? "doubtOther", { ...figures, detail });
    return row;
  });
  place.replaceChildren(...rows);
}

// Labels of the speakers that are not hidden.
export function kept(place) {
  return [...place.querySelectorAll("input:not(:checked)")].map((input) => input.value);
}

function row(speaker, turns, seconds, number, sound, changed) {
  const row = document.createElement("div");
  row.className = "speaker";
  const input = document.createElement("input");
  Object.assign(input, { type: "checkbox", id: `speaker-${number}`, value: speaker.label, checked: true });
  const label = document.createElement("label");
  label.htmlFor = input.id;
  const values = { speaker: speaker.label, seconds: speaker.seconds.toFixed(1), turns: turns.length };
  label.textContent = text("hideSpeaker", values);
  const hear = document.createElement("button");
  Object.assign(hear, { type: "button", textContent: text("hearSpeaker", { speaker: speaker.label }) });
  hear.addEventListener("click", () => play(sound, turns));
  const bar = bars(speaker.label, turns, seconds);
  input.addEventListener("change", () => {
    bar.classList.toggle("kept", !input.checked);
    changed();
  });
  row.append(input, label, hear, bar);
  return row;
}

function bars(label, turns, seconds) {
  const bar = document.createElementNS(SVG, "svg");
  bar.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  bar.setAttribute("preserveAspectRatio", "none");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", text("turnsOf", { speaker: label, seconds: seconds.toFixed(0) }));
  for (const turn of turns) {
    const rect = document.createElementNS(SVG, "rect");
    const width = Math.max(2, ((turn.end - turn.start) / seconds) * WIDTH);
    const place = { x: (turn.start / seconds) * WIDTH, y: 2, width, height: HEIGHT - 4 };
    for (const [name, value] of Object.entries(place)) rect.setAttribute(name, value);
    bar.append(rect);
  }
  return bar;
}

// Plays the longest turn of a speaker from the recording, which is on this machine.
function play(sound, turns) {
  const turn = turns.reduce((most, one) => (one.end - one.start > most.end - most.start ? one : most));
  sound.currentTime = turn.start;
  sound.ontimeupdate = () => {
    if (sound.currentTime >= turn.end) sound.pause();
  };
  sound.play();
}
