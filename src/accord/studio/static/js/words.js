// Words that can be marked. Offsets are Unicode code points of the text as stored, which is how the studio counts.
const PATTERN = /[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}\p{N}\p{M}_]+)*|[^\s]/gu;

export class Marker {
  constructor(box, text, { onChange = () => {} } = {}) {
    this.box = box;
    this.text = text;
    this.onChange = onChange;
    this.spans = [];
    this.words = [];
    this.anchor = null;
    this.#draw();
  }

  #draw() {
    this.box.textContent = "";
    let last = 0, points = 0;
    for (const match of this.text.matchAll(PATTERN)) {
      const gap = this.text.slice(last, match.index);
      if (gap) this.box.append(gap);
      points += [...gap].length;
      const length = [...match[0]].length;
      const word = document.createElement("span");
      word.className = "word";
      word.textContent = match[0];
      word.dataset.index = this.words.length;
      this.words.push({ word, start: points, end: points + length });
      this.box.append(word);
      points += length;
      last = match.index + match[0].length;
    }
    this.box.append(this.text.slice(last));
    this.box.addEventListener("pointerdown", (e) => this.#down(e));
    this.box.addEventListener("pointermove", (e) => this.#move(e));
    this.box.addEventListener("pointerup", (e) => this.#up(e));
    this.box.addEventListener("pointercancel", () => this.#reset());
  }

  #at(event) {
    const hit = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".word");
    return hit && this.box.contains(hit) ? Number(hit.dataset.index) : null;
  }

  #down(event) {
    const index = this.#at(event);
    if (index === null) return;
    event.preventDefault();
    if (this.anchor !== null && !this.dragging) { this.#finish(this.anchor, index); return; }
    this.anchor = index;
    this.dragging = true;
    this.moved = false;
    this.#preview(index);
  }

  #move(event) {
    if (this.anchor === null) return;
    const index = this.#at(event);
    if (index === null) return;
    if (index !== this.anchor) this.moved = true;
    this.#preview(index);
  }

  #up(event) {
    if (this.anchor === null || !this.dragging) return;
    this.dragging = false;
    const index = this.#at(event) ?? this.anchor;
    if (this.moved) { this.#finish(this.anchor, index); return; }
    const held = this.spans.findIndex(([a, b]) => a <= index && index <= b);
    if (held >= 0) { this.spans.splice(held, 1); this.#reset(); this.#paint(); this.onChange(); }
    // Otherwise the first tap of two: the next tap ends the stretch.
  }

  #finish(a, b) {
    let [first, last] = a <= b ? [a, b] : [b, a];
    // Stretches that overlap become one.
    this.spans = this.spans.filter(([x, y]) => {
      if (y < first || x > last) return true;
      first = Math.min(first, x); last = Math.max(last, y);
      return false;
    });
    this.spans.push([first, last]);
    this.spans.sort((x, y) => x[0] - y[0]);
    this.#reset();
    this.#paint();
    this.onChange();
  }

  #reset() { this.anchor = null; this.dragging = false; this.#preview(null); }

  #preview(index) {
    const [a, b] = index === null ? [1, 0] : [Math.min(this.anchor, index), Math.max(this.anchor, index)];
    this.words.forEach(({ word }, i) => word.classList.toggle("preview", a <= i && i <= b));
  }

  #paint() {
    this.words.forEach(({ word }, i) => word.classList.toggle("on", this.spans.some(([a, b]) => a <= i && i <= b)));
  }

  // Mark the words from one character to another, as in a stored answer.
  mark(start, end) {
    const inside = this.words.map((word, i) => i).filter((i) => this.words[i].start < end && this.words[i].end > start);
    if (inside.length) this.#finish(inside[0], inside[inside.length - 1]);
  }

  clear() { this.spans = []; this.#reset(); this.#paint(); this.onChange(); }

  // [start, end) in code points.
  get ranges() { return this.spans.map(([a, b]) => ({ start: this.words[a].start, end: this.words[b].end })); }
}
