"""For pytest: the fixture `shake` and the marker `robust`, which assert that a run or a study passes its gate.

Every test session of whoever has the package installed reads this module, so it imports nothing but pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from shaketable.analyses.gate.verdicts import Checked
    from shaketable.store import Run
    from shaketable.types import Json

Shake = Callable[..., "Checked"]
MARKER = "robust"
HELP = (
    f"{MARKER}(against=BASE, max_drop=0.1, min_accuracy=0.7, ...): thresholds that the fixture `shake` holds a run "
    "against, by the keys of [gate] in a study of shaketable"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", HELP)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A marker that nothing reads would pass without a word."""
    if item.get_closest_marker(MARKER) and "shake" not in getattr(item, "fixturenames", ()):
        pytest.fail(
            f"{item.name} is marked {MARKER} and does not ask for the fixture `shake`, so nothing would be checked. "
            "Write: def test_it(shake): shake('runs/new').",
            pytrace=False,
        )


@pytest.fixture(scope="session")
def _shaken_runs() -> dict[str, Run]:
    """Studies that this session has run, so that several tests ask for one run."""
    return {}


@pytest.fixture
def shake(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _shaken_runs: dict[str, Run]
) -> Shake:
    """`shake(TARGET, against=BASE, max_drop=0.1, ...)`: fails the test where the target does not pass.

    TARGET is the folder of a run, or a study (a TOML file, or one that ships), which is run first. Thresholds are those
    of the study's [gate], then of the marker `robust`, then of the call. Gives what was found.
    """

    def call(target: str | Path, *, against: str | Path | None = None, **thresholds: Json) -> Checked:
        __tracebackhide__ = True
        marked = _of_markers(request.node)
        base = against if against is not None else marked.pop("against", None)
        marked.pop("against", None)
        for name, path in (("its target", target), ("against", base)):
            if not isinstance(path, str | Path) and (path is not None or name != "against"):
                pytest.fail(f"shake: {name} is {path!r}; give a path, such as shake('runs/new').", pytrace=False)
        folder = Path(target)
        if not (folder / "study.toml").is_file():
            folder = _run_study(str(target), tmp_path_factory, _shaken_runs)
        return _check(folder, None if base is None else Path(str(base)), marked | thresholds)

    return call


def _of_markers(node: pytest.Item) -> dict[str, Json]:
    """Of the module, the class and the test: the nearest last, so that it counts."""
    given: dict[str, Json] = {}
    for marker in reversed(list(node.iter_markers(MARKER))):
        if marker.args:
            pytest.fail(
                f"{MARKER} takes names alone, such as {MARKER}(max_drop=0.1); found {marker.args}.", pytrace=False
            )
        given |= marker.kwargs
    return given


def _run_study(study: str, folders: pytest.TempPathFactory, runs: dict[str, Run]) -> Path:
    from shaketable.errors import ShaketableError
    from shaketable.stages.run import ask
    from shaketable.study import load_study

    __tracebackhide__ = True
    if study not in runs:
        try:
            runs[study] = ask(load_study(study), folders.mktemp("shaken") / "run")
        except ShaketableError as error:
            pytest.fail(str(error), pytrace=False)
    return runs[study].folder


def _check(folder: Path, base: Path | None, changes: dict[str, Json]) -> Checked:
    from shaketable.errors import ShaketableError
    from shaketable.report.gate_words import describe_lines
    from shaketable.stages.gate import check_run
    from shaketable.store import Run
    from shaketable.study import change_gate

    __tracebackhide__ = True
    try:
        run = Run(folder)
        gate = change_gate(run.study.gate, changes, "shake")
        checked = check_run(run, gate, None if base is None else Run(base))
    except ShaketableError as error:
        pytest.fail(str(error), pytrace=False)
    if not checked.passes:
        pytest.fail("\n".join(describe_lines(checked)), pytrace=False)
    return checked
