"""Functions and classes of a script become parts: settings, keys, clashes, and what they may do wrong."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import random
import sys
import threading
from dataclasses import dataclass
from typing import ClassVar

import pytest
from capitals import answers, run_into
from made_records import record

import shaketable
from shaketable import catalog
from shaketable.errors import PartError, ShaketableError
from shaketable.identity import seed_from
from shaketable.methods.asking import generate, search
from shaketable.metrics.scoring import NO_GOLD
from shaketable.types import Message, Prompt, Question, Sampling, Variant


def ask(model, text="Who?", temperature=0.0):
    sampling = Sampling(temperature=temperature, max_tokens=8)
    [reply] = model.generate([Prompt(messages=(Message(role="user", content=text),), sampling=sampling, seed=7)])
    return reply


def load(folder, text, name="brought"):
    """A module of its own, as a script is; loading it again is running the script again."""
    file = folder / f"{name}.py"
    file.write_text(f"import shaketable\n{text}")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    import linecache

    linecache.checkcache()
    # Not by its loader: Python keeps what it compiled by the second and the size of a file, and both may be the same.
    exec(compile(file.read_text(), str(file), "exec"), vars(module))
    return module


# --- metrics --------------------------------------------------------------------------------------


def test_a_function_of_an_answer_is_a_metric_with_settings(tmp_path):
    @shaketable.metric
    def begins_so(answer: str, question: Question, n: int = 1) -> bool:
        return answer[:n] == question.answers[0][:n]

    run = run_into(tmp_path / "run", metrics=["begins_so(n=5)", functools.partial(begins_so, n=5)][:1])
    values = dict(run.score_table().select("question_id", "value").iter_rows())
    assert values == {"Paris": 1.0, "Rome": 0.0, "Oslo": 0.0}
    assert begins_so("Paris", Question(id="q", text="?", answers=("Pisa",)))  # The function stays what it was.
    assert run.main_metric() == run.judging_metric() == "begins_so"  # It promises a bool: its mean is a share.


def test_a_metric_that_needs_answers_is_asked_of_no_question_without_them():
    @shaketable.metric(needs_answers=True)
    def begins_so(answer: str, question: Question) -> bool:
        return answer[0] == question.answers[0][0]

    asked = {gold: Question(id=gold, text="?", answers=golds) for gold, golds in (("Paris", ("Pisa",)), ("none", ()))}
    records = [record("Paris", question, key=id) for id, question in asked.items()]
    scores = catalog.build("metric", "begins_so").score(records, asked)
    assert [[(own.value, own.reason) for own in each] for each in scores] == [[(1.0, None)], [(None, NO_GOLD)]]


def test_a_metric_has_no_number_where_it_gives_none_or_raises(tmp_path):
    @shaketable.metric
    def picky(answer, question):
        if question.id == "Rome":
            raise KeyError("Rome")
        return None if question.id == "Oslo" else 0.25

    run = run_into(tmp_path / "run", metrics=[picky])
    rows = run.score_table().select("question_id", "value", "reason").rows()
    assert sorted(rows) == [
        ("Oslo", None, "the metric gave no value"),
        ("Paris", 0.25, None),
        ("Rome", None, "KeyError: 'Rome'"),
    ]


@pytest.mark.parametrize("value", ["'0.5'", "float('nan')", "'yes'", "[1]"])
def test_a_metric_that_returns_no_number_is_named(tmp_path, value):
    load(tmp_path, f"@shaketable.metric\ndef wrong(answer):\n    return {value}\n")
    with pytest.raises(ShaketableError, match=r"wrong returned .* for question \w+\. A metric returns a number"):
        run_into(tmp_path / "run", metrics=["wrong"])


def test_a_metric_that_always_raises_stops_scoring_and_names_its_line(tmp_path):
    load(tmp_path, "@shaketable.metric\ndef broken(answer):\n    x = 1\n    return answer.nothing\n")
    with pytest.raises(PartError, match=r"broken, line 5, raised AttributeError: .*and for all others"):
        run_into(tmp_path / "run", metrics=["broken"])


# --- evidence -------------------------------------------------------------------------------------


def test_a_function_of_sentences_is_a_perturbation_with_an_exact_log(tmp_path):
    @shaketable.perturbation
    def halved(sentences, rng, keep_first: bool = True):
        drawn = rng.random()
        return [sentences[0] if keep_first else f"{drawn:.6f}", *(None for _ in sentences[1:])]

    run = run_into(tmp_path / "run", perturbations=["unchanged", halved, "halved(keep_first=False, seed=3)"])
    records = list(run.store.records())
    edits = {(record.trial.question_id, record.trial.perturbation): record.trace[0].reply.edits for record in records}
    assert not edits["Paris", "unchanged"]
    [removed] = edits["Paris", "halved"]
    assert (removed.kind, removed.sentence_id, removed.before) == ("remove", "France#1", "It is old, as France is.")
    rewritten = edits["Paris", "halved(keep_first=False, seed=3)"][0]
    # One question has one disturbed context in a whole study: its draws come from the seed, the part and its id.
    assert rewritten.after == f"{random.Random(seed_from(3, 'halved', 'Paris')).random():.6f}"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return sentences[:1]", "returned 1 sentences for the 2 of question"),
        ("return 'one text'", "returned 'one text' for the 2 of question"),
        ("return [3 for _ in sentences]", "returned 3 for a sentence of question"),
        ("return [s / 2 for s in sentences]", "raised TypeError"),
    ],
)
def test_a_perturbation_that_returns_something_else_is_named(tmp_path, body, told):
    load(tmp_path, f"@shaketable.perturbation\ndef wrong(sentences):\n    {body}\n")
    with pytest.raises(PartError, match=told):
        run_into(tmp_path / "run", perturbations=["wrong"])


def test_evidence_that_nothing_changes_in_is_flagged(tmp_path):
    @shaketable.perturbation
    def idle(sentences):
        return sentences

    run = run_into(tmp_path / "run", perturbations=["unchanged", idle])
    assert [(flag.flag, flag.n) for flag in run.flags()] == [("nothing_changed", 3)]


def test_a_function_of_a_query_is_a_retriever(tmp_path):
    @shaketable.retriever
    def own_search(query, k, question):
        return [{"text": "Rome is old. It is the capital.", "title": "Rome", "score": 2}, "Unrelated."][:k]

    run = run_into(tmp_path / "run", retrievers=[own_search], methods=["single_retrieval(k=1)"])
    [hit] = next(iter(run.store.records())).trace[0].reply.hits
    assert (hit.passage.title, hit.score, hit.source) == ("Rome", 2.0, "own_search")
    assert [sentence.text for sentence in hit.passage.sentences] == ["Rome is old.", "It is the capital."]


def test_a_search_that_raises_spoils_its_trials_alone(tmp_path):
    @shaketable.retriever
    def down(query):
        raise OSError("no index")

    run = run_into(tmp_path / "run", retrievers=["gold", down])
    assert [(failure.kind, failure.n) for failure in run.failures()] == [("retriever", 3)]
    assert "no index" in run.failures()[0].message


# --- wordings and methods -------------------------------------------------------------------------


def test_a_function_of_a_question_is_a_variation():
    @shaketable.variation
    def politely(text, question, rng, please: str = "Please:"):
        return None if question.id == "Oslo" else [f"{please} {text}", f"{text} {rng.random():.6f}"]

    part = catalog.build("variation", "politely(please='Now:', seed=2)")
    [rome, [oslo]] = part.vary([Question(id=city, text="Where?", answers=("x",)) for city in ("Rome", "Oslo")])
    drawn = random.Random(seed_from(2, "politely", "Rome")).random()
    assert [variant.text for variant in rome] == ["Now: Where?", f"Where? {drawn:.6f}"]
    assert {variant.variation for variant in rome} == {"politely(please='Now:', seed=2)"}
    assert oslo.rejected == "the variation gave no wording"


@pytest.mark.parametrize(
    "body", ["return ''", "return [text, 3]", "return 5", "return 0", "return b'Who?'", "yield text\n    yield 5"]
)
def test_a_variation_that_returns_no_wording_is_named(tmp_path, body):
    load(tmp_path, f"@shaketable.variation\ndef wrong(text):\n    {body}\n")
    with pytest.raises(PartError, match="A variation returns a wording, a list of wordings, or None"):
        catalog.build("variation", "wrong").vary([Question(id="q", text="Where?", answers=("x",))])


def test_a_variation_that_raises_on_its_way_is_named(tmp_path):
    load(tmp_path, "@shaketable.variation\ndef wrong(text):\n    yield text\n    raise KeyError('way')\n")
    with pytest.raises(PartError, match=r"wrong, line 5, raised KeyError: 'way' for question q\."):
        catalog.build("variation", "wrong").vary([Question(id="q", text="Where?", answers=("x",))])


def test_a_generator_of_steps_is_a_method(tmp_path):
    @shaketable.method
    def quoted(wording, k: int = 1):
        hits = yield from search(wording, k)
        reply = yield from generate(f"{hits[0].passage.text} {wording}")
        return f"{reply.text}, as they say"

    run = run_into(tmp_path / "run", methods=[quoted])
    assert set(answers(run).values()) == {"Paris, as they say"}


def test_a_method_that_returns_nothing_is_a_recorded_failure(tmp_path):
    @shaketable.method(searches=False)
    def silent(wording):
        yield from generate(wording)

    run = run_into(tmp_path / "run", methods=["closed_book", silent])
    assert [(failure.kind, failure.n) for failure in run.failures()] == [("method", 3)]
    assert "returned None" in run.failures()[0].message


# --- half characters ------------------------------------------------------------------------------

HALF = "half \udce9"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("raise ValueError(half)", "ValueError: half ?"),
        ("return half", "half ?"),
        ("return shaketable.Answer(text='x', working=half, reason=half, hits=(hit,))", "x"),
        ("yield Note(name=half, values={half: [half]})\n    return 'noted'", "noted"),
        ("yield from search(half, 1)\n    return 'searched'", "searched"),
        ("yield from generate(half)\n    return 'asked'", "asked"),
    ],
)
def test_half_a_character_of_a_method_spoils_no_run(tmp_path, body, kept):
    head = "from shaketable.methods.asking import generate, search\nfrom shaketable.types import Hit, Note, Passage\n"
    head += f"half = {HALF!r}\npassage = Passage(id='p', title=half, sentences=())\n"
    head += "hit = Hit(passage=passage, rank=1, score=None, source='me')\n"
    load(tmp_path, f"{head}@shaketable.method\ndef halves(wording):\n    {body}\n")
    run = run_into(tmp_path / "run", methods=["halves", "closed_book"])
    records = [record for record in run.store.records() if record.trial.method == "halves"]
    assert {record.answer.text if record.answer else record.failure.message for record in records} == {kept}
    assert len(records) == 3
    assert "\udce9" not in repr(records).encode("unicode_escape").decode()


def test_half_a_character_of_a_retriever_or_a_perturbation_is_replaced(tmp_path):
    @shaketable.retriever
    def halves(query, k):
        return [{"text": f"Paris {HALF}.", "title": HALF, "id": HALF}]

    @shaketable.retriever
    def down(query):
        raise OSError(HALF)

    @shaketable.perturbation
    def halved(sentences):
        return [f"{HALF} {sentence}" for sentence in sentences]

    run = run_into(tmp_path / "run", retrievers=[halves, down], perturbations=["unchanged", halved])
    found = {record.trial.perturbation: record.trace[0].reply for record in run.store.records() if record.answer}
    assert found["unchanged"].hits[0].passage.text == "Paris half ?."
    assert found["halved"].hits[0].passage.text == "half ? Paris half ?."
    [edit] = found["halved"].edits
    assert (edit.before, edit.after) == ("Paris half ?.", "half ? Paris half ?.")
    [failure] = run.failures()
    assert "OSError: half ?" in failure.message


def test_half_a_character_of_a_variation_is_replaced(tmp_path):
    @shaketable.variation
    def halved(text):
        return [f"{text} {HALF}", f"{text} half ?", HALF]

    @shaketable.variation
    @dataclass(frozen=True, kw_only=True)
    class Halving:
        def vary(self, questions):
            return [
                [Variant(question_id=q.id, text=HALF, variation="halving", provenance={"by": HALF})] for q in questions
            ]

    run = run_into(tmp_path / "run", variations=["original", halved, Halving()])
    wordings = {record.trial.variant.text for record in run.store.records() if record.trial.question_id == "Oslo"}
    asked = "What is the capital of Norway?"
    assert wordings == {asked, f"{asked} half ?", "half ?"}


def test_half_a_character_of_a_model_or_its_failure_is_replaced(tmp_path):
    @shaketable.model
    def halves(prompt):
        if "Italy" in prompt:
            raise ValueError(HALF)
        return {"text": HALF, "contexts": [HALF]}

    run = run_into(tmp_path / "run", models=[halves], methods=["closed_book"])
    assert [failure.n for failure in run.failures()] == [1]
    assert "ValueError: half ?" in run.failures()[0].message
    assert answers(run)["Oslo"] == "half \N{REPLACEMENT CHARACTER}"


def test_half_a_character_of_a_metric_that_raises_is_replaced(tmp_path):
    @shaketable.metric
    def picky(answer, question):
        if question.id == "Rome":
            raise ValueError(HALF)
        return 1

    run = run_into(tmp_path / "run", metrics=[picky])
    assert set(run.score_table().get_column("reason")) == {None, "ValueError: half ?"}


# --- models and pipelines -------------------------------------------------------------------------


def test_a_function_of_a_prompt_is_a_model():
    @shaketable.model
    def parrot(prompt, temperature, max_tokens, loud: bool = False):
        return {"text": f"{prompt.upper() if loud else prompt} {temperature} {max_tokens}", "tokens": 3}

    reply = ask(catalog.build("model", "parrot(loud=True, name='bird')"), temperature=0.5)
    assert (reply.text, reply.n_tokens) == ("WHO? 0.5 8", 3)


def test_a_model_may_take_messages_and_be_awaited():
    @shaketable.model
    async def slow(messages):
        await asyncio.sleep(0)
        return messages[-1]["content"]

    model = catalog.build("model", "slow")
    assert ask(model).text == "Who?"
    assert not model.takes_temperature


def test_a_pipeline_fails_as_a_record_and_the_run_goes_on(tmp_path):
    held = threading.Event()

    def answer(question, context, temperature):
        if "Italy" in question:
            raise ValueError("no Italy")
        if "Norway" in question:
            held.wait(30)
        return context.split()[0]

    shaketable.pipeline(answer, name="app", version=1)
    run = run_into(tmp_path / "run", models=["app(time_limit=0.2)"], temperatures=[0.0])
    held.set()
    assert answers(run)["Paris"] == "Paris"
    kinds = {failure.kind: failure.message for failure in run.failures()}
    assert kinds.keys() == {"pipeline", "timeout"}
    assert "ValueError: no Italy" in kinds["pipeline"]
    assert "0.2 seconds" in kinds["timeout"]


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        ("return None", "bad_reply", "returned None"),
        ("return 3", "bad_reply", "int: 3"),
        ("raise SystemExit(2)", "exited", "sys.exit(2)"),
        ("raise KeyboardInterrupt", "pipeline", "KeyboardInterrupt"),
    ],
)
def test_what_a_pipeline_does_wrong_is_told(tmp_path, body, kind, told):
    load(tmp_path, f"@shaketable.pipeline\ndef wrong(question):\n    {body}\n")
    failure = ask(catalog.build("model", "wrong"))
    assert failure.kind == kind
    assert told in failure.message


def test_a_pipeline_hands_its_own_passages_over(tmp_path):
    @shaketable.pipeline
    def own_index(question, disturb):
        passages = disturb([{"text": "Paris is in France. It is old.", "title": "France"}])
        return " ".join(passage["text"] for passage in passages)

    @shaketable.perturbation
    def first_alone(sentences):
        return [sentences[0], *(None for _ in sentences[1:])]

    run = run_into(tmp_path / "run", models=[own_index], perturbations=["unchanged", first_alone])
    rows = set(run.records().select("perturbation", "answer").iter_rows())
    assert rows == {("unchanged", "Paris is in France. It is old."), ("first_alone", "Paris is in France.")}


# --- classes and analyses -------------------------------------------------------------------------


def test_a_class_is_registered_as_it_is():
    @shaketable.perturbation
    @dataclass(frozen=True, kw_only=True)
    class Nothing:
        n: int = 1
        version: ClassVar[int] = 4

        def perturb(self, questions, hits):
            return []

    assert catalog.written(catalog.build("perturbation", "nothing(n=2)")) == "nothing(n=2)"
    assert "@4#" in catalog.spelled(catalog.build("perturbation", "nothing"))


def test_an_analysis_is_a_function_that_promises_its_result(tmp_path):
    @dataclass(frozen=True)
    class Longest:
        characters: int

    def longest(tables, least: int = 0):
        return Longest(max(least, tables.records["answer"].str.len_chars().max()))

    with pytest.raises(PartError, match="longest does not promise what it returns"):
        shaketable.analysis(longest, version=1)
    longest.__annotations__["return"] = Longest
    shaketable.analysis(longest, version=1)
    run = run_into(tmp_path / "run", analyses=["longest", "longest(least=9)"], whole=True)
    assert [finding.result.characters for finding in run.findings().findings] == [5, 9]


# --- names, signatures, keys ----------------------------------------------------------------------

WRONG = [
    ("def contains(answer): ...", "There is a metric 'contains' already"),
    ("def none(): ...", "none() takes nothing. The first parameter of a metric is the answer, as text."),
    ("def more(answer, qestion): ...", "nothing gives 'qestion'. Did you mean 'question'?"),
    ("def lists(answer, words=[]): ...", "the default of 'words' is [], which a study cannot write"),
    ("def many(answer, **settings): ...", "write out what it takes instead of '**settings'"),
    ("def taken(answer, version=1): ...", "a setting cannot be called 'version'"),
]


@pytest.mark.parametrize(("code", "told"), WRONG)
def test_a_bad_function_is_told_what_is_wrong(tmp_path, code, told):
    with pytest.raises(PartError) as error:
        load(tmp_path, f"@shaketable.metric\n{code}\n")
    assert told in str(error.value)


def test_a_class_that_keeps_no_promise_is_told_what_it_lacks():
    with pytest.raises(PartError, match="Plain is no dataclass"):

        @shaketable.metric
        class Plain:
            pass

    with pytest.raises(PartError, match="Empty is no metric: it has no score"):

        @shaketable.metric
        @dataclass(frozen=True)
        class Empty:
            pass


def test_a_wrong_setting_is_refused_as_of_any_part(tmp_path):
    load(tmp_path, "@shaketable.metric\ndef own(answer, n: int = 1, strict=False):\n    return n\n")
    with pytest.raises(PartError, match="own: 'strict' is 'yes'"):
        catalog.build("metric", "own(strict='yes')")
    with pytest.raises(PartError, match=r"own has no setting 'm'\. Settings: n, strict"):
        catalog.build("metric", "own(m=2)")


def test_two_scripts_cannot_share_a_name_and_one_may_run_again(tmp_path):
    load(tmp_path, "@shaketable.metric\ndef own(answer):\n    return 1\n")
    before = catalog.spelled(catalog.build("metric", "own"))
    load(tmp_path, "# A remark.\n@shaketable.metric\ndef own(answer):\n    return 1\n")
    assert catalog.spelled(catalog.build("metric", "own")) == before
    load(tmp_path, "@shaketable.metric\ndef own(answer):\n    return 2\n")
    assert catalog.spelled(catalog.build("metric", "own")) != before
    with pytest.raises(PartError, match=r"other.py: own: a metric 'own' is registered already, by brought.py: own"):
        load(tmp_path, "@shaketable.metric\ndef own(answer):\n    return 1\n", "other")


def test_keys_know_what_a_function_uses_of_its_module(tmp_path):
    code = "WORD = {word!r}\ndef helper(text):\n    return {helper}\n"
    code += "@shaketable.metric\ndef own(answer):\n    return helper(answer) == WORD\n"
    spelled = []
    for word, helper in (("a", "text"), ("b", "text"), ("a", "text.lower()"), ("a", "text")):
        load(tmp_path, code.format(word=word, helper=helper))
        spelled.append(catalog.spelled(catalog.build("metric", "own")))
    assert len(set(spelled)) == 3
    assert spelled[0] == spelled[3]


def test_code_that_cannot_be_read_needs_a_version():
    space: dict = {"shaketable": shaketable}
    code = "def typed(answer):\n    return 1\n"
    exec(code, space)
    with pytest.raises(PartError, match=r"it was typed at a prompt.*@shaketable.metric\(version=1\)"):
        shaketable.metric(space["typed"])
    shaketable.metric(space["typed"], version=1)
    first = catalog.spelled(catalog.build("metric", "typed"))
    shaketable.metric(space["typed"], version=2)
    assert catalog.spelled(catalog.build("metric", "typed")) != first


def test_functions_made_by_a_function_are_told_apart_by_what_they_hold():
    def make(n, more=None):
        def held(answer):
            return n + len(more or ())

        return held

    shaketable.metric(make(1))
    first = catalog.spelled(catalog.build("metric", "held"))
    shaketable.metric(make(2))
    assert catalog.spelled(catalog.build("metric", "held")) != first
    with pytest.raises(PartError, match="it uses 'more' of the function around it, which is list"):
        shaketable.metric(make(1, [3]))


def test_changed_code_of_a_metric_scores_again_and_of_a_system_is_refused(tmp_path):
    load(tmp_path, "@shaketable.metric\ndef own(answer):\n    return 1\n")
    load(tmp_path, "@shaketable.pipeline\ndef app(question):\n    return 'Paris'\n", "app")
    run = run_into(tmp_path / "run", metrics=["own"], models=["app"])
    load(tmp_path, "@shaketable.metric\ndef own(answer):\n    return 2\n")
    assert not run.has_current_scores()
    assert run_into(tmp_path / "run", metrics=["own"], models=["app"]).scores()["value"].to_list() == [2, 2, 2]
    load(tmp_path, "@shaketable.pipeline\ndef app(question):\n    return 'Rome'\n", "app")
    with pytest.raises(ShaketableError, match="holds 3 records that this study does not plan"):
        run_into(tmp_path / "run", metrics=["own"], models=["app"])


def test_another_process_is_told_what_it_lacks(tmp_path):
    load(tmp_path, "@shaketable.metric\ndef own(answer):\n    return 1\n")
    run = run_into(tmp_path / "run", metrics=["contains", "own"], whole=True)
    assert run.study.in_process["metric"]["own"].startswith("brought.py: own (source ")
    for parts in catalog._REGISTERED.values():
        parts.clear()
    again = shaketable.Run(tmp_path / "run")
    assert (len(again.records()), len(again.scores())) == (3, 6)
    assert again.has_current_findings()  # What was scored stands, and can be reported and held against a gate.
    assert shaketable.write_report(again).is_file()
    with pytest.raises(PartError, match=r"the metric 'own' is not in this process. The run was made with brought.py"):
        shaketable.score(again)
    with pytest.raises(PartError, match="the dataset 'questions' is not in this process"):
        shaketable.plan(again.study)
