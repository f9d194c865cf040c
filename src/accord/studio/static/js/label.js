// One text, one label (texts that cite each other).
import { Judging } from "./judge.js";

function show(question) { document.getElementById("text").textContent = question.texts[0].text; }

const buttons = [...document.querySelectorAll("[data-label]")];
const give = (button) => judging.answer({ kind: "label", label: button.dataset.label });
buttons.forEach((button) => button.addEventListener("click", () => give(button)));
const keys = Object.fromEntries(buttons.map((button, i) => [String(i + 1), () => give(button)]));
const judging = new Judging({ show, keys });
