"""The documentation holds together: links, anchors, the pages that errors name, and the site that is built of them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from axe_findings import serious

from shaketable import errors
from shaketable.cli.app import COMMANDS
from shaketable.cli.console import COMMAND_PAGES
from shaketable.cli.documenting import anchor_of, choose_page, cut_at, find_pages

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
PAGES = [*SOURCES, ROOT / "examples" / "README.md", *sorted(DOCS.rglob("*.md"))]
SHOWN = ("index", "tutorial", "reading", "study", "api", "decisions/index")
"""Pages that are looked at in a browser: one of each kind."""


# --- links ----------------------------------------------------------------------------------------


def without_code(text: str) -> str:
    """The text alone, for code may look like a link or a heading."""
    text = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`(?!\])", "", text)


def links(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", without_code(text))


def anchors(text: str) -> set[str]:
    plain = re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {anchor_of(heading) for heading in re.findall(r"^#+\s+(.*)$", plain, re.MULTILINE)}


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for link in links(text):
        target, _, anchor = link.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (page.parent / target).resolve() if target else page
        is_read = file.suffix == ".md" and file.is_file()
        if not file.exists() or (anchor and (not is_read or anchor not in anchors(file.read_text("utf-8")))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_of_a_page_leads_somewhere(page):
    assert broken(page, page.read_text("utf-8")) == []


def test_a_broken_link_is_named():
    text = "# A b\n[good](data.md#a-table) [own](#a-b) [gone](none.md) [no part](data.md#nothing) `[code](no.md)`"
    assert broken(DOCS / "own.md", text.replace("(#a-b)", "(index.md)")) == ["none.md", "data.md#nothing"]
    assert anchors("## `[gate]` and *more*\n```\n# no heading\n```") == {"gate-and-more"}


# --- pages that the program names -----------------------------------------------------------------


def named_pages() -> list[tuple[str, str]]:
    """Each `shaketable docs PAGE` of the package, with the file that says it."""
    files = [file for file in sorted((ROOT / "src").rglob("*")) if file.suffix in (".py", ".toml", ".html")]
    return [
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in re.findall(r"shaketable docs ([a-z_]+(?:/\d+)?(?:#[\w.-]+)?)", file.read_text("utf-8"))
    ]


def error_types() -> Iterator[type[errors.ShaketableError]]:
    waiting = [errors.ShaketableError]
    while waiting:
        yield (kind := waiting.pop())
        waiting += kind.__subclasses__()


def open_page(name: str) -> str:
    page, _, anchor = name.partition("#")
    chosen = choose_page(page, find_pages())
    return cut_at(chosen.path.read_text("utf-8"), anchor, page)


def test_every_page_that_the_program_names_is_there():
    named = named_pages()
    assert {name for _, name in named} >= {"data", "python", "statistics", "reproducing"}
    for _, name in named:
        assert open_page(name)


def test_every_error_names_a_page_that_is_there():
    for kind in error_types():
        assert open_page(kind.page), kind


def test_every_command_that_has_a_page_of_its_own_is_there():
    assert {command.__name__ for command in COMMANDS} >= set(COMMAND_PAGES)
    for page in COMMAND_PAGES.values():
        assert open_page(page), page


def test_no_message_sends_people_to_a_file_of_the_repository():
    told = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in sorted((ROOT / "src").rglob("*.py"))
        for line in file.read_text("utf-8").splitlines()
        if re.search(r"\"[^\"]*\bdocs/\w+\.md", line) and not line.lstrip().startswith('"""')
    ]
    assert told == []


# --- the site -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "scripts" / "site_hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nav_files(nav: Any) -> Iterator[str]:
    for entry in nav:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else nav_files(value)


def test_every_page_has_a_place_in_the_contents(hooks):
    listed = list(nav_files(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]))
    pages = {file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md")}
    decisions = {page for page in pages if page.startswith("decisions/0")}
    assert len(listed) == len(set(listed))
    assert set(listed) == (pages - decisions) | set(hooks.BROUGHT.values()), "mend nav of mkdocs.yml"


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("docs/a.md", "[x](b.md#c) [y](../CHANGELOG.md)", "[x](b.md#c) [y](CHANGELOG.md)"),
        ("docs/decisions/1.md", "[x](../b.md)", "[x](../b.md)"),
        ("CHANGELOG.md", "[x](docs/b.md) [y](https://example.org)", "[x](b.md) [y](https://example.org)"),
        (
            "docs/a.md",
            "[examples/ci](../examples/ci) [it](../src/x.py)",
            "`examples/ci` it (`src/x.py` in the repository)",
        ),
        ("docs/a.md", "```md\n[x](../README.md)\n```", "```md\n[x](../README.md)\n```"),
    ],
)
def test_links_out_of_the_folder_become_links_of_the_site(hooks, source, text, expected):
    assert hooks.rewrite_links(text, source) == expected


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("MkDocs is not installed: pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_outside(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        outside = re.findall(
            r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]+", page.read_text("utf-8")
        )
        assert outside == [], page
    assert "url(http" not in "".join(file.read_text("utf-8") for file in site.rglob("*.css"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_whole_and_accessible_in_a_browser(site, browser, scheme, width):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in SHOWN:
        page.goto((site / f"{name}.html").as_uri(), wait_until="load")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert serious(page) == [], name
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    context.close()


@pytest.mark.parametrize("name", ["index", "decisions/index"])
def test_search_works_from_a_file_without_a_network(site, browser, name):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.goto((site / f"{name}.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type("sentence removal")
    page.wait_for_selector(".md-search-result__link", timeout=60_000)
    assert page.locator(".md-search-result__link").count() > 3
    context.close()
