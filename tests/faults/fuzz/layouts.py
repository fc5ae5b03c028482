"""One small valid record for each layout that a dataset loader knows, and for a file of answers."""

from __future__ import annotations

from typing import Any

TITLED = {
    "_id": "q1",
    "question": "Which was founded first?",
    "answer": "Beta",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": [["Alpha", 2], ["Beta", 0]],
    "context": [["Alpha", ["A0.", "", " A2."]], ["Beta", ["B0.", " B1."]]],
}
TITLED_HUB = {
    **TITLED,
    "supporting_facts": {"title": ["Alpha", "Beta"], "sent_id": [2, 0]},
    "context": {"title": ["Alpha", "Beta"], "sentences": [["A0.", "", " A2."], ["B0.", " B1."]]},
}
TITLED_TEXT = {**TITLED, "supporting_facts": '[["Beta", 0]]', "context": '[["Beta", ["B0."]]]'}
PARAGRAPH = {"idx": 0, "title": "Green", "paragraph_text": "Green is an album. It is old.", "is_supporting": True}
MUSIQUE = {
    "id": "3hop1__1_2_3",
    "paragraphs": [PARAGRAPH, {**PARAGRAPH, "idx": 2, "title": "Steve", "paragraph_text": "His wife is Ann."}],
    "question": "Who is the spouse of the Green performer?",
    "question_decomposition": [{"id": 2, "paragraph_support_idx": 2}, {"id": 1, "paragraph_support_idx": None}],
    "answer": "Miquette Giraudy",
    "answer_aliases": ["Miquette"],
    "answerable": True,
}
SQUAD = {
    "id": "s1",
    "title": "Super_Bowl_50",
    "context": "Denver won the title. They beat Carolina 24 to 10. The game was in Santa Clara.",
    "question": "Whom did they beat? ",
    "answers": [{"text": "Carolina", "answer_start": 32}],
    "is_impossible": False,
}
SQUAD_HUB = {**SQUAD, "answers": {"text": ["Carolina", "24"], "answer_start": [32, 41]}}
SQUAD_OFFICIAL = {
    "version": "1.1",
    "data": [{"title": "Bowl", "paragraphs": [{"context": SQUAD["context"], "qas": [SQUAD]}]}],
}
TRIVIA_ANSWER = {"Value": "York", "Aliases": ["Eoforwic", "York"], "Type": "WikipediaEntity", "HumanAnswers": ["York"]}
TRIVIA = {
    "Data": [{"QuestionId": "tc_3", "Question": "Where was Judi Dench born?", "Answer": TRIVIA_ANSWER}],
    "Domain": "Web",
    "Split": "dev",
}
TRIVIA_HUB = {"question_id": "tc_3", "question": "Where?", "answer": {"value": "York", "aliases": ["Eoforwic"]}}
PLAIN = {"id": 6, "question": "Which film?", "answers": ["Kamal kahn", "Octopussy"]}
NQ = {"question": "who got it", "answer": ["Röntgen", "Wilhelm Röntgen"]}
NQ_PASSAGES = {**PLAIN, "ctxs": [{"title": "Prize", "text": "It went to him. Later.", "isgold": True}]}
ADAPTIVE = {
    "qid": "a1",
    "dataset": "hotpotqa",
    "question_text": "Who is it?",
    "type": "bridge",
    "level": "hard",
    "reference": ["Hong", "O'Hong"],
    "context": [PARAGRAPH],
}
ADAPTIVE_TEST = {
    "question_id": "a2",
    "question_text": "Who?",
    "answers_objects": [{"spans": ["Hong"]}],
    "contexts": [PARAGRAPH],
}
OWN = {
    "id": 7,
    "question": "Which was founded first?",
    "answers": ["Beta"],
    "type": "comparison",
    "level": "hard",
    "tags": {"source": "desk", "year": 2024},
    "documents": [{"title": "Alpha", "sentences": ["A0.", "A1."]}, {"title": "Beta", "text": "B0. B1."}],
    "facts": [["Alpha", 1], ["Beta", 0]],
    "reference": "Beta was first.",
}
OWN_PLAIN = {"question": "Who?", "answers": ["Me"]}
ROWS: dict[str, list[Any]] = {
    "hotpotqa": [TITLED, TITLED_HUB, TITLED_TEXT],
    "2wikimultihopqa": [TITLED, TITLED_HUB, TITLED_TEXT],
    "musique": [MUSIQUE],
    "squad": [SQUAD, SQUAD_HUB, SQUAD_OFFICIAL],
    "triviaqa": [TRIVIA, TRIVIA_HUB, PLAIN],
    "nq_open": [NQ, NQ_PASSAGES],
    "adaptive_rag": [ADAPTIVE, ADAPTIVE_TEST],
    "jsonl": [OWN, OWN_PLAIN],
    "csv": [OWN_PLAIN],
}
TABLES: dict[str, bytes] = {
    "triviaqa": b'Where?\t"[\'York\', ""St. Peter\'s""]"\r\nWho?\t[\'Judi\']\r\n',
    "nq_open": b"who got it\t['R\xc3\xb6ntgen']\nwho else\t['Ann']\n",
    "adaptive_rag": b"qid,question_text,reference,context\na1,Who?,\"['Hong' \"\"O'Hong\"\"]\",\"[{'title': 'Q', "
    b"'paragraph_text': 'He. \"\"x\"\"', 'is_supporting': True}\n {'title': 'R', 'paragraph_text': 'She.'}]\"\n",
    "csv": b'Question,Answers,context,topic\n"Who wrote Emma, the novel?",Jane Austen | Austen,"A novel.\n\nAusten '
    b"was born in 1775.\",books\nWho?,\"['Ann', 'A. Lee']\",,\n",
}

ANSWER = {
    "question_id": "q1",
    "question": "Who?",
    "gold": ["Ann", "A. Lee"],
    "answer": "Ann",
    "wording": "who is it",
    "gold_titles": ["Alpha"],
    "dataset": "own",
    "type": "bridge",
    "n_facts": 2,
    "model": "m",
    "method": "rag",
    "retriever": "bm25",
    "variation": "typos",
    "perturbation": "removal",
    "temperature": 0.5,
    "repeat": 1,
    "n_searches": 1,
    "n_generations": 2,
    "n_tokens": 30,
    "searches": [{"query": "who", "hits": [{"id": "d1", "title": "Alpha"}, "d2"], "gold_hit": True}],
    "reference": "It is Ann.",
    "top_logprobs": [[-0.1, -3.0], [["An", -0.2], ["n", -2.0]]],
    "tokens": ["An", "n"],
}
ANSWER_PLAIN = {
    **{name: ANSWER[name] for name in ("question_id", "question", "gold", "gold_titles", "reference")},
    "answer": "Bob",
    "entropy": 0.2,
}
ANSWER_TABLE = (
    b'question_id,question,gold,answer,temperature,repeat,gold_titles\nq1,Who?,"[""Ann""]",Ann,0.5,0,"[""A""]"\n'
    b'q1,Who?,"[""Ann""]",,-0.0,1,\n'
)
