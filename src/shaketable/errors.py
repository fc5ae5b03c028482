"""What a user can mend.

ShaketableError            prints without a traceback, exit 1
├── StudyError             a study file or a command's words, exit 2
│   ├── UsageError         a command's words; the page that tells more is the command's
│   ├── PartError          a part's name or setting
│   ├── PackageError       what needs a package of an extra that is not installed
│   └── OutputError        a file that is to be written: its ending, its format, what it cannot hold
├── DataError              a dataset, answers or rewrite file, exit 2
├── WeightsError           weights that are not there, or not what they should be
├── RunError               a run folder that cannot be used as asked
│   ├── StoreError         a broken or foreign records file
│   └── ClusterError       a cluster that cannot be used as asked
├── RetrieverDown          a search engine that cannot be reached, or not any more; running again may help
├── RepliesPending         batches under way at an endpoint; running again takes their replies, exit 0
└── ModelError             an engine or endpoint that cannot be used at all
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

INTERRUPTED = 130
"""The exit code of a command that was told to stop."""


class ShaketableError(Exception):
    """What a user can mend: it says where, what was found, what was expected and what to do.

    >>> import shaketable
    >>> try:
    ...     shaketable.build("metric", "exact_mach")
    ... except shaketable.ShaketableError as error:
    ...     print(str(error)[:54])
    Unknown metric 'exact_mach'. Did you mean 'exact_match
    """

    exit_code = 1
    page = "faq"
    """Of the documentation, where more is told: `shaketable docs PAGE`."""

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(shorten(message) if isinstance(message, str) else message, *more)


LONG_WORD = re.compile(r"\S{1001,}")
LONGEST_MESSAGE = 10_000


def shorten(message: str) -> str:
    """What is quoted from files may be of any length: of a word and of the whole, the middle is left out."""
    short = LONG_WORD.sub(lambda word: _without_middle(word.group(), 200), message)
    return short if len(short) <= LONGEST_MESSAGE else _without_middle(short, LONGEST_MESSAGE // 2)


def _without_middle(text: str, kept: int) -> str:
    """`kept`: characters at each end."""
    return f"{text[:kept]}… ({len(text) - 2 * kept:,} characters) …{text[-kept:]}"


class StudyError(ShaketableError):
    exit_code = 2
    page = "study"


class UsageError(StudyError):
    page = "runs"


class PartError(StudyError):
    page = "parts"


class PackageError(StudyError):
    page = "installing"


class OutputError(StudyError):
    page = "interchange"


class DataError(ShaketableError):
    exit_code = 2
    page = "data"


class WeightsError(ShaketableError):
    page = "installing#weights"


class RunError(ShaketableError):
    page = "runs"


class StoreError(RunError):
    page = "reliability#when-something-is-wrong"


class LayoutError(StoreError):
    page = "reliability#when-something-is-wrong"


class ClusterError(RunError):
    page = "cluster"


class RetrieverDown(ShaketableError):  # noqa: N818 (it says what is the matter)
    page = "data#a-corpus"


class RepliesPending(ShaketableError):  # noqa: N818 (it says what is the matter)
    exit_code = 0
    page = "endpoints#batches-half-the-price-within-a-day"


class ModelError(ShaketableError):
    page = "endpoints#when-an-endpoint-cannot-be-used"


class SecretError(ValueError):
    """What is wrong with a setting that may hold a secret: whoever tells it does not repeat the setting."""


NEWLINE = b"\n"


def describe_encoding(error: UnicodeDecodeError, name: str) -> str:
    """Return where a text stops being UTF-8, what its encoding seems to be, and how to convert it."""
    content, at = error.object, error.start
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return f"{name} is UTF-16, expected UTF-8. {_convert_from('UTF-16')}"
    start = content.rfind(NEWLINE, 0, at) + 1
    line = content[start:].partition(NEWLINE)[0]
    place = f"{name} line {content.count(NEWLINE, 0, at) + 1}: byte {at - start} (0x{content[at]:02X}) is not UTF-8"
    try:
        near = line[max(0, at - start - 20) : at - start + 10].decode("cp1252").strip()
    except UnicodeDecodeError:
        near = ""
    if not near or not near.isprintable():
        return f"{place}. Save the file as UTF-8."
    return f"{place}; as Windows-1252 (Latin-1) it reads '{near}'. {_convert_from('WINDOWS-1252')}"


def _convert_from(encoding: str) -> str:
    return f"Save the file as UTF-8, for example with `iconv -f {encoding} -t UTF-8`."


def did_you_mean(found: str, known: Iterable[str], *, nearness: float = 0.6) -> str:
    """` Did you mean 'x'?` for the nearest known word, or nothing where none is near: 1 is the same word."""
    near = difflib.get_close_matches(found, list(known), n=1, cutoff=nearness)
    return f" Did you mean '{near[0]}'?" if near else ""


# --- paths as people write them -------------------------------------------------------------------


_base: Path | None = None
"""The folder in which the run was started whose study was loaded last."""


def resolve_from(base: Path | None) -> None:
    """Look for relative paths that the working folder does not have in `base` too."""
    global _base
    _base = base


def at_home(path: str | Path, kind: type[ShaketableError] = DataError, where: object = "") -> Path:
    """Return the path with the home that `~` or `~name` stands for, as it is found from here or from a run's folder.

    An unknown home is an error of this kind; `where` says what named the path.
    """
    try:
        given = Path(path).expanduser()
        if _base is None or given.is_absolute() or os.path.exists(given):  # noqa: PTH110 (no error for odd names)
            return given
        return _base / given if os.path.exists(_base / given) else given  # noqa: PTH110
    except RuntimeError as error:
        found = f"{where}: {str(path)[:80]}" if where else str(path)[:80]
        if Path(path).parts[0] == "~":  # HOME is not set, and the machine has no such user, as in some containers.
            problem = f"{found} begins with your home, which is unknown here. Set HOME, or give the whole path."
        else:
            problem = f"{found} begins with the home of somebody unknown here. Give the whole path."
        raise kind(problem) from error


# --- packages that do not come with the core ------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Extra:
    """Packages that are asked for together: `pip install 'shaketable[NAME]'`."""

    brings: str
    """What one can do with it."""
    packages: Mapping[str, str]
    """Name to import → name to install."""


_BM25 = {"numba": "numba"}
_LANGUAGE = {"spacy": "spacy", "lemminflect": "lemminflect", "harper": "harper-py"}
_TORCH = {"torch": "torch", "transformers": "transformers", "safetensors": "safetensors"}

EXTRAS: Mapping[str, Extra] = {
    "bm25": Extra(brings="the retriever bm25", packages=_BM25),
    "language": Extra(
        brings="perturbations of names and words, methods that work sentence by sentence, the metric gibberish",
        packages=_LANGUAGE,
    ),
    "local": Extra(
        brings="the demo's embedded model and other weights on this machine, rewordings, the metric bertscore, and all "
        "that bm25 and language bring",
        packages=_TORCH | {"accelerate": "accelerate", "gguf": "gguf"} | _LANGUAGE | _BM25,
    ),
    "dense": Extra(brings="the retriever dense", packages=_TORCH | {"faiss": "faiss-cpu"}),
    "milvus": Extra(brings="the retriever milvus", packages={"pymilvus": "pymilvus", "milvus_lite": "milvus-lite"}),
    "hub": Extra(brings="weights and questions of the model hub", packages={"huggingface_hub": "huggingface-hub"}),
    "langchain": Extra(brings="chains of LangChain as pipelines", packages={"langchain_core": "langchain-core"}),
    "llamaindex": Extra(
        brings="query engines of LlamaIndex as pipelines", packages={"llama_index": "llama-index-core"}
    ),
    "pandas": Extra(brings="tables as data frames of pandas", packages={"pandas": "pandas"}),
    "ray": Extra(brings="trials on a cluster: --executor ray", packages={"ray": "ray"}),
}
"""By name, those that others contain first."""


def is_installed(module: str) -> bool:
    """Whether a package could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def lacks_packages(what: str, modules: Iterable[str], extra: str | None = None) -> str | None:
    """`WHAT needs the packages …: pip install …` where one is not installed; None: all are.

    `extra` is named if it has all that are missing; else the first that has them, else one for each.
    """
    missing = [module for module in modules if not is_installed(module)]
    if not missing:
        return None
    names = [next(own.packages[module] for own in EXTRAS.values() if module in own.packages) for module in missing]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    plural = "" if len(names) == 1 else "s"
    return f"{what} needs the package{plural} {listed}: pip install 'shaketable[{_extras_with(missing, extra)}]'."


def _extras_with(modules: Sequence[str], preferred: str | None) -> str:
    ordered = [preferred, *EXTRAS] if preferred in EXTRAS else list(EXTRAS)
    for name in ordered:
        if EXTRAS[str(name)].packages.keys() >= set(modules):
            return str(name)
    return ",".join(dict.fromkeys(_extras_with([module], preferred) for module in modules))


def need_packages(what: str, *modules: str) -> None:
    """Refuse to go on without them, before a line that imports them."""
    if problem := lacks_packages(what, modules):
        raise PackageError(problem)


# --- how models are named --------------------------------------------------------------------------

OPENAIS = re.compile(r"(chat)?gpt|o\d\b|davinci|ft:", re.IGNORECASE)
REASONING = re.compile(r"o\d\b|gpt-5", re.IGNORECASE)
HOSTED = {
    # how names begin: address that speaks OpenAI's protocol, variable that holds the key
    "claude": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "grok": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
}


def how_to_name_model(text: str) -> str:
    """` For that model write …` where a model's own name stands in place of a part; else nothing."""
    name = text.strip()
    if positional := re.fullmatch(r"(\w+)\((['\"])([^'\"]+)\2\)", name):
        part, name = positional[1], positional[3]
        setting = {"openai": "model", "transformers": "path"}.get(part)
        return f" Settings have names: {part}({setting}='{name}')." if setting else ""
    if not re.fullmatch(r"[\w.:/@-]+", name):
        return ""
    if "/" in name:
        return (
            f" For weights on this machine or of the model hub write transformers(path='{name}'), for a server "
            f"openai(model='{name}', base_url='http://127.0.0.1:8000/v1')."
        )
    if OPENAIS.match(name):
        more = ", max_tokens_field='max_completion_tokens', send_temperature=False" if REASONING.match(name) else ""
        return f" For that model of OpenAI's write openai(model='{name}'{more})."
    for beginning, (address, variable) in HOSTED.items():
        if name.lower().startswith(beginning):
            return f" For that model write openai(model='{name}', base_url='{address}', api_key_variable='{variable}')."
    return (
        f" If '{name}' is a model on a server, write openai(model='{name}', base_url='http://127.0.0.1:11434/v1') with "
        "the server's address (this is Ollama's); if it is a folder of weights, transformers(path='…')."
    )
