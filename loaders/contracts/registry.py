"""Every contract by its id, whichever module of this package states it."""

from importlib import import_module
from pkgutil import iter_modules

from loaders import contracts
from loaders.contracts.base import Contract, registry

_MODULES = [import_module(f"{contracts.__name__}.{found.name}") for found in iter_modules(contracts.__path__)]

CONTRACTS = registry(
    {id(value): value for module in _MODULES for value in vars(module).values() if isinstance(value, Contract)}.values()
)
