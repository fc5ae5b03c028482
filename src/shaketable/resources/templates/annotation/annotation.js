// Sends entries, shows hints, and keeps a draft until it is saved.
const form = document.getElementById("task");
if (form) {
  const text = document.getElementById("rewrite");
  const hint = document.getElementById("hint");
  const buttons = form.querySelectorAll("button");
  const draft = `draft ${form.dataset.annotator} ${form.dataset.id}`;

  const send = async (path, entry) => {
    for (const button of buttons) button.disabled = true;
    hint.hidden = true;
    const body = JSON.stringify({ annotator: form.dataset.annotator, id: form.dataset.id, ...entry });
    const reply = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => null);
    if (reply?.ok) {
      if (path === "/entry") sessionStorage.removeItem(draft);
      return location.reload();
    }
    const said = await reply?.json().catch(() => null);
    hint.textContent = said?.hint ?? "Not saved: the server does not answer. Your text stays here; start it and try again.";
    hint.hidden = false;
    for (const button of buttons) button.disabled = false;
    text?.focus();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send("/entry", text ? { rewrite: text.value } : { accepted: event.submitter?.value === "true" });
  });
  document.getElementById("later").addEventListener("click", () => send("/skip", {}));

  if (text) {
    text.value = sessionStorage.getItem(draft) ?? "";
    text.addEventListener("input", () => sessionStorage.setItem(draft, text.value));
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !buttons[0].disabled) form.requestSubmit(buttons[0]);
    });
  } else {
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const button = form.querySelector(`button[aria-keyshortcuts="${event.key.toLowerCase()}"]:not(:disabled)`);
      if (button) form.requestSubmit(button);
    });
  }
}
