// Filters that act at once, arrow keys in lists and grids, and progress that moves. Pages work without it.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

for (const form of document.querySelectorAll("form[data-auto]")) {
  for (const select of form.querySelectorAll("select")) select.addEventListener("change", () => form.requestSubmit());
  // What was left open does not belong into the address.
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  });
  addEventListener("pageshow", () => {
    for (const field of form.elements) field.disabled = false;
  });
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
for (const table of document.querySelectorAll("table[data-grid], table[data-list]")) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("a")]);
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const y = rows.findIndex((row) => row.includes(document.activeElement));
    if (!step || y < 0) return;
    const x = rows[y].indexOf(document.activeElement);
    const next = rows[y + step[0]]?.[Math.min(x + step[1], rows[y + step[0]].length - 1)];
    if (next) {
      next.focus();
      event.preventDefault();
    }
  });
}

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
    words.textContent = `${finished.toLocaleString("en")} of ${now.trials.toLocaleString("en")} trials${failed}`;
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
