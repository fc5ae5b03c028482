import dataclasses
import json
import shutil

import pytest
from made_studies import REPLIES, answered, row, small_study, study_of, write_rows
from tiny_letters import write_letters

from shaketable.errors import ModelError, PartError, RunError
from shaketable.methods.single_retrieval import SingleRetrieval
from shaketable.stages import evidence_lookup, scheduler
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.run import run
from shaketable.stages.sources import Listed
from shaketable.store import RecordStore, Run
from shaketable.store.verify import verify
from shaketable.types import Completion, Evidence, Generate, Search, Variant

OLD = Completion(text="old", finish_reason="end", n_prompt_tokens=1, n_tokens=1, seconds=0)
EVIDENCE = ["unchanged", "sentence_removal", "sentence_replacement"]


def test_every_trial_gets_one_record_with_its_trace(tmp_path):
    result, records = answered(small_study(tmp_path), tmp_path / "r.sqlite")
    assert (result.n_trials, result.n_reused, result.n_done + result.n_failed, len(records)) == (12, 0, 12, 12)
    record = next(record for record in records.values() if record.failure is None)
    search, generation = record.trace
    assert isinstance(search.step, Search) and isinstance(search.reply, Evidence)
    assert isinstance(generation.step, Generate) and isinstance(generation.reply, Completion)
    assert record.answer.text == generation.reply.text
    assert record.answer.hits == search.reply.hits
    assert record.environment == {"engine": "scripted"}
    assert (record.cost.n_searches, record.cost.n_generations, record.cost.n_tokens) == (1, 1, 1)


@pytest.mark.parametrize(
    "own",
    [{"top_p": 0.9, "top_k": 50}, {"library_defaults": True}],
    ids=["stated in the study", "as the checkpoint and the library have them"],
)
def test_the_published_decoding_of_one_model_is_used_for_it_alone_and_stored(tmp_path, own):
    # Specification, section 6.2: hosted models with top_p 1; Llama with its own top_p .9 and the library's top_k 50.
    folder = write_letters(tmp_path / "llama")
    # What the folders of Llama 3.1 and 3.2 say of sampling: nothing of top_k.
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": 0.6, "top_p": 0.9}')
    shutil.copytree(folder, tmp_path / "other")
    llama, other = (f"transformers(path={str(tmp_path / name)!r})" for name in ("llama", "other"))
    generation = {"max_tokens": 4, "models": {llama: own}}
    study = small_study(
        tmp_path, n=1, models=[llama, other], methods=["recall(layout='plain')"], repeats=1, generation=generation
    )
    _, records = answered(study, tmp_path / "r.sqlite")
    used = {
        (record.trial.model, record.trial.temperature): [
            record.trace[-1].reply.decoding[name] for name in ("temperature", "top_p", "top_k", "max_tokens")
        ]
        for record in records.values()
    }
    assert used == {
        (llama, 0.0): [0.0, 0.9, 50, 4],
        (llama, 1.0): [1.0, 0.9, 50, 4],
        (other, 0.0): [0.0, 1.0, 0, 4],
        (other, 1.0): [1.0, 1.0, 0, 4],
    }


def test_a_model_of_its_own_decoding_has_other_keys_and_the_others_keep_theirs(tmp_path):
    plain = small_study(tmp_path, models=["scripted", REPLIES])
    own = small_study(
        tmp_path, models=["scripted", REPLIES], generation={"max_tokens": 8, "models": {REPLIES: {"top_k": 5}}}
    )
    before, after = ({trial.key for trial, _ in plan(study).trials()} for study in (plain, own))
    assert len(before) == len(after) == 24
    assert len(before & after) == 12


@pytest.mark.parametrize("window", [1, 2, 7, 512])
def test_the_size_of_the_window_changes_nothing(tmp_path, monkeypatch, window):
    study = small_study(tmp_path, n=5, perturbations=EVIDENCE, methods=["single_retrieval", "closed_book"])
    _, expected = answered(study, tmp_path / "expected.sqlite")
    monkeypatch.setattr(scheduler, "WINDOW", window)
    _, found = answered(study, tmp_path / "found.sqlite")
    assert found == expected


def test_the_order_of_questions_and_conditions_changes_nothing(tmp_path):
    rows = [row(n) for n in range(4)]
    one = study_of(write_rows(tmp_path / "a.jsonl", rows), perturbations=EVIDENCE)
    other = study_of(write_rows(tmp_path / "b.jsonl", rows[::-1]), perturbations=EVIDENCE[::-1])
    assert answered(one, tmp_path / "one.sqlite")[1] == answered(other, tmp_path / "other.sqlite")[1]


def test_a_question_alone_gets_the_records_it_gets_among_others(tmp_path):
    alone = study_of(write_rows(tmp_path / "a.jsonl", [row(2)]), perturbations=EVIDENCE)
    among = study_of(write_rows(tmp_path / "b.jsonl", [row(n) for n in range(5)]), perturbations=EVIDENCE)
    _, few = answered(alone, tmp_path / "one.sqlite")
    _, many = answered(among, tmp_path / "other.sqlite")
    assert few == {key: record for key, record in many.items() if record.trial.question_id == "q2"}


def test_answering_again_asks_nothing(tmp_path, with_fake_parts):
    study = small_study(tmp_path, models=["counting"])
    answered(study, tmp_path / "r.sqlite")
    n_asked = len(with_fake_parts.prompts)
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (n_asked, len(with_fake_parts.prompts)) == (12, 12)
    assert (result.n_reused, result.n_done, len(records)) == (12, 0, 12)


def test_a_lost_record_alone_is_asked_again(tmp_path, with_fake_parts):
    study = small_study(tmp_path, models=["counting"])
    _, before = answered(study, tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite") as store, store._connection as connection:
        connection.execute("DELETE FROM records WHERE key = ?", (sorted(before)[5],))
    with_fake_parts.forget()
    result, after = answered(study, tmp_path / "r.sqlite")
    assert (result.n_reused, result.n_done, len(with_fake_parts.prompts)) == (11, 1, 1)
    assert after == before


# --- failures ---------------------------------------------------------------------------------------


def test_a_failure_is_kept_as_a_failure_and_never_as_text(tmp_path):
    _, records = answered(small_study(tmp_path, n=9), tmp_path / "r.sqlite")
    failed = [record for record in records.values() if record.failure is not None]
    assert failed
    assert all(record.answer is None and record.failure.kind == "scripted" for record in failed)
    assert all("ERROR" not in record.answer.text for record in records.values() if record.answer)
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert store.rows("SELECT COUNT(*) FROM records WHERE answer IS NULL") == [(len(failed),)]


def test_failures_that_may_pass_are_tried_again_on_resume(tmp_path, with_fake_parts):
    study = small_study(tmp_path, models=["flaky"])
    with_fake_parts.down.append("busy")
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_done, result.n_failed) == (6, 6)
    assert {record.failure.kind for record in records.values() if record.failure} == {"busy"}
    with_fake_parts.forget()
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_reused, result.n_done, result.n_failed, len(with_fake_parts.prompts)) == (6, 6, 0, 6)
    assert len(records) == 12
    assert not any(record.failure for record in records.values())


def test_failures_for_good_are_not_tried_again(tmp_path, with_fake_parts):
    study = small_study(tmp_path, models=["flaky"])
    with_fake_parts.down.append("too_long")
    answered(study, tmp_path / "r.sqlite")
    with_fake_parts.forget()
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_reused, with_fake_parts.prompts) == (12, [])
    assert sum(record.failure is not None for record in records.values()) == 6


def test_a_method_that_raises_spoils_its_own_records_only(tmp_path, with_fake_parts):
    result, records = answered(small_study(tmp_path, methods=["raising"]), tmp_path / "r.sqlite")
    messages = {record.trial.question_id: record.failure and record.failure.message for record in records.values()}
    assert messages["q1"] == "ZeroDivisionError: at once"
    assert messages["q2"] in ("KeyError: 'later'", "The script says ERROR here.")
    fine = [record for record in records.values() if record.trial.question_id == "q0"]
    assert [record.failure and record.failure.kind for record in fine].count("method") == 0
    assert result.n_trials == len(records) == 12
    later = [r for r in records.values() if r.failure and r.failure.message == "KeyError: 'later'"]
    assert all(len(record.trace) == 1 and record.failure.step == "method" for record in later)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("forgetful", "It returned None; a method returns an Answer."),
        ("asking_wrongly", "It asked for 'please'; a step is a Search, Generate, Probe or Note."),
    ],
)
def test_a_method_that_breaks_its_promise_fails_instead_of_counting_as_done(tmp_path, with_fake_parts, method, message):
    study = small_study(tmp_path, models=["counting"], methods=[method])
    result, records = answered(study, tmp_path / "r.sqlite")
    assert (result.n_done, result.n_failed) == (0, 12)
    assert {record.failure.message for record in records.values()} == {message}


def test_given_evidence_that_is_not_there_is_a_failure_with_advice(tmp_path):
    bare = row(1, documents=[], facts=[])
    study = study_of(write_rows(tmp_path / "a.jsonl", [row(0), bare]), models=["scripted"])
    _, records = answered(study, tmp_path / "r.sqlite")
    failures = {record.trial.question_id: record.failure for record in records.values()}
    assert failures["q0"] is None
    assert (failures["q1"].kind, failures["q1"].step, failures["q1"].may_retry) == ("no_evidence", "search", False)
    assert failures["q1"].message.startswith("Question q1 has no evidence for gold: ")
    assert failures["q1"].message.endswith("Use a dataset with evidence, another retriever, or closed_book.")


def test_a_model_that_returns_too_few_replies_is_named(tmp_path, with_fake_parts):
    with pytest.raises(ModelError, match=r"^short_of_one returned 11 replies for 12 prompts\. A model returns one per"):
        answered(small_study(tmp_path, models=["short_of_one"]), tmp_path / "r.sqlite")


def test_a_streaming_model_that_falls_silent_is_named_instead_of_waited_for(tmp_path, with_fake_parts):
    with pytest.raises(ModelError, match=r"^silent returned nothing while 12 prompts were waiting"):
        answered(small_study(tmp_path, models=["silent"]), tmp_path / "r.sqlite")


def test_a_retriever_that_returns_too_few_lists_is_named(tmp_path, with_fake_parts):
    with pytest.raises(PartError, match=r"^short_search returned 2 values for 3 questions\."):
        answered(small_study(tmp_path, retrievers=["short_search"]), tmp_path / "r.sqlite")


def test_half_a_character_in_a_reply_is_replaced_and_noted(tmp_path, with_fake_parts):
    _, records = answered(small_study(tmp_path, models=["half_emoji"]), tmp_path / "r.sqlite")
    assert {record.answer.text for record in records.values()} == {"Paris �"}
    assert {record.trace[-1].reply.notes for record in records.values()} == {("half_characters_replaced",)}


# --- what methods, models and retrievers see --------------------------------------------------------


def test_a_method_sees_the_wording_alone(tmp_path, with_fake_parts):
    secret = row(0, answers=["A gold answer"], reference="A reference", tags={"hint": "A tag"})
    study = study_of(write_rows(tmp_path / "a.jsonl", [secret]), models=["counting"], methods=["spying"], repeats=1)
    answered(study, tmp_path / "r.sqlite")
    calls = [one for one in with_fake_parts.seen if "args" in one]
    assert (
        calls
        == [{"args": ("Who wrote book 0?",), "kwargs": {}, "fields": {}, "locals": ["args", "kwargs", "self"]}] * 2
    )
    assert "A gold answer" not in repr(with_fake_parts.seen)
    assert not any(word in repr(with_fake_parts.seen) for word in ("A reference", "A tag"))


def test_no_prompt_holds_a_gold_answer_that_the_evidence_does_not(tmp_path, with_fake_parts):
    study = study_of(write_rows(tmp_path / "a.jsonl", [row(0, answers=["Xylophone"])]), models=["counting"])
    answered(study, tmp_path / "r.sqlite")
    assert len(with_fake_parts.prompts) == 4
    assert "Xylophone" not in repr(with_fake_parts.prompts)


@pytest.mark.parametrize("window", [5, 512])
def test_evidence_is_searched_once_and_fixed_for_all_temperatures_and_repeats(
    tmp_path, with_fake_parts, monkeypatch, window
):
    monkeypatch.setattr(scheduler, "WINDOW", window)
    evidence = {"retrievers": ["watched_gold"], "perturbations": EVIDENCE}
    study = small_study(tmp_path, models=["counting"], temperatures=[0.0, 0.5, 1.0], repeats=4, **evidence)
    _, records = answered(study, tmp_path / "r.sqlite")
    # 3 questions x 3 perturbations; a search for each, not one for each of the 108 trials
    assert (len(records), len(with_fake_parts.searched)) == (108, 9)
    evidence = {}
    for record in records.values():
        place = record.trial.question_id, record.trial.perturbation
        evidence.setdefault(place, set()).add(repr(record.trace[0].reply))
    assert len(evidence) == 9
    assert all(len(found) == 1 for found in evidence.values())


def test_evidence_that_was_forgotten_is_found_the_same_again(tmp_path, monkeypatch):
    study = small_study(tmp_path, n=6, perturbations=EVIDENCE)
    _, expected = answered(study, tmp_path / "expected.sqlite")
    monkeypatch.setattr(evidence_lookup, "KEPT_EVIDENCE", 1)
    monkeypatch.setattr(scheduler, "WINDOW", 3)
    assert answered(study, tmp_path / "found.sqlite")[1] == expected


def test_slow_questions_do_not_hold_the_others(tmp_path, with_fake_parts, monkeypatch):
    monkeypatch.setattr(scheduler, "WINDOW", 3)
    study = small_study(tmp_path, n=6, models=["out_of_order"], temperatures=[0.0], repeats=1)
    slow = next(i for i, (trial, _) in enumerate(plan(study).trials()) if trial.question_id == "q0")
    _, records = answered(study, tmp_path / "r.sqlite")
    assert len(records) == 6
    assert sorted(with_fake_parts.finished).index(with_fake_parts.finished[-1]) == slow
    seeds = {record.trial.seed: record.answer.text for record in records.values()}
    assert seeds == {seed: f"answer {seed}" for seed in seeds}


def test_replies_out_of_order_reach_their_own_trials(tmp_path, with_fake_parts):
    shared = {"methods": ["two_steps"], "perturbations": EVIDENCE}
    _, one = answered(small_study(tmp_path, models=["counting"], **shared), tmp_path / "one.sqlite")
    _, other = answered(small_study(tmp_path, models=["out_of_order"], **shared), tmp_path / "other.sqlite")
    assert len(one) == len(other) == 36
    for record in other.values():
        assert record.answer.working == f"answer {record.trial.seed}"
        assert (record.cost.n_searches, record.cost.n_generations) == (2, 2)
        assert (record.cost.n_prompt_tokens, record.cost.n_tokens, record.cost.seconds) == (10, 2, 0.5)


def test_a_method_may_fix_sampling_for_one_step_and_every_step_has_its_own_seed(tmp_path, with_fake_parts):
    study = small_study(tmp_path, n=1, models=["counting"], methods=["two_steps"], temperatures=[1.0], repeats=1)
    answered(study, tmp_path / "r.sqlite")
    draft, final = with_fake_parts.prompts
    assert (draft.sampling.temperature, draft.sampling.max_tokens, draft.sampling.stop) == (0.7, 3, ("\n",))
    assert (final.sampling.temperature, final.sampling.max_tokens, final.sampling.stop) == (1.0, 8, ())
    [(trial, _)] = plan(study).trials()
    assert draft.seed == trial.seed != final.seed


def test_the_studys_sampling_reaches_the_model_unchanged(tmp_path, with_fake_parts):
    generation = {"max_tokens": 7, "top_p": 0.9, "top_k": 3, "repetition_penalty": 1.1, "logprobs": True}
    answered(small_study(tmp_path, n=1, models=["counting"], generation=generation), tmp_path / "r.sqlite")
    for prompt in with_fake_parts.prompts:
        sampling = prompt.sampling
        assert (sampling.max_tokens, sampling.top_p, sampling.top_k, sampling.repetition_penalty) == (7, 0.9, 3, 1.1)
        assert prompt.wants == ("logprobs",)
    assert sorted(prompt.sampling.temperature for prompt in with_fake_parts.prompts) == [0.0, 0.0, 1.0, 1.0]


# --- old records ------------------------------------------------------------------------------------


def test_records_of_an_older_version_of_a_part_are_never_mixed_with_new_ones(tmp_path, monkeypatch):
    study = small_study(tmp_path)
    _, before = answered(study, tmp_path / "r.sqlite")
    monkeypatch.setattr(SingleRetrieval, "version", SingleRetrieval.version + 1)
    with pytest.raises(
        RunError, match=r"holds 12 records that this study does not plan: .* Give a new folder with --out"
    ):
        answered(study, tmp_path / "r.sqlite")
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert {record.trial.key: record for record in store.records()} == before


def test_records_of_changed_data_are_never_mixed_with_new_ones(tmp_path):
    study = small_study(tmp_path)
    answered(study, tmp_path / "r.sqlite")
    write_rows(tmp_path / "questions.jsonl", [row(0), row(1), row(2, question="Whose book is it?")])
    with pytest.raises(RunError, match="holds 4 records that this study does not plan"):
        answered(study, tmp_path / "r.sqlite")


def test_corrected_gold_answers_go_into_the_old_run(tmp_path, with_fake_parts):
    study = small_study(tmp_path, models=["counting"])
    answered(study, tmp_path / "r.sqlite")
    write_rows(tmp_path / "questions.jsonl", [row(0), row(1), row(2, answers=["Better"])])
    with_fake_parts.forget()
    result, _ = answered(study, tmp_path / "r.sqlite")
    assert (result.n_reused, with_fake_parts.prompts) == (12, [])
    with RecordStore(tmp_path / "r.sqlite", read_only=True) as store:
        assert {q.id: q.answers for q in store.questions()}["q2"] == ("Better",)


def test_progress_is_told_what_is_stored(tmp_path):
    ticks = []
    with RecordStore(tmp_path / "r.sqlite") as store:
        answer(plan(small_study(tmp_path, models=["scripted"])), store, ticks.append)
    assert [(tick.n_done, tick.n_failed, tick.n_tokens) for tick in ticks][-1] == (12, 0, 12 * 4)


def test_rejected_wordings_are_kept_with_their_reasons_and_never_asked(tmp_path):
    rewrites = tmp_path / "rewrites.jsonl"
    lines = [{"id": "q0", "rewrite": "Who was it?"}, {"id": "q1", "rewrite": " "}, {"id": "q2", "rewrite": ""}]
    rewrites.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    study = small_study(tmp_path, variations=["original", f"rewrites(path='{rewrites}')"])
    made = run(study, tmp_path / "run")
    assert {record.trial.variant.rejected for record in made.store.records()} == {None}
    (row,) = made.rejected()
    assert (row.reason, row.n, row.variation.partition("(")[0]) == ("empty", 2, "rewrites")
    page = (made.folder / "report.html").read_text("utf-8")
    assert '<a href="#rejected">rewordings rejected</a>' in page and "Rewordings that were not asked" in page
    assert verify(made.store).problems == ()


def test_like_reasons_are_counted_together(tmp_path):
    made = run(small_study(tmp_path), tmp_path / "run")
    reasons = ("similarity 0.61 to the original, expected 0.7 or more", "names lost: Rome", "names lost: Paris, Lyon")
    with made.writing() as store:
        store.add_rejected(
            [
                Variant(question_id="q0", text=f"wording {i}", variation="formality", rejected=reason)
                for i, reason in enumerate(reasons)
            ]
        )
    assert [(row.reason, row.n, row.example) for row in Run(made.folder).rejected()] == [
        ("names lost", 2, "wording 1"),
        ("similarity … to the original, expected … or more", 1, "wording 0"),
    ]


def test_a_run_that_was_interrupted_leaves_nothing_behind_in_a_model_that_goes_on(tmp_path):
    """As in a notebook: the same model, still with prompts under way, is asked again."""
    model = f"transformers(path={str(write_letters(tmp_path / 'letters'))!r}, n_rows=2)"
    made = {"models": [model], "methods": ["recall(layout='plain')"], "generation": {"max_tokens": 4}}
    study = small_study(tmp_path, n=4, **made)
    _, undisturbed = answered(study, tmp_path / "undisturbed.sqlite")

    def interrupt(tick):
        raise KeyboardInterrupt

    planned = plan(study)
    with RecordStore(tmp_path / "r.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            answer(planned, store, interrupt)
        n_kept = store.n_finished()
        answer(planned, store)
        again = {record.trial.key: record.answer.text for record in store.records()}
    assert 0 < n_kept < len(again)
    assert again == {key: record.answer.text for key, record in undisturbed.items()}


def test_a_streaming_model_that_cannot_forget_answers_nobody_who_asked_before(tmp_path):
    planned = plan(small_study(tmp_path, n=1))

    class Late:
        """Its first reply belongs to a run that is over."""

        version, gives = 1, frozenset()

        def __init__(self):
            self.replies = [(-1, OLD)]

        def submit(self, ticket, prompt):
            self.replies.append((ticket, dataclasses.replace(OLD, text="new")))

        def collect(self):
            taken, self.replies = self.replies[:1], self.replies[1:]
            return taken

        def generate(self, prompts):
            raise AssertionError

        def environment(self):
            return {}

    taken = []

    class Kept:
        def append(self, records, environment):
            taken.extend(record.answer.text for record, _ in records)

    scheduler.Scheduler(planned, Kept(), lambda tick: None).run(Late(), Listed(planned.trials()))
    assert set(taken) == {"new"}
    assert len(taken) == planned.n_trials
