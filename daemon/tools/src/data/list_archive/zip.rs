//! The central directory of a zip archive (PKWARE's APPNOTE 6.3.10, sections 4.3.12 to 4.3.16).

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};

use super::fill;
use super::listing::{EntryKind, Listing, Stop};

/// Where the end record is looked for: its own 22 bytes, and the longest comment behind it.
const MAX_TAIL: u64 = 22 + 65_535;

/// Stands for a number that is in the zip64 record.
const IN_ZIP64: u32 = u32::MAX;

/// Adds the entries; false when it is no zip archive.
pub(super) fn read(file: &mut File, size: u64, listing: &mut Listing<'_>) -> Result<bool, Stop> {
    let damaged = |error: io::Error| Stop::damaged(&error);
    let Some((start, length)) = directory(file, size).map_err(damaged)? else { return Ok(false) };
    file.seek(SeekFrom::Start(start)).map_err(damaged)?;
    let mut from = BufReader::new(file).take(length);
    let mut header = [0; 46];
    loop {
        match fill(&mut from, &mut header).map_err(damaged)? {
            0 => return Ok(true),
            46 if header.starts_with(b"PK\x01\x02") => {}
            // A signature of the directory may follow it.
            _ if header.starts_with(b"PK\x05\x05") => return Ok(true),
            _ => return Err(Stop::Damaged("The directory of the archive is damaged.".to_owned())),
        }
        let mut name = vec![0; usize::from(u16_at(&header, 28))];
        let mut extra = vec![0; usize::from(u16_at(&header, 30))];
        let comment = u64::from(u16_at(&header, 32));
        from.read_exact(&mut name).map_err(damaged)?;
        from.read_exact(&mut extra).map_err(damaged)?;
        io::copy(&mut from.by_ref().take(comment), &mut io::sink()).map_err(damaged)?;
        let size = match u32_at(&header, 24) {
            IN_ZIP64 => zip64_size(&extra).unwrap_or(u64::from(IN_ZIP64)),
            size => u64::from(size),
        };
        let kind = if name.ends_with(b"/") { EntryKind::Directory } else { EntryKind::File };
        listing.add(&name, size, kind)?;
    }
}

/// Where the directory is and how long.
fn directory(file: &mut File, size: u64) -> io::Result<Option<(u64, u64)>> {
    let tail_length = size.min(MAX_TAIL);
    file.seek(SeekFrom::Start(size - tail_length))?;
    let mut tail = Vec::new();
    file.take(tail_length).read_to_end(&mut tail)?;
    // The record says how long the comment behind it is; a comment may hold the mark too.
    let end = (0..tail.len().saturating_sub(21)).rev().find(|at| {
        tail.get(*at..).is_some_and(|rest| {
            rest.starts_with(b"PK\x05\x06") && usize::from(u16_at(rest, 20)) + 22 <= rest.len()
        })
    });
    let Some(record) = end.and_then(|at| tail.get(at..)) else { return Ok(None) };
    let end_at = size - record.len() as u64;
    let (length, start) = (u32_at(record, 12), u32_at(record, 16));
    let (mut length, mut start) = (u64::from(length), u64::from(start));
    let mut before = end_at;
    if let Some((long_length, long_start, at)) = zip64_end(file, end_at)? {
        (length, start, before) = (long_length, long_start, at);
    }
    // Something may stand before the archive, such as the program that extracts it: the directory
    // ends where its end record begins.
    if before.checked_sub(length).is_some_and(|real| real > start) {
        start = before - length;
    }
    let fits = start.checked_add(length).is_some_and(|end| end <= size);
    Ok(fits.then_some((start, length)))
}

/// Length and start of the directory, and where the record is that says so.
fn zip64_end(file: &mut File, end_at: u64) -> io::Result<Option<(u64, u64, u64)>> {
    let Some(locator_at) = end_at.checked_sub(20) else { return Ok(None) };
    let mut locator = [0; 20];
    file.seek(SeekFrom::Start(locator_at))?;
    file.read_exact(&mut locator)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    let at = u64_at(&locator, 8);
    let mut record = [0; 56];
    file.seek(SeekFrom::Start(at.min(locator_at)))?;
    if fill(file, &mut record)? < record.len() || !record.starts_with(b"PK\x06\x06") {
        return Ok(None);
    }
    Ok(Some((u64_at(&record, 40), u64_at(&record, 48), at)))
}

/// The size in the extra field of zip64, where it is the first of the numbers.
fn zip64_size(mut extra: &[u8]) -> Option<u64> {
    while extra.len() >= 4 {
        let length = usize::from(u16_at(extra, 2));
        let value = extra.get(4..4 + length)?;
        if u16_at(extra, 0) == 1 {
            return (value.len() >= 8).then(|| u64_at(value, 0));
        }
        extra = extra.get(4 + length..)?;
    }
    None
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(number(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(number(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(number(bytes, at))
}
