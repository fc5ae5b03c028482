"""What was proved is kept for the next process, and proved anew when anything it depends on changes."""

import contextlib
import json

import pytest
import torch
from tiny import write_model

from shaketable.engine import proof_cache
from shaketable.engine.batch_invariance import _batches, prove
from shaketable.engine.proof import Checks, Proof
from shaketable.engine.sweep import SweepEngine
from shaketable.types import Message, Prompt, Sampling

ASKED = Prompt(
    messages=(Message(role="user", content="a tiny model"),),
    sampling=Sampling(temperature=1.0, max_tokens=8),
    seed=1,
    layout="plain",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_model("llama", tmp_path_factory.mktemp("llama"))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    folder = tmp_path / "proofs"
    monkeypatch.setattr(proof_cache, "folder", lambda: folder)
    return folder


@pytest.fixture
def proved(monkeypatch):
    """The proofs that were really made."""
    made = []
    monkeypatch.setattr(
        "shaketable.engine.sweep.prove", lambda engine, checks: (made.append(prove(engine, checks)), made[-1])[1]
    )
    return made


def test_a_second_engine_takes_what_the_first_has_proved_and_answers_alike(path, kept, proved):
    first, second = SweepEngine(path, n_rows=8), SweepEngine(path, n_rows=8)
    answers = [engine.generate([ASKED])[0].text for engine in (first, second)]
    assert len(proved) == 1
    assert first.proof == second.proof == proved[0]
    assert answers[0] == answers[1]
    [file] = kept.iterdir()
    assert json.loads(file.read_text())["facts"]["torch"] == torch.__version__


def test_a_model_that_is_run_plainly_is_so_from_the_cache_too(path, kept, proved, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("shaketable.engine.shared_prefix.PrefixCache.attend", lambda *_: torch.zeros(1))
        plainly = SweepEngine(path, n_rows=8).generate([ASKED])[0].text
    again = SweepEngine(path, n_rows=8)
    assert again.generate([ASKED])[0].text == plainly
    assert again.proof == Proof(way="alone")
    assert len(proved) == 1


@pytest.mark.parametrize("changed", ["n_rows", "dtype", "threads", "machine", "library", "variable", "proof"])
def test_it_is_proved_anew_when_something_changes_that_it_depends_on(path, kept, proved, monkeypatch, changed):
    _ = SweepEngine(path, n_rows=8).proof
    settings = {"n_rows": {"n_rows": 64}, "dtype": {"dtype": "bfloat16"}}.get(changed, {})
    if changed == "threads":
        monkeypatch.setattr("torch.get_num_threads", lambda: 61)
    elif changed == "machine":
        monkeypatch.setattr(proof_cache, "device_name", lambda device: "another processor")
    elif changed == "library":
        monkeypatch.setattr(proof_cache, "version", lambda library: "99.0")
    elif changed == "variable":
        monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    elif changed == "proof":
        monkeypatch.setattr(proof_cache, "PROOF_VERSION", 999)
    _ = SweepEngine(path, **{"n_rows": 8, **settings}).proof
    assert len(proved) == 2
    assert len(list(kept.iterdir())) == 2


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"facts": {}, "proof": {"way": "any", "least_rows": 1}}'])
def test_a_file_that_says_nothing_of_use_is_proved_anew_and_written_again(path, kept, proved, broken):
    _ = SweepEngine(path, n_rows=8).proof
    [file] = kept.iterdir()
    whole = file.read_text()
    file.write_text(broken)
    _ = SweepEngine(path, n_rows=8).proof
    assert len(proved) == 2
    assert file.read_text() == whole


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(path, kept, proved):
    kept.write_text("a file stands where the folder should be")
    assert SweepEngine(path, n_rows=8).proof == SweepEngine(path, n_rows=8).proof
    assert len(proved) == 2


def test_a_processor_is_told_by_its_name_and_by_what_it_can_do():
    assert proof_cache.device_name("cpu").strip()


def test_a_proof_that_is_killed_after_each_check_comes_to_its_end_and_makes_none_twice(path, kept, monkeypatch):
    class Killed(BaseException):
        pass

    made = []

    def made_and_killed(checks, name, check):
        known = checks.name + name in checks.outcomes
        outcome = holds(checks, name, check)
        if not known:
            made.append(checks.name + name)
            raise Killed
        return outcome

    holds = Checks.holds
    expected = SweepEngine(path, n_rows=8).proof
    for file in kept.iterdir():
        file.unlink()
    monkeypatch.setattr(Checks, "holds", made_and_killed)
    for _ in range(100):
        with contextlib.suppress(Killed):
            assert SweepEngine(path, n_rows=8).proof == expected
            break
    assert len(made) == len(set(made)) > 3
    assert [file.suffix for file in kept.iterdir()] == [".json"]


def test_checks_of_another_machine_or_that_cannot_be_read_are_made_anew(path, kept):
    SweepEngine(path, n_rows=8).proof  # noqa: B018
    [file] = kept.iterdir()
    begun = file.with_suffix(".begun")
    for content in ("{", "[]", '{"facts": {}, "checks": {"the shared prefix fits": false}}'):
        file.unlink()
        begun.write_text(content)
        assert SweepEngine(path, n_rows=8).proof.way != "alone"
        assert not begun.exists()


@pytest.mark.parametrize("n_rows", [8, 32, 128])
def test_no_two_checks_of_a_proof_have_one_name(path, n_rows):
    checks = Checks()
    prove(SweepEngine(path, n_rows=n_rows), checks)
    sizes = len(_batches(n_rows))
    held = [name for name in checks.outcomes if name.startswith("from ") and "decoding" in name]
    assert max(sum(name.startswith(first) for name in held) for first in {n.split(":")[0] for n in held}) == sizes
