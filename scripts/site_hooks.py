"""What MkDocs does beyond its configuration: pages from the top of the repository, and links that leave docs/."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BROUGHT = {
    # where it stands in the repository: where it stands on the site
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "benchmarks/RESULTS.md": "RESULTS.md",
}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """The pages that stand at the top of the repository become pages of the site."""
    from mkdocs.structure.files import File

    for source, target in BROUGHT.items():
        content = rewrite_links((ROOT / source).read_text("utf-8"), source)
        files.append(File.generated(config, target, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    source = page.file.src_uri
    return markdown if source in BROUGHT.values() else rewrite_links(markdown, f"docs/{source}")


def rewrite_links(text: str, source: str, brought: Mapping[str, str] = BROUGHT) -> str:
    """Links to files of the repository: to their page if they have one, else the words and the path."""

    def rewrite(match: re.Match[str]) -> str:
        words, (target, hash_, anchor) = match[1], match[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        home = path.removeprefix("docs/") if path.startswith("docs/") else brought.get(path)
        if home is None:
            return f"{words} (`{path}` in the repository)" if words.strip("`") != path else f"`{path}`"
        folder = posixpath.dirname(source.removeprefix("docs/")) if source.startswith("docs/") else ""
        return f"[{words}]({posixpath.relpath(home, folder or '.')}{hash_}{anchor})"

    pieces, start = [], 0
    for fence in FENCE.finditer(text):
        pieces += [LINK.sub(rewrite, text[start : fence.start()]), fence[0]]
        start = fence.end()
    return "".join([*pieces, LINK.sub(rewrite, text[start:])])


# --- search from a file ---------------------------------------------------------------------------

SHIM = "https://unpkg.com/iframe-worker/shim"
"""What the theme loads from a network so that search works from a file."""
DIALOG = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, page: Any, config: Any) -> str:
    return bring_home(output, page.file.dest_uri)


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    return bring_home(output_content, template_name)


def bring_home(html: str, address: str) -> str:
    """The same page with our own script in the place of the one from the network, and a name for its search."""
    named = html.replace(DIALOG, f'{DIALOG} aria-label="Search"')
    return named.replace(SHIM, posixpath.relpath("site.js", posixpath.dirname(address) or "."))
