// Talks to the studio. An answer stays in an outbox until the studio has said that it is stored, or that the answer
// itself breaks a rule. A lost connection, a restarted server or an ended session loses nothing; sending twice stores
// once.
const meta = document.querySelector('meta[name="csrf-token"]');

// The studio says that what was sent breaks a rule: sending it again would not help.
export class Refused extends Error {}
// The studio does not know who is asking any more, or does not let them.
export class NotAllowed extends Error {}

async function request(method, path, body) {
  const options = { method, headers: { "X-CSRF-Token": meta?.content ?? "" }, credentials: "same-origin" };
  if (body instanceof FormData) options.body = body;
  else if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  return fetch(path, options);
}

// A page that is older than its token fetches a new one; returns whether there was another.
async function renew() {
  const answer = await fetch("/api/sessions/current", { credentials: "same-origin" });
  if (!answer.ok || !meta) return false;
  const { csrf } = await answer.json();
  const changed = csrf !== meta.content;
  meta.content = csrf;
  return changed;
}

export async function call(method, path, body) {
  let answer = await request(method, path, body);
  if (answer.status === 403 && await renew()) answer = await request(method, path, body);
  if (answer.status === 204) return null;
  const text = await answer.text();
  let data = {};
  try { data = JSON.parse(text); } catch { data = { detail: text.slice(0, 200) }; }
  if (answer.ok) return data;
  const said = typeof data.detail === "string" ? data.detail : (data.detail ?? []).map((d) => d.msg).join("; ");
  const sentence = said ? said[0].toUpperCase() + said.slice(1) : `The studio does not answer (${answer.status}).`;
  if (answer.status === 422) throw new Refused(sentence);
  if ([401, 403, 404].includes(answer.status)) throw new NotAllowed(sentence);
  throw new Error(sentence);
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

// One place a person, project and answer, so that two open pages do not overwrite each other, and nobody sends what
// somebody else has answered in the same browser.
export class Outbox {
  constructor(root, say) {
    this.path = `/api/projects/${root.dataset.project}/judgements`;
    this.place = `accord-outbox-${root.dataset.person}-${root.dataset.project}-`;
    this.say = say;
    this.chain = Promise.resolve();
    for (const answer of this.left()) this.#queue(answer);
  }

  // The answers that are not known to be stored, oldest first.
  left() {
    const places = Object.keys(localStorage).filter((place) => place.startsWith(this.place));
    const found = [];
    for (const place of places) try { found.push(JSON.parse(localStorage.getItem(place))); } catch { /* not ours */ }
    return found.sort((a, b) => a.at - b.at).map(({ answer }) => answer);
  }

  send(answer) {
    localStorage.setItem(this.place + answer.request_id, JSON.stringify({ at: Date.now(), answer }));
    return this.#queue(answer);
  }

  #queue(answer) {
    this.chain = this.chain.catch(() => {}).then(() => this.#deliver(answer));
    return this.chain;
  }

  async #deliver(answer) {
    for (let pause = 500; ; pause = Math.min(2 * pause, 10000)) {
      try {
        const stored = await call("POST", this.path, answer);
        this.#drop(answer);
        this.say("Stored.");
        return stored;
      } catch (error) {
        if (error instanceof Refused) { this.#drop(answer); this.say(error.message, true); throw error; }
        const kept = error instanceof NotAllowed;
        this.say(`Not stored yet. ${kept ? `${error.message} Your answer is kept and sent again; if you were signed out, sign in in another tab.` : "Trying again …"}`, true);
        await wait(pause);
      }
    }
  }

  #drop(answer) { localStorage.removeItem(this.place + answer.request_id); }
}

// Takes the last answer back. A wish that got no answer is sent again under its own name, so that it undoes once.
export class Undo {
  constructor(root) { this.path = `/api/projects/${root.dataset.project}/undo`; }

  async send() {
    this.wish ??= newId();
    try {
      const answer = await call("POST", this.path, { request_id: this.wish });
      this.wish = null;
      return answer;
    } catch (error) {
      if (error instanceof Refused) this.wish = null;
      throw error;
    }
  }
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
