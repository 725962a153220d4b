//! The tables of an index, built of its fingerprints.
//!
//! Fingerprints are brought into parts by the first bits of a key, and each part is sorted into its buckets in the second of the caches. Tables
//! whose keys begin alike, as those of block-pairs do, share their parts: ten tables are made of four sets of parts. Where the key
//! begins with the topmost bits the parts are there already, for the fingerprints ascend.

use super::bits::Fingerprint;
use super::layout::TableShape;
use super::parts::{Parts, part_bits, total};
use super::storage::Bytes;
use super::table::{Place, Room, Table};
use crate::join::memory;
use crate::threads::each;

/// Builds tables of fingerprints that ascend, without equal ones. With the topmost bits for a key entries stand in their order. `memory` is
/// bytes for what is in parts at one time.
pub fn tables<F: Fingerprint>(
    shapes: &[TableShape<F>],
    values: &[F],
    threads: usize,
    memory: usize,
) -> Vec<Table<F>> {
    let mut room = Vec::new();
    let empty: Vec<_> =
        shapes.iter().map(|shape| Table::new(*shape, Bytes::default(), Bytes::default())).collect();
    let bits = |table: &Table<F>| part_bits(values.len()).min(table.shape.directory);
    let lead = |table: &Table<F>| table.lead(bits(table));
    let mut built = Vec::with_capacity(shapes.len());
    for group in empty.chunk_by(|one, next| lead(one) == lead(next)) {
        built.extend(together(group, bits(&group[0]), values, threads, memory, &mut room));
    }
    built
}

/// Builds tables whose keys begin with the same `bits` bits.
fn together<F: Fingerprint>(
    group: &[Table<F>],
    bits: u32,
    values: &[F],
    threads: usize,
    memory: usize,
    room: &mut Vec<F>,
) -> Vec<Table<F>> {
    let first = &group[0];
    let part = first.part(bits);
    let place = |value: F, _| (part(value), value);
    let parts = Parts { values, parts: 1 << bits, place, threads, memory };
    let ascending = first.lead(bits) == !F::low_ones(F::BITS - bits);
    let by_share = if ascending { Vec::new() } else { parts.sizes() };
    let ends: Vec<usize> = if ascending {
        (0..1 << bits).map(|part| values.partition_point(|value| value.top(bits) <= part)).collect()
    } else {
        let sum = |sum: &mut usize, size| {
            *sum += size;
            Some(*sum)
        };
        total(&by_share, 1 << bits).into_iter().scan(0, sum).collect()
    };
    // Pages come from the system when they are written to, by the thread that does.
    let mut bytes: Vec<(Vec<u8>, Vec<u8>)> = group
        .iter()
        .map(|table| {
            let entries = values.len() * table.shape.width() + F::BITS as usize / 8;
            (memory::zeros(4 * (1 << table.shape.directory) + 4), memory::zeros(entries))
        })
        .collect();
    let mut places: Vec<Vec<(&Table<F>, Place<'_>)>> = ends.iter().map(|_| Vec::new()).collect();
    for (table, (directory, entries)) in group.iter().zip(&mut bytes) {
        let starts = directory.chunks_exact_mut(4 << (table.shape.directory - bits));
        let (mut rest, mut first) = (&mut entries[..], 0);
        for ((starts, end), places) in starts.zip(&ends).zip(&mut places) {
            let (own, others) = rest.split_at_mut((end - first) * table.shape.width());
            places.push((table, Place { starts, entries: own, first: first as u32 }));
            (rest, first) = (others, *end);
        }
    }
    let fill = |part: &[F], places: Vec<(&Table<F>, Place<'_>)>| {
        let mut room = Room::default();
        places.into_iter().for_each(|(table, place)| table.fill(place, bits, part, &mut room));
    };
    if ascending {
        let mut first = 0;
        let parts = ends.iter().map(|end| &values[std::mem::replace(&mut first, *end)..*end]);
        let parts: Vec<_> = parts.zip(places).collect();
        each(parts, threads, |(part, places)| fill(part, places));
    } else {
        let mut places = places.into_iter();
        parts.each(&by_share, room, |_, parts| {
            let parts: Vec<_> = parts.into_iter().zip(places.by_ref()).collect();
            each(parts, threads, |(part, places)| fill(part, places));
        });
    }
    let filled = group.iter().zip(bytes).map(|(table, (mut directory, entries))| {
        let end = directory.len() - 4;
        directory[end..].copy_from_slice(&(values.len() as u32).to_le_bytes());
        Table::new(table.shape, Bytes::from(directory), Bytes::from(entries))
    });
    filled.collect()
}
