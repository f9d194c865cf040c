// Highlight: mark the words that decide, then the class.
import { Judging } from "./judge.js";
import { Marker } from "./words.js";

let marker = null;

function count() {
  const n = marker.spans.length;
  document.getElementById("n-spans").textContent = n === 1 ? "1 highlight" : `${n} highlights`;
}

function show(question, _, given) {
  const old = document.getElementById("text");
  const fresh = old.cloneNode(false); // without what listens to the old one
  old.replaceWith(fresh);
  marker = new Marker(fresh, question.texts[0].text, { onChange: count });
  for (const span of given?.spans ?? []) marker.mark(span.start, span.end);
  for (const button of buttons) button.setAttribute("aria-pressed", String(given?.labels?.includes(button.dataset.label) ?? false));
  count();
}

function answer(label) {
  if (!judging.question) return;
  const key = judging.question.texts[0].key;
  judging.answer({ kind: "span", label, spans: marker.ranges.map((range) => ({ item: key, ...range })) });
}

const buttons = [...document.querySelectorAll("[data-label]")];
buttons.forEach((button) => button.addEventListener("click", () => answer(button.dataset.label)));
document.getElementById("clear").addEventListener("click", () => marker?.clear());
const keys = Object.fromEntries(buttons.map((button) => [button.dataset.key, () => answer(button.dataset.label)]));
const judging = new Judging({ show, keys: { ...keys, c: () => marker?.clear() } });
