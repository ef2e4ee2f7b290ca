"""The commands `smartlocker settings …`: the page of settings and commands, generated from the declared settings."""

import ast
import inspect
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Annotated, Any

import typer

from server.cli.command import CommandError, check_generated
from server.settings import Settings, variable_of

settings_app = typer.Typer(help="List and check the settings.", no_args_is_help=True, add_completion=False)

_PATH = Path("docs/settings.md")
_TEMPLATE = Path(__file__).parent / "pages" / "settings.md"


@settings_app.command("list")
def settings_list() -> None:
    """Print the page docs/settings.md."""
    typer.echo(_page(), nl=False)


@settings_app.command("check")
def settings_check(path: Annotated[Path, typer.Option(help="The page to compare with.")] = _PATH) -> None:
    """Fail if the page differs from the declared settings."""
    check_generated(path, _page(), f"smartlocker settings list > {path}")


def descriptions() -> dict[str, str]:
    """The description of each setting: the text below it. Pydantic could read it too, but at every start, for long."""
    body = ast.parse(inspect.getsource(Settings)).body[0].body  # type: ignore[attr-defined]
    return {
        ast.unparse(setting.target): " ".join(text.value.value.split())
        for setting, text in pairwise(body)
        if isinstance(setting, ast.AnnAssign)
    }


def shown_default(name: str) -> str:
    """The default of a setting, as it is written in the environment."""
    match Settings.model_fields[name].default:
        case None:
            return "unset"
        case bool() as value:
            return str(value).lower()
        case tuple() as parts:
            return ",".join(parts) or "none"
        case value:
            return str(value)


def _page() -> str:
    template = Template(_TEMPLATE.read_text())
    if missing := Settings.model_fields.keys() - set(template.get_identifiers()):
        raise CommandError(f"{_TEMPLATE.name} has no place for {', '.join(sorted(missing))}")
    schema = Settings.model_json_schema()["properties"]
    return template.substitute({name: _row(name, text, schema[name]) for name, text in descriptions().items()})


def _row(name: str, description: str, schema: dict[str, Any]) -> str:
    default = shown_default(name)
    shown = default if default in {"unset", "none"} else f"`{default}`"
    (kind,) = [kind for kind in schema.get("anyOf", [schema]) if kind["type"] != "null"]
    return f"| `{variable_of(name)}` | {_values(kind)} | {shown} | {description} |"


def _values(kind: dict[str, Any]) -> str:
    match kind["type"]:
        case "boolean":
            return "`true`, `false`"
        case "integer" | "number":
            least = f"above {kind['exclusiveMinimum']}" if "exclusiveMinimum" in kind else f"{kind['minimum']:,}"
            return f"{least} to {kind['maximum']:,}" if "maximum" in kind else f"{least} or more"
        case "object":
            return "JSON"
        case "array":
            return "list, separated by commas"
        case _ if "enum" in kind:
            return ", ".join(f"`{value}`" for value in kind["enum"])
        case _:
            return {"path": "path", "file-path": "path", "password": "secret"}.get(kind.get("format", ""), "text")
