// Vote: which of two texts? Keys 1, 2, 0 for equal, X for "cannot decide".
import { Judging } from "./judge.js";
import { Marker } from "./words.js";

const cards = [document.getElementById("left"), document.getElementById("right")];
const after = document.getElementById("why");
const equal = document.getElementById("equal");
let held = null;

function show(question, judging, given) {
  const texts = question.texts;
  const won = (text) => given?.kind === "pair" && given.value !== 0.5 && (text.key === given.item) === (given.value === 1);
  held = null;
  after.classList.add("hidden");
  document.getElementById("topic").textContent = question.texts[0].group_id ?? "";
  cards.forEach((card, side) => {
    card.disabled = false;
    card.classList.toggle("chosen", won(texts[side]));
    card.setAttribute("aria-pressed", String(won(texts[side])));
    const text = card.querySelector(".text");
    text.textContent = question.texts[side].text;
    card.classList.remove("fade");
    void card.offsetWidth;
    card.classList.add("fade");
  });
  equal.setAttribute("aria-pressed", String(given?.value === 0.5));
  judging.root.querySelector("h1").focus({ preventScroll: true });
}

function vote(value) {
  if (!judging.question || judging.busy) return;
  if (judging.settings.highlight && value !== 0.5) { why(value); return; }
  judging.answer({ kind: "pair", value });
}

function why(value) {
  const side = value === 1 ? 0 : 1;
  cards.forEach((card, i) => card.classList.toggle("chosen", i === side));
  after.classList.remove("hidden");
  const text = judging.question.texts[side];
  const old = document.getElementById("why-text");
  const fresh = old.cloneNode(false); // without what listens to the old one
  old.replaceWith(fresh);
  held = { value, key: text.key, marker: new Marker(fresh, text.text) };
  document.getElementById("why-done").focus();
}

document.getElementById("why-done").addEventListener("click", () => {
  if (!held) return;
  const spans = held.marker.ranges.map((range) => ({ item: held.key, ...range }));
  judging.answer({ kind: "pair", value: held.value, spans });
});
cards[0].addEventListener("click", () => vote(1));
cards[1].addEventListener("click", () => vote(0));
equal.addEventListener("click", () => vote(0.5));

const judging = new Judging({ show, keys: { 1: () => vote(1), 2: () => vote(0), 0: () => vote(0.5), arrowleft: () => vote(1), arrowright: () => vote(0) } });
