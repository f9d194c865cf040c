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
  return reach(path, options);
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch { // a browser's own words for this differ and help nobody
    throw new Error("The studio cannot be reached; check the network.");
  }
}

// A page that is older than its token fetches a new one; returns whether there was another. What somebody did on this
// page is never sent in the name of somebody else who has signed in since in the same browser.
async function renew() {
  const answer = await reach("/api/sessions/current", { credentials: "same-origin" });
  if (!answer.ok || !meta) return false;
  const { csrf, person } = await answer.json();
  const owner = meta.dataset.person;
  if (owner && person !== owner)
    throw new NotAllowed(`This page is of ${owner}, and ${person} is signed in now; sign in as ${owner} in another tab, or reload the page.`);
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

  // Do something when all that was answered before it is stored.
  after(work) {
    this.chain = this.chain.catch(() => {}).then(work);
    return this.chain;
  }

  send(answer) {
    localStorage.setItem(this.place + answer.request_id, JSON.stringify({ at: Date.now(), answer }));
    return this.#queue(answer);
  }

  #queue(answer) {
    return this.after(() => this.#deliver(answer));
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

// Keys that may be held down: they only move.
const MOVES = new Set(["j", "k", "arrowup", "arrowdown"]);

// Calls a handler for a key unless somebody is typing or holds a modifier. A key that is held down answers once, and
// Enter presses the button or link that was reached by keyboard.
export function onKeys(handlers) {
  let isPointed = false;
  document.addEventListener("pointerdown", () => { isPointed = true; }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab") isPointed = false;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, dialog[open]")) return;
    const key = event.key.toLowerCase();
    const handler = handlers[key];
    if (!handler || (key === "enter" && !isPointed && event.target.closest("button, a, summary"))) return;
    event.preventDefault();
    if (!event.repeat || MOVES.has(key)) handler(event);
  });
}

// The second click of a double click answers nothing: by then another text may stand in its place.
export function ignoreDoubleClicks(root) {
  root.addEventListener("click", (event) => {
    if (event.detail > 1 && event.target.closest("button")) event.stopPropagation();
  }, true);
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
