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

// Charts are drawn when they come into sight. The still picture stays for print, and where drawing fails.
async function draw(place) {
  const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
  // Expressions are interpreted, never compiled: the page's policy forbids scripts made from data.
  const figure = place.closest("figure");
  // Sliders stand outside the drawing, which is one picture to a screen reader.
  const bind = figure.querySelector(".controls");
  const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, logLevel: 1, bind };
  await vegaEmbed(place, spec, options);
  place.hidden = false;
  place.parentElement.classList.add("drawn");
  figure.querySelector(".hint").hidden = false;
}
const sight = new IntersectionObserver(
  (entries) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      sight.unobserve(entry.target);
      draw(entry.target.querySelector(".live"));
    }
  },
  { rootMargin: "300px" },
);
if (globalThis.vegaEmbed) document.querySelectorAll(".drawing:has(.live)").forEach((one) => sight.observe(one));

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
    const picture = (place.querySelector(".live svg") ?? place.querySelector(".still svg")).cloneNode(true);
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
