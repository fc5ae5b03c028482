// Charts are drawn when they come into sight, to the width that they have. The still picture stays for print, and where
// drawing fails.
const MADE_FOR = 750; // pixels: a chart in a wider place is drawn as it was made, and shrinks by a quarter at most
const [LEAST, SLACK] = [100, 12]; // pixels: of a panel, and what it may leave of its place

async function draw(box) {
  const [place, figure] = [box.querySelector(".live"), box.closest("figure")];
  const room = box.clientWidth;
  const isNarrow = room < MADE_FOR;
  const form = isNarrow ? String(room) : "wide";
  if (!room || place.dataset.form === form || matchMedia("print").matches) return;
  place.dataset.form = form;
  const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
  await (isNarrow ? embedWithin(place, figure, spec, room) : embed(place, figure, spec));
  place.hidden = false;
  box.classList.add("drawn");
  figure.classList.toggle("narrow", isNarrow);
  figure.querySelector(".hint").hidden = false;
}

const shown = new WeakMap(); // what stands in a place

async function embed(place, figure, spec) {
  shown.get(place)?.finalize();
  // Sliders stand outside the drawing, which is one picture to a screen reader.
  const bind = figure.querySelector(".controls");
  bind.replaceChildren();
  // Expressions are interpreted, never compiled: the page's policy forbids scripts made from data.
  const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, logLevel: 1, bind };
  shown.set(place, await vegaEmbed(place, spec, options));
}

// What stands beside the panels is known when it is drawn; the panels then get what is left.
async function embedWithin(place, figure, spec, room) {
  let width = room;
  for (let go = 0; go < 4; go++) {
    await embed(place, figure, narrowed(spec, room, width));
    const excess = Math.ceil(place.querySelector("svg").width.baseVal.value) - room;
    const next = Math.max(LEAST, width - excess);
    if (next === width || (excess <= 0 && excess > -SLACK)) return;
    width = next;
  }
  await embed(place, figure, narrowed(spec, room, Math.max(LEAST, width - SLACK)));
}

let last = Promise.resolve(); // one after the other: a chart is drawn whole before it is drawn anew
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) last = last.then(() => draw(target)).catch((error) => console.error(error));
});
const sight = new IntersectionObserver(
  (entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      sight.unobserve(target);
      widths.observe(target);
    }
  },
  { rootMargin: "300px" },
);
document.querySelectorAll(".drawing:has(.live)").forEach((box) => sight.observe(box));
