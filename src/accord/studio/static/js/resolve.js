// Owners say which answer is right: to settle a disagreement, or as a gold question.
import { call, newId, sayInto } from "./api.js";

for (const form of document.querySelectorAll("form.resolve")) {
  const { project, item, other, aspect, kind, to = "resolutions" } = form.dataset;
  const say = sayInto(form.querySelector(".error"));
  const request_id = newId();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const right = form.elements.right.value;
    const body = { request_id, kind, item: Number(item), reason: form.elements.reason.value };
    if (form.elements.gold) body.gold = form.elements.gold.checked;
    if (kind === "pair") Object.assign(body, { other: Number(other), value: Number(right) });
    else if (kind === "score") body.scores = { [aspect ?? form.elements.aspect.value]: Number(right) };
    else body.label = right;
    try {
      await call("POST", `/api/projects/${project}/${to}`, body);
      if (to === "gold") location.reload();
      else { form.closest(".conflict").replaceChildren("Settled."); }
    } catch (error) { say(error.message, true); }
  });
}
