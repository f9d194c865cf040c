// One text: one label or several, with the words that decide where they are asked for.
import { Judging } from "./judge.js";
import { Marker } from "./words.js";

const box = document.getElementById("labels");
const buttons = [...box.querySelectorAll("[data-label]")];
const isSeveral = "several" in box.dataset;
const send = document.getElementById("send");
const hint = document.getElementById("mark-hint");
let marker = null, chosen = [];

function count() {
  const n = marker?.spans.length ?? 0;
  document.getElementById("n-spans").textContent = n === 1 ? "1 highlight" : `${n} highlights`;
}

function paint() {
  for (const button of buttons) button.setAttribute("aria-pressed", String(chosen.includes(button.dataset.label)));
  if (send) send.disabled = !chosen.length;
}

function show(question, _, given) {
  const old = document.getElementById("text");
  const fresh = old.cloneNode(false); // without what listens to the old one
  const isHere = document.activeElement === old;
  old.replaceWith(fresh);
  const text = question.texts[0].text;
  const isLabelOnly = question.asks === "label";
  if (hint) hint.textContent = isLabelOnly ? "Choose the label alone: highlights are not needed here." : hint.dataset.usual;
  document.getElementById("marking")?.toggleAttribute("hidden", isLabelOnly);
  marker = null;
  if ("marks" in box.dataset && !isLabelOnly) {
    marker = new Marker(fresh, text, { onChange: count });
    for (const span of given?.spans ?? []) marker.mark(span.start, span.end);
    count();
    if (isHere) fresh.focus();
  } else {
    fresh.removeAttribute("tabindex");
    fresh.textContent = text;
  }
  chosen = [...(given?.labels ?? [])];
  paint();
}

function answer() {
  if (!judging.question || !chosen.length) return;
  const key = judging.question.texts[0].key;
  const spans = (marker?.ranges ?? []).map((range) => ({ item: key, ...range }));
  const kind = judging.question.asks === "label" ? "label" : box.dataset.answer;
  judging.answer({ kind, label: chosen[0], labels: chosen, spans });
}

function choose(label) {
  if (!isSeveral) { chosen = [label]; answer(); return; }
  chosen = chosen.includes(label) ? chosen.filter((other) => other !== label) : [...chosen, label];
  paint();
}

buttons.forEach((button) => button.addEventListener("click", () => choose(button.dataset.label)));
send?.addEventListener("click", answer);
document.getElementById("clear")?.addEventListener("click", () => marker?.clear());
const keys = Object.fromEntries(buttons.map((button) => [button.dataset.key, () => choose(button.dataset.label)]));
const judging = new Judging({ show, keys: { ...keys, c: () => marker?.clear(), ...(isSeveral ? { enter: answer } : {}) } });
