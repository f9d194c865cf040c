// Forms that talk to the interface and show its sentence beside themselves.
import { call, sayInto, sent } from "./api.js";

// Of the whole document: forms may be replaced when a page refreshes by itself.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-api]");
  if (!form) return;
  event.preventDefault();
  if (form.dataset.ask && !confirm(form.dataset.ask)) return;
  const say = sayInto(form.querySelector("[role=alert]")); // its class says whether its sentence is an error
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  say("");
  try {
    const data = sent(form);
    let body = data;
    if (form.dataset.type !== "multipart") {
      body = {};
      for (const [name, value] of data.entries()) {
        const field = form.elements[name];
        const isEmpty = value === "" && "emptyIsNone" in field.dataset;
        body[name] = isEmpty ? null : field.type === "number" || "number" in field.dataset ? Number(value) : value;
      }
      for (const box of form.querySelectorAll("input[type=checkbox]")) body[box.name] = box.checked;
    }
    const answer = await call(form.dataset.method ?? "POST", form.dataset.api, body);
    if (form.dataset.show) {
      const place = document.getElementById(form.dataset.show);
      place.textContent = new URL(answer.path, location.href).href;
      const box = place.closest(".notice");
      box.classList.remove("hidden");
      const picture = box.querySelector("img");
      if (picture && answer.qr) picture.src = answer.qr;
    } else if (form.dataset.tell) {
      say(form.dataset.tell.replace(/\{(\w+)\}/g, (_, name) => answer[name]));
      form.reset();
      for (const place of document.querySelectorAll("[data-n-texts]")) {
        place.dataset.nTexts = Number(place.dataset.nTexts) + answer.texts;
        place.textContent = Number(place.dataset.nTexts).toLocaleString("en");
      }
    } else if (form.dataset.then) {
      location.href = form.dataset.then.replace("{id}", answer?.id ?? "");
    } else location.reload();
  } catch (error) { say(error.message, true); }
  button.disabled = false;
});

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const place = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(place.textContent);
      button.textContent = "Copied";
    } catch { // without HTTPS a browser does not let a page copy: the link is selected instead
      getSelection().selectAllChildren(place);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
}

// A choice that is stored when it is made.
for (const choice of document.querySelectorAll("select[data-api]")) {
  const say = sayInto(choice.parentElement.querySelector(".error"));
  choice.addEventListener("change", async () => {
    try {
      await call("PATCH", choice.dataset.api, { [choice.name]: choice.value });
      say("Stored.");
    } catch (error) { say(error.message, true); }
  });
}

for (const zone of document.querySelectorAll(".drop")) {
  const input = zone.querySelector("input[type=file]");
  const name = zone.querySelector("[data-file]");
  const told = () => {
    name.textContent = input.files.length > 1 ? [...input.files].map((file) => file.name).join(", ") : "";
  };
  input.addEventListener("change", told);
  for (const kind of ["dragover", "dragenter"]) zone.addEventListener(kind, (e) => { e.preventDefault(); zone.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (e) => { e.preventDefault(); input.files = e.dataTransfer.files; input.dispatchEvent(new Event("change")); });
}

const kind = document.getElementById("kind");
if (kind) {
  const adjust = () => {
    for (const part of document.querySelectorAll("[data-kinds]"))
      part.classList.toggle("hidden", !part.dataset.kinds.split(" ").includes(kind.value));
  };
  kind.addEventListener("change", adjust);
  adjust();
}

document.getElementById("sign-out")?.addEventListener("click", async () => {
  await call("DELETE", "/api/sessions");
  location.href = "/";
});

// A download that is refused says so on the page instead of leaving it.
for (const link of document.querySelectorAll("a[data-download]")) {
  const say = sayInto(document.getElementById("export-status"));
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    say("");
    link.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(link.href, { credentials: "same-origin" });
      if (!answer.ok) throw new Error((await answer.json()).detail ?? "The studio does not answer.");
      const address = URL.createObjectURL(await answer.blob());
      const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "");
      const save = document.createElement("a");
      save.href = address;
      save.download = named ? named[1] : "accord.zip";
      save.click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    } catch (error) { say(error.message, true); }
    link.removeAttribute("aria-busy");
  });
}

// On a phone the tabs are wider than the window: the page's own is brought into view.
const tabs = document.querySelector(".top nav"), tab = tabs?.querySelector("[aria-current]");
if (tab) tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;
