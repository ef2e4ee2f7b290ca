"""Rules of the suite itself, which `tests/README.md` states, and of language, which `CONTRIBUTING.md` states."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
OURS = ("bench", "domain", "loaders", "resolvers", "server", "tests")
ROOT = TESTS.parent
MODULES = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in TESTS.rglob("*.py")}


def imported(module: ast.Module) -> Iterator[tuple[str, str, int]]:
    """The names that a module imports, each with where it comes from."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((one.asname or one.name.partition(".")[0], one.name, node.lineno) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((one.asname or one.name, f"{node.module}.{one.name}", node.lineno) for one in node.names)


def root(node: ast.expr) -> str:
    """The name that an expression such as `server.cli.serve` or `get_loop().time` begins with."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    if isinstance(node, ast.Constant):
        return str(node.value).partition(".")[0]
    return node.id if isinstance(node, ast.Name) else ""


def patched(module: ast.Module) -> Iterator[tuple[ast.expr, int]]:
    """The targets that a module patches with `setattr`, `delattr`, `setitem`, `patch.object` or by an assignment."""
    names = {name for name, _, _ in imported(module)}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            is_mock = called == "patch" or (called, root(node.func)) == ("object", "patch")
            if called in {"setattr", "delattr", "setitem", "delitem"} or is_mock:
                yield node.args[0], node.lineno
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            for target in node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]:
                if isinstance(target, ast.Attribute) and root(target) in names:
                    yield target, node.lineno


def test_no_helper_is_imported_from_a_module_of_tests() -> None:
    assert not [
        f"{path}:{line} {source}"
        for path, module in MODULES.items()
        for _, source, line in imported(module)
        if any(part.startswith("test_") for part in source.split("."))
    ]


def test_nothing_of_ours_is_patched() -> None:
    """Whatever is patched is something that the module imports from elsewhere: tests pass their own things in."""
    for path, module in MODULES.items():
        foreign = {name for name, source, _ in imported(module) if source.partition(".")[0] not in OURS}
        assert not [f"{path}:{line}" for target, line in patched(module) if root(target) not in foreign]


# Without the change log, released schemas and built files: they keep their spelling.
WRITTEN = [
    path
    for folder in (*OURS, "docs", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".js", ".graphql"} and not {"released", "static", "node_modules"} & set(path.parts)
] + [ROOT / "README.md", ROOT / "schema.graphql"]
BRITISH = re.compile(
    r"e[-]mail|\bcancell[e]d\b|(?:organi|recogni|authori|normali|seriali)s[ae]|(?:behavi|col|hon)our", re.IGNORECASE
)


def test_no_docstring_begins_with_what() -> None:
    modules = [path for folder in OURS for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in modules if re.search(r'^ *"""What ', path.read_text(), re.MULTILINE)]


def test_the_spelling_is_american() -> None:
    """Statuses that were released as CANCELLED keep their names, and the kinds of activities have them too."""
    assert not [
        f"{path.relative_to(ROOT)}:{number} {found.group()}"
        for path in WRITTEN
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for found in BRITISH.finditer(line)
        if found.group() != "CANCELLED" and line[found.start() - 1 : found.start()] != "."
    ]
