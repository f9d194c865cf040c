// Talks to the studio. An answer stays in an outbox until the studio has said that it is stored, so a lost
// connection or a restarted server loses nothing; sending twice stores once.
const token = () => document.querySelector('meta[name="csrf-token"]')?.content ?? "";

export class Refused extends Error {}

export async function call(method, path, body) {
  const options = { method, headers: { "X-CSRF-Token": token() }, credentials: "same-origin" };
  if (body instanceof FormData) options.body = body;
  else if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  if (answer.status === 204) return null;
  const text = await answer.text();
  let data = {};
  try { data = JSON.parse(text); } catch { data = { detail: text.slice(0, 200) }; }
  if (answer.ok) return data;
  const detail = typeof data.detail === "string" ? data.detail : (data.detail ?? []).map((d) => d.msg).join("; ");
  if (answer.status >= 500 || answer.status === 429) throw new Error(detail || "The studio does not answer.");
  throw new Refused(detail || `The studio refused (${answer.status}).`);
}

// What a form sends, without the files that were not chosen.
export function sent(form) {
  const data = new FormData(form);
  for (const input of form.querySelectorAll("input[type=file]")) if (!input.files.length) data.delete(input.name);
  return data;
}

export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export class Outbox {
  constructor(project, say) {
    this.path = `/api/projects/${project}/judgements`;
    this.place = `accord-outbox-${project}`;
    this.say = say;
    this.chain = Promise.resolve();
    for (const left of this.#read()) this.#queue(left);
  }

  #read() { try { return JSON.parse(localStorage.getItem(this.place) ?? "[]"); } catch { return []; } }
  #write(list) { localStorage.setItem(this.place, JSON.stringify(list)); }

  send(answer) {
    this.#write([...this.#read(), answer]);
    return this.#queue(answer);
  }

  #queue(answer) {
    this.chain = this.chain.catch(() => {}).then(() => this.#deliver(answer));
    return this.chain;
  }

  async #deliver(answer) {
    for (let pause = 500; ; pause = Math.min(2 * pause, 15000)) {
      try {
        await call("POST", this.path, answer);
        break;
      } catch (error) {
        if (error instanceof Refused) { this.#drop(answer); this.say(error.message, true); throw error; }
        this.say("Not stored yet. Trying again …", true);
        await wait(pause);
      }
    }
    this.#drop(answer);
    this.say("Stored.");
  }

  #drop(answer) { this.#write(this.#read().filter((other) => other.request_id !== answer.request_id)); }
}

export function sayInto(element) {
  return (message, bad = false) => {
    element.textContent = message;
    element.classList.toggle("error", bad);
  };
}

// Calls a handler for a key unless somebody is typing or holds a modifier.
export function onKeys(handlers) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, dialog[open]")) return;
    const handler = handlers[event.key.toLowerCase()];
    if (handler) { event.preventDefault(); handler(event); }
  });
}

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
