// One text, one label (texts that cite each other).
import { Judging } from "./judge.js";

function show(question, _, given) {
  document.getElementById("text").textContent = question.texts[0].text;
  for (const button of buttons) button.setAttribute("aria-pressed", String(given?.labels?.includes(button.dataset.label) ?? false));
}

const buttons = [...document.querySelectorAll("[data-label]")];
const give = (button) => judging.answer({ kind: "label", label: button.dataset.label });
buttons.forEach((button) => button.addEventListener("click", () => give(button)));
const keys = Object.fromEntries(buttons.map((button) => [button.dataset.key, () => give(button)]));
const judging = new Judging({ show, keys });
