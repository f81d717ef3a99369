// Controls of questions. Each keeps its answer in answers[name] and calls changed().
"use strict";

const Questions = {
  make(question, page, player, answers, changed) {
    const box = element("fieldset");
    if (question.text) box.append(element("legend", {}, question.text));
    const kind = question.kind === "line-up" ? "lineUp" : question.kind;
    Questions[kind](box, question, page, player, answers, changed);
    return box;
  },

  group(box, choices, className, label, choose) {
    const row = element("div", { className });
    row.setAttribute("role", "radiogroup");
    row.setAttribute("aria-label", label);
    const buttons = choices.map(([value, text]) => {
      const made = element("button", { type: "button" }, text);
      made.setAttribute("role", "radio");
      made.setAttribute("aria-checked", "false");
      made.dataset.value = value;
      made.addEventListener("click", () => {
        for (const other of buttons) other.setAttribute("aria-checked", String(other === made));
        choose(value);
      });
      return made;
    });
    row.append(...buttons);
    box.append(row);
  },

  scale(box, question, page, player, answers, changed) {
    const values = [];
    for (let value = question.low; value <= question.high; value += 1) values.push(value);
    const named = question.labels.length === values.length;
    const choices = values.map((v, i) => [v, named ? v + "  " + question.labels[i] : String(v)]);
    if (named) choices.reverse();
    const name = named ? "named" : values.length > 5 ? "scale ten" : "scale";
    Questions.group(box, choices, name, question.text, (value) => {
      answers[question.name] = value;
      changed();
    });
    box.querySelector("[role=radiogroup]").dataset.numbers = "yes";
    if (!named) {
      const ends = element("div", { className: "ends" });
      const [low, high] = [question.labels[0], question.labels.at(-1)];
      ends.append(element("span", {}, question.low + ": " + low),
        element("span", {}, question.high + ": " + high));
      box.append(ends);
    }
  },

  choice(box, question, page, player, answers, changed) {
    const choices = question.labels.map((label) => [label, label]);
    Questions.group(box, choices, "choices", question.text, (value) => {
      answers[question.name] = value;
      changed();
    });
  },

  lineUp(box, question, page, player, answers, changed) {
    const choices = page.clips.slice(1).map((one) => [one.clip, one.label]);
    Questions.group(box, choices, "choices", question.text, (value) => {
      answers[question.name] = value;
      changed();
    });
  },

  text(box, question, page, player, answers, changed) {
    const made = element("textarea", { maxLength: 2000, autocomplete: "off", spellcheck: false });
    made.setAttribute("aria-label", question.text);
    made.addEventListener("input", () => {
      answers[question.name] = made.value.trim();
      changed();
    });
    box.append(made);
  },

  sliders(box, question, page, player, answers, changed) {
    const marks = element("div", { className: "marks" });
    for (const label of question.labels) marks.append(element("span", {}, label));
    box.append(marks);
    page.clips.slice(1).forEach((one, index) => {
      const row = element("div", { className: "slider" });
      const made = element("input", { type: "range", min: question.low, max: question.high,
        value: Math.round((question.low + question.high) / 2) });
      made.setAttribute("aria-label", "Rating of " + one.label);
      const shown = element("output", {}, "–");
      const set = () => {
        answers[question.name + ":" + one.clip] = Number(made.value);
        shown.textContent = made.value;
        changed();
      };
      made.addEventListener("input", set);
      made.addEventListener("click", set);
      row.append(player.button(one.clip, one.label, index + 1), made, shown);
      box.append(row);
    });
  },
};
