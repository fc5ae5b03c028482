"""Search in Milvus, for corpora that outgrow a machine: a file (Milvus Lite) or a cluster, by the same code."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from shaketable import weights
from shaketable.errors import RetrieverDown, need_packages
from shaketable.identity import digest
from shaketable.retrievers.corpus.corpora import BUILTIN
from shaketable.retrievers.corpus.indexes import with_news
from shaketable.retrievers.vectors import EmbeddedCorpus, Similarity
from shaketable.text.encoder import PACKAGES, Pooling
from shaketable.text.search_terms import ANALYSIS, terms
from shaketable.types import Hit, Query

ROWS_AT_ONCE = 1000
QUERIES_AT_ONCE = 64
MAX_BYTES = 65_535
"""The longest text that Milvus takes."""
DIGITS = 5
"""Of a score, which Milvus computes in single precision."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Milvus(EmbeddedCorpus):
    """BM25 full text, or vectors, through Milvus' own client. The passages themselves stay on this machine.

    `bm25` gives Milvus the terms of title and text as one field, found by the same English analysis as `bm25`'s, so
    both rank alike where titles are empty and the corpus fits one segment (Milvus Lite takes term statistics from each
    segment of some 100 MB alone). `vector` searches exactly for the nearest vectors. A collection is filled
    once for each content of a corpus; filling goes on where it was interrupted, and counts what arrived.
    """

    version: ClassVar[int] = 1

    corpus: str = BUILTIN
    """`builtin`, or the path of JSON lines, a BEIR folder or DPR's TSV. Keys see its content, not its path."""
    mode: Literal["bm25", "vector"] = "bm25"
    k1: float = 1.2
    b: float = 0.75
    encoder: str = "all-MiniLM-L6-v2"
    pooling: Pooling = "mean"
    similarity: Similarity = "cosine"
    uri: str | None = field(default=None, compare=False)
    """The path of a file that ends in `.db`, or the address of a cluster: `http://host:19530`. None: a file in the
    user cache. A token is read from the environment, `MILVUS_TOKEN`."""
    device: str = field(default="cpu", compare=False)
    timeout_seconds: float = field(default=60.0, compare=False)

    @property
    def packages(self) -> tuple[str, ...]:
        lite = () if "://" in self._address else ("milvus_lite",)
        return ("pymilvus", *lite, *(PACKAGES if self.mode == "vector" else ()))

    def lacks(self) -> str | None:
        is_elsewhere = "://" in self._address and not weights.is_on_this_machine(self._address)
        if weights.is_offline() and is_elsewhere:
            host = urlsplit(self._address).hostname
            return f"Milvus at {host} is not on this machine, and SHAKETABLE_OFFLINE is set. Unset it, or give a file."
        return None if self.mode == "bm25" else weights.lacks(self.encoder)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        hits: list[list[Hit]] = [[] for _ in queries]
        prepared = terms_text if self.mode == "bm25" else str.strip
        asked = [(i, text) for i, query in enumerate(queries) if (text := prepared(query.text))]
        k = min(k, len(self._passages))
        if k < 1 or not asked:
            return hits
        client = self._filled
        for start in range(0, len(asked), QUERIES_AT_ONCE):
            some = asked[start : start + QUERIES_AT_ONCE]
            data: Any = [text for _, text in some]
            if self.mode == "vector":
                data = self._embedding.queries(data).tolist()
            with self._reaching("search"):
                replies = client.search(
                    self._collection,
                    data=data,
                    anns_field="index",
                    limit=k,
                    output_fields=["row"],
                    timeout=self.timeout_seconds,
                )
            for (i, _), reply in zip(some, replies, strict=True):
                hits[i] = self._hits(reply)
        return hits

    def _hits(self, reply: Any) -> list[Hit]:
        # Milvus Lite gives BM25 scores below zero, a cluster above.
        sign = -1 if self.mode == "bm25" and any(hit["distance"] < 0 for hit in reply) else 1
        scored = [(-round(sign * float(hit["distance"]), DIGITS), int(hit["row"])) for hit in reply]
        return [
            Hit(passage=self._passages.passage(row), rank=rank, score=-score, source="milvus")
            for rank, (score, row) in enumerate(sorted(scored), 1)
        ]

    # --- the collection

    @functools.cached_property
    def _collection(self) -> str:
        how = [ANALYSIS, self.k1, self.b] if self.mode == "bm25" else [self.encoder, self.pooling, self.similarity]
        return f"shaketable_{self.mode}_{digest([self._passages.digest, how])[:24]}"

    @functools.cached_property
    def _filled(self) -> Any:
        """The client, once the collection holds every passage."""
        client, name = self._client, self._collection
        with self._reaching("fill the collection"):
            if not client.has_collection(name, timeout=self.timeout_seconds):
                self._create(client, name)
            n_there = self._count(client)
            if n_there < len(self._passages):
                # The last batch may have arrived in part; rows that are there already are written over.
                first = n_there // ROWS_AT_ONCE * ROWS_AT_ONCE
                for rows in self._rows(first):
                    client.upsert(name, rows, timeout=self.timeout_seconds)
                client.flush(name, timeout=self.timeout_seconds)
            client.load_collection(name, timeout=self.timeout_seconds)
            n_there = self._count(client)
        if n_there != len(self._passages):
            raise RetrieverDown(
                f"The collection {name} in {self._address} holds {n_there:,} passages, expected "
                f"{len(self._passages):,}. Drop it, and it is filled again."
            )
        log.info("milvus, %s: %s passages in %s, checked", self.corpus, f"{n_there:,}", name)
        return client

    def _create(self, client: Any, name: str) -> None:
        from pymilvus import DataType, Function, FunctionType

        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("row", DataType.INT64, is_primary=True)
        index = client.prepare_index_params()
        if self.mode == "bm25":
            schema.add_field(
                "terms",
                DataType.VARCHAR,
                max_length=MAX_BYTES,
                enable_analyzer=True,
                analyzer_params={"tokenizer": "standard"},
            )
            schema.add_field("index", DataType.SPARSE_FLOAT_VECTOR)
            schema.add_function(
                Function(
                    name="bm25",
                    function_type=FunctionType.BM25,
                    input_field_names=["terms"],
                    output_field_names=["index"],
                )
            )
            # Under one key: a cluster unpacks it, and Milvus Lite overlooks parameters that stand elsewhere.
            parameters = {"params": {"bm25_k1": self.k1, "bm25_b": self.b}}
            index.add_index("index", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=parameters)
        else:
            schema.add_field("index", DataType.FLOAT_VECTOR, dim=self._vectors.shape[1])
            index.add_index("index", index_type="FLAT", metric_type="IP")
        client.create_collection(
            name, schema=schema, index_params=index, consistency_level="Strong", timeout=self.timeout_seconds
        )

    def _rows(self, first: int) -> Iterator[list[dict[str, Any]]]:
        numbers = with_news(range(first, len(self._passages)), f"Filling {self._collection}")
        while some := list(itertools.islice(numbers, ROWS_AT_ONCE)):
            if self.mode == "bm25":
                entries = [self._passages.entry(row) for row in some]
                texts = [terms_text(f"{entry.title} {entry.whole}") for entry in entries]
                yield [
                    {"row": row, "terms": text.encode()[:MAX_BYTES].decode("utf-8", "ignore")}
                    for row, text in zip(some, texts, strict=True)
                ]
            else:
                yield [{"row": row, "index": self._vectors[row].tolist()} for row in some]

    def _count(self, client: Any) -> int:
        client.load_collection(self._collection, timeout=self.timeout_seconds)
        (counted,) = client.query(self._collection, output_fields=["count(*)"], timeout=self.timeout_seconds)
        return int(counted["count(*)"])

    # --- the connection

    @functools.cached_property
    def _client(self) -> Any:
        need_packages("Retriever 'milvus'", *self.packages)
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # It prints a traceback for each error it raises.
        if problem := self.lacks():
            raise RetrieverDown(problem)
        with self._reaching("connect"):
            # A connection of its own: those that clients share outlive them, broken ones too.
            return MilvusClient(
                self._address,
                token=os.environ.get("MILVUS_TOKEN", ""),
                timeout=self.timeout_seconds,
                dedicated=True,
            )

    @property
    def _address(self) -> str:
        return self.uri if self.uri is not None else str(weights.home() / "indexes" / "milvus.db")

    @contextlib.contextmanager
    def _reaching(self, task: str) -> Iterator[None]:
        import grpc
        from pymilvus.exceptions import MilvusException

        try:
            yield
        except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ConnectionError) as error:
            # What is remembered of the connection goes, so that the next search connects anew.
            self.__dict__.pop("_filled", None)
            if (client := self.__dict__.pop("_client", None)) is not None:
                client.close()
            raise RetrieverDown(
                f"Milvus at {self._address} could not {task}: {str(error).strip() or type(error).__name__}. "
                "Check that it runs and can be reached, then run again: what is done stays done."
            ) from error

    @functools.cached_property
    def _vectors(self) -> Any:
        return self._embedding.passages(self._passages)


def terms_text(text: str) -> str:
    """Terms with spaces between them, of letters and digits alone, so that every tokenizer finds them again."""
    return " ".join(filter(None, (re.sub(r"[\W_]", "", term) for term in terms(text))))
