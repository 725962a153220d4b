//! The rows by which features of one site are found: under each feature the sites that have it, then its documents.

use super::set;
use super::{Fields, Keys, Record, push_number};
use std::borrow::Cow;
use twinsplit_io::error::FieldError;

/// A row under a feature; sites come before documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteRow<'a> {
    /// So many documents of a site have the feature.
    Site {
        /// The feature.
        feature: u64,
        /// How many documents.
        documents: u64,
        /// The site, escaped as ids are; empty for documents of which none is known.
        site: Cow<'a, [u8]>,
    },
    /// A document has the feature.
    Posting {
        /// The feature.
        feature: u64,
        /// The document.
        id: &'a [u8],
    },
}

impl<'a> Record<'a> for SiteRow<'a> {
    const FIELDS: &'static str = "feature⇥0⇥documents⇥site; feature⇥1⇥id";
    const KEYS: Option<Keys> = Some(Keys { partition: 1, sort: 2 });

    fn decode(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line);
        let feature = fields.feature("feature")?;
        match fields.next("tag", "0 or 1")? {
            b"0" => {
                let documents = fields.number("documents")?;
                let site = fields.next("site", "a site, or nothing")?.into();
                fields.done()?;
                Ok(SiteRow::Site { feature, documents, site })
            }
            b"1" => {
                let id = fields.id("id")?;
                fields.done()?;
                Ok(SiteRow::Posting { feature, id })
            }
            other => Err(FieldError::new("tag", "0 or 1", other)),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            SiteRow::Site { feature, documents, site } => {
                set::push_feature(out, *feature);
                out.extend_from_slice(b"\t0\t");
                push_number(out, *documents);
                out.push(b'\t');
                out.extend_from_slice(site);
            }
            SiteRow::Posting { feature, id } => {
                set::push_feature(out, *feature);
                out.extend_from_slice(b"\t1\t");
                out.extend_from_slice(id);
            }
        }
    }
}
