"""A model that is asked in batches → where its trials are handed in and their replies taken."""

from __future__ import annotations

import logging

from shaketable import catalog
from shaketable.identity import digest_text
from shaketable.models.endpoint.batches.ledger import underway_in
from shaketable.protocols import BatchedModel, KeptLine, Model
from shaketable.store import RecordStore
from shaketable.store.folder import batches_of

logger = logging.getLogger(__name__)


def batch_line(model: Model, store: RecordStore, deadline: float | None) -> KeptLine | None:
    """What is under way is kept beside the records; None: the model is asked call by call."""
    if not isinstance(model, BatchedModel):
        return None
    name = digest_text(f"{catalog.label(model)} {catalog.spelled(model)}")[:12]
    folder = batches_of(store.path.parent) / name
    if model.batch:
        return model.batch_line(folder, deadline)
    if sent := underway_in(folder):
        logger.warning(
            "%s was asked in batches before, and %s will be paid though nobody takes the replies: all is asked anew, "
            "call by call. To take them, interrupt this and set batch=True.",
            catalog.label(model),
            ", ".join(str(batch.batch_id) for batch in sent),
        )
    return None
