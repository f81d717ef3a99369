// The page: a recording goes to the server as a job, and its result comes back.
import { chosenSystem, show } from "./choices.js";
import { endLive, offer, prepareLive } from "./live-panel.js";
import { at, complain, giveBackFocus, say, warn } from "./messages.js";
import { clear, fillIn, present } from "./result.js";
import { accept, ask, discard, fetchResult, follow, Refusal, useToken } from "./server.js";
import { checkReadable, forgetSource, isRecording, prepareSource } from "./source.js";
import { fill, text } from "./texts.js";
import { kept, showDoubts, showTimeline } from "./timeline.js";

const state = { file: null, job: null, audit: null, stop: null, found: null, unshow: null };

function taken(file) {
  state.file = file;
  forgetSpeakers();
  allow();
}

// Whether there is something to do, and somebody to hide.
function allow() {
  const open = state.file && state.stop === null;
  const nobody = state.found && kept(at("timeline")).length === state.found.speakers.length;
  at("unhidden").textContent = nobody ? text("nobodyHidden") : "";
  at("start").disabled = !open || nobody || !chosenSystem();
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
  warn("");
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

async function load() {
  warn("");
  try {
    const { systems } = await (await ask("/v1/systems")).json();
    show(at("choices"), systems);
    offer(systems);
    at("token-form").hidden = true;
    allow();
  } catch (error) {
    complain(error);
  }
}

async function work() {
  clear();
  warn("");
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
    form.append("system", chosenSystem());
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
    const broke = () => say(text("broken"));
    const { blob, headers } = await fetchResult(state.job, stop.signal, broke);
    stop.signal.throwIfAborted();
    accept(state.job).catch(() => {}); // without it the server wipes the result a little later
    state.job = null;
    state.audit = present(file, blob, headers);
    await fillIn(file, blob, Number(headers.get("voicenym-seconds")), state.audit, stop.signal);
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

async function forget() {
  const { stop, job, audit: id } = state;
  stop?.abort();
  Object.assign(state, { job: null, audit: null, stop: null });
  await endLive();
  clear();
  warn("");
  say("");
  at("form").reset();
  at("work").hidden = true;
  forgetSource();
  const gone = [];
  if (job) gone.push(discard(job));
  if (id) gone.push(ask(`/v1/audit/${id}`, { method: "DELETE" }));
  await Promise.allSettled(gone); // what was fetched is gone already
  say(text("forgotten"));
}

fill();
prepareLive();
prepareSource(taken);
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
addEventListener("pagehide", giveUp);
addEventListener("beforeunload", (event) => {
  if (isRecording() || state.stop) event.preventDefault(); // the browser asks whether to leave
});
load();
