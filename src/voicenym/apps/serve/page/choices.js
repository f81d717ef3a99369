// The systems as a list to choose from: what each protects, by its measured figures.
import { text } from "./texts.js";

export function show(place, cards) {
  place.replaceChildren();
  const usable = cards.filter((card) => card.usable && card.attackers.length);
  for (const card of usable) {
    const row = document.createElement("div");
    row.className = "choice";
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name: "system", value: card.name, id: `system-${card.name}` });
    input.defaultChecked = card.is_default; // also after the form is reset
    input.setAttribute("aria-describedby", `about-${card.name}`);
    const label = document.createElement("label");
    label.htmlFor = input.id;
    label.textContent = card.is_default ? `${card.name} (${text("usual")})` : card.name;
    const about = document.createElement("p");
    about.id = `about-${card.name}`;
    about.textContent = sentences(card);
    row.append(input, label, about);
    place.append(row);
  }
}

// Name of the system that is chosen; undefined as long as the server has told of none.
export function chosenSystem() {
  return document.querySelector("input[name=system]:checked")?.value;
}

// What a system stops, by its measured figures.
export function sentences(card) {
  const [top] = card.attackers;
  const words = card.figures.word_error_rate_percent;
  const parts = [
    text("systemStops", { stops: card.stops }),
    text("systemAttacker", { attacker: top.attacker, eer: top.eer_percent.toFixed(1) }),
  ];
  if (words) {
    const before = words.before == null ? "?" : words.before.toFixed(0);
    parts.push(text("systemWords", { after: words.value.toFixed(0), before }));
  }
  return parts.join(" ");
}
