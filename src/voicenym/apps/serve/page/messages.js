// What the page says of its work, and of what went wrong.
import { Refusal } from "./server.js";

export const at = (id) => document.getElementById(id);

export function say(message) {
  at("status").textContent = message;
}

export function warn(message) {
  at("error").textContent = message;
}

export function complain(error) {
  if (error.name === "AbortError") return;
  warn(error.message);
  if (error instanceof Refusal && error.status === 401) {
    at("token-form").hidden = false;
    at("token").focus();
  }
}

// A button that was pressed is disabled while the page works, and loses the focus.
export function giveBackFocus(button) {
  if (document.activeElement === document.body) button.focus();
}
