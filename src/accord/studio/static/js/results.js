// Shows the new ranking once the model has been fitted again, without moving the page under the reader's eyes.
import { call, NotAllowed } from "./api.js";

const EVERY_MS = 10_000;

async function look() {
  const place = document.getElementById("fitted");
  if (document.hidden || !place) return true;
  const { model_version: version } = await call("GET", `/api/projects/${place.dataset.project}/results?limit=1`);
  if (String(version) === place.dataset.model) return true;
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("main");
  if (!fresh) return false;
  const at = window.scrollY;
  document.getElementById("main").replaceChildren(...fresh.childNodes);
  window.scrollTo(0, at);
  const said = document.getElementById("fitted");
  if (said) said.textContent = "The ranking was computed again and is shown anew.";
  return true;
}

async function watch() {
  let goes_on = true;
  try {
    goes_on = await look();
  } catch (error) {
    goes_on = !(error instanceof NotAllowed);  // a lost connection comes back
  }
  if (goes_on) setTimeout(watch, EVERY_MS);
}

setTimeout(watch, EVERY_MS);
