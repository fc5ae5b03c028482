"""A LangChain chain over the built-in corpus, with the embedded model: `python langchain_chain.py`.

The study varies its temperature and seed by `configurable_fields`, and disturbs what its retriever finds by the
function `disturb`, which comes the same way. Needs `pip install 'shaketable[langchain]'`.
"""

import sys

from embedded import complete, find
from langchain_core.documents import Document
from langchain_core.language_models.llms import LLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableConfig, RunnablePassthrough

import shaketable


class Embedded(LLM):
    temperature: float = 0.0
    seed: int = 0

    @property
    def _llm_type(self) -> str:
        return "embedded"

    def _call(self, prompt, stop=None, run_manager=None, **settings) -> str:
        return complete(prompt, self.temperature, self.seed)


class BuiltinCorpus(BaseRetriever):
    k: int = 3

    def _get_relevant_documents(self, query, *, run_manager) -> list[Document]:
        return [Document(page_content=text, metadata={"title": title}) for title, text in find(query, self.k)]


def disturbed(documents: list[Document], config: RunnableConfig) -> str:
    """What the study leaves of the documents, as one text; outside of a study nothing disturbs them."""
    disturb = config["configurable"].get("disturb", list)
    return "\n\n".join(document.page_content for document in disturb(documents))


PROMPT = PromptTemplate.from_template("{context}\n\nAnswer in a few words: {question}")
MODEL = Embedded().configurable_fields(
    temperature=ConfigurableField(id="temperature"), seed=ConfigurableField(id="seed")
)
chain = {"context": BuiltinCorpus() | disturbed, "question": RunnablePassthrough()} | PROMPT | MODEL | StrOutputParser()

if __name__ == "__main__":
    takes = ("temperature", "seed", "disturb")
    study = shaketable.make_study(
        "langchain",
        limit=int(sys.argv[1]) if sys.argv[1:] else 12,
        models=[f"pipeline(name='chain', python={__file__ + ':chain'!r}, parameters={takes})"],
        perturbations=["unchanged", "sentence_removal"],
        temperatures=[0.0, 1.2],
        analyses=["correctness", "degradation"],
        analyze={"n_resamples": 500},
    )
    print(shaketable.run(study, "runs/langchain"))
