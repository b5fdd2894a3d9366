//! The headers of a tar archive: ustar, GNU's long names, and pax(1).
//!
//! Only headers are kept, and the records that name long names only up to [`MAX_RECORD`], so that a
//! hostile archive cannot make the listing large.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use super::listing::{EntryKind, Listing, Stop};
use super::{BLOCK, fill};

/// Longest record with a long name or pax attributes that is looked at, in bytes.
const MAX_RECORD: u64 = 64 * 1024;

/// Bytes that are passed over between two looks at the cancellation.
const SKIP_STEP: u64 = 1024 * 1024;

/// True when a block is a header: its check sum says so.
pub(super) fn is_header(block: &[u8]) -> bool {
    if block.len() != BLOCK {
        return false;
    }
    // The field itself counts as spaces.
    let sum: u64 = block
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) })
        .sum();
    number(field(block, 148, 8)) == Some(sum) && block.iter().any(|byte| *byte != 0)
}

/// What the records before a header say of it.
#[derive(Debug, Default)]
struct Extended {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
}

/// Reads an archive that is a plain file.
pub(super) fn read_file(file: File, size: u64, listing: &mut Listing<'_>) -> Result<(), Stop> {
    let mut source = Source { from: BufReader::new(file), at: 0, size };
    walk(&mut source, Source::seek_on, listing)
}

/// Reads an archive from a stream.
pub(super) fn read(from: impl Read, listing: &mut Listing<'_>) -> Result<(), Stop> {
    let mut source = Source { from, at: 0, size: u64::MAX };
    walk(&mut source, Source::read_on, listing)
}

struct Source<R> {
    from: R,
    /// How far it was read.
    at: u64,
    /// Of the file; the end of a stream is found by reading.
    size: u64,
}

impl<R: Read> Source<R> {
    fn block(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut block = [0; BLOCK];
        match fill(&mut self.from, &mut block)? {
            0 => Ok(None),
            BLOCK => {
                self.at = self.at.saturating_add(BLOCK as u64);
                Ok(Some(block))
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn read_on(&mut self, count: u64, listing: &Listing<'_>) -> Result<(), Stop> {
        let mut left = count;
        while left > 0 {
            listing.check_cancelled()?;
            let step = left.min(SKIP_STEP);
            let passed = io::copy(&mut self.from.by_ref().take(step), &mut io::sink())
                .map_err(|error| Stop::damaged(&error))?;
            if passed < step {
                return Err(cut_off());
            }
            left -= step;
        }
        self.at = self.at.saturating_add(count);
        Ok(())
    }
}

impl Source<BufReader<File>> {
    fn seek_on(&mut self, count: u64, _listing: &Listing<'_>) -> Result<(), Stop> {
        let to = self.at.saturating_add(count);
        if to > self.size {
            return Err(cut_off());
        }
        self.from.seek(SeekFrom::Start(to)).map_err(|error| Stop::damaged(&error))?;
        self.at = to;
        Ok(())
    }
}

fn cut_off() -> Stop {
    Stop::Damaged("The archive ends within an entry, or is larger than is read.".to_owned())
}

fn walk<R: Read>(
    source: &mut Source<R>,
    pass: impl Fn(&mut Source<R>, u64, &Listing<'_>) -> Result<(), Stop>,
    listing: &mut Listing<'_>,
) -> Result<(), Stop> {
    let mut extended = Extended::default();
    let mut is_first = true;
    loop {
        listing.check_cancelled()?;
        let block = match source.block() {
            Ok(Some(block)) if block.iter().any(|byte| *byte != 0) => block,
            Ok(None) if is_first => return Err(Stop::NotAnArchive("not a tar archive.")),
            // Two empty blocks end an archive; one does as well.
            Ok(_) => return Ok(()),
            Err(error) if is_first && error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(Stop::NotAnArchive("compressed, but not a tar archive."));
            }
            Err(error) => return Err(Stop::damaged(&error)),
        };
        if !is_header(&block) {
            return Err(if is_first {
                Stop::NotAnArchive("compressed, but not a tar archive.")
            } else {
                Stop::Damaged("A header of the archive is damaged.".to_owned())
            });
        }
        is_first = false;
        let kind = block.get(156).copied().unwrap_or_default();
        let said = number(field(&block, 124, 12))
            .ok_or_else(|| Stop::Damaged("A header of the archive has no size.".to_owned()))?;
        if matches!(kind, b'L' | b'K' | b'x' | b'g') {
            let record = record(source, said, &pass, listing)?;
            match kind {
                b'L' => extended.name = Some(until_nul(&record).to_vec()),
                b'K' => extended.link = Some(until_nul(&record).to_vec()),
                b'x' => pax(&record, &mut extended),
                // What holds for all entries names none of them.
                _ => {}
            }
            continue;
        }
        let Extended { name, link, size } = std::mem::take(&mut extended);
        let size = size.unwrap_or(said);
        let name = name.unwrap_or_else(|| ustar_name(&block));
        let link = || {
            let link = link.clone().unwrap_or_else(|| until_nul(field(&block, 157, 100)).to_vec());
            String::from_utf8_lossy(&link).into_owned()
        };
        let (kind, size, content) = match kind {
            b'1' | b'2' => (EntryKind::Link(link()), 0, 0),
            b'3' | b'4' | b'6' => (EntryKind::Other, 0, 0),
            b'5' => (EntryKind::Directory, 0, size),
            _ if name.ends_with(b"/") => (EntryKind::Directory, 0, size),
            _ => (EntryKind::File, size, size),
        };
        listing.add(&name, size, kind)?;
        pass(source, padded(content), listing)?;
    }
}

/// The content of a record; what is too long for a name is passed over.
fn record<R: Read>(
    source: &mut Source<R>,
    size: u64,
    pass: &impl Fn(&mut Source<R>, u64, &Listing<'_>) -> Result<(), Stop>,
    listing: &Listing<'_>,
) -> Result<Vec<u8>, Stop> {
    let mut record = Vec::new();
    let kept = size.min(MAX_RECORD);
    source
        .from
        .by_ref()
        .take(kept)
        .read_to_end(&mut record)
        .map_err(|error| Stop::damaged(&error))?;
    if (record.len() as u64) < kept {
        return Err(cut_off());
    }
    source.at = source.at.saturating_add(kept);
    pass(source, padded(size) - kept, listing)?;
    Ok(record)
}

/// `LENGTH KEY=VALUE\n`, repeated.
fn pax(mut record: &[u8], extended: &mut Extended) {
    while let Some(space) = record.iter().position(|byte| *byte == b' ') {
        let length = record
            .get(..space)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.parse::<usize>().ok());
        let Some(length) = length.filter(|length| *length > space + 1) else { return };
        let Some(line) = record.get(space + 1..length) else { return };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(path) = line.strip_prefix(b"path=") {
            extended.name = Some(path.to_vec());
        } else if let Some(link) = line.strip_prefix(b"linkpath=") {
            extended.link = Some(link.to_vec());
        } else if let Some(size) = line.strip_prefix(b"size=") {
            extended.size = std::str::from_utf8(size).ok().and_then(|size| size.parse().ok());
        }
        record = record.get(length..).unwrap_or_default();
    }
}

fn ustar_name(block: &[u8]) -> Vec<u8> {
    let name = until_nul(field(block, 0, 100));
    let prefix = until_nul(field(block, 345, 155));
    // GNU's own format has other things in the place of the prefix.
    if field(block, 257, 6) == b"ustar\0" && !prefix.is_empty() {
        [prefix, b"/", name].concat()
    } else {
        name.to_vec()
    }
}

fn field(block: &[u8], at: usize, length: usize) -> &[u8] {
    block.get(at..at + length).unwrap_or_default()
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// A number in octal digits, or in base 256 where the first bit is set.
fn number(field: &[u8]) -> Option<u64> {
    match field.split_first() {
        Some((first, rest)) if first & 0x80 != 0 => {
            rest.iter().try_fold(u64::from(first & 0x3f), |number, byte| {
                number.checked_mul(256)?.checked_add(u64::from(*byte))
            })
        }
        _ => {
            let digits = until_nul(field);
            let digits = std::str::from_utf8(digits).ok()?.trim();
            if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
        }
    }
}

fn padded(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX)
}
