// Requests to this server. The token stays in this module's memory.
import { text } from "./texts.js";

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

// Events of a job: an asynchronous iterator of { event, data }.
export async function* follow(path, signal) {
  const reader = (await ask(path, { signal })).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
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
