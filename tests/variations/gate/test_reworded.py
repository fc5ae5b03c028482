"""Machine variations by a model and by rules: attempts, refusals, what is kept."""

import tomllib
from importlib.resources import files

import pytest
from stand_in_endpoint import StandIn, said

from shaketable.catalog import build, label, spelled
from shaketable.errors import PartError
from shaketable.types import Question, RefusedReply

pytestmark = pytest.mark.weights
QUESTION = Question(id="q", text="Who directed the film Jaws?", answers=("Steven Spielberg",))


def made(name, replies, question=QUESTION, **settings):
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    part = build("variation", f"{name}(by={f'scripted(replies={tuple(replies)!r})'!r}{', ' + given if given else ''})")
    ((variant,),) = part.vary([question])
    assert variant.variation == label(part)
    return variant


def test_a_model_rewords_and_says_who_it_was():
    variant = made("declarative", ["I would like to know who directed the film Jaws."])
    assert variant.rejected is None
    assert variant.provenance["model"] == {"engine": "scripted"}
    assert variant.provenance["prompt"].startswith("reword_declarative:")
    assert variant.provenance["n_attempts"] == 1


@pytest.mark.parametrize(
    ("name", "reply", "reason"),
    [
        ("formality", "Steven Spielberg made the film Jaws.", "it does not ask"),
        ("formality", "Yes, the film Jaws.", "it answers instead of asking"),
        ("declarative", 'The answer to "Who directed the film Jaws?" is unknown.', "it answers instead of asking"),
        ("declarative", "The director who made the film Jaws was honored.", "it states something, expected the wish"),
        ("formality", "I'm sorry, I cannot help with that question.", "it declines instead of asking"),
        ("formality", "The answer: Who's behind directing the film Jaws?", "it talks about the task: 'The answer:'"),
        ("formality", "I'm not sure. Can you tell me who directed the film Jaws?", "it talks about the task"),
        ("formality", "Who directed the film Jaws?", "the same as the original"),
        ("formality", "who directed the film jaws", "the words of the original, in other letters or marks"),
        ("formality", "yo who made that shark movie?", "names lost: Jaws"),
        ("formality", "ERROR", "the model failed: scripted"),
        ("formality", "", "empty"),
        ("formality", "What can Jaws be seen with in the city?", "the original's words are found with 0."),
        ("declarative", "Do you know who directed the film Jaws?", "it ends as a question, expected a statement"),
        ("imperative", "I want to know who directed the film Jaws.", "it is no command"),
        ("readability", "So who directed the film Jaws?", "reading ease"),
        ("grammar", "Who directed that film Jaws?", "the checker finds no error: harper"),
    ],
)
def test_what_is_no_rewording_is_kept_and_not_asked(name, reply, reason):
    variant = made(name, [reply])
    assert variant.rejected.startswith(reason)
    assert variant.provenance["n_attempts"] == 5
    assert len(variant.provenance["rejected_attempts"]) == 4
    assert all(attempt["reason"].startswith(reason) for attempt in variant.provenance["rejected_attempts"])


def test_a_refused_attempt_is_tried_again():
    replies = ["Steven Spielberg.", "hey, who was it that directed the film Jaws?"]
    seeds = [made("formality", replies, seed=seed) for seed in range(8)]
    again = [variant for variant in seeds if variant.provenance["n_attempts"] > 1 and variant.rejected is None]
    assert again
    for variant in again:
        assert variant.text == replies[1]
        assert {attempt["text"] for attempt in variant.provenance["rejected_attempts"]} == {replies[0]}


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    monkeypatch.delenv("SHAKETABLE_OFFLINE", raising=False)
    server = StandIn()
    yield server
    server.server.shutdown()
    server.server.server_close()


def by_endpoint(endpoint):
    model = f"openai(model='m', base_url='{endpoint.url}')"
    return build("variation", f"formality(by={model!r})")


def test_an_endpoint_is_told_why_its_wording_was_refused_and_mends_it(endpoint):
    replies = ["Steven Spielberg.", "So who made that shark film?", "hey, who was it that directed the film Jaws?"]
    endpoint.reply = lambda body, n: said(replies[len(body["messages"]) // 2])
    part = by_endpoint(endpoint)
    (rewording,) = part.reword([QUESTION])
    (variant,) = rewording.variants
    assert (variant.text, variant.rejected) == (replies[2], None)
    assert (variant.provenance["n_attempts"], rewording.making.n_calls) == (3, 3)
    last = endpoint.requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert [message["content"] for message in last[1::2]] == replies[:2]
    assert "It does not ask: 'Steven Spielberg.'. Do not answer the question" in last[2]["content"]
    assert "Names lost: Jaws. Keep these words exactly" in last[4]["content"]
    assert all(QUESTION.text in message["content"] for message in last[::2])


def test_what_one_question_is_told_does_not_depend_on_the_others(endpoint):
    def reply(body, n):
        asked = body["messages"][0]["content"]
        wording = "So who directed Duel, then?" if "Duel" in asked else "hey, who was it that directed the film Jaws?"
        return said(wording if len(body["messages"]) > 1 else "No idea.")

    endpoint.reply = reply
    other = Question(id="r", text="Who directed the film Duel?", answers=("Steven Spielberg",))
    part = by_endpoint(endpoint)
    together = part.vary([QUESTION, other])
    assert together == part.vary([QUESTION]) + part.vary([other])
    assert [variant.provenance["n_attempts"] for (variant,) in together] == [2, 2]


def test_a_model_that_failed_is_asked_as_before():
    part = build("variation", "formality(by='scripted')")
    failed, refused = RefusedReply(text="", feedback="The model failed."), RefusedReply(text="No.", feedback="Ask.")
    first, after_failure = part.prompt(QUESTION), part.prompt(QUESTION, [failed])
    assert after_failure.messages == first.messages and after_failure.seed != first.seed
    assert len(part.prompt(QUESTION, [failed, refused]).messages) == 3


def test_a_model_counts_in_keys_with_its_settings_and_what_it_is_told():
    assert "reword_again:" in spelled(build("variation", "formality(by='smollm2')"))
    assert "reword_again:" not in spelled(build("variation", "formality"))
    cool, warm = (f"formality(by={f'scripted(replies=({reply!r},))'!r})" for reply in ("a", "b"))
    assert spelled(build("variation", cool)) != spelled(build("variation", warm))


@pytest.mark.parametrize(
    ("reply", "is_cut"),
    [
        ("hey, who was it that directed the film Jaws?\n\nI kept the name of", False),
        ("hey, who was it that directed the film Jaws and", True),
    ],
)
def test_a_remark_below_the_wording_may_be_cut_off(endpoint, reply, is_cut):
    endpoint.reply = lambda body, n: said(reply, finish="length")
    ((variant,),) = by_endpoint(endpoint).vary([QUESTION])
    assert (variant.refusal == "reply_cut_off") == is_cut
    assert variant.text == reply.split("\n")[0]


def test_thresholds_are_settings():
    reply = "yo who made that shark movie?"
    assert made("formality", [reply], keep_names=False, min_similarity=0.2).rejected is None


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(PartError, match=r"formality, by: Unknown model 'smolm2'. Did you mean 'smollm2'\?"):
        build("variation", "formality(by='smolm2')").vary([QUESTION])


def test_without_the_encoder_a_wording_is_kept_and_not_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    part = build("variation", f"imperative(encoder={str(tmp_path / 'none')!r})")
    ((variant,),) = part.vary([QUESTION])
    assert variant.rejected.startswith("similarity was not measured: ")
    assert variant.rejected.endswith("Or set min_similarity=0.")
    assert "similarity" not in variant.provenance
    assert variant.provenance["n_attempts"] == 1
    assert variant.text != QUESTION.text


def test_a_long_question_has_room_for_its_wording():
    part = build("variation", "formality(by='scripted')")
    long = Question(id="q", text="Who wrote " + "the very long book " * 200, answers=("x",))
    short, room = (part.prompt(question).sampling.max_tokens for question in (QUESTION, long))
    assert short < 100 < len(long.text.split()) < room
    assert build("variation", "formality(by='scripted', max_tokens=7)").prompt(long).sampling.max_tokens == 7
    with pytest.raises(PartError, match="max_tokens is 0, expected 1 or more"):
        build("variation", "formality(max_tokens=0)")


# --- a rewording model that refuses settings, as OpenAI's reasoning models do ------------------------

PUBLISHED = tomllib.loads((files("shaketable") / "resources/studies/published/query_variation.toml").read_text("utf-8"))
BY_MODEL = [text for text in PUBLISHED["cross"]["variations"] if "by=" in text]


def thinking(body, n):
    """What OpenAI answers for gpt-5-mini."""
    for field, instead in (("max_tokens", "Use 'max_completion_tokens' instead."), ("temperature", "")):
        if field in body:
            error = {"message": f"Unsupported parameter: '{field}' is not supported with this model. {instead}"}
            return 400, {}, {"error": {**error, "type": "invalid_request_error", "param": field}}
    if body.get("max_completion_tokens", 0) < 1000:
        return said("", finish="length")
    return said("Jaws had which director in film?")


@pytest.mark.parametrize("text", BY_MODEL, ids=lambda text: text.partition("(")[0])
def test_the_published_study_gets_its_wordings_of_a_thinking_model(endpoint, text):
    endpoint.reply = thinking
    part = build("variation", text.replace("model='gpt-5-mini'", f"model='gpt-5-mini', base_url='{endpoint.url}'"))
    ((variant,),) = part.vary([QUESTION])
    assert variant.text == "Jaws had which director in film?"
    assert variant.rejected is None
    assert variant.provenance["check"] == "none"
    assert endpoint.requests[0]["max_completion_tokens"] == 4000


def test_the_published_study_asks_five_kinds_of_wordings_of_a_model():
    assert [text.partition("(")[0] for text in BY_MODEL] == [
        *("formality", "readability", "declarative", "imperative", "grammar")
    ]


def test_default_settings_are_refused_by_a_thinking_model(endpoint):
    endpoint.reply = thinking
    by = f"openai(model='gpt-5-mini', base_url='{endpoint.url}')"
    ((variant,),) = build("variation", f"formality(by={by!r}, max_attempts=1)").vary([QUESTION])
    assert variant.refusal == "model_failed"


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("formality", "yo who made that shark movie?"),  # the name is lost
        ("formality", "Was it Spielberg who directed Jaws in 1975?"),
        ("declarative", "Do you know who directed the film Jaws?"),
        ("imperative", "I want to know who directed the film Jaws."),
        ("readability", "So who directed the film Jaws?"),
        ("formality", "who directed the film jaws"),
    ],
)
def test_without_a_gate_every_wording_of_a_model_is_asked(name, reply):
    assert made(name, [reply]).rejected is not None
    variant = made(name, [reply], gate="none")
    assert (variant.rejected, variant.text, variant.provenance["check"]) == (None, reply, "none")


def test_without_a_gate_the_checker_still_asks_for_an_error():
    variant = made("grammar", ["Who directed that film Jaws?"] * 5, gate="none")
    assert variant.rejected is None and variant.provenance["n_attempts"] == 5
    assert made("grammar", ["Who did directed the film Jaws?"], gate="none").provenance["n_attempts"] == 1


@pytest.mark.parametrize("reply", ["", "ERROR"])
def test_without_a_gate_a_missing_wording_stays_missing(reply):
    assert made("formality", [reply], gate="none").rejected is not None


def test_a_model_gate_by_rules_keeps_names_and_numbers():
    assert made("formality", ["yo who made that shark movie?"], gate="rules").rejected == "names lost: Jaws"
    assert made("formality", ["yo who made that Jaws thing?"], gate="rules").rejected is None
