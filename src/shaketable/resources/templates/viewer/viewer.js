// Filters that act at once, arrow keys in lists and grids, and progress that moves. Pages work without it.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// Filters act at once: of a list alone its results are put in anew, so that nobody is interrupted while typing.
const auto = (event) => event.target.closest?.("form[data-auto]");
function hideButtons() {
  const buttons = document.querySelectorAll("form[data-auto] button[type=submit]");
  for (const button of buttons) button.hidden = true;
}
hideButtons();
const place = () => location.pathname + location.search;
let asked = 0;
let pause;
let shown = place();
// The element of this id as another address has it; null: something newer was asked for meanwhile, or it has none.
async function fetched(address, id) {
  const own = ++asked;
  const reply = await fetch(address).catch(() => null);
  const fresh = new DOMParser().parseFromString((await reply?.text()) ?? "", "text/html");
  if (own !== asked) return null;
  const found = fresh.getElementById(id);
  if (!found) location.assign(address);
  return found;
}
async function show(form, isTyped) {
  clearTimeout(pause);
  const fields = [...new FormData(form)].filter(([, value]) => value !== "");
  const address = form.action + (fields.length ? "?" + new URLSearchParams(fields) : "");
  const results = document.getElementById(form.dataset.auto);
  if (!results) return location.assign(address);
  results.setAttribute("aria-busy", "true");
  const found = await fetched(address, results.id);
  if (!found) return;
  document.getElementById(results.id).replaceWith(found);
  if (isTyped) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  shown = place();
}
document.addEventListener("submit", (event) => {
  if (!auto(event)) return;
  event.preventDefault();
  show(auto(event), false);
});
document.addEventListener("change", (event) => {
  if (auto(event) && event.target.tagName === "SELECT") show(auto(event), false);
});
document.addEventListener("input", (event) => {
  if (!auto(event) || event.target.tagName === "SELECT") return;
  clearTimeout(pause);
  pause = setTimeout(() => show(auto(event), true), 300);
});
// An address of before: the form must show its state too. A link within the page changes nothing.
addEventListener("popstate", async () => {
  if (place() === shown) return;
  shown = place();
  const found = await fetched(location.href, "content");
  if (!found) return;
  document.getElementById("content").replaceWith(found);
  hideButtons();
});

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
document.addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  const table = document.activeElement?.closest("table[data-grid], table[data-list]");
  if (!step || !table || isTyping(event)) return;
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("a")]);
  const y = rows.findIndex((row) => row.includes(document.activeElement));
  if (y < 0) return;
  const x = rows[y].indexOf(document.activeElement);
  const next = rows[y + step[0]]?.[Math.min(x + step[1], rows[y + step[0]].length - 1)];
  if (next) {
    next.focus();
    event.preventDefault();
  }
});

// From record to record, or from row to row. Keys with Ctrl, Alt or Meta are the browser's.
function isTyping(event) {
  const field = event.target.closest?.("input, select, textarea, [contenteditable]");
  return Boolean(field) || event.ctrlKey || event.altKey || event.metaKey;
}
function moveInList(step) {
  const links = [...document.querySelectorAll("main table[data-list] tbody tr")].map((row) => row.querySelector("a"));
  const at = links.findIndex((link) => link?.closest("tr").contains(document.activeElement));
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
document.addEventListener("keydown", (event) => {
  if (isTyping(event)) return;
  const around = document.querySelector("[data-around]");
  const follow = (which) => around.querySelector(`a[data-key="${which}"]`)?.click();
  if (around && ["j", "k", "u"].includes(event.key)) follow(event.key);
  else if (event.key === "j") moveInList(1);
  else if (event.key === "k") moveInList(-1);
  else if (event.key === "/" && document.querySelector("input[type=search]")) {
    document.querySelector("input[type=search]").focus();
    event.preventDefault();
  }
});

const moving = document.querySelector("[data-progress]");
if (moving && ["planning", "running", "empty", "interrupted"].includes(moving.dataset.state)) {
  const bar = moving.querySelector("progress");
  const words = moving.querySelector("[data-words]");
  const rate = moving.querySelector("[data-rate]");
  const first = bar.value;
  let shown = first;
  // The first results of the page as it would be now; further and further apart.
  const renew = async (finished) => {
    if (finished < 1.1 * shown) return;
    shown = finished;
    const reply = await fetch(location.href).catch(() => null);
    const fresh = new DOMParser().parseFromString((await reply?.text()) ?? "", "text/html");
    const live = fresh.querySelector("[data-live]");
    if (live) document.querySelector("[data-live]")?.replaceWith(live);
  };
  const look = async () => {
    const reply = await fetch(moving.dataset.progress).catch(() => null);
    if (!reply || !reply.ok) {
      rate.textContent = "The viewer does not answer any more.";
      return;
    }
    const now = await reply.json();
    // A run that starts, ends or has its first answers has another page.
    if (now.state !== moving.dataset.state) return location.reload();
    const finished = now.done + now.failed;
    bar.max = now.trials || 1;
    bar.value = finished;
    const failed = now.failed ? `, ${now.failed.toLocaleString("en")} failed` : "";
    if (now.trials) words.textContent = `${finished.toLocaleString("en")} of ${now.trials.toLocaleString("en")} trials${failed}`;
    const perSecond = (finished - first) / (performance.now() / 1000); // the clock starts with the page
    if (perSecond > 0) {
      const minutes = Math.ceil((now.trials - finished) / perSecond / 60);
      rate.textContent = `${perSecond.toPrecision(3)} trials a second, about ${minutes.toLocaleString("en")} min left`;
    }
    await renew(finished);
    setTimeout(look, 2000);
  };
  setTimeout(look, 500);
}
