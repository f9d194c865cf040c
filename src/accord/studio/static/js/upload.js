// New project: looks at the chosen files before anything is stored, and says what they are and why.
import { call, element, sent } from "./api.js";

const form = document.querySelector("form[data-api='/api/projects']");
const report = document.getElementById("look");
const dropBad = document.getElementById("drop-bad");
const kind = document.getElementById("kind");
const chosen = new Map(); // what people say that columns are
let looks = 0;

const NAMES = { items: "texts", pair: "votes", label: "labels", score: "scores", span: "highlights", links: "links", people: "people" };
const number = (n) => n.toLocaleString("en");

// Each column, what it is taken for and why; a select says otherwise.
function columns(seen) {
  const row = (column) => {
    const choice = element("select", { "aria-label": `What is ${column.column}?` },
      element("option", { value: "" }, column.use || "not used"),
      ...seen.uses.map((use) => element("option", { value: use }, use)));
    choice.value = (seen.map[column.column] ?? "").split(":")[0];
    choice.addEventListener("change", () => {
      if (choice.value) chosen.set(column.column, choice.value);
      else chosen.delete(column.column);
      form.elements.map.value = JSON.stringify(Object.fromEntries(chosen));
      look();
    });
    return element("tr", column.use ? {} : { class: "unused" },
      element("th", { scope: "row" }, column.column), element("td", {}, choice),
      element("td", { "data-head": "Because of" }, column.why || "its name"),
      element("td", { "data-head": "Such as", dir: "auto" }, column.samples.join(" · ")));
  };
  const head = ["Column", "Taken as", "Because of", "Such as"].map((name) => element("th", { scope: "col" }, name));
  return element("div", { class: "scroll" }, element("table", { class: "stack mapping" },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...seen.columns.map(row))));
}

function show(seen) {
  const counts = Object.entries(seen.counts).map(([name, n]) => `${number(n)} ${NAMES[name] ?? name}`);
  const lines = [
    ...seen.reasons,
    ...Object.entries(seen.conflicts).map(([what, n]) => `${what} by the same person: ${number(n)}`),
    ...Object.entries(seen.lost).map(([what, n]) => `${what}: ${number(n)}`),
  ];
  const bad = Object.entries(seen.dropped);
  for (const [column, use] of Object.entries(seen.map)) chosen.set(column, use);
  form.elements.map.value = JSON.stringify(Object.fromEntries(chosen));
  const unused = seen.columns.filter((column) => !column.use).map((column) => column.column);
  report.replaceChildren(
    element("strong", {}, counts.join(", ") || "Nothing to read"),
    ...(unused.length ? [element("p", { class: "loud" }, `Not used: ${unused.join(", ")}.`)] : []),
    ...(seen.columns.length ? [columns(seen)] : []),
    element("ul", {}, ...lines.map((line) => element("li", {}, line))),
  );
  if (bad.length) {
    report.append(element("p", {}, "Rows that break a rule:"),
      element("ul", {}, ...bad.map(([rule, n]) => element("li", {}, `${rule}: ${number(n)}`))),
      element("details", {}, element("summary", {}, "Which rows?"),
        element("ul", {}, ...seen.examples.map((line) => element("li", {}, line)))));
  }
  report.classList.toggle("warn", bad.length > 0);
  dropBad.classList.toggle("hidden", !bad.length);
}

async function look() {
  const files = form.elements.file.files;
  const mine = ++looks;
  report.classList.toggle("hidden", !files.length);
  dropBad.classList.add("hidden");
  if (!files.length) return;
  report.classList.remove("warn");
  report.textContent = "Looking at the files …";
  const body = sent(form);
  for (const name of ["name", "question", "guidelines", "drop_bad"]) body.delete(name);
  try {
    const seen = await call("POST", "/api/uploads/look", body);
    if (mine === looks) show(seen);
  } catch (error) {
    if (mine !== looks) return;
    report.classList.add("warn");
    report.textContent = error.message;
  }
}

const name = form.elements.name;
form.elements.file.addEventListener("change", () => {
  const first = form.elements.file.files[0];
  chosen.clear();
  form.elements.map.value = "";
  if (first && !name.value) name.value = first.name.replace(/\.[^.]*$/, "").slice(0, 200);
});
for (const field of ["file", "config", "format", "kind", "labels", "aspects", "n_ranks"])
  form.elements[field].addEventListener("change", look);
