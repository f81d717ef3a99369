// Requests to this server. The token stays in this module's memory.
import { text } from "./texts.js";

const BUSY = [429, 503];
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_FAILURES = 10; // in a row, in some three minutes

let token = "";

export class Refusal extends Error {
  constructor(problem) {
    super(text("failed", { detail: problem.detail, cure: problem.cure }));
    this.status = problem.status;
  }
}

export function useToken(given) {
  token = given;
}

// Subprotocols of a web socket, by which pages send tokens.
export function protocols() {
  return ["voicenym.live", ...(token ? [`bearer.${token}`] : [])];
}

export async function ask(path, options = {}) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(text("unreachable"));
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

// What an answer refuses. Others than this server, such as a proxy, give no problem as JSON.
async function refusal(answer) {
  try {
    return new Refusal(await answer.json());
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return new Error(text("strangeAnswer", { status: answer.status }));
  }
}

// Events of a job: an asynchronous iterator of { event, data }. A connection that breaks is opened
// again, since the job goes on without it; meanwhile the event is "broken".
export async function* follow(path, signal) {
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const found of events(path, signal)) {
        failures = 0;
        yield found;
        if (found.event !== "progress") return;
      }
    } catch (error) {
      if (isFinal(error)) throw error;
    }
    yield { event: "broken", data: null };
    await pause(failures, signal);
  }
}

// The result of a job: { blob, headers }. A transfer that breaks is begun anew, after a call of
// broke(); the server keeps the result until accept(job), or for some minutes after it sent it.
export async function fetchResult(job, signal, broke) {
  for (let failures = 0; ; failures += 1) {
    let why = "unreachable";
    try {
      const answer = await ask(job.links.result, { signal });
      why = "resultLost";
      return { blob: await answer.blob(), headers: answer.headers };
    } catch (error) {
      if (isFinal(error)) throw error;
    }
    broke();
    await pause(failures, signal, why);
  }
}

// Tells the server that a result has arrived: it wipes it.
export function accept(job) {
  return ask(job.links.result, { method: "DELETE", keepalive: true });
}

function isFinal(error) {
  return error.name === "AbortError" || (error instanceof Refusal && !BUSY.includes(error.status));
}

async function* events(path, signal) {
  const reader = (await ask(path, { signal })).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await next(reader);
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field("event")) yield { event: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

async function next(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(text("unreachable"));
  }
}

// Waits before another attempt; there are only so many, and then why is the name of the text.
async function pause(failures, signal, why = "unreachable") {
  if (failures >= MOST_FAILURES) throw new Error(text(why));
  await new Promise((resolve) => {
    setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures));
    signal.addEventListener("abort", resolve, { once: true });
  });
  signal.throwIfAborted();
}

// Deletes a job, also while the page is being left.
export function discard(job) {
  return ask(job.links.self, { method: "DELETE", keepalive: true });
}
