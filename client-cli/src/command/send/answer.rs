//! The answer as it grows on stdout, where nothing can be taken back.

/// Knows what was printed of the answer.
///
/// When an attempt breaks off and the model begins anew, it often begins with the same words: what is
/// printed already is not printed again. Where it differs the new text begins on a new line.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The item whose text is printed now.
    item_id: String,
    /// What was printed of it, or of the void attempt before it.
    printed: String,
    /// Items whose text is complete.
    complete: Vec<String>,
    in_line: bool,
}

impl Answer {
    /// Takes the text of an item so far and returns what to print.
    pub(crate) fn grow(&mut self, item_id: &str, text: &str) -> String {
        let mut new = String::new();
        if self.item_id != item_id {
            // A finished item before it is another message; an unfinished one is a void attempt.
            if self.complete.contains(&self.item_id) || self.item_id.is_empty() {
                new.push_str(self.end_line());
                self.printed.clear();
            }
            item_id.clone_into(&mut self.item_id);
        }
        if self.printed.starts_with(text) {
            return new;
        }
        if let Some(more) = text.strip_prefix(self.printed.as_str()) {
            new.push_str(more);
        } else {
            new.push_str(self.end_line());
            new.push_str(text);
        }
        text.clone_into(&mut self.printed);
        self.in_line = !text.ends_with('\n');
        new
    }

    /// Takes the final text of an item and returns what to print.
    pub(crate) fn complete(&mut self, item_id: &str, text: &str) -> String {
        let mut new = self.grow(item_id, text);
        if self.printed != text {
            // The void attempt had said more than the final text does.
            new.push_str(self.end_line());
            new.push_str(text);
            text.clone_into(&mut self.printed);
            self.in_line = !text.is_empty() && !text.ends_with('\n');
        }
        self.complete.push(item_id.to_owned());
        new
    }

    /// Returns the line feed that ends an open line.
    pub(crate) fn end_line(&mut self) -> &'static str {
        if std::mem::take(&mut self.in_line) { "\n" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_printed_once_as_it_grows() {
        let mut answer = Answer::default();
        assert_eq!(answer.grow("A", "Hel"), "Hel");
        assert_eq!(answer.grow("A", "Hel"), "");
        assert_eq!(answer.grow("A", "Hello"), "lo");
        assert_eq!(answer.complete("A", "Hello."), ".");
        assert_eq!(answer.end_line(), "\n");
        assert_eq!(answer.end_line(), "");
        assert_eq!(answer.complete("B", "Next"), "Next");
    }

    #[test]
    fn messages_of_one_turn_stand_on_lines_of_their_own() {
        let mut answer = Answer::default();
        assert_eq!(answer.complete("A", "one"), "one");
        assert_eq!(answer.grow("B", "two"), "\ntwo");
        assert_eq!(answer.complete("B", "two"), "");
    }

    #[test]
    fn ps_10_a_restarted_attempt_is_not_doubled() {
        let mut answer = Answer::default();
        assert_eq!(answer.grow("A", "AB"), "AB");
        assert_eq!(answer.grow("B", "A"), "");
        assert_eq!(answer.grow("B", "ABC"), "C");
        assert_eq!(answer.complete("B", "ABCD"), "D");
    }

    #[test]
    fn a_different_attempt_begins_on_a_new_line() {
        let mut answer = Answer::default();
        assert_eq!(answer.grow("A", "AB"), "AB");
        assert_eq!(answer.grow("B", "AX"), "\nAX");
        assert_eq!(answer.complete("B", "AXY"), "Y");
        let mut shorter = Answer::default();
        assert_eq!(shorter.grow("A", "ABC"), "ABC");
        assert_eq!(shorter.complete("B", "AB"), "\nAB");
    }
}
