// What changes by itself: counts, the state of the model, and pages of results, which are fetched again when it is refitted.
const box = document.querySelector("[data-live]");

const ago = (moment) => {
  const seconds = Math.max(0, (Date.now() - new Date(moment)) / 1000);
  for (const [size, unit] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    const n = Math.floor(seconds / size);
    if (n >= 1) return `${n} ${unit}${n > 1 ? "s" : ""} ago`;
  }
  return "just now";
};
const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function words(now) {
  const parts = [];
  if (now.state !== "active") parts.push(`The project is ${now.state}.`);
  if (now.model_version) parts.push(`Fitted ${ago(now.fitted_at)} in ${now.seconds.toFixed(1)} s on ${counted(now.n_judgements, "judgement")}.`);
  if (now.n_new) parts.push(`${counted(now.n_new, "newer answer")}${now.fitting ? "; the model is fitted again soon" : ""}.`);
  if (now.problem) parts.push(`The last fit failed: ${now.problem}`);
  if (now.queue !== null && now.queue !== undefined) parts.push(`${counted(now.queue, "question")} ready.`);
  return parts.join(" ");
}

// Whether somebody has filled in something that is not sent yet.
const isTouched = (field) =>
  field.type === "checkbox" ? field.checked !== field.defaultChecked
    : field.options ? [...field.options].some((option) => option.selected !== option.defaultSelected && option.index)
      : field.value !== field.defaultValue;

// Replace the page's content, unless somebody is at work in it.
async function refresh() {
  if (document.activeElement?.closest("main input, main select, main textarea, dialog[open]")) return false;
  if ([...document.querySelectorAll("[data-fresh] :is(input, select, textarea)")].some(isTouched)) return false;
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok) return false;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [here, there] = [document.querySelector("[data-fresh]"), fresh.querySelector("[data-fresh]")];
  if (!here || !there) return false;
  here.replaceWith(document.adoptNode(there));
  return true;
}

let tag = null, version = Number(box?.dataset.version ?? 0), pause = 3000;
async function look() {
  if (document.visibilityState === "visible") {
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const answer = await fetch(`/api/projects/${box.dataset.live}/live`, { headers, credentials: "same-origin", cache: "no-store" });
      pause = answer.status === 304 ? Math.min(pause * 1.3, 15000) : 3000;
      if (answer.status === 200) {
        const now = await answer.json();
        tag = answer.headers.get("etag");
        box.textContent = words(now);
        if (now.model_version && now.model_version !== version && document.querySelector("[data-fresh]") && await refresh()) {
          version = now.model_version;
          document.dispatchEvent(new CustomEvent("accord:fresh"));
        }
      }
    } catch { pause = 15000; } // the studio does not answer now; it is asked again
  }
  setTimeout(look, pause);
}
if (box) look();
document.addEventListener("visibilitychange", () => { pause = 3000; });
