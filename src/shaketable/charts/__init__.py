"""One finding → one picture, plain functions."""

CATALOG: dict[str, str] = {
}
