// Thread: the question stays in view; J and K move, one key a label. The model's view shows after the first answer.
import { Outbox, Undo, newId, onKeys, sayInto } from "./api.js";

const root = document.getElementById("judge");
const say = sayInto(document.getElementById("status"));
const outbox = new Outbox(root, say);
const takeBack = new Undo(root);
const comments = [...root.querySelectorAll(".comment")];
// What was answered and is not stored yet shows as answered, after a reload too.
for (const { item, label } of outbox.left()) {
  const comment = comments.find((other) => Number(other.dataset.key) === item);
  if (comment && label) comment.dataset.given = label;
}
const asked = new URLSearchParams(location.search).get("comment");
let current = Math.max(0, comments.findIndex((comment) => asked ? comment.dataset.key === asked : !comment.dataset.given));
let started = performance.now();

function go(index) {
  current = Math.max(0, Math.min(index, comments.length - 1));
  comments.forEach((comment, i) => comment.classList.toggle("current", i === current));
  comments[current]?.scrollIntoView({ block: "center", behavior: "smooth" });
  started = performance.now();
}

function paint(comment) {
  for (const button of comment.querySelectorAll("[data-label]"))
    button.setAttribute("aria-pressed", String(button.dataset.label === comment.dataset.given));
  comment.querySelector(".suggestion")?.classList.toggle("hidden", !comment.dataset.given);
}

async function give(comment, label) {
  comment.querySelector(".was").textContent = "";
  comment.dataset.given = label;
  paint(comment);
  const index = comments.indexOf(comment);
  const sent = outbox.send({ request_id: newId(), kind: "label", item: Number(comment.dataset.key), label,
    response_ms: Math.round(performance.now() - started) });
  go(index + 1);
  try { await sent; } catch { delete comment.dataset.given; paint(comment); }
  document.getElementById("next-thread").classList.toggle("primary", comments.every((c) => c.dataset.given));
}

comments.forEach((comment) => {
  paint(comment);
  comment.querySelectorAll("[data-label]").forEach((button) =>
    button.addEventListener("click", () => give(comment, button.dataset.label)));
});

async function undo() {
  try {
    const { undone, question, given } = await takeBack.send();
    say(undone ? "Your last answer is taken back." : "There is nothing to take back.");
    const key = question?.texts[0].key;
    const comment = comments.find((other) => Number(other.dataset.key) === key);
    if (undone && !comment && key) location.href = `?comment=${key}`;
    else if (undone && !comment) location.reload();
    else if (undone) {
      delete comment.dataset.given;
      paint(comment);
      comment.querySelector(".was").textContent = given?.label ? `You had chosen ${given.label}.` : "";
      go(comments.indexOf(comment));
    }
  } catch (error) { say(error.message, true); }
}

document.getElementById("undo").addEventListener("click", undo);
document.getElementById("guidelines-open")?.addEventListener("click", () => document.getElementById("guidelines").showModal());
const nextThread = () => document.getElementById("next-thread").click();
const keys = { j: () => go(current + 1), k: () => go(current - 1), arrowdown: () => go(current + 1), arrowup: () => go(current - 1), u: undo, s: nextThread };
[...(comments[0]?.querySelectorAll("[data-label]") ?? [])].forEach((button) => {
  keys[button.dataset.key] = () => { if (comments[current]) give(comments[current], button.dataset.label); };
});
onKeys(keys);
if (comments.length) go(current);
