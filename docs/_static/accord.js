// What readers who use a keyboard or a screen reader need, and the theme and the gallery leave out.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
  for (const block of document.querySelectorAll("article pre, article .table-wrapper")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0; // so that the arrow keys scroll it
  }
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = card.querySelector(".sphx-glr-thumbnail-title")?.textContent ?? "";
    card.querySelector("img")?.setAttribute("alt", title);
    card.querySelector("a")?.setAttribute("aria-label", title);
  }
});
