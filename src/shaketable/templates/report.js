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
for (const button of document.querySelectorAll("button[data-svg]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const picture = document.getElementById(button.dataset.svg).querySelector("svg");
    const file = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `${button.dataset.svg}.svg`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
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
