//! Answers to approvals that are typed as a message: `y`, `n 2`, `a #3`.

use agentd_proto::v1;

/// What a line says to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypedAnswer {
    /// Whether it may run.
    pub decision: v1::ApprovalDecision,
    /// For how long.
    pub scope: v1::ApprovalScope,
    /// The number of the approval; none: the only one.
    pub number: Option<usize>,
}

impl TypedAnswer {
    /// What a letter of the overlay stands for.
    pub fn of_letter(letter: char) -> Option<Self> {
        let (decision, scope) = match letter.to_ascii_lowercase() {
            'y' => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Once),
            'a' => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Session),
            'w' => (v1::ApprovalDecision::Allow, v1::ApprovalScope::Workspace),
            'n' => (v1::ApprovalDecision::Deny, v1::ApprovalScope::Once),
            _ => return None,
        };
        Some(Self { decision, scope, number: None })
    }

    /// Reads `y`, `n`, `a` or `w`, or their words, perhaps with a number.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let letter = match words.next()?.to_ascii_lowercase().as_str() {
            "y" | "yes" => 'y',
            "a" | "always" => 'a',
            "w" | "workspace" => 'w',
            "n" | "no" => 'n',
            _ => return None,
        };
        let number = match words.next() {
            None => None,
            Some(number) => Some(number.trim_start_matches('#').parse().ok()?),
        };
        words.next().is_none().then_some(Self { number, ..Self::of_letter(letter)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_letter_or_word_and_perhaps_a_number() {
        let check = |text: &str, expect: Option<(v1::ApprovalDecision, Option<usize>)>| {
            let answer = TypedAnswer::parse(text).map(|it| (it.decision, it.number));
            assert_eq!(answer, expect, "{text:?}");
        };
        check("y", Some((v1::ApprovalDecision::Allow, None)));
        check(" A #12 ", Some((v1::ApprovalDecision::Allow, Some(12))));
        check("no 2", Some((v1::ApprovalDecision::Deny, Some(2))));
        check("yes please", None);
        check("y 1 2", None);
    }
}
