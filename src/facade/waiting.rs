//! Answers that wait for their calls, found by id or by name in no more time however many there are. Pure; facades whose
//! conversations tell calls and answers apart ask it.

use std::collections::{HashMap, VecDeque};

/// In the order in which they were put there.
#[derive(Debug)]
pub struct Waiting<T> {
    all: Vec<Option<T>>,
    by_id: HashMap<String, VecDeque<usize>>,
    /// Those without an id; the ones without a name stand for any.
    by_name: HashMap<String, VecDeque<usize>>,
}

impl<T> Waiting<T> {
    /// `key` tells the id and the name of each.
    pub fn new(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> (&str, &str)) -> Self {
        let all: Vec<Option<T>> = all.into_iter().map(Some).collect();
        let (mut by_id, mut by_name) = (HashMap::new(), HashMap::new());
        for (at, (id, name)) in all.iter().flatten().map(key).enumerate() {
            let (of, by) = if id.is_empty() { (name, &mut by_name) } else { (id, &mut by_id) };
            by.entry(of.to_owned()).or_insert_with(VecDeque::new).push_back(at);
        }
        Self { all, by_id, by_name }
    }

    /// The first for this call.
    pub fn take(&mut self, id: &str, name: &str) -> Option<T> {
        if let Some(at) = self.by_id.get_mut(id).and_then(VecDeque::pop_front) {
            return self.all.get_mut(at).and_then(Option::take);
        }
        let first = |name: &&str| self.by_name.get(*name).and_then(VecDeque::front).copied();
        let (at, of) = ["", name].iter().filter_map(|of| Some((first(of)?, *of))).min()?;
        self.by_name.get_mut(of).and_then(VecDeque::pop_front);
        self.all.get_mut(at).and_then(Option::take)
    }

    /// Nobody called for these.
    pub fn rest(self) -> impl Iterator<Item = T> {
        self.all.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(all: &[(&'static str, &'static str)]) -> Waiting<(usize, &'static str, &'static str)> {
        Waiting::new(all.iter().enumerate().map(|(at, (id, name))| (at, *id, *name)), |(_, id, name)| {
            (id, name)
        })
    }

    #[test]
    fn an_answer_is_found_by_its_id_and_else_by_its_name() {
        let mut all = waiting(&[("2", "f"), ("", "g"), ("1", "f"), ("", ""), ("", "f"), ("1", "f")]);
        let mut take = |id, name| all.take(id, name).map(|(at, ..)| at);
        assert_eq!((take("1", "f"), take("2", "f")), (Some(2), Some(0)));
        assert_eq!((take("3", "f"), take("4", "f"), take("5", "f")), (Some(3), Some(4), None));
        assert_eq!((take("6", "g"), take("7", "g")), (Some(1), None));
        assert_eq!(all.rest().map(|(at, ..)| at).collect::<Vec<_>>(), [5]);
    }

    /// Searched one by one, these would take minutes.
    #[test]
    fn many_are_found_as_fast_as_few() {
        const MANY: usize = 300_000;
        let backwards = (0..MANY).rev().map(|at| (at.to_string(), "f"));
        let mut all = Waiting::new(backwards, |(id, name)| (id, name));
        assert!((0..MANY).all(|at| all.take(&at.to_string(), "f").is_some()));
    }
}
