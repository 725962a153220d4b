use super::*;
use crate::FieldNames;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use twinsplit_io::{PackedFile, Packing};

/// Writes bytes in a compression.
fn pack(bytes: &[u8], packing: Option<Packing>, to: &Path) {
    let mut file = PackedFile::create(to, packing).unwrap();
    file.bytes(bytes).unwrap();
    file.finish().unwrap();
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    twinsplit_io::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// What a file becomes of which the documents of these numbers are left out; in each compression the same.
fn without(opts: &SourceOpts, name: &str, bytes: &[u8], dropped: &[usize]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = [name, "to"].map(|name| folder.path().join(name));
    let mut all = Vec::new();
    for packing in Packing::ALL.map(Some).into_iter().chain([None]) {
        pack(bytes, packing, &from);
        let mut number = 0;
        let mut keeps = |_: &[u8], _: &Place, _: u64| {
            number += 1;
            Ok(!dropped.contains(&(number - 1)))
        };
        opts.write_subset(&from, 0, &to, &mut keeps).unwrap();
        all.push(to.exists().then(|| {
            assert_eq!(Packing::of(&fs::read(&to).unwrap()), packing);
            let bytes = unpacked(&to);
            fs::remove_file(&to).unwrap();
            bytes
        }));
    }
    assert!(all.windows(2).all(|two| two[0] == two[1]));
    all.pop().flatten()
}

/// All sets of so many numbers.
fn sets(count: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1_usize << count).map(move |bits| (0..count).filter(|at| bits >> at & 1 == 1).collect())
}

/// Pieces of a file: what is no document, and documents by their numbers.
type Pieces<'p> = &'p [(Option<usize>, &'p str)];

/// What is written is the file without the pieces of the documents that are left out.
fn check(format: Format, name: &str, pieces: Pieces<'_>) {
    let opts = SourceOpts::of(format);
    let whole: String = pieces.iter().map(|(_, text)| *text).collect();
    let count = pieces.iter().filter(|(number, _)| number.is_some()).count();
    for dropped in sets(count) {
        let left = pieces.iter().filter(|(number, _)| number.is_none_or(|number| !dropped.contains(&number)));
        let expected: String = left.map(|(_, text)| *text).collect();
        let found = without(&opts, name, whole.as_bytes(), &dropped).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), expected, "{name} {dropped:?}");
    }
}

#[test]
fn lines_and_rows_stay_as_they_are() {
    check(
        Format::Jsonl,
        "a",
        &[
            (None, "\u{feff}"),
            (Some(0), "{\"id\": 1, \"text\": \"a\"}\r\n\n"),
            (None, " \n"),
            (Some(1), " {\"text\": \"b\", \"id\":2 }\n"),
            (Some(2), "{\"id\":3,\"text\":\"\"}"),
        ],
    );
    check(
        Format::Csv,
        "a.csv",
        &[
            (None, "\u{feff}\"id\";text;n\r\n"),
            (Some(0), "a;\"one;\r\ntwo \"\"three\"\"\";\r\n"),
            (Some(1), "\"b\";four;1\r\n\r\n"),
            (Some(2), "c;five;\"2\"\n"),
            (Some(3), "d;six;3"),
        ],
    );
    check(Format::Tsv, "a.tsv", &[(None, "text\tid\n"), (Some(0), "x y\ta\n"), (Some(1), "z\tb\n")]);
    check(Format::Csv, "a.csv", &[(None, "id,text\n")]);
    check(
        Format::Lines,
        "a",
        &[
            (None, "\n \n"),
            (Some(0), "  one\r\n"),
            (None, "\n"),
            (Some(1), "\ttwo \n"),
            (None, "\n"),
            (Some(2), "three"),
        ],
    );
    let doc = |id: &str| format!("<DOC>\n<DOCNO> {id} </DOCNO>\n<TEXT>\nt\n</TEXT>\n</DOC>\n\n");
    check(Format::Trec, "a", &[(Some(0), &doc("a")), (Some(1), &doc("b"))]);
}

/// Bytes that are no documents are left out with what `keeps` says: they are in the quarantine.
#[test]
fn what_cannot_be_read_is_left_out() {
    let bytes = b"{\"id\":1,\"text\":\"a\"}\nno document\n{\"id\":2,\"text\":\"b\"}\n";
    let found = without(&SourceOpts::of(Format::Jsonl), "a", bytes, &[0]).unwrap();
    assert_eq!(found, b"{\"id\":2,\"text\":\"b\"}\n");
}

#[test]
fn a_file_that_is_a_document_is_there_or_not() {
    for (format, bytes) in [(Format::Text, "one\ntwo"), (Format::Html, "<html><p>one</html>")] {
        let opts = SourceOpts::of(format);
        assert_eq!(without(&opts, "a", bytes.as_bytes(), &[]).unwrap(), bytes.as_bytes());
        assert_eq!(without(&opts, "a", bytes.as_bytes(), &[0]), None);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "[{\"id\":1,\"text\":\"a\"}]").unwrap();
    let opts = SourceOpts::of(Format::Auto);
    let refused = opts.refuse_no_subset(&file).unwrap_err().to_string();
    let written = opts.write_subset(&file, 0, &folder.path().join("to"), &mut |_, _, _| Ok(true));
    assert!(refused.contains("twinsplit convert") && written.unwrap_err().to_string() == refused);
}

fn record(kind: &str, id: u32, content: &str) -> String {
    let content_type =
        if kind == "response" { "Content-Type: application/http; msgtype=response\r\n" } else { "" };
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{id}>\r\n{content_type}Content-Length: {}\r\n\r\n{content}\r\n\r\n",
        content.len()
    )
}

#[test]
fn records_that_are_no_pages_stay() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>text</p>";
    let image = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\n\nWARC/1.0";
    let pieces = [
        (None, record("warcinfo", 1, "software: x\r\n")),
        (None, record("request", 2, "GET / HTTP/1.1\r\n\r\n")),
        (Some(0), record("response", 3, page)),
        (None, record("response", 4, image)),
        (Some(1), record("conversion", 5, "some text\n\n")),
        (Some(2), record("response", 6, page).trim_end().to_owned()),
    ];
    let pieces = pieces.each_ref().map(|(number, text)| (*number, text.as_str()));
    check(Format::Warc, "a", &pieces);
    // Each record that is packed is a part by itself.
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    let whole: String = pieces.iter().map(|(_, text)| *text).collect();
    pack(whole.as_bytes(), Some(Packing::Gzip), &from);
    let opts = SourceOpts::of(Format::Warc);
    opts.write_subset(&from, 0, &to, &mut |_, place, _| Ok(place.line > 20)).unwrap();
    let (bytes, mut parts) = (fs::read(&to).unwrap(), Vec::new());
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let mut part = String::new();
        let mut decoder = flate2::bufread::GzDecoder::new(rest);
        decoder.read_to_string(&mut part).unwrap();
        rest = decoder.into_inner();
        parts.push(part);
    }
    let left: Vec<_> =
        pieces.iter().filter(|(number, _)| *number != Some(0)).map(|(_, text)| *text).collect();
    assert_eq!(parts, left);
}

/// The rows of a Parquet file as JSON lines; the golden files are those that pyarrow has written.
fn rows(path: &Path) -> Vec<Vec<u8>> {
    let opts = SourceOpts { id: Some("auto".to_owned()), ..SourceOpts::of(Format::Parquet) };
    let mut source = opts.open(path, 0).unwrap();
    let mut all = Vec::new();
    while let Some(found) = source.next_document().unwrap() {
        all.push(found.raw.to_vec());
    }
    all
}

#[test]
fn rows_of_parquet_have_all_columns() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("to");
    let open = |path: &Path| SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    for name in ["snappy", "plain", "gzip", "zstd", "lz4", "delta", "empty"] {
        let from =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/goldens/parquet/{name}.parquet"));
        let all = rows(&from);
        let opts = SourceOpts::of(Format::Parquet);
        for which in [(1, 0), (1, 1), (2, 1), (3, 0), (all.len() + 1, 0), (7, 9)] {
            let keeps = |row: u64| row as usize % which.0 == which.1;
            opts.write_subset(&from, 0, &to, &mut |_, place, _| Ok(keeps(place.offset))).unwrap();
            let left = (0..).zip(&all).filter(|(row, _)| keeps(*row)).map(|(_, line)| line.clone());
            assert_eq!(rows(&to), left.collect::<Vec<_>>(), "{name} {which:?}");
            let (before, after) = (open(&from), open(&to));
            let [before, after] = [&before, &after].map(|reader| reader.metadata());
            let schema = |of: &parquet::file::metadata::ParquetMetaData| {
                of.file_metadata().schema_descr().root_schema_ptr()
            };
            assert_eq!(schema(after), schema(before), "{name}");
            let notes = |of: &parquet::file::metadata::ParquetMetaData| -> BTreeMap<String, Option<String>> {
                let all = of.file_metadata().key_value_metadata().cloned().unwrap_or_default();
                all.into_iter().map(|note| (note.key, note.value)).collect()
            };
            assert_eq!(notes(after), notes(before), "{name}");
            for group in after.row_groups() {
                for (column, of_before) in group.columns().iter().zip(before.row_group(0).columns()) {
                    assert_eq!(column.compression(), of_before.compression(), "{name}");
                }
            }
        }
    }
}

/// Values of every type, missing ones and lists among them, over several groups and more rows than are held at a time.
#[test]
fn columns_of_every_type_are_copied() {
    use parquet::data_type::{
        BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
        FloatType, Int32Type, Int64Type, Int96, Int96Type,
    };
    use parquet::file::properties::WriterProperties;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    fn column<T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, fs::File>,
        values: &[T::T],
        levels: [Option<&[i16]>; 2],
    ) {
        let mut writer = group.next_column().unwrap().unwrap();
        writer.typed::<T>().write_batch(values, levels[0], levels[1]).unwrap();
        writer.close().unwrap();
    }

    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    let schema = "message rows { required binary text (STRING); required boolean b; required int32 i; optional int64 l; required int96 t;
        required float f; required double d; required fixed_len_byte_array(3) x; repeated int32 r; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = fs::File::create(&from).unwrap();
    let properties = Arc::new(WriterProperties::builder().set_data_page_row_count_limit(100).build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    const GROUP: i32 = 20_000;
    for first in [0, GROUP] {
        let all: Vec<i32> = (first..first + GROUP).collect();
        let mut group = writer.next_row_group().unwrap();
        let text = |row: &i32| ByteArray::from(format!("text {row}").into_bytes());
        column::<ByteArrayType>(&mut group, &all.iter().map(text).collect::<Vec<_>>(), [None; 2]);
        column::<BoolType>(&mut group, &all.iter().map(|row| row % 3 == 0).collect::<Vec<_>>(), [None; 2]);
        column::<Int32Type>(&mut group, &all, [None; 2]);
        let (there, long): (Vec<i16>, Vec<i64>) = (
            all.iter().map(|row| i16::from(row % 5 > 0)).collect(),
            all.iter().filter(|row| *row % 5 > 0).map(|row| i64::from(*row) << 33).collect(),
        );
        column::<Int64Type>(&mut group, &long, [Some(&there), None]);
        let time = |row: &i32| Int96::from(vec![*row as u32, 7, 2_440_588]);
        column::<Int96Type>(&mut group, &all.iter().map(time).collect::<Vec<_>>(), [None; 2]);
        column::<FloatType>(
            &mut group,
            &all.iter().map(|row| *row as f32 / 4.0).collect::<Vec<_>>(),
            [None; 2],
        );
        column::<DoubleType>(
            &mut group,
            &all.iter().map(|row| f64::from(*row) / 8.0).collect::<Vec<_>>(),
            [None; 2],
        );
        let fixed = |row: &i32| FixedLenByteArray::from(row.to_be_bytes()[1..].to_vec());
        column::<FixedLenByteArrayType>(&mut group, &all.iter().map(fixed).collect::<Vec<_>>(), [None; 2]);
        // No, one or two elements.
        let (mut values, mut there, mut again) = (Vec::new(), Vec::new(), Vec::new());
        for row in &all {
            let count = row % 3;
            values.extend((0..count).map(|at| row * 10 + at));
            there.extend((0..count.max(1)).map(|_| i16::from(count > 0)));
            again.extend((0..count.max(1)).map(|at| i16::from(at > 0)));
        }
        column::<Int32Type>(&mut group, &values, [Some(&there), Some(&again)]);
        group.close().unwrap();
    }
    writer.close().unwrap();
    // As the library's reader of rows has them, which knows nothing of how columns are copied.
    let rows = |path: &Path| -> Vec<String> {
        let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    };
    let all = rows(&from);
    assert_eq!(all.len(), 2 * GROUP as usize);
    let opts = SourceOpts {
        id: Some("auto".to_owned()),
        names: FieldNames::default(),
        ..SourceOpts::of(Format::Parquet)
    };
    // Long stretches, short ones, a whole group, and one row.
    let which: [fn(u64) -> bool; 5] =
        [|row| row % 13_000 < 11_000, |row| row % 2 == 0, |row| row >= 20_000, |row| row == 39_999, |_| true];
    for keeps in which {
        opts.write_subset(&from, 0, &to, &mut |_, place, _| Ok(keeps(place.offset))).unwrap();
        let left = (0..).zip(&all).filter(|(row, _)| keeps(*row)).map(|(_, row)| row);
        assert!(rows(&to).iter().eq(left));
    }
}
