// Clips of a page: loaded whole before they play, one at a time.
"use strict";

class Player {
  // outbox: for the token; changed: called when a clip was heard to its end.
  constructor(outbox, changed) {
    this.outbox = outbox;
    this.changed = changed;
    this.loaded = new Map();
    this.buttons = new Map();
    this.heard = new Set();
    this.plays = 0;
    this.sound = new Audio();
    this.now = null;
    this.sound.addEventListener("ended", () => this.ended());
    this.sound.addEventListener("timeupdate", () => this.draw());
  }

  // Address of a clip's sound in memory.
  load(clip) {
    if (!this.loaded.has(clip)) {
      const fetched = this.fetched(clip);
      this.loaded.set(clip, fetched);
      fetched.catch(() => this.loaded.delete(clip));
    }
    return this.loaded.get(clip);
  }

  async fetched(clip) {
    for (let wait = 1; ; wait = Math.min(wait * 2, 15)) {
      try {
        const reply = await fetch("/api/clip/" + clip, { headers: this.outbox.headers() });
        if (reply.ok) {
          const sound = await reply.blob();
          if (wait > 1) this.outbox.say("");
          return URL.createObjectURL(sound);
        }
      } catch { /* again below */ }
      this.outbox.say("A recording cannot be loaded. Trying again.");
      await new Promise((ready) => setTimeout(ready, wait * 1000));
    }
  }

  // A new page begins: earlier clips are forgotten, but those that are ahead.
  begin(clips, ahead) {
    this.stop();
    for (const [clip, address] of this.loaded) {
      if (!clips.includes(clip)) {
        this.loaded.delete(clip);
        address.then((found) => URL.revokeObjectURL(found), () => {});
      }
    }
    this.buttons.clear();
    this.heard.clear();
    this.plays = 0;
    this.ready = Promise.all(clips.map((clip) => this.load(clip)))
      .then(() => { for (const clip of ahead) this.load(clip); });
  }

  // A button that plays a clip; place distinguishes clips of one page.
  button(clip, label, place) {
    const made = element("button", { type: "button", className: "clip" });
    made.append(element("span", {}, "▶ " + label), element("span", { className: "fill" }));
    made.setAttribute("aria-label", "Play " + label);
    made.disabled = true;
    this.load(clip).then(() => { made.disabled = false; });
    made.addEventListener("click", () => this.play(clip, place));
    this.buttons.set(place, made);
    return made;
  }

  async play(clip, place) {
    if (this.now === place && !this.sound.paused) return this.stop();
    this.stop();
    this.sound.src = await this.load(clip);
    this.now = place;
    this.plays += 1;
    this.buttons.get(place).classList.add("playing");
    try {
      await this.sound.play();
    } catch (error) {
      if (error.name !== "AbortError") this.outbox.say("The browser does not play: " + error.message);
    }
  }

  stop() {
    this.sound.pause();
    for (const made of this.buttons.values()) made.classList.remove("playing");
    this.now = null;
  }

  ended() {
    const made = this.buttons.get(this.now);
    if (made) {
      this.heard.add(this.now);
      made.classList.remove("playing");
      made.classList.add("heard");
      made.querySelector(".fill").style.width = "100%";
    }
    this.now = null;
    this.changed();
  }

  draw() {
    const made = this.buttons.get(this.now);
    if (made && this.sound.duration) {
      made.querySelector(".fill").style.width =
        (100 * this.sound.currentTime) / this.sound.duration + "%";
    }
  }

  // Whether all clips were heard to their ends.
  get all() {
    return this.heard.size === this.buttons.size;
  }

  // Play the clip after the one that was played last, or stop the one that plays.
  toggle() {
    const places = [...this.buttons.keys()];
    if (this.now !== null) return this.stop();
    const next = places.find((place) => !this.heard.has(place)) ?? places[0];
    if (next !== undefined && !this.buttons.get(next).disabled) this.buttons.get(next).click();
  }
}

function element(name, properties, text) {
  const made = Object.assign(document.createElement(name), properties || {});
  if (text !== undefined) made.textContent = text;
  return made;
}
