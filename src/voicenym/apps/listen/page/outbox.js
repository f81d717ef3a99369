// Answers that are not stored yet: kept in this browser, sent again until the server has them.
"use strict";

class Outbox {
  // token: of the listener; say: shows a sentence, or nothing.
  constructor(token, say) {
    this.token = token;
    this.say = say;
    this.key = "voicenym-listen-" + token.slice(0, 12);
  }

  headers(more = {}) {
    return { Authorization: "Bearer " + this.token, ...more };
  }

  // The answer that waits, of this tab or of one that was closed.
  waiting() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return this.kept || null;
    }
  }

  keep(answer) {
    this.kept = answer;
    try {
      if (answer === null) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, JSON.stringify(answer));
    } catch { /* private mode: it is kept in this tab */ }
  }

  // The server's next state, once the answer is stored. It is asked again after failures.
  async send(answer) {
    this.keep(answer);
    for (let wait = 1; ; wait = Math.min(wait * 2, 15)) {
      let failed = "No connection. Your answer is kept here and is sent again.";
      try {
        const reply = await fetch("/api/answers", {
          method: "POST",
          headers: this.headers({ "Content-Type": "application/json" }),
          body: JSON.stringify(answer),
        });
        const found = await reply.json();
        if (reply.ok) {
          this.keep(null);
          this.say("");
          return found;
        }
        if (reply.status === 409 || reply.status === 422 || reply.status === 400) {
          this.keep(null); // not an answer to a page that is open: the server says what is
          this.say(found.detail);
          return this.next();
        }
        if (reply.status === 401 || reply.status === 403) throw new Stopped(found.detail);
        failed = found.detail + " " + found.cure;
      } catch (error) {
        if (error instanceof Stopped) throw error;
      }
      this.say(failed);
      await new Promise((ready) => {
        const timer = setTimeout(ready, wait * 1000);
        addEventListener("online", () => { clearTimeout(timer); ready(); }, { once: true });
      });
    }
  }

  // The state of the session.
  async next() {
    for (let wait = 1; ; wait = Math.min(wait * 2, 15)) {
      try {
        const reply = await fetch("/api/next", { headers: this.headers() });
        if (reply.ok) return await reply.json();
        const found = await reply.json();
        if (reply.status === 401 || reply.status === 403) throw new Stopped(found.detail);
        this.say(found.detail);
      } catch (error) {
        if (error instanceof Stopped) throw error;
        this.say("No connection. Trying again.");
      }
      await new Promise((ready) => setTimeout(ready, wait * 1000));
    }
  }
}

// An error that another attempt does not mend.
class Stopped extends Error {}
