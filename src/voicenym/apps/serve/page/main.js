// The page: a recording goes to the server as a job, and its result comes back once.
import { show } from "./choices.js";
import { endLive, offer, prepareLive } from "./live-panel.js";
import { Recorder } from "./recorder.js";
import { ask, discard, fetchResult, follow, Refusal, useToken } from "./server.js";
import { draw } from "./spectrogram.js";
import { fill, text } from "./texts.js";
import { kept, showDoubts, showTimeline } from "./timeline.js";

const at = (id) => document.getElementById(id);
const state = { file: null, recorder: null, opening: null, job: null, audit: null, stop: null, urls: [], found: null, unshow: null };

function say(message) {
  at("status").textContent = message;
}

function complain(error) {
  if (error.name === "AbortError") return;
  at("error").textContent = error.message;
  if (error instanceof Refusal && error.status === 401) {
    at("token-form").hidden = false;
    at("token").focus();
  }
}

// A button that was pressed is disabled while the page works, and loses the focus.
function giveBackFocus(button) {
  if (document.activeElement === document.body) button.focus();
}

// What a browser says of a file that it cannot read is not told from a server that is gone.
async function checkReadable(file) {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new Error(text("unreadable"));
  }
}

function choose(file, message) {
  state.file = file;
  at("chosen").textContent = message;
  forgetSpeakers();
  allow();
}

// Whether there is something to do, and somebody to hide.
function allow() {
  const open = state.file && state.stop === null;
  const nobody = state.found && kept(at("timeline")).length === state.found.speakers.length;
  at("unhidden").textContent = nobody ? text("nobodyHidden") : "";
  at("start").disabled = !open || nobody;
  at("find").disabled = !open;
}

function forgetSpeakers() {
  state.unshow?.();
  Object.assign(state, { found: null, unshow: null });
  at("found").textContent = at("unhidden").textContent = "";
  showDoubts(at("doubts"), []);
}

async function find() {
  forgetSpeakers();
  const stop = (state.stop = new AbortController());
  const file = state.file;
  at("error").textContent = "";
  at("found").textContent = text("searching");
  allow();
  try {
    await checkReadable(file);
    const form = new FormData();
    form.append("file", file);
    if (at("count").value) form.append("speakers", at("count").value);
    const options = { method: "POST", body: form, signal: stop.signal };
    const found = await (await ask("/v1/speakers", options)).json();
    if (state.file !== file) return;
    state.found = found;
    state.unshow = showTimeline(at("timeline"), found, file, allow);
    at("found").textContent = text("found", { count: found.speakers.length });
    showDoubts(at("doubts"), found.warnings);
  } catch (error) {
    if (state.file === file) at("found").textContent = "";
    complain(error);
  } finally {
    if (state.stop === stop) {
      state.stop = null;
      allow();
      giveBackFocus(at("find"));
    }
  }
}

function chosen(file) {
  if (file) choose(file, text("chosen", { name: file.name, size: (file.size / 1e6).toFixed(1) }));
}

async function load() {
  at("error").textContent = "";
  try {
    const { systems } = await (await ask("/v1/systems")).json();
    show(at("choices"), systems);
    offer(systems);
    at("token-form").hidden = true;
  } catch (error) {
    complain(error);
  }
}

// One press at a time: a second one, before the microphone is open or closed, would lose the first.
function record() {
  state.opening ??= press().finally(() => (state.opening = null));
  return state.opening;
}

async function press() {
  const button = at("record");
  at("error").textContent = "";
  if (state.recorder) {
    const { file, seconds } = await state.recorder.stop();
    state.recorder = null;
    at("file").value = "";
    choose(file, text("recorded", { seconds: seconds.toFixed(1) }));
  } else {
    const recorder = new Recorder();
    try {
      await recorder.start(() => ended(recorder));
    } catch {
      at("error").textContent = text("noMicrophone");
      return;
    }
    state.recorder = recorder;
  }
  button.setAttribute("aria-pressed", String(state.recorder !== null));
  button.textContent = text(state.recorder ? "recordStop" : "record");
}

// A recording that ends without a press of the button is kept as if it had been pressed.
async function ended(recorder) {
  if (state.opening || state.recorder !== recorder) return;
  await record();
  at("error").textContent = text("microphoneLost");
}

async function work() {
  clear();
  const stop = (state.stop = new AbortController());
  const file = state.file; // another one may be chosen meanwhile
  allow();
  at("work").hidden = false;
  at("progress").removeAttribute("value");
  say(text("sending"));
  try {
    await checkReadable(file);
    const form = new FormData();
    form.append("file", file);
    form.append("system", document.querySelector("input[name=system]:checked").value);
    form.append("audit", "true");
    if (state.found) {
      form.append("turns", state.found.rttm);
      form.append("keep", JSON.stringify(kept(at("timeline"))));
    }
    const options = { method: "POST", body: form, signal: stop.signal };
    state.job = await (await ask("/v1/jobs", options)).json();
    for await (const { event, data } of follow(state.job.links.events, stop.signal)) {
      if (event === "failed") throw new Refusal(data.problem);
      if (event === "forgotten") return;
      if (event === "broken") {
        say(text("broken"));
        continue;
      }
      state.job = data;
      report(data);
    }
    const answer = await fetchResult(state.job, stop.signal);
    const blob = await answer.blob();
    state.job = null; // the server has nothing of it any more
    await present(file, blob, answer.headers, stop.signal);
    stop.signal.throwIfAborted();
    say(text("done"));
    at("result-title").focus();
  } catch (error) {
    if (state.stop === stop) {
      say("");
      giveUp();
    }
    complain(error);
  } finally {
    if (state.stop === stop) {
      state.stop = null;
      at("work").hidden = true;
      allow();
      giveBackFocus(at("start"));
    }
  }
}

// Deletes a job whose result nobody will fetch: it would keep its place on the server.
function giveUp() {
  if (state.job) discard(state.job).catch(() => {}); // the server may be gone
  state.job = null;
}

function report(job) {
  const { seconds, of } = job.progress;
  if (job.status === "queued") say(text("queued"));
  else if (of && seconds >= of) say(text("auditing"));
  else say(text(of ? "runningOf" : "running", { seconds: seconds.toFixed(0), of: of?.toFixed(0) }));
  if (of) at("progress").value = Math.min(1, seconds / of);
}

// Nothing is shown once the signal says that everything is forgotten.
async function present(before, after, headers, signal) {
  signal.throwIfAborted();
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
  state.audit = headers.get("voicenym-audit");
  await Promise.all([
    spectrum("spectrum-before", before, "spectrumBefore", signal),
    spectrum("spectrum-after", after, "spectrumAfter", signal),
    audit(signal),
  ]);
}

function player(place, blob, name) {
  const kind = blob.type.startsWith("video/") ? "video" : "audio";
  const element = document.createElement(kind);
  element.controls = true;
  element.setAttribute("aria-label", name);
  element.src = URL.createObjectURL(blob);
  state.urls.push(element.src);
  place.replaceChildren(element);
  return element.src;
}

async function spectrum(id, blob, name, signal) {
  const drawn = await draw(at(id), blob, signal);
  at(id).setAttribute("aria-label", text(drawn ? name : "noSpectrum"));
}

async function audit(signal) {
  if (!state.audit) return;
  const found = await (await ask(`/v1/audit/${state.audit}`, { signal })).json();
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
function clear() {
  for (const url of state.urls.splice(0)) URL.revokeObjectURL(url);
  for (const id of ["play-before", "play-after"]) at(id).replaceChildren();
  for (const id of ["verdict", "searched", "notes", "error", "status"]) at(id).textContent = "";
  for (const id of ["spectrum-before", "spectrum-after"]) {
    at(id).getContext("2d").clearRect(0, 0, at(id).width, at(id).height);
  }
  at("attackers").tBodies[0].replaceChildren();
  at("attackers").hidden = at("result").hidden = true;
  at("download").removeAttribute("href");
}

async function forget() {
  const { stop, job, audit: id } = state;
  stop?.abort();
  await state.opening;
  if (state.recorder) await record();
  await endLive();
  clear();
  at("form").reset();
  at("work").hidden = true;
  Object.assign(state, { file: null, job: null, audit: null, stop: null });
  choose(null, "");
  const gone = [];
  if (job) gone.push(discard(job));
  if (id) gone.push(ask(`/v1/audit/${id}`, { method: "DELETE" }));
  await Promise.allSettled(gone); // what was fetched is gone already
  say(text("forgotten"));
}

fill();
prepareLive();
at("file").addEventListener("change", (event) => chosen(event.target.files[0]));
at("record").addEventListener("click", record);
at("find").addEventListener("click", find);
at("forget").addEventListener("click", forget);
at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  work();
});
at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(at("token").value);
  at("token").value = "";
  load();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  at("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind !== "drop" || !event.dataTransfer.files.length) return;
    at("file").value = ""; // it shows no other file than the one in work
    chosen(event.dataTransfer.files[0]);
  });
}
addEventListener("pagehide", giveUp);
addEventListener("beforeunload", (event) => {
  if (state.recorder || state.stop) event.preventDefault(); // the browser asks whether to leave
});
load();
