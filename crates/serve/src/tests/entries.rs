//! Documents in chunks, against a map.

use crate::chunk::{CHUNK, Fields};
use crate::content::Content;
use crate::document::{Key, Measure, sent_digest};
use crate::entries::{Entries, Grounds, NONE, Seen};
use std::collections::BTreeMap;
use twinsplit_core::hash::mix;
use twinsplit_core::similarity::text::{Content as TextContent, TextMeasure};

/// A document of the map.
#[derive(Clone, Debug, PartialEq)]
struct Held {
    id: Vec<u8>,
    time: u64,
    renewed: bool,
    forced: bool,
    key: Key,
    digest: u64,
    run: u32,
    dropped: Option<Grounds>,
    content: Option<Content>,
}

fn held(number: u64) -> Held {
    let chance = mix(number ^ 0x51);
    let value = u128::from(mix(number)) << (chance % 3 * 32);
    let key = match chance >> 8 & 7 {
        0 => Key::Nothing,
        1 => Key::Text(value),
        2 => Key::Set,
        _ => Key::Fingerprint { value, most: (chance >> 12 & 3) as u32 },
    };
    let text = || "x".repeat((chance >> 20 & 31) as usize);
    let content = match key {
        Key::Set => Some(Content::Set((number..number + (chance >> 20 & 31)).collect())),
        _ => (chance >> 16 & 7 == 0).then(|| Content::Checked(TextContent::Text(text()))),
    };
    Held {
        id: number.to_string().repeat(1 + (chance >> 28 & 3) as usize).into_bytes(),
        time: number * 3,
        renewed: false,
        forced: chance >> 32 & 7 == 0,
        key,
        digest: if chance >> 36 & 1 == 0 { sent_digest(value) } else { chance },
        run: (chance >> 40 & 3) as u32,
        dropped: None,
        content,
    }
}

fn must_be(entries: &Entries, all: &BTreeMap<u64, Held>) {
    assert_eq!(entries.len(), all.len() as u64);
    assert_eq!(entries.kept(), all.values().filter(|held| held.dropped.is_none()).count() as u64);
    assert_eq!(entries.base(), all.keys().next().copied().unwrap_or(entries.next()));
    let mut rests: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (number, held) in all {
        let found = entries.find(&held.id, entries.hash(&held.id), |_| Seen::First).unwrap();
        assert_eq!(found.number, *number);
        let Fields { id, time, renewed, forced, key, digest, run, dropped } = found.fields();
        let (dropped, content) = (dropped.map(|(grounds, _)| grounds), found.content.cloned());
        let is = Held { id: id.to_vec(), time, renewed, forced, key, digest, run, dropped, content };
        assert_eq!(&is, held);
        held.dropped.iter().for_each(|grounds| rests.entry(grounds.of).or_default().push(*number));
    }
    for number in entries.base()..entries.next() {
        assert_eq!(entries.get(number).is_some(), all.contains_key(&number), "{number}");
        assert_eq!(entries.dropped_for(number), rests.remove(&number).unwrap_or_default());
    }
}

/// Documents come, are found again, are dropped for others and go, over many chunks, from any number on.
#[test]
fn chunks_hold_what_a_map_holds() {
    for start in [0, 5, CHUNK, 10 * CHUNK - 1, (1 << 40) - 3000, 7 << 40] {
        let (mut entries, mut all) = (Entries::default(), BTreeMap::new());
        assert!(entries.skip_to(start));
        let mut chance = start;
        for step in 0..9000u64 {
            chance = mix(chance + step);
            let some =
                |by: u64| all.keys().nth((chance >> 20) as usize % all.len().clamp(1, 40) + by as usize);
            let one = some(0).copied();
            match chance % 16 {
                0..=8 => {
                    let number = entries.next();
                    let Held { id, time, renewed, forced, key, digest, run, content, .. } = held(number);
                    let fields = Fields { id: &id, time, renewed, forced, key, digest, run, dropped: None };
                    let hash = entries.hash(&id);
                    assert_eq!(entries.insert(fields, hash, content.map(Box::new)), number);
                    all.insert(number, held(number));
                }
                9 => {
                    let Some(one) = one else { continue };
                    entries.renew(one, step + (1 << 40));
                    let held = all.get_mut(&one).unwrap();
                    (held.time, held.renewed) = (step + (1 << 40), true);
                }
                10..=12 => {
                    let last =
                        *all.keys().nth_back((chance >> 30) as usize % 900 % all.len().max(1)).unwrap_or(&0);
                    let (Some(one), Some(of)) = (one, all.get(&last)) else { continue };
                    if one == last || of.dropped.is_some() || !entries.dropped_for(one).is_empty() {
                        continue;
                    }
                    let measure =
                        [Measure::Hamming, Measure::EqualText, Measure::Text(TextMeasure::Edit, 812_500)];
                    let (distance, measure) = (chance as u32 >> 8 & 7, measure[(chance >> 50) as usize % 3]);
                    let grounds = Grounds { of: last, distance, measure };
                    entries.drop_for(one, grounds);
                    all.get_mut(&one).unwrap().dropped = Some(grounds);
                }
                13 if step % 700 == 0 => {
                    let next = entries.next() + chance % (3 * CHUNK);
                    assert!(entries.skip_to(next) && entries.next() == next);
                }
                _ => {
                    // From the beginning, or from anywhere.
                    let any = all.keys().nth((chance >> 30) as usize % all.len().max(1)).copied();
                    let Some(gone) = (if chance >> 60 & 1 == 0 { one } else { any }) else { continue };
                    for number in entries.dropped_for(gone).into_iter().chain([gone]) {
                        let out = entries.remove(number).unwrap();
                        let held = all.remove(&number).unwrap();
                        assert_eq!((&*out.id, out.key, out.run), (&*held.id, held.key, held.run));
                    }
                }
            }
            if step % 1500 == 0 {
                must_be(&entries, &all);
            }
        }
        must_be(&entries, &all);
        assert!(entries.get(NONE).is_none() && entries.get(entries.next()).is_none());
        // All goes, and with it all bytes but those of one chunk.
        let many = entries.bytes();
        while let Some(number) = all.keys().next().copied() {
            for number in entries.dropped_for(number).into_iter().chain([number]) {
                entries.remove(number);
                all.remove(&number);
            }
        }
        must_be(&entries, &all);
        assert!(entries.bytes() < 14_000 && many > 40_000, "{many} {}", entries.bytes());
    }
}
