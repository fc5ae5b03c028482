// Filters that act at once, arrow keys in lists and grids, and progress that moves. Pages work without it.
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
if (moving && ["running", "empty", "interrupted"].includes(moving.dataset.state)) {
  const bar = moving.querySelector("progress");
  const words = moving.querySelector("[data-words]");
  const rate = moving.querySelector("[data-rate]");
  let before = null;
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
    before ??= { finished, at: performance.now() };
    const perSecond = (finished - before.finished) / ((performance.now() - before.at) / 1000);
    if (perSecond > 0) {
      const minutes = Math.ceil((now.trials - finished) / perSecond / 60);
      rate.textContent = `${perSecond.toPrecision(3)} trials a second, about ${minutes.toLocaleString("en")} min left`;
    }
    setTimeout(look, 2000);
  };
  setTimeout(look, 500);
}
