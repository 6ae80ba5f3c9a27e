//! What a user's "always" means: values that the context keeps, lists and forgets. Must not know the operator's
//! rules; the policy asks it, and the scheduler stores what it grants.

use std::collections::BTreeSet;

use super::super::options::Choice;
use super::super::shell::{Parsed, Simple, programs};
use super::super::subject::{About, Subject};
pub use crate::domain::grant::AlwaysRule;
use crate::domain::tool::Kind;

/// What choosing an option would remember. None for an option that remembers nothing, or where nothing can be.
pub fn grants(subject: &Subject, option_id: &str) -> Option<BTreeSet<AlwaysRule>> {
    let rules = match (Choice::from_id(option_id)?, &subject.server, &subject.about) {
        (Choice::ProceedAlwaysTool, Some(_), _) => {
            one(AlwaysRule::Tool { name: subject.kept(&subject.tool) })
        }
        (Choice::ProceedAlwaysServer, Some(name), _) => one(AlwaysRule::Server { name: subject.kept(name) }),
        (Choice::ProceedAlways, None, About::Edit(_)) => one(AlwaysRule::Edits),
        (Choice::ProceedAlways, None, About::Command(Parsed::Understood(parts))) => parts
            .iter()
            .map(|p| Some(AlwaysRule::Command { root: programs::root(p)? }))
            .collect::<Option<_>>()?,
        (Choice::ProceedAlways, None, About::Hosts(hosts)) if !hosts.is_empty() => {
            hosts.iter().map(|name| AlwaysRule::Host { name: name.clone() }).collect()
        }
        _ => return None,
    };
    Some(rules)
}

fn one(rule: AlwaysRule) -> BTreeSet<AlwaysRule> {
    BTreeSet::from([rule])
}

/// Whether one rule is enough for a whole call.
pub fn covers(rule: &AlwaysRule, subject: &Subject) -> bool {
    cover(&one(rule.clone()), subject)
}

/// Whether rules are enough for a whole call, together.
pub fn cover(rules: &BTreeSet<AlwaysRule>, subject: &Subject) -> bool {
    let any = |fits: &dyn Fn(&AlwaysRule) -> bool| rules.iter().any(fits);
    match (&subject.server, &subject.about) {
        (Some(server), _) => any(&|rule| match rule {
            AlwaysRule::Tool { name } => *name == subject.kept(&subject.tool),
            AlwaysRule::Server { name } => *name == subject.kept(server),
            _ => false,
        }),
        (None, About::Edit(place)) => {
            let plain = subject.kind == Kind::Edit && place.is_plain_file_of_the_workspace();
            plain && rules.contains(&AlwaysRule::Edits)
        }
        (None, About::Command(Parsed::Understood(parts))) => {
            parts.iter().all(|part| any(&|rule| covers_part(rule, part)))
        }
        (None, About::Hosts(hosts)) => {
            let known = |host: &String| rules.contains(&AlwaysRule::Host { name: host.clone() });
            !hosts.is_empty() && hosts.iter().all(known)
        }
        _ => false,
    }
}

/// Whether a rule is enough for one part of a command.
pub fn covers_part(rule: &AlwaysRule, part: &Simple) -> bool {
    matches!(rule, AlwaysRule::Command { root } if programs::root(part).as_ref() == Some(root))
}
