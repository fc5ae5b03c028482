"""Claim: the report of 400,000 records is under 15 MB and opens in under 3 s.

    python benchmarks/report_size.py [N_RECORDS] [FOLDER]

Opening is timed in Chromium, to the load event and to the first chart that is drawn; without it only the size is told.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from large_run import make_run
from machine import describe

from shaketable.stages.analyze import analyze
from shaketable.stages.report import report
from shaketable.store import Run

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def open_page(page: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        browser.new_page().goto("about:blank")  # the browser's own start does not count
        for _ in range(3):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.resolve().as_uri())
            loaded = time.perf_counter() - start
            tab.locator("figure").first.scroll_into_view_if_needed()
            tab.wait_for_selector(".live svg")
            print(f"opened in {loaded:.2f} s, first chart after {time.perf_counter() - start:.2f} s")
            tab.close()
        browser.close()


def main(n_records, folder):
    run = Run(folder) if (folder / "study.toml").is_file() else make_run(folder, n_records)
    if not (folder / "findings.json").is_file():
        start = time.perf_counter()
        analyze(run)
        print(f"analyzed in {time.perf_counter() - start:.0f} s")
    start = time.perf_counter()
    page = report(run)
    print(f"report of {run.summary().done:,} records: {page.stat().st_size / 1e6:.1f} MB, "
          f"written in {time.perf_counter() - start:.0f} s")  # fmt: skip
    if shutil.which("chromium"):
        open_page(page)
    print(describe())


if __name__ == "__main__":
    n_records = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
    if len(sys.argv) > 2:
        main(n_records, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(n_records, Path(temporary) / "run")
