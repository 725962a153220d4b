"""Stores: what is in them, and what leaves them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple

from . import _twinsplit
from ._duplicates import Change


class Batch(NamedTuple):
    """A batch of a store: its documents, those of them that were new, and when it came, as `2024-01-31T12:30:00Z`, where that is known."""

    id: str
    documents: int
    added: int
    time: str | None


class StoredDocument(NamedTuple):
    """A document of a store: the batch that it came in first, and the document that is kept of its cluster; None where it is in none."""

    id: Any
    batch: str
    kept: Any
    features: int


@dataclass(frozen=True)
class Removal:
    """What has left a store, or would leave it."""

    # How many documents.
    forgotten: int
    # Ids that no document has.
    unknown: list[Any]
    # Batches.
    batches: list[str]
    # Documents that stay and were dropped in favour of one that goes: others of their cluster are kept now, or they themselves.
    orphans: list[Change]
    # Documents that stay and whose cluster falls apart.
    apart: list[Change]


class Store:
    """A store in a folder, which `dedup(…, store=folder)` makes and adds to.

    It is opened for each call and let go of: others may add to it between two calls. `ids` is `int` where the documents came with whole
    numbers as ids, and `str` else.

    >>> import twinsplit
    >>> monday = twinsplit.dedup(["The ferry left at six."], id=["m1"], features="words:1", store="kept.store", batch="monday")
    >>> tuesday = twinsplit.dedup(["The ferry left at six!"], id=["t1"], features="words:1", store="kept.store", batch="tuesday")
    >>> store = twinsplit.Store("kept.store")
    >>> len(store), [batch.id for batch in store.batches]
    (2, ['monday', 'tuesday'])
    >>> store.forget(["m1"]).orphans
    [Change(id='t1', before='m1', now='t1')]
    >>> [document.id for document in store.documents()]
    ['t1']
    """

    def __init__(self, folder: str | os.PathLike[str], *, ids: type = str) -> None:
        if ids not in (str, int):
            raise TypeError(f"ids is {ids!r}; ids of a store are str or int")
        self.folder = os.fspath(folder)
        self._ids = ids
        _twinsplit.store_about(self.folder)

    def __len__(self) -> int:
        """How many documents there are."""
        return _twinsplit.store_about(self.folder)[0]

    def __repr__(self) -> str:
        return f"<Store {self.folder!r}: {len(self):,} documents>"

    @property
    def batches(self) -> list[Batch]:
        """The batches, in the order in which they came."""
        return [Batch(*batch) for batch in _twinsplit.store_about(self.folder)[1]]

    @property
    def options(self) -> dict[str, str]:
        """What all batches are compared by."""
        return dict(_twinsplit.store_about(self.folder)[2])

    def documents(self) -> list[StoredDocument]:
        """All documents, in the order of their ids as files have them."""
        rows = _twinsplit.store_documents(self.folder)
        return [StoredDocument(self._id(own), batch, self._id(kept), features) for own, batch, kept, features in rows]

    def forget(self, ids: Iterable[Any], *, dry_run: bool = False) -> Removal:
        """Forgets the documents of these ids. With `dry_run` it says what that would change, and changes nothing."""
        if isinstance(ids, (str, bytes)):
            raise TypeError("forget takes several ids: give a list")
        return self._removal(_twinsplit.store_forget(self.folder, [self._name(own) for own in ids], dry_run))

    def drop_batches(self, batches: Iterable[str], *, dry_run: bool = False) -> Removal:
        """Drops batches, with the documents that came in them first."""
        if isinstance(batches, (str, bytes)):
            raise TypeError("drop_batches takes several ids: give a list")
        return self._removal(_twinsplit.store_drop_batches(self.folder, list(batches), dry_run))

    def expire(self, before: str | datetime, *, dry_run: bool = False) -> Removal:
        """Drops the batches that came before a time: a datetime with a zone, a date, a date and time, or seconds since 1970 as digits."""
        if isinstance(before, datetime):
            if before.tzinfo is None:
                raise ValueError("a datetime without a time zone names no moment: give one, such as datetime.timezone.utc")
            before = before.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._removal(_twinsplit.store_expire(self.folder, before, dry_run))

    def compact(self, answers: int | None = None) -> bool:
        """Writes segments again without what is forgotten of them, so that space comes back; whether there was something to do.

        With `answers` what was answered to all batches but the last so many goes as well: they cannot be sent again.
        """
        return _twinsplit.store_compact(self.folder, answers)

    def _name(self, own: Any) -> str:
        if type(own) is not self._ids:
            raise TypeError(f"the id {own!r} is no {self._ids.__name__}; a Store has ids=str or ids=int")
        return str(own)

    def _id(self, name: str | None) -> Any:
        return int(name) if self._ids is int and name is not None and name.removeprefix("-").isdecimal() else name

    def _removal(self, removed: tuple[int, list[str], list[str], list[tuple[str, str, str, bool]]]) -> Removal:
        forgotten, unknown, batches, changes = removed
        of: dict[bool, list[Change]] = {True: [], False: []}
        for own, before, now, is_orphan in changes:
            of[is_orphan].append(Change(self._id(own), self._id(before), self._id(now)))
        return Removal(forgotten, [self._id(name) for name in unknown], batches, of[True], of[False])
