// Aspects: one row an aspect; 1–5 scores the current row, N says "not mentioned", Enter sends.
import { Judging } from "./judge.js";

const rows = [...document.querySelectorAll(".aspect")];
let scores = {}, current = 0;

function show(question, _, given) {
  document.getElementById("text").textContent = question.texts[0].text;
  scores = { ...(given?.scores ?? {}) };
  go(0);
  paint();
}

function go(index) {
  current = Math.max(0, Math.min(index, rows.length - 1));
  rows.forEach((row, i) => row.classList.toggle("current", i === current));
}

function paint() {
  rows.forEach((row) => {
    const given = scores[row.dataset.aspect];
    for (const button of row.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(given !== undefined && button.dataset.value === String(given)));
  });
  document.getElementById("send").disabled = Object.keys(scores).length === 0;
}

function give(row, value) {
  scores[row.dataset.aspect] = value;
  paint();
  go(rows.indexOf(row) + 1);
}

rows.forEach((row) =>
  row.querySelectorAll("button").forEach((button) =>
    button.addEventListener("click", () => give(row, button.dataset.value === "null" ? null : Number(button.dataset.value)))));
const send = () => { if (Object.keys(scores).length) judging.answer({ kind: "score", scores }); };
document.getElementById("send").addEventListener("click", send);

const keys = { n: () => give(rows[current], null), j: () => go(current + 1), k: () => go(current - 1),
  arrowdown: () => go(current + 1), arrowup: () => go(current - 1), enter: send };
const most = Number(document.getElementById("judge").dataset.ranks);
for (let rank = 1; rank <= Math.min(most, 9); rank += 1) keys[String(rank)] = () => give(rows[current], rank);
const judging = new Judging({ show, keys });
