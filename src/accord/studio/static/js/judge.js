// The frame of every judging page: ask, show, answer, undo, skip, count.
import { Outbox, Refused, Undo, call, ignoreDoubleClicks, newId, onKeys, sayInto } from "./api.js";

export class Judging {
  constructor({ show, keys = {} }) {
    this.root = document.getElementById("judge");
    this.project = this.root.dataset.project;
    this.settings = JSON.parse(this.root.dataset.settings);
    this.say = sayInto(document.getElementById("status"));
    this.outbox = new Outbox(this.root, this.say);
    this.takeBack = new Undo(this.root);
    this.show = show;
    this.count = Number(this.root.dataset.done);
    this.edited = new URLSearchParams(location.search).get("edit");
    document.getElementById("undo").addEventListener("click", () => this.undo());
    document.getElementById("skip")?.addEventListener("click", () => this.openSkip());
    this.dialog = document.getElementById("skip-dialog");
    this.dialog?.addEventListener("close", () => {
      if (this.dialog.returnValue && this.dialog.returnValue !== "cancel") this.skip(this.dialog.returnValue);
    });
    document.getElementById("guidelines-open")?.addEventListener("click", () =>
      document.getElementById("guidelines").showModal());
    ignoreDoubleClicks(this.root);
    onKeys({ u: () => this.undo(), s: () => this.skip(null), x: () => this.openSkip(), ...keys });
    this.next();
  }

  // While an answer is on its way, further keys and clicks do nothing: no vote falls on a pair not yet seen.
  set busy(value) { this.root.dataset.busy = String(value); }
  get busy() { return this.root.dataset.busy === "true"; }

  async next() {
    this.busy = true;
    try {
      if (this.edited && !this.isEdited) {
        const { question, given } = await call("GET", `/api/projects/${this.project}/answers/${this.edited}`);
        this.draw(question, given);
      } else if (this.edited) location.href = `/projects/${this.project}/mine`;
      else this.draw(await call("POST", `/api/projects/${this.project}/questions/next`));
    } catch (error) {
      this.say(error.message, true);
      if (!(error instanceof Refused)) setTimeout(() => this.next(), 3000);
    }
    this.busy = false;
  }

  // Show a question; `given` is what the person answered before, to be changed.
  draw(question, given = null) {
    const because = document.getElementById("done-because");
    because.textContent = question.reason ? question.reason[0].toUpperCase() + question.reason.slice(1) : because.dataset.all;
    document.getElementById("all-done").classList.toggle("hidden", !question.done);
    this.root.classList.toggle("hidden", question.done);
    document.getElementById("skip").classList.toggle("hidden", question.done);
    this.question = question.done ? null : question;
    if (question.done) setTimeout(() => { if (!this.question && !this.busy) this.next(); }, 30000); // others may give one back
    const reason = given?.skip_reason ? ` (${given.skip_reason})` : "";
    document.getElementById("was").textContent = given?.kind === "skip" ? `You had answered: cannot decide${reason}.` : "";
    if (this.question) {
      this.started = performance.now();
      this.show(this.question, this, given);
    }
  }

  // Whether the texts on the screen are those of the question, whatever happened to the page.
  get isDrawn() {
    const drawn = [...this.root.querySelectorAll("[data-drawn]")].map((box) => box.textContent);
    const texts = this.question.texts.map((item) => item.text);
    return drawn.length === texts.length && texts.every((text, i) => text === drawn[i]);
  }

  async answer(body) {
    if (this.busy || !this.question) return;
    if (!this.isDrawn) {
      this.say("The page shows another text than was asked about. Nothing was sent; the question is drawn again.", true);
      await this.next();
      return;
    }
    this.busy = true;
    const texts = this.question.texts;
    try {
      const stored = await this.outbox.send({
        request_id: newId(), question_id: this.question.question_id, item: texts[0].key,
        ...(texts.length === 2 ? { other: texts[1].key, shown_left: texts[0].key } : {}),
        response_ms: Math.round(performance.now() - this.started), ...body,
        ...(this.edited ? { replaces: this.edited } : {}),
      });
      this.bump(this.edited ? 0 : 1);
      this.isEdited = true;
      this.tell(stored.feedback);
    } catch { /* the outbox has said why */ }
    await this.next();
  }

  // After a question whose answer is known, where the owners want that.
  tell(feedback) {
    const place = document.getElementById("feedback");
    place.classList.toggle("hidden", !feedback);
    place.classList.toggle("warn", !!feedback && !feedback.right);
    if (!feedback) return;
    const what = feedback.right ? "Right." : `The right answer to the last question was: ${feedback.answer}.`;
    place.textContent = feedback.reason ? `${what} Because: ${feedback.reason}` : what;
  }

  skip(reason) { this.answer({ kind: "skip", skip_reason: reason }); }

  openSkip() { if (this.dialog && !this.dialog.open) { this.dialog.returnValue = ""; this.dialog.showModal(); } }

  async undo() {
    if (this.busy) return;
    this.busy = true;
    try {
      const { undone, question, given } = await this.takeBack.send();
      this.say(undone ? "Your last answer is taken back. Here is its question again." : "There is nothing to take back.");
      if (undone) this.bump(-1);
      if (undone && question) this.draw(question, given);
      else if (undone) await this.next();
    } catch (error) { this.say(error.message, true); }
    this.busy = false;
  }

  bump(step) {
    this.count += step;
    for (const place of document.querySelectorAll("[data-count]")) place.textContent = this.count;
    for (const place of document.querySelectorAll("[data-plural]")) place.textContent = this.count === 1 ? "" : "s";
  }
}
