"""Names of the tools a model may call on memory."""

from typing import Literal, get_args

ToolName = Literal[
    "remember", "forget", "recall", "explain_memory", "was_it_helpful", "off_the_record"
]
"""The tools there are."""

TOOL_NAMES: tuple[ToolName, ...] = get_args(ToolName)
