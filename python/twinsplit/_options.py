"""Options as keywords: their names, and their values as the command line writes them."""

import difflib
import os
from collections.abc import Mapping
from decimal import Decimal
from functools import cache

from . import _twinsplit

Option = str | int | float | bool | Decimal | tuple[float, float] | os.PathLike[str]


@cache
def known() -> dict[str, str]:
    """All options as keywords, and their names on the command line."""
    names = {}
    for name, alias, _, _ in _twinsplit.options():
        for called in (name, alias):
            if called is not None:
                names[called.replace("-", "_")] = name
    # They are parameters of their own.
    for own in ("id", "text", "date", "score", "queries"):
        names.pop(own, None)
    return names


def written(value: object) -> str:
    """A value as the command line takes it.

    >>> written(0.65), written(1e-5), written(True), written((0.1, 1))
    ('0.65', '0.00001', 'on', '0.1,1')
    """
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return format(Decimal(repr(value)), "f")
        case tuple() | list():
            return ",".join(written(one) for one in value)
        case _:
            return str(value)


def listed(options: Mapping[str, object], extra: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Options with the names of the command line; those that are None are left out.

    >>> listed({"min_features": 3, "keep": None})
    [('min-features', '3')]
    >>> listed({"min_feature": 3})
    Traceback (most recent call last):
        ...
    TypeError: there is no option 'min_feature'; did you mean 'min_features'?
    """
    names = known()
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, [*names, *extra], 1)
            advice = f"; did you mean {near[0]!r}?" if near else "; twinsplit.options() has all of them"
            raise TypeError(f"there is no option {name!r}{advice}")
    return [(names[name], written(value)) for name, value in options.items() if value is not None]
