// The recording to hide: a file that is chosen or dropped, or the microphone.
import { at, warn } from "./messages.js";
import { Recorder } from "./recorder.js";
import { text } from "./texts.js";

let recorder = null; // records, or waits for the microphone
let stopping = false;
let take = () => {};

// taken(file) is called for each recording that is there, and with null when it is forgotten.
export function prepareSource(taken) {
  take = taken;
  at("file").addEventListener("change", (event) => choose(event.target.files));
  at("record").addEventListener("click", press);
  // A file that misses its place would be opened by the browser, in place of the page.
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      at("drop").classList.toggle("over", kind === "dragover");
      if (kind !== "drop" || !event.dataTransfer.files.length) return;
      at("file").value = ""; // it shows no other file than the one in work
      choose(event.dataTransfer.files);
    });
  }
}

export function isRecording() {
  return recorder !== null;
}

// Forgets the recording, also one that begins when the user has allowed the microphone.
export function forgetSource() {
  recorder?.discard();
  recorder = null;
  show();
  present(null, "");
}

// What a browser says of a file that it cannot read is not told from a server that is gone.
export async function checkReadable(file) {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new Error(text("unreadable"));
  }
}

function choose([file, ...others]) {
  if (!file) return;
  const values = { name: file.name, size: (file.size / 1e6).toFixed(1), count: others.length + 1 };
  present(file, text(others.length ? "chosenAlone" : "chosen", values));
}

function present(file, message) {
  at("chosen").textContent = message;
  take(file);
}

async function press() {
  if (stopping) return;
  warn("");
  if (recorder === null) await begin();
  else if (recorder.records) await end();
}

async function begin() {
  const fresh = (recorder = new Recorder());
  try {
    await fresh.start(() => ended(fresh));
  } catch {
    if (recorder !== fresh) return; // it was forgotten meanwhile
    recorder = null;
    warn(text("noMicrophone"));
  }
  show();
}

async function end() {
  const done = recorder;
  stopping = true;
  const { file, seconds } = await done.stop();
  stopping = false;
  if (recorder !== done) return;
  recorder = null;
  show();
  at("file").value = "";
  present(file, text("recorded", { seconds: seconds.toFixed(1) }));
}

// A recording that ends without a press of the button is kept as if it had been pressed.
async function ended(one) {
  if (stopping || recorder !== one) return;
  await end();
  warn(text("microphoneLost"));
}

function show() {
  const records = recorder !== null;
  at("record").setAttribute("aria-pressed", String(records));
  at("record").textContent = text(records ? "recordStop" : "record");
}
