// Owners say which answer is right: to settle a disagreement, or as a gold question.
import { call, newId, sayInto } from "./api.js";

// Of the whole document: the forms are replaced when the page refreshes by itself.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form.resolve");
  if (!form) return;
  event.preventDefault();
  const { project, item, other, aspect, kind, to = "resolutions" } = form.dataset;
  form.dataset.request ??= newId();
  const right = form.elements.right.value;
  const body = { request_id: form.dataset.request, kind, item: Number(item), reason: form.elements.reason.value };
  if (form.elements.gold) body.gold = form.elements.gold.checked;
  if (kind === "pair") Object.assign(body, { other: Number(other ?? form.elements.other.value), value: Number(right) });
  else if (kind === "score") body.scores = { [aspect ?? form.elements.aspect.value]: Number(right) };
  else body.label = right;
  try {
    await call("POST", `/api/projects/${project}/${to}`, body);
    if (to === "gold") location.reload();
    else form.closest(".conflict").replaceChildren("Settled.");
  } catch (error) { sayInto(form.querySelector("[role=alert]"))(error.message, true); }
});
