// Words that can be marked. Offsets are Unicode code points of the text as stored, which is how the studio counts.
const PATTERN = /[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}\p{N}\p{M}_]+)*|[^\s]/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null; // not in older browsers

// Where each word begins, and the word. Scripts that put no spaces between words are cut by what the browser knows of them.
function* wordsOf(text) {
  for (const { 0: said, index } of text.matchAll(PATTERN)) {
    if (!segmenter || !UNSPACED.test(said)) yield [index, said];
    else for (const part of segmenter.segment(said)) yield [index + part.index, part.segment];
  }
}

export class Marker {
  constructor(box, text, { onChange = () => {} } = {}) {
    this.box = box;
    this.text = text;
    this.onChange = onChange;
    this.spans = [];
    this.words = [];
    this.anchor = null;
    this.cursor = null;
    this.#draw();
  }

  #draw() {
    this.box.textContent = "";
    let last = 0, points = 0;
    for (const [index, said] of wordsOf(this.text)) {
      const gap = this.text.slice(last, index);
      if (gap) this.box.append(gap);
      points += [...gap].length;
      const length = [...said].length;
      const word = document.createElement("span");
      word.className = "word";
      word.textContent = said;
      word.dataset.index = this.words.length;
      this.words.push({ word, start: points, end: points + length });
      this.box.append(word);
      points += length;
      last = index + said.length;
    }
    this.box.append(this.text.slice(last));
    this.box.tabIndex = 0;
    this.box.addEventListener("keydown", (e) => this.#key(e));
    this.box.addEventListener("blur", () => this.#place(null));
    this.box.addEventListener("pointerdown", (e) => this.#down(e));
    this.box.addEventListener("pointermove", (e) => this.#move(e));
    this.box.addEventListener("pointerup", (e) => this.#up(e));
    this.box.addEventListener("pointercancel", () => this.#cancel());
  }

  #at(event) {
    const hit = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".word");
    return hit && this.box.contains(hit) ? Number(hit.dataset.index) : null;
  }

  #down(event) {
    const index = this.#at(event);
    if (index === null || event.button) return;
    event.preventDefault();
    this.box.setPointerCapture(event.pointerId); // a stretch may end outside the text
    this.isSecond = this.anchor !== null && !this.dragging;
    if (!this.isSecond) this.anchor = index;
    this.last = index;
    this.dragging = true;
    this.moved = false;
    this.#preview(index);
  }

  #move(event) {
    if (this.anchor === null) return;
    const index = this.#at(event);
    if (index === null) return;
    if (index !== this.anchor) this.moved = true;
    this.last = index;
    this.#preview(index);
  }

  #up(event) {
    if (this.anchor === null || !this.dragging) return;
    this.dragging = false;
    const index = this.#at(event) ?? this.last;
    if (this.isSecond || this.moved) this.#finish(this.anchor, index);
    else this.#remove(index); // if there is no highlight, it is the first tap of two: the next one ends the stretch
  }

  // What began as a tap has become scrolling: the first word of a stretch stays chosen.
  #cancel() {
    if (!this.isSecond) { this.#reset(); return; }
    this.dragging = false;
    this.#preview(this.anchor);
  }

  // Take away the highlight that holds a word, if there is one.
  #remove(index) {
    const held = this.spans.findIndex(([a, b]) => a <= index && index <= b);
    if (held < 0) return;
    this.spans.splice(held, 1);
    this.#reset();
    this.#paint();
    this.onChange();
  }

  // By keyboard: arrows go from word to word, Enter or the space bar take the first word of a stretch and the last.
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.words.length) return;
    const isRight = getComputedStyle(this.box).direction === "rtl";
    const steps = { ArrowRight: isRight ? -1 : 1, ArrowLeft: isRight ? 1 : -1, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      const last = this.words.length - 1;
      this.#place(this.cursor === null ? 0 : Math.max(0, Math.min(last, this.cursor + steps[event.key])));
      if (this.anchor !== null) this.#preview(this.cursor);
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor !== null) {
      if (!event.repeat) this.#take(this.cursor);
    } else if (event.key === "Escape" && this.anchor !== null) this.#reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #take(index) {
    if (this.anchor !== null) { this.#finish(this.anchor, index); return; }
    const before = this.spans.length;
    this.#remove(index);
    if (this.spans.length === before) { this.anchor = index; this.#preview(index); }
  }

  // Where the keyboard is, seen and heard.
  #place(index) {
    this.words[this.cursor]?.word.classList.remove("here");
    this.cursor = index;
    const here = this.words[index]?.word;
    if (!here) return;
    here.classList.add("here");
    here.scrollIntoView({ block: "nearest" });
    const state = here.classList.contains("on") ? ", highlighted" : "";
    const heard = document.getElementById("heard");
    if (heard) heard.textContent = `${here.textContent}${state}`;
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
