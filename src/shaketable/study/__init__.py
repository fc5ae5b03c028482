"""Study files (TOML) ↔ `Study`; the only place that reads them.

`tables/` says what the keys mean, one module for each table of a file, and `schema` joins them. `loading` finds a file
(`files`) and changes it as `--set` says (`overriding`); `parsing` makes a `Study` of it, with the texts of its prompts
(`prompt_files`), or says what is wrong (`mistakes`). `writing` makes a file of a `Study` again.
"""

from shaketable.study.files import SHIPPED, folder_noted, note_folder, shipped_studies, without_folder
from shaketable.study.loading import load_study
from shaketable.study.overriding import override
from shaketable.study.parsing import change_gate, parse_study
from shaketable.study.prompt_files import hold_prompts
from shaketable.study.schema import TABLES, StudyFile, study_schema
from shaketable.study.tables.generation import Generation
from shaketable.study.tables.score import SHORT, TEMPLATE, WITHOUT_MODEL
from shaketable.study.writing import format_study, note_registered

__all__ = [
    "SHIPPED",
    "SHORT",
    "TABLES",
    "TEMPLATE",
    "WITHOUT_MODEL",
    "Generation",
    "StudyFile",
    "change_gate",
    "folder_noted",
    "format_study",
    "hold_prompts",
    "load_study",
    "note_folder",
    "note_registered",
    "override",
    "parse_study",
    "shipped_studies",
    "study_schema",
    "without_folder",
]
