//! The write-ahead log of a database: changes that are committed and not in its file yet.
//!
//! After <https://www.sqlite.org/fileformat2.html#walformat>.

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Begins a log; the last bit says that its sums are made of words with the highest byte first.
const MAGIC: u32 = 0x377f_0682;

/// Puts the committed changes of `log` into `image`, and says how many pages it took. A log that
/// was reset or cut off counts as far as its sums are right, as SQLite itself takes it.
///
/// # Errors
/// When the database would be larger than `most` bytes.
pub(super) fn replay(image: &mut Vec<u8>, log: &[u8], most: usize) -> Result<usize, TooLarge> {
    let Some(Log { page_size, frames }) = Log::read(log) else { return Ok(0) };
    let mut taken = 0;
    for Frame { page, content, .. } in &frames {
        let at = (*page as usize - 1).saturating_mul(page_size);
        let end = at.saturating_add(page_size);
        if end > most {
            return Err(TooLarge);
        }
        if image.len() < end {
            image.resize(end, 0);
        }
        if let Some(place) = image.get_mut(at..end) {
            place.copy_from_slice(content);
            taken += 1;
        }
    }
    if let Some(last) = frames.last() {
        let size = (last.pages_after as usize).saturating_mul(page_size);
        if size > most {
            return Err(TooLarge);
        }
        image.resize(size, 0);
    }
    Ok(taken)
}

/// The database with its log is larger than what is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

struct Log<'a> {
    page_size: usize,
    /// Up to the last commit.
    frames: Vec<Frame<'a>>,
}

struct Frame<'a> {
    /// Counted from 1.
    page: u32,
    /// Pages of the database after this commit; 0: it is no commit.
    pages_after: u32,
    content: &'a [u8],
}

impl<'a> Log<'a> {
    fn read(log: &'a [u8]) -> Option<Self> {
        let header = log.get(..HEADER)?;
        let magic = word(header, 0)?;
        let page_size = usize::try_from(word(header, 8)?).ok()?;
        let is_size = page_size.is_power_of_two() && (512..=65_536).contains(&page_size);
        if magic & !1 != MAGIC || !is_size {
            return None;
        }
        let highest_first = magic & 1 == 1;
        let mut sum = Sum { highest_first, s0: 0, s1: 0 };
        sum.add(header.get(..24)?);
        if !sum.is(header.get(24..)?) {
            return None;
        }
        let salts = header.get(16..24)?;
        let mut frames = Vec::new();
        let mut committed = 0;
        for frame in log.get(HEADER..)?.chunks_exact(FRAME_HEADER + page_size) {
            let (head, content) = frame.split_at(FRAME_HEADER);
            sum.add(head.get(..8)?);
            sum.add(content);
            let page = word(head, 0)?;
            if head.get(8..16)? != salts || !sum.is(head.get(16..)?) || page == 0 {
                break;
            }
            let pages_after = word(head, 4)?;
            frames.push(Frame { page, pages_after, content });
            if pages_after > 0 {
                committed = frames.len();
            }
        }
        frames.truncate(committed);
        Some(Self { page_size, frames })
    }
}

/// A word with its highest byte first.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word))
}

struct Sum {
    highest_first: bool,
    s0: u32,
    s1: u32,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let read = |word: [u8; 4]| {
            if self.highest_first { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        let (pairs, _no_rest) = bytes.as_chunks::<8>();
        for [a, b, c, d, e, f, g, h] in pairs {
            self.s0 = self.s0.wrapping_add(read([*a, *b, *c, *d])).wrapping_add(self.s1);
            self.s1 = self.s1.wrapping_add(read([*e, *f, *g, *h])).wrapping_add(self.s0);
        }
    }

    /// Sums are written with the highest byte first, whatever they are made of.
    fn is(&self, written: &[u8]) -> bool {
        word(written, 0) == Some(self.s0) && word(written, 4) == Some(self.s1)
    }
}
