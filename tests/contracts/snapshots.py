"""Requests as text that is short enough to review, and the files in `requests/` that keep it.

Nothing of a request is left out but what is random and what follows from the rest, which is checked instead. Names and
values stand where the request has placeholders for them. A character that is repeated is written as `x{64}`, and of a
fingerprint only the beginning is shown.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

from loaders.contracts.registry import CONTRACTS
from loaders.table.operations import Put, Transact, Update
from loaders.table.recording import Record
from tests.contracts.scenarios.every import SCENARIOS

FOLDER = Path(__file__).parent / "requests"
WIDTH = 120
RANDOM = {"digest"}
_OPERATION = re.compile(r"^  (QC-\d+) ", re.MULTILINE)
_STEP = re.compile(r"^    (\w[\w ]*): (?:Put|Update|Delete|ConditionCheck) ", re.MULTILINE)
_PLAIN = re.compile(r"[\w#@.+:/|*-]+")
_LITERAL = re.compile(r"[-+.\d]+|true|false|null")
_REPEATED = re.compile(r"(.)\1{15,}")
_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


def shown(records: Iterable[Record]) -> str:
    """Operations as the files have them, each with what came back and what it cost."""
    return "".join(f"{line}\n" for record in records for line in _lines(record))


def _lines(record: Record) -> Iterator[str]:
    operation = record.operation
    name = operation.name
    request = json.loads(json.dumps(operation.render("T"), default=str))
    cost = f"{record.units:g} unit{'' if record.units == 1 else 's'}"
    end = f"{cost}" if record.is_write else f"{record.returned} item{'' if record.returned == 1 else 's'}, {cost}"
    if record.outcome != "ok":
        end += f", {record.outcome}"
    head = f"  {record.contract} {name}"
    if isinstance(operation, Transact):
        assert request.pop("ClientRequestToken") == operation.token
        yield f"{head}: {end}"
        for step, entry in zip(operation.steps, request.pop("TransactItems"), strict=True):
            ((action, content),) = entry.items()
            yield from _step(step.name, action, content)
    elif isinstance(operation, Put | Update):
        yield f"{head}: {end}"
        yield from _step(operation.step.name, name.removesuffix("Item"), request)
        request = {}
    else:
        wide = request.pop("RequestItems", None)
        content = wide.pop("T") if wide else request
        yield from _wrapped(f"{head} {_reading(content)}: {end}")
        assert not wide
        assert wide is None or not content
    assert not request, request


def _reading(request: dict[str, Any]) -> str:
    """The request of a read as text; takes everything out of the request that it shows."""
    request.pop("TableName", None)
    names = _Placeholders(request)
    parts = []
    if "IndexName" in request:
        parts.append(f"index {request.pop('IndexName')}")
    if "Key" in request:
        parts.append(_key(request.pop("Key")))
    parts += [_key(key) for key in request.pop("Keys", [])]
    if "KeyConditionExpression" in request:
        parts.append(names.filled(request.pop("KeyConditionExpression")))
    if "Limit" in request:
        parts.append(f"limit {request.pop('Limit')}")
    if "ScanIndexForward" in request:
        parts.append("ascending" if request.pop("ScanIndexForward") else "descending")
    if "ExclusiveStartKey" in request:
        parts.append(f"after {_key(request.pop('ExclusiveStartKey'))}")
    parts.append("consistent" if request.pop("ConsistentRead") else "eventual")
    names.check()
    return ", ".join(parts)


def _step(step: str, action: str, request: dict[str, Any]) -> Iterator[str]:
    """The action of a step of a write, and its condition."""
    assert request.pop("TableName") == "T"
    names = _Placeholders(request)
    item = request.pop("Item", {})
    key = request.pop("Key", None) or {"PK": item.pop("PK"), "SK": item.pop("SK")}
    head = f"    {step}: {action} {_key(key)}"
    if "ConditionExpression" in request:
        head += f" if {names.filled(request.pop('ConditionExpression'))}"
        assert request.pop("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    yield from _wrapped(head)
    if "UpdateExpression" in request:
        yield from _wrapped(f"      {names.filled(request.pop('UpdateExpression'))}")
    if item:
        content = [f"{name} = {_text(value) if name not in RANDOM else 'random'}" for name, value in item.items()]
        yield from _wrapped(f"      {', '.join(content)}")
    if "ReturnValues" in request:
        yield f"      returns {request.pop('ReturnValues')}"
    names.check()
    assert not request, request


class _Placeholders:
    """Takes names and values out of a request, puts them where its expressions use them, and none may be left."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.names: dict[str, str] = request.pop("ExpressionAttributeNames", {})
        self.values: dict[str, Any] = request.pop("ExpressionAttributeValues", {})
        self.used: set[str] = set()

    def filled(self, expression: str) -> str:
        def replacement(found: re.Match[str]) -> str:
            self.used.add(found[0])
            return self.names[found[0]] if found[0] in self.names else _text(self.values[found[0]])

        return re.sub(r"[#:]\w+", replacement, expression)

    def check(self) -> None:
        assert self.used == self.names.keys() | self.values.keys()


def _key(key: dict[str, Any]) -> str:
    text = f"{_text(key.pop('PK'))} | {_text(key.pop('SK'))}"
    return text + "".join(f" | {name} {_text(value)}" for name, value in key.items())


def _text(value: dict[str, Any]) -> str:
    """A value as DynamoDB writes it; a text that could be something else is in quotes."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            is_plain = _PLAIN.fullmatch(content) and not _LITERAL.fullmatch(content)
            text = content if is_plain else json.dumps(content, ensure_ascii=False)
            return _HASH.sub(r"\1…", _REPEATED.sub(lambda run: f"{run[1]}{{{len(run[0])}}}", text))
        case "L":
            return f"[{', '.join(map(_text, content))}]"
        case "M":
            return f"{{{', '.join(f'{name} = {_text(part)}' for name, part in content.items())}}}"
        case "N":
            return str(content)
        case _:
            return json.dumps(content) if kind in {"BOOL", "NULL"} else json.dumps(value)


def _wrapped(line: str) -> list[str]:
    """Lines of limited length, of which the further ones are indented more; a value stays beside its name."""
    whole = re.sub(r" ([=|]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", line)
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lines = wrap(whole, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _files() -> dict[str, dict[str, str]]:
    """The scenarios of every file, by the contract that they are about."""
    found: dict[str, dict[str, str]] = {}
    for path in FOLDER.glob("*.txt"):
        _, *sections = path.read_text().rstrip("\n").split("\n\n")
        parts = [section.partition("\n") for section in sections]
        found[path.stem] = {name: f"{content}\n" for name, _, content in parts}
    return found


def kept() -> dict[str, str]:
    """The requests of every scenario, as the files have them."""
    return {name: content for file in _files().values() for name, content in file.items()}


def keep(scenario: str, records: list[Record]) -> None:
    """Writes a scenario's requests into the file of the contract that it is about: of its last write or first read."""
    (about,) = [record.contract for record in records if record.is_write][-1:] or [records[0].contract]
    files = _files()
    files.setdefault(about, {})
    for contract, sections in files.items():
        kept_here = {name: sections[name] for name in SCENARIOS if name in sections and name != scenario}
        if contract == about:
            kept_here[scenario] = shown(records)
        path = FOLDER / f"{contract}.txt"
        if not kept_here:
            path.unlink()
        elif kept_here != sections:
            ordered = "".join(f"\n{name}\n{kept_here[name]}" for name in SCENARIOS if name in kept_here)
            path.write_text(f"{contract} {CONTRACTS[contract].purpose}\n{ordered}")


def contracts_of(content: str) -> set[str]:
    """The contracts that a scenario's requests serve."""
    return set(_OPERATION.findall(content))


def steps_of(contract: str) -> set[str]:
    """The steps of a write that the files have."""
    found = set()
    for content in kept().values():
        _, *parts = _OPERATION.split(content)
        for served, lines in zip(parts[::2], parts[1::2], strict=True):
            found |= set(_STEP.findall(lines)) if served == contract else set()
    return found
