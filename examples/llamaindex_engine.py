"""A LlamaIndex query engine over the built-in corpus, with the embedded model: `python llamaindex_engine.py`.

The study sets temperature and seed of its language model, and disturbs the nodes between its two steps, retrieving and
synthesizing; nothing in the engine knows of it. Needs `pip install 'shaketable[llamaindex]'`.
"""

import sys

from embedded import complete, find
from llama_index.core import PromptTemplate, Settings
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import shaketable

Settings.tokenizer = str.split  # It counts tokens to fit a window; words will do, and need no download.


class Embedded(CustomLLM):
    temperature: float = 0.0
    seed: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=2048, num_output=24, model_name="smollm2")

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **settings) -> CompletionResponse:
        return CompletionResponse(text=complete(prompt, self.temperature, self.seed))

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **settings):
        yield self.complete(prompt)


class BuiltinCorpus(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = find(query_bundle.query_str)
        return [
            NodeWithScore(node=TextNode(id_=title, text=text, metadata={"title": title}), score=1.0)
            for title, text in found
        ]


engine = RetrieverQueryEngine.from_args(
    BuiltinCorpus(),
    llm=Embedded(),
    text_qa_template=PromptTemplate("{context_str}\n\nAnswer in a few words: {query_str}"),
)

if __name__ == "__main__":
    study = shaketable.make_study(
        "llamaindex",
        limit=int(sys.argv[1]) if sys.argv[1:] else 12,
        models=[f"pipeline(name='engine', python={__file__ + ':engine'!r})"],
        perturbations=["unchanged", "sentence_removal"],
        temperatures=[0.0, 1.2],
        analyses=["correctness", "degradation"],
        analyze={"n_resamples": 500},
    )
    print(shaketable.run(study, "runs/llamaindex"))
