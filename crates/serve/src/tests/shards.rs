//! Shards and fronts of a simulated log, against one process that reads the log alone: the network fails, replies are lost, records come twice, clocks go
//! back, and nodes and fronts die at any moment.

mod broker;
mod missing;
mod world;

use self::world::{World, answers_alone};
use super::model::documents;
use crate::asked::Answer;
use crate::document::Refused;
use crate::settings::{Comparison, Retention, Settings};
use crate::shards::request::{Kind, Request};
use proptest::prelude::*;
use twinsplit_core::sketch::simhash::Bits;

/// A request of a client, how many milliseconds pass before it, and whether it is sent again when it has been answered.
type Asked = (Request, u64, bool);

pub(super) fn settings(checked: bool, wide: bool, keep: Option<u64>) -> Settings {
    let bits = if wide { Bits::B128 } else { Bits::B64 };
    let check = checked.then(|| "jaccard:0.6".parse().unwrap());
    Settings {
        comparison: Comparison::Fingerprints { bits, distance: 3, check },
        retention: Retention { keep, ..Retention::default() },
        memory: 1 << 30,
        namespaces: 10,
    }
}

fn asked(settings: &Settings) -> impl Strategy<Value = Asked> + use<> {
    let kind = prop_oneof![
        10 => Just(Kind::CheckAdd),
        1 => Just(Kind::Add),
        2 => Just(Kind::Check),
        1 => Just(Kind::Count),
    ];
    let document = documents(settings.comparison);
    (kind, 0u8..2, 0u32..80, document, 0u64..6, prop::bool::weighted(0.2)).prop_map(
        |(kind, namespace, id, document, pause, again)| {
            let id = if kind.takes_in() { id.to_string().into_bytes() } else { Vec::new() };
            let document = if kind == Kind::Count { Default::default() } else { document };
            let request = Request { kind, namespace: vec![namespace].into(), id: id.into(), document };
            (request, pause, again)
        },
    )
}

fn cases() -> impl Strategy<Value = (Settings, usize, u64, Vec<Asked>, u64)> {
    let settings = (any::<bool>(), any::<bool>(), prop::option::of(20u64..200))
        .prop_map(|(checked, wide, keep)| settings(checked, wide, keep));
    (settings, 1usize..5, 1u64..20, any::<u64>()).prop_flat_map(|(settings, shards, epoch, seed)| {
        let all = prop::collection::vec(asked(&settings), 1..150);
        (Just(settings), Just(shards), Just(epoch), all, Just(seed))
    })
}

proptest! {
    /// Every answer is that of one process; what is held together is what it holds; and who reads all again, alone, comes to the same.
    #[test]
    fn shards_say_what_one_process_says((settings, shards, epoch, all, seed) in cases()) {
        let mut world = World::new(settings, shards, epoch, seed);
        let mut said: Vec<(Request, u64, Answer)> = Vec::new();
        for (request, pause, again) in all {
            world.wait(pause);
            for _ in 0..1 + usize::from(again) {
                let (number, answer) = world.ask_until_answered(&request);
                said.push((request.clone(), number, answer));
            }
        }
        let alone = answers_alone(&world);
        for (request, number, answer) in &said {
            prop_assert_eq!(answer, &alone[number], "{} {:?}", number, request);
        }
        world.finish_epoch();
        world.must_hold_what_one_process_holds();
        prop_assert_eq!(world.merged_again(), answers_alone(&world));
    }

    /// Where nodes run out of memory, what is new is refused, and all who read the log and the answers say the same.
    #[test]
    fn shards_that_are_full_say_so_to_all((settings, shards, epoch, all, seed) in cases()) {
        let settings = Settings { memory: 1000, ..settings };
        let mut world = World::new(settings, shards, epoch, seed);
        let mut said = Vec::new();
        for (request, pause, _) in all {
            world.wait(pause);
            said.push(world.ask_until_answered(&request));
        }
        let again = world.merged_again();
        for (number, answer) in &said {
            prop_assert_eq!(answer, &again[number]);
            if let Answer::Refused(refused) = answer {
                prop_assert!(matches!(refused, Refused::Memory(1000) | Refused::Conflict), "{:?}", refused);
            }
        }
    }
}
