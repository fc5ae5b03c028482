"""The frozen values that travel the line, from a study and its questions to findings.

One module for each stretch of the way, and each builds on those before it alone: `plain`, `studies`, `questions`,
`wordings`, `evidence`, `prompts`, `steps`, `trials`, `numbers`, `findings`. Everything else imports from here.
"""

from shaketable.types.evidence import Edit, Evidence, Hit, Query
from shaketable.types.findings import (
    Crossed,
    Finding,
    Findings,
    Floor,
    LeftOut,
    NotApplied,
    NothingToLose,
    NotVaried,
    Undone,
)
from shaketable.types.numbers import Estimate, JudgeEffort, Measure, Score, Unit, Verdict
from shaketable.types.plain import NOTHING, Json, Message, Role
from shaketable.types.prompts import Completion, Draft, EndpointFact, Failure, Prompt, Sampling
from shaketable.types.questions import Loaded, Passage, Question, Rejected, Remark, Sentence
from shaketable.types.steps import Answer, Generate, Note, Probe, Reading, Reply, Search, Step
from shaketable.types.studies import DatasetChoice, Gate, Limits, Precision, Scan, Shake, Study
from shaketable.types.trials import Cost, Curve, Effort, Event, Record, Trial
from shaketable.types.wordings import HISTORY, REFUSAL, STRENGTH, Making, RefusedReply, Rewording, Strength, Variant

__all__ = [
    "HISTORY",
    "NOTHING",
    "REFUSAL",
    "STRENGTH",
    "Answer",
    "Completion",
    "Cost",
    "Crossed",
    "Curve",
    "DatasetChoice",
    "Draft",
    "Edit",
    "Effort",
    "EndpointFact",
    "Estimate",
    "Event",
    "Evidence",
    "Failure",
    "Finding",
    "Findings",
    "Floor",
    "Gate",
    "Generate",
    "Hit",
    "Json",
    "JudgeEffort",
    "LeftOut",
    "Limits",
    "Loaded",
    "Making",
    "Measure",
    "Message",
    "NotApplied",
    "NotVaried",
    "Note",
    "NothingToLose",
    "Passage",
    "Precision",
    "Probe",
    "Prompt",
    "Query",
    "Question",
    "Reading",
    "Record",
    "RefusedReply",
    "Rejected",
    "Remark",
    "Reply",
    "Rewording",
    "Role",
    "Sampling",
    "Scan",
    "Score",
    "Search",
    "Sentence",
    "Shake",
    "Step",
    "Strength",
    "Study",
    "Trial",
    "Undone",
    "Unit",
    "Variant",
    "Verdict",
]
