"""What a callback refers to."""

from functools import partial
from types import FunctionType, MethodType
from typing import Any

from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run


def holds_run(value: Any) -> bool:
    """Tell whether a callback, or its arguments, refer to a run or a graph."""
    if isinstance(value, Run | KnowledgeGraph):
        return True
    inside: list[Any] = []
    if isinstance(value, tuple | list | set | frozenset):
        inside = list(value)
    elif isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, partial):
        inside = [value.func, value.args, value.keywords]
    elif isinstance(value, MethodType):
        inside = [value.__self__]
    elif isinstance(value, FunctionType):
        inside = [cell.cell_contents for cell in value.__closure__ or ()]
        inside += [value.__defaults__, value.__kwdefaults__]
        # A page's own functions hold all that the page does.
        inside += [v for v in value.__globals__.values() if isinstance(v, Run | KnowledgeGraph)]
    return any(map(holds_run, inside))
