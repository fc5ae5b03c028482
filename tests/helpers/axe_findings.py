"""What axe finds wrong with a page in a browser, for those who read it with other means than their eyes."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe


def serious(page: Any) -> list[str]:
    """Serious and critical violations, each with the beginning of what violates."""
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
