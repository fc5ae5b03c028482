// Search needs a worker, and browsers start none from a file. There, its script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.documentElement.appendChild(frame);
      const inside = (this.inside = frame.contentWindow);
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...scripts) =>
        Promise.all(scripts.map((script) => this.load(new URL(script, address).href)));
      this.load(address).then(() => {
        this.isReady = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script");
        script.src = address;
        script.onload = resolve;
        script.onerror = reject;
        this.inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      if (!this.isReady) this.waiting.push(data);
      else this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}

// Wide tables scroll by themselves; the keyboard reaches them only if they can have the focus.
addEventListener("load", () => {
  const wrap = () =>
    document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((wide) => {
      if (wide.scrollWidth <= wide.clientWidth) return;
      wide.tabIndex = 0;
      wide.setAttribute("role", "region");
      wide.setAttribute("aria-label", "A wide table");
    });
  wrap();
  addEventListener("resize", wrap);
});
