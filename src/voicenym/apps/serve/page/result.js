// The result: recordings before and after, their spectrograms, and what attackers made of it.
import { at } from "./messages.js";
import { ask } from "./server.js";
import { draw } from "./spectrogram.js";
import { text } from "./texts.js";

const urls = [];

// Shows a result, and returns the id of its audit, null without one.
export function present(before, after, headers) {
  const suffix = /filename="anonymized(\.\w+)"/.exec(headers.get("content-disposition"))?.[1] ?? "";
  at("result").hidden = false;
  at("download").href = player(at("play-after"), after, text("after"));
  at("download").download = `anonymized${suffix}`;
  player(at("play-before"), before, text("before"));
  const notes = JSON.parse(headers.get("voicenym-warnings") ?? "[]");
  const reason = headers.get("voicenym-refusal");
  const system = headers.get("voicenym-system");
  if (reason) notes.unshift(text("otherSystem", { system, reason: JSON.parse(reason) }));
  at("notes").textContent = notes.join(" ");
  return headers.get("voicenym-audit");
}

// Fills in spectrograms and audit, which take their time.
export async function fillIn(before, after, seconds, id, signal) {
  await Promise.all([spectrums(before, after, seconds, signal), audit(id, signal)]);
}

function player(place, blob, name) {
  const kind = blob.type.startsWith("video/") ? "video" : "audio";
  const element = document.createElement(kind);
  element.controls = true;
  element.setAttribute("aria-label", name);
  element.src = URL.createObjectURL(blob);
  urls.push(element.src);
  place.replaceChildren(element);
  return element.src;
}

// One after the other: each takes the memory of a decoded recording.
async function spectrums(before, after, seconds, signal) {
  for (const [id, blob, name] of [
    ["spectrum-before", before, "spectrumBefore"],
    ["spectrum-after", after, "spectrumAfter"],
  ]) {
    const drawn = await draw(at(id), blob, seconds, signal);
    at(id).setAttribute("aria-label", text(drawn ? name : "noSpectrum"));
  }
}

async function audit(id, signal) {
  if (!id) return;
  const found = await (await ask(`/v1/audit/${id}`, { signal })).json();
  signal.throwIfAborted();
  at("verdict").textContent = found.verdict ?? text("noAudit", { reason: found.refused });
  at("searched").textContent = found.searched ?? "";
  const rows = (found.attackers ?? []).map((one) => {
    const row = document.createElement("tr");
    for (const value of [one.attacker, one.words]) {
      row.append(Object.assign(document.createElement("td"), { textContent: value }));
    }
    return row;
  });
  at("attackers").tBodies[0].replaceChildren(...rows);
  at("attackers").hidden = rows.length === 0;
}

// Removes the result from the page and from memory.
export function clear() {
  for (const url of urls.splice(0)) URL.revokeObjectURL(url);
  for (const id of ["play-before", "play-after"]) at(id).replaceChildren();
  for (const id of ["verdict", "searched", "notes"]) at(id).textContent = "";
  for (const id of ["spectrum-before", "spectrum-after"]) {
    at(id).getContext("2d").clearRect(0, 0, at(id).width, at(id).height);
  }
  at("attackers").tBodies[0].replaceChildren();
  at("attackers").hidden = at("result").hidden = true;
  at("download").removeAttribute("href");
}
