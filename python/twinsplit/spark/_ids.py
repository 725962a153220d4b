"""Ids as documents on Spark have them, in the order of the users' own, and back."""

from __future__ import annotations

import re
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ByteType, DataType, IntegerType, LongType, ShortType, StringType

# What stands in an answer for characters of an id (docs/formats.md); the backslash last, for all escapes begin with it.
_ESCAPES = [("\\xef\\xbb\\xbf", "\ufeff")] + [(f"\\x{code:02x}", chr(code)) for code in [*range(0x20), 0x7F, 0x5C]]
_LEAST = 2**63
_WHOLE = (ByteType, ShortType, IntegerType, LongType)


def refuse(name: str, kind: DataType) -> None:
    """Refuses columns of types that have no order or no form as a text."""
    if not isinstance(kind, (*_WHOLE, StringType)):
        said = f"ids are strings or whole numbers, and the column {name!r} is {kind.simpleString()}"
        raise TypeError(f"{said}; give a column of strings, such as col({name!r}).cast('string')")


def stored(own: Column, kind: DataType) -> Column:
    """Ids as strings whose bytes have the order of the ids. Whole numbers have a digit for their sign and 19 more."""
    if isinstance(kind, StringType):
        return own
    below = F.concat(F.lit("0"), F.lpad((own.cast("decimal(20,0)") + F.lit(Decimal(_LEAST))).cast("string"), 19, "0"))
    return F.when(own < 0, below).otherwise(F.concat(F.lit("1"), F.lpad(own.cast("string"), 19, "0")))


def own(name: Column, kind: DataType) -> Column:
    """The user's ids of those in an answer."""
    if not isinstance(kind, StringType):
        digits = F.substring(name, 2, 19).cast("decimal(20,0)")
        least = F.lit(Decimal(_LEAST))
        return F.when(name.startswith("1"), digits).otherwise(digits - least).cast("long").cast(kind)
    plain = name
    for escape, character in _ESCAPES:
        plain = F.replace(plain, F.lit(escape), F.lit(character))
    return F.when(name.contains("\\"), plain).otherwise(name).cast(kind)


def in_words(said: str, kind: DataType) -> str:
    """What the program says, with the user's whole numbers.

    >>> in_words("the id 10000000000000000007, and 09223372036854775806", LongType())
    'the id 7, and -2'
    """
    if isinstance(kind, StringType):
        return said
    return re.sub(r"\b([01])(\d{19})\b", lambda found: str(int(found[2]) - (found[1] == "0") * _LEAST), said)
