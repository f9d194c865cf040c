// Thread: the question stays in view; J and K move, one key a label. The model's view shows after the first answer.
import { Outbox, Undo, ignoreDoubleClicks, newId, onKeys, sayInto } from "./api.js";

const root = document.getElementById("judge");
const say = sayInto(document.getElementById("status"));
const outbox = new Outbox(root, say);
const takeBack = new Undo(root);
const comments = [...root.querySelectorAll(".comment")];
// What was answered and is not stored yet shows as answered, after a reload too.
for (const { item, label } of outbox.left()) {
  const comment = comments.find((other) => Number(other.dataset.key) === item);
  if (comment) comment.dataset.given = label ?? "";
}
const isDone = (comment) => "given" in comment.dataset; // an empty one: the person could not decide
const asked = new URLSearchParams(location.search).get("comment");
let current = Math.max(0, comments.findIndex((comment) => asked ? comment.dataset.key === asked : !isDone(comment)));
const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
let count = Number(root.dataset.done);
let started = performance.now();

function go(index) {
  current = Math.max(0, Math.min(index, comments.length - 1));
  comments.forEach((comment, i) => comment.classList.toggle("current", i === current));
  comments[current]?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
  started = performance.now();
}

function paint(comment) {
  for (const button of comment.querySelectorAll("[data-label]"))
    button.setAttribute("aria-pressed", String(button.dataset.label === comment.dataset.given));
  comment.querySelector(".suggestion")?.classList.toggle("hidden", !isDone(comment));
}

// The number of own answers, right at once.
function bump(step) {
  count += step;
  for (const place of document.querySelectorAll("[data-count]")) place.textContent = count;
  for (const place of document.querySelectorAll("[data-plural]")) place.textContent = count === 1 ? "" : "s";
}

// An answer about a comment: a label, or a reason for which nothing can be said.
async function give(comment, label, reason = null) {
  const before = comment.dataset.given; // a second answer takes the place of the first
  comment.querySelector(".was").textContent = label ? "" : `You could not decide${reason ? `: ${reason}` : ""}.`;
  comment.dataset.given = label ?? "";
  paint(comment);
  const index = comments.indexOf(comment);
  const said = label ? { kind: "label", label } : { kind: "skip", skip_reason: reason };
  const sent = outbox.send({ request_id: newId(), item: Number(comment.dataset.key), ...said,
    response_ms: Math.round(performance.now() - started) });
  if (before === undefined) bump(1);
  go(index + 1);
  try {
    tell((await sent).feedback);
  } catch {
    if (before === undefined) { delete comment.dataset.given; bump(-1); } else comment.dataset.given = before;
    paint(comment);
  }
  markDone();
}

// A thread that is done is followed by what the model would ask next; one that is left, by the next in order.
function markDone() {
  const link = document.getElementById("next-thread");
  link.dataset.after ??= link.getAttribute("href");
  const isWhole = comments.length > 0 && comments.every(isDone);
  link.classList.toggle("primary", isWhole);
  link.href = isWhole ? link.dataset.after.split("?")[0] : link.dataset.after;
}

// After a question whose answer is known, where the owners want that.
function tell(feedback) {
  const place = document.getElementById("feedback");
  place.classList.toggle("hidden", !feedback);
  place.classList.toggle("warn", !!feedback && !feedback.right);
  if (!feedback) return;
  const what = feedback.right ? "Right." : `The right answer to the last comment was: ${feedback.answer}.`;
  place.textContent = feedback.reason ? `${what} Because: ${feedback.reason}` : what;
}

const dialog = document.getElementById("skip-dialog");
function openSkip() {
  if (!comments[current] || dialog.open) return;
  dialog.returnValue = "";
  dialog.showModal();
}
dialog.addEventListener("close", () => {
  if (dialog.returnValue && dialog.returnValue !== "cancel") give(comments[current], null, dialog.returnValue);
});
document.getElementById("skip").addEventListener("click", openSkip);

comments.forEach((comment) => {
  paint(comment);
  comment.querySelectorAll("[data-label]").forEach((button) =>
    button.addEventListener("click", () => give(comment, button.dataset.label)));
});

async function undo() {
  try {
    const { undone, question, given } = await outbox.after(() => takeBack.send());
    say(undone ? "Your last answer is taken back." : "There is nothing to take back.");
    if (undone) bump(-1);
    const key = question?.texts[0].key;
    const comment = comments.find((other) => Number(other.dataset.key) === key);
    if (undone && !comment && key) location.href = `?comment=${key}`;
    else if (undone && !comment) location.reload();
    else if (undone) {
      delete comment.dataset.given;
      paint(comment);
      comment.querySelector(".was").textContent = given?.label ? `You had chosen ${given.label}.` : given?.kind === "skip" ? "You could not decide." : "";
      markDone();
      go(comments.indexOf(comment));
    }
  } catch (error) { say(error.message, true); }
}

document.getElementById("undo").addEventListener("click", undo);
document.getElementById("guidelines-open")?.addEventListener("click", () => document.getElementById("guidelines").showModal());
const nextThread = () => document.getElementById("next-thread").click();
const keys = { j: () => go(current + 1), k: () => go(current - 1), arrowdown: () => go(current + 1), arrowup: () => go(current - 1), u: undo, s: nextThread, x: openSkip };
[...(comments[0]?.querySelectorAll("[data-label]") ?? [])].forEach((button) => {
  keys[button.dataset.key] = () => { if (comments[current]) give(comments[current], button.dataset.label); };
});
ignoreDoubleClicks(root);
onKeys(keys);
markDone();
if (comments.length) go(current);
