// The editors of labels and aspects; the other forms of the page are plain ones.
import { call, sayInto } from "./api.js";

function sends(form, body) {
  const say = sayInto(form.querySelector(".error"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    say("");
    try {
      await call("PATCH", form.dataset.patch, body());
      location.reload();
    } catch (error) { say(error.message, true); }
  });
}

const labels = document.getElementById("labels-form");
if (labels) {
  const list = labels.querySelector("ol");
  const row = list.querySelector("li").cloneNode(true); // as a pattern
  const name = (entry) => {
    const place = [...list.children].indexOf(entry) + 1;
    for (const part of entry.querySelectorAll("[data-part]"))
      part.setAttribute("aria-label", `${{ name: "Name", colour: "Colour", key: "Key" }[part.dataset.part]} of label ${place}`);
  };
  list.addEventListener("click", (event) => {
    const entry = event.target.closest("li");
    if (event.target.closest("[data-remove]") && list.children.length > 2) entry.remove();
    else if (event.target.closest("[data-up]")) entry.previousElementSibling?.before(entry);
    [...list.children].forEach(name);
  });
  document.getElementById("add-label").addEventListener("click", () => {
    const fresh = row.cloneNode(true);
    for (const part of fresh.querySelectorAll("input")) part.value = "";
    fresh.querySelector("select").value = "none";
    list.append(fresh);
    name(fresh);
    fresh.querySelector("input").focus();
  });
  sends(labels, () => ({
    labels: [...list.children].map((entry) =>
      Object.fromEntries([...entry.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part.value]))),
  }));
}

const lines = (id) => document.getElementById(id).value.split("\n").map((line) => line.trim()).filter(Boolean);
const aspects = document.getElementById("aspects-form");
if (aspects) {
  sends(aspects, () => ({
    aspects: lines("aspects"), n_ranks: Number(document.getElementById("n_ranks").value), scale: lines("scale"),
  }));
}
