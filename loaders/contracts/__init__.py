"""The contracts, one module an entity: read them and you know every access pattern."""

from __future__ import annotations

from loaders.contract import registry
from loaders.contracts.api_keys import QC_60, QC_61, QC_62, QC_63
from loaders.contracts.bookings import (
    QC_40,
    QC_41,
    QC_42,
    QC_43,
    QC_44,
    QC_45,
    QC_46,
    QC_47,
    QC_48,
    QC_49,
)
from loaders.contracts.events import QC_08, QC_09, QC_10, QC_16
from loaders.contracts.locations import QC_30, QC_31, QC_32, QC_33, QC_34
from loaders.contracts.lockers import QC_01, QC_02, QC_03, QC_06, QC_11, QC_12
from loaders.contracts.owners import QC_20, QC_21, QC_22
from loaders.contracts.rates import QC_50
from loaders.contracts.reservations import QC_04, QC_05, QC_07, QC_13, QC_14, QC_15

__all__ = [
    "CONTRACTS",
    "QC_01",
    "QC_02",
    "QC_03",
    "QC_04",
    "QC_05",
    "QC_06",
    "QC_07",
    "QC_08",
    "QC_09",
    "QC_10",
    "QC_11",
    "QC_12",
    "QC_13",
    "QC_14",
    "QC_15",
    "QC_16",
    "QC_20",
    "QC_21",
    "QC_22",
    "QC_30",
    "QC_31",
    "QC_32",
    "QC_33",
    "QC_34",
    "QC_40",
    "QC_41",
    "QC_42",
    "QC_43",
    "QC_44",
    "QC_45",
    "QC_46",
    "QC_47",
    "QC_48",
    "QC_49",
    "QC_50",
    "QC_60",
    "QC_61",
    "QC_62",
    "QC_63",
]

CONTRACTS = registry(
    [
        QC_01, QC_02, QC_03, QC_04, QC_05, QC_06, QC_07, QC_08, QC_09, QC_10, QC_11, QC_12, QC_13, QC_14, QC_15,
        QC_16, QC_20, QC_21, QC_22, QC_30, QC_31, QC_32, QC_33, QC_34, QC_40, QC_41, QC_42, QC_43, QC_44, QC_45,
        QC_46, QC_47, QC_48, QC_49, QC_50, QC_60, QC_61, QC_62, QC_63,
    ]
)  # fmt: skip
