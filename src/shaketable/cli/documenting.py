"""`docs`: the pages of the documentation in the terminal, so that an error can name one that is at hand."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption
from shaketable.errors import UsageError, did_you_mean

AT_THE_TOP = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages of the project that stand beside the folder of the others in a checkout, and in it in a wheel."""
DECISIONS = "decisions/"


@dataclass(frozen=True, kw_only=True, slots=True)
class DocPage:
    name: str
    """As one types it: `data`, `decisions/0017-one-family-of-claims`."""
    title: str
    path: Path


@guarded
def docs(
    page: Annotated[
        str | None, typer.Argument(metavar="[PAGE]", help="A page, such as study, or a part of it: study#cross.")
    ] = None,
    path: Annotated[bool, typer.Option("--path", help="Say where the file lies, and print nothing of it.")] = False,
    json_: JsonOption = False,
) -> None:
    """The documentation, here in the terminal and without a network. Without a page, the pages that there are."""
    pages = find_pages()
    if page is None:
        _list_pages(pages, json_)
        return
    name, _, anchor = page.partition("#")
    chosen = choose_page(name, pages)
    if json_:
        print_json({"page": chosen.name, "title": chosen.title, "path": str(chosen.path)})
    elif path:
        out.print(str(chosen.path), highlight=False)
    else:
        _show(cut_at(chosen.path.read_text("utf-8"), anchor, chosen.name))


def pages_folder() -> Path:
    """In a wheel beside the package's other files; in a checkout the folder `docs` itself."""
    shipped = Path(str(resources.files("shaketable") / "resources" / "docs"))
    return shipped if shipped.is_dir() else Path(__file__).parents[3] / "docs"


def find_pages() -> list[DocPage]:
    """All pages, those on decisions last."""
    folder = pages_folder()
    files = {file.relative_to(folder).with_suffix("").as_posix(): file for file in sorted(folder.rglob("*.md"))}
    beside = {Path(name).stem: folder.parent / name for name in AT_THE_TOP if (folder.parent / name).is_file()}
    named = {name.lower(): file for name, file in (files | beside).items()}
    order = sorted(named, key=lambda name: (name.startswith(DECISIONS), name))
    return [DocPage(name=name, title=_title(named[name]), path=named[name]) for name in order]


def _title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), file.stem)


def choose_page(given: str, pages: list[DocPage]) -> DocPage:
    """By its name, in any way that one writes it: `data`, `docs/data.md`, `decisions/17`, the beginning of a name."""
    wanted = given.lower().strip().removeprefix("docs/").removesuffix(".md").removesuffix(".html").replace("-", "_")
    wanted = re.sub(r"^decisions?[/ _]0*(\d+)", lambda match: f"{DECISIONS}{int(match[1]):04d}", wanted)
    by_name = {page.name.replace("-", "_"): page for page in pages}
    if wanted in by_name:
        return by_name[wanted]
    near = [page for name, page in by_name.items() if wanted and name.startswith(wanted)]
    if len(near) == 1:
        return near[0]
    names = [page.name for page in pages if not page.name.startswith(DECISIONS)]
    raise UsageError(
        f"There is no page '{given}'.{did_you_mean(wanted, names)} `shaketable docs` lists them: {', '.join(names)}."
    )


def anchor_of(heading: str) -> str:
    """The address of a heading, as sites and code forges make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def cut_at(text: str, anchor: str, name: str) -> str:
    """From the heading with this address up to the next of its rank; the whole text without an address."""
    if not anchor:
        return text
    kept: list[str] = []
    rank, is_code, anchors = 0, False, []
    for line in text.splitlines():
        is_code ^= line.lstrip().startswith("```")
        heading = None if is_code else re.match(r"(#+)\s+(.*)", line)
        if heading:
            anchors.append(anchor_of(heading[2]))
            if rank and len(heading[1]) <= rank:
                return "\n".join(kept)
            rank = rank or (len(heading[1]) if anchors[-1] == anchor_of(anchor) else 0)
        kept += [line] if rank else []
    if not rank:
        raise UsageError(
            f"Page '{name}' has no part '{anchor}'.{did_you_mean(anchor, anchors)} All of it: shaketable docs {name}."
        )
    return "\n".join(kept)


def _show(text: str) -> None:
    """Set on a terminal; elsewhere the Markdown as it is, for `grep` and `less`."""
    if out.is_terminal:
        out.print(Markdown(text, hyperlinks=False), soft_wrap=False)
    else:
        sys.stdout.write(text.rstrip("\n") + "\n")


def _list_pages(pages: list[DocPage], json_: bool) -> None:
    if json_:
        print_json([{"page": page.name, "title": page.title, "path": str(page.path)} for page in pages])
        return
    table = Table("page", "what it is about", box=None, pad_edge=False)
    for page in pages:
        if not page.name.startswith(DECISIONS):
            table.add_row(Text(page.name, style="bold"), Text(page.title))
    out.print(table)
    n_decisions = sum(page.name.startswith(DECISIONS) for page in pages)
    say(f"Read one: shaketable docs {pages[0].name}. {n_decisions} pages on decisions: shaketable docs decisions/17.")
