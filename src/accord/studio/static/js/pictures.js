// Pictures as PNG files: the drawing of the page on white paper, twice as large, drawn by the browser itself.
const SCALE = 2;

async function png(svg) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const twin = svg.cloneNode(true);
  for (const [name, value] of Object.entries({ width, height, color: "#111" })) twin.setAttribute(name, value);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(twin))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: SCALE * width, height: SCALE * height });
  const paper = canvas.getContext("2d");
  paper.fillStyle = "#fff";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-png]");
  if (!button) return;
  const address = URL.createObjectURL(await png(button.closest(".card").querySelector("svg.picture")));
  Object.assign(document.createElement("a"), { href: address, download: button.dataset.png }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
});
