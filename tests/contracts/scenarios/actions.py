"""Parts of scenarios: mutations as their bindings run them, and changes behind the product's back."""

from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Any, cast

from domain.authorization import DEVELOPMENT_ADMIN, Principal, Role
from loaders.backend import Backend
from loaders.table.operations import Action, Step, Transact
from loaders.table.positions import Key
from resolvers.schema import bound_schema
from tests.contracts.samples import Names, filled

Change = Callable[[Names], tuple[Action, Key, dict[str, Any]]]

Call = Callable[["Backend", "Names"], Awaitable[Any]]
MUTATIONS = bound_schema().types["Mutation"]


class _Its:
    """`its.locker` is the locker of whichever names there are."""

    def __getattr__(self, name: str) -> Callable[[Names], Any]:
        return attrgetter(name)


its = _Its()
_REQUIRED: dict[str, Any] = {
    **{
        f"{name}_id": getattr(its, name)
        for name in ("locker", "owner", "location", "reservation", "booking", "key", "webhook")
    },
    "code_id": its.code_id,
    "expected_version": 1,
}


def owner(names: Names, role: Role = Role.OWNER) -> Principal:
    """The owner of the locker."""
    return Principal(subject=names.subject, role=role, owner_id=names.owner)


def admin(names: Names) -> Principal:
    """An admin who is also an owner."""
    return owner(names, Role.ADMIN)


def does(field: str, by: Callable[[Names], Principal] = lambda _: DEVELOPMENT_ADMIN, **values: Any) -> Call:
    """A mutation; what is a function is asked with the names, and ids that it must have are those of the names."""
    binding: Any = MUTATIONS[field].binding
    required = [name for name, part in binding.command.model_fields.items() if part.is_required()]
    known = {name: _REQUIRED[name] for name in required if name in _REQUIRED}
    if "expected_version" in known:
        known["change_id"] = its.change
    content = known | values

    def run(backend: Backend, names: Names) -> Awaitable[Any]:
        done: Awaitable[Any] = binding.run(backend, binding.command(**_said(content, names)), by(names))
        return done

    return run


def _said(values: dict[str, Any], names: Names) -> dict[str, Any]:
    return {name: value(names) if callable(value) else value for name, value in values.items()}


def wait(minutes: int) -> Call:
    """Lets time pass."""

    async def run(backend: Backend, _: Names) -> None:
        cast("Any", backend.clock).move(minutes=minutes)

    return run


def writes(*steps: Change) -> Call:
    """Changes items behind the product's back."""
    return lambda backend, names: backend.store.transact(
        Transact("", tuple(Step("item", *step(names)) for step in steps))
    )


def step(
    action: Action, builder: Callable[..., Key], arguments: dict[str, Any] | None = None, **attributes: Any
) -> Change:
    """A change of an item of the examples, or of one whose key has other arguments."""
    return lambda names: (action, filled(builder, names, **_said(arguments or {}, names)), _said(attributes, names))


def without(*builders: Callable[..., Key]) -> Call:
    """Deletes items, as older versions did not write them."""
    return writes(*(step(Action.DELETE, builder) for builder in builders))


def changed(builder: Callable[..., Key], **attributes: Any) -> Call:
    """Changes attributes of an item."""
    return writes(step(Action.UPDATE, builder, **attributes))


def written(pk: str, sk: str, **attributes: Any) -> Call:
    """Writes an item as another program wrote it; names in braces are replaced."""

    def change(names: Names) -> tuple[Action, Key, dict[str, Any]]:
        def spelled(text: Any) -> Any:
            return text.format(**vars(names)) if isinstance(text, str) else text

        return Action.PUT, Key(spelled(pk), spelled(sk)), {name: spelled(value) for name, value in attributes.items()}

    return writes(change)
