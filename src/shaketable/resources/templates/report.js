// Copy buttons, pictures to download, and folded pieces that open when a link points into them.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    await navigator.clipboard.writeText(text);
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1500);
  });
}

function save(href, name) {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
for (const button of document.querySelectorAll("button[data-picture]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const name = `${button.dataset.figure}.${button.dataset.picture}`;
    const place = document.getElementById(button.dataset.figure);
    // As it was made, also where the page is too narrow to show it so.
    const live = place.classList.contains("narrow") ? null : place.querySelector(".live svg");
    const picture = (live ?? place.querySelector(".still svg")).cloneNode(true);
    const [width, height] = [picture.viewBox.baseVal.width, picture.viewBox.baseVal.height];
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    const text = new XMLSerializer().serializeToString(picture);
    const svg = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    if (button.dataset.picture === "svg") return save(svg, name);
    const image = new Image();
    image.src = svg;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    const brush = canvas.getContext("2d");
    brush.fillStyle = "white";
    brush.fillRect(0, 0, canvas.width, canvas.height);
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    save(canvas.toDataURL("image/png"), name);
  });
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let inside = target; inside; inside = inside.parentElement) {
    if (inside.tagName === "DETAILS") inside.open = true;
  }
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
if (location.hash) openTarget();
