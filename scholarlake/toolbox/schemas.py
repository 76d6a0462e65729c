"""JSON schemas of what the tools take and give, plain enough for every function-calling interface.

Pydantic's schemas hold references, and unions with null where an argument may be left out; some interfaces take neither. Here both
are resolved. What does not belong here: the types themselves (`arguments`, `answers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_DROPPED = ("title", "default", "$defs")


def parameters(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    schema = model.model_json_schema()
    plain: dict[str, Any] = _plain(schema, schema.get("$defs", {}))
    return plain


def results(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's answer, from which what is not known is left out."""
    schema = model.model_json_schema(mode="serialization")
    plain: dict[str, Any] = _plain(schema, schema.get("$defs", {}))
    return plain


def _plain(node: Any, named: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, named) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        more = {key: value for key, value in node.items() if key != "$ref"}
        return _plain({**named[node["$ref"].rsplit("/", 1)[1]], **more}, named)
    some = [one for one in node.get("anyOf", ()) if one != {"type": "null"}]
    if len(some) == 1 and len(some) < len(node["anyOf"]):
        return _plain({**some[0], **{key: value for key, value in node.items() if key != "anyOf"}}, named)
    plain = {key: _plain(value, named) for key, value in node.items() if key not in (*_DROPPED, "properties")}
    if "properties" in node:
        plain["properties"] = {name: _plain(value, named) for name, value in node["properties"].items()}
    return plain
