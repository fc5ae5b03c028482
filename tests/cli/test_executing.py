"""Where trials are answered, as the command line says it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.cli.executing import Executor, executor_of, words_of
from shaketable.stages.cluster.executor import Ray


def test_nothing_said_is_this_process():
    assert executor_of(Executor.local, None, None, None, None) is None


def test_options_of_a_cluster_make_its_value():
    expected = Ray(address="h:1", workers=2, worker_cpus=3, worker_gpus=0.5)
    assert executor_of(Executor.ray, "h:1", 2, 3, 0.5) == expected


def test_the_command_that_goes_on_says_the_same():
    assert words_of(None) == []
    assert words_of(Ray(address="h:1", worker_gpus=0.5)) == [
        *("--executor", "ray"),
        *("--address", "h:1"),
        *("--worker-gpus", "0.5"),
    ]


@pytest.mark.parametrize("option", ["--address=h:1", "--workers=2", "--worker-cpus=2", "--worker-gpus=1"])
def test_an_option_of_a_cluster_without_one_is_refused(option):
    done = CliRunner().invoke(app, ["run", "demo", option])
    assert done.exit_code == 2
    assert f"{option.partition('=')[0]} is of a cluster. Add --executor ray" in done.output


def test_a_package_that_is_missing_is_named_with_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["run", "demo", "--executor", "ray", "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "needs the package ray: pip install 'shaketable[ray]'" in " ".join(done.output.split())
    assert not (tmp_path / "run").exists()
