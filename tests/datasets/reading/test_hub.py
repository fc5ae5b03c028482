"""Which files of a dataset are read: one layout, one configuration, one split."""

from __future__ import annotations

import pytest

from shaketable.datasets.reading.hub import choose_files, is_hub_name
from shaketable.errors import DataError


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["data/train-0.parquet", "data/test-0.parquet"], ["data/test-0.parquet"]),
        (["train.csv", "dev.csv", "README.md"], ["dev.csv"]),
        (["train.jsonl", "train.parquet"], ["train.parquet"]),
        (["a.jsonl.gz"], ["a.jsonl.gz"]),
        (["x/train-0.parquet", "x/train-1.parquet"], ["x/train-0.parquet", "x/train-1.parquet"]),
        (["default/val.csv", "other/val.csv"], ["default/val.csv"]),
        ([".cache/test.parquet", "dataset_infos.json", "rows.json"], ["rows.json"]),
    ],
)
def test_the_split_with_answers_is_taken(names, chosen):
    assert list(choose_files(names, "d", None, None).names) == chosen


def test_a_split_and_a_configuration_are_taken_by_name():
    names = ["hard/train.csv", "hard/test.csv", "easy/train.csv"]
    chosen = choose_files(names, "d", "hard", "train")
    assert (chosen.names, chosen.configuration, chosen.split) == (("hard/train.csv",), "hard", "train")


@pytest.mark.parametrize(
    ("names", "configuration", "split", "message"),
    [
        (["README.md"], None, None, "d has no files of rows"),
        (["a/train.csv", "b/train.csv"], None, None, "several configurations: a, b. Name one: configuration = 'a'"),
        (["train.csv"], None, "trian", r"no split 'trian'. Did you mean 'train'\? Splits: train"),
        (["a/train.csv"], "aa", None, "no configuration 'aa'.*Configurations: a"),
        (["one.csv", "two.csv"], None, None, "2 files of rows: one.csv, two.csv. Give the path"),
    ],
)
def test_what_cannot_be_decided_names_the_choices(names, configuration, split, message):
    with pytest.raises(DataError, match=message):
        choose_files(names, "d", configuration, split)


def test_a_file_of_that_name_is_no_name_on_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_hub_name("someone/questions")
    (tmp_path / "someone").mkdir()
    (tmp_path / "someone" / "questions").touch()
    assert not is_hub_name("someone/questions")
    assert not is_hub_name("questions")
