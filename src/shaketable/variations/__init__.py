"""Question → wordings."""

CATALOG: dict[str, str] = {
    "original": "original:Original",
}
