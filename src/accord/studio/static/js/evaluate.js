// How good? Asks for an evaluation, which may take minutes, and shows it.
import { call, element } from "./api.js";

const form = document.getElementById("evaluate");
const found = document.getElementById("found");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  found.replaceChildren(element("p", { class: "notice" }, "Evaluating; this may take minutes …"));
  try {
    const answer = await call("POST", form.dataset.path);
    found.innerHTML = answer.html;
  } catch (error) {
    found.replaceChildren(element("p", { class: "notice warn", role: "alert" }, error.message));
  }
  button.disabled = false;
});
