//! How long a model thinks, in the words of its generation.

use super::super::abilities::{Budget, Level, Thinking};
use super::Changes;
use crate::proto::gemini::{GenerationConfig, ThinkingConfig};

const CONFIG: &str = "generationConfig.thinkingConfig";
const LEVEL: &str = "generationConfig.thinkingConfig.thinkingLevel";
const BUDGET: &str = "generationConfig.thinkingConfig.thinkingBudget";
/// As the model likes.
const DYNAMIC: i32 = -1;
/// Up to which budget a level is the right one.
const LEVELS: [(i32, Level); 2] = [(2_048, Level::Low), (16_384, Level::Medium)];

pub(super) fn fit(config: &mut GenerationConfig, thinking: &Thinking, changes: &mut Changes) {
    let Some(mut wanted) = config.thinking_config.take() else { return };
    if !wanted.thinking_level.is_empty() && Level::named(&wanted.thinking_level).is_none() {
        changes.dropped(LEVEL, "there is no such level");
        wanted.thinking_level.clear();
    }
    config.thinking_config = match thinking {
        Thinking::Never => {
            never(&wanted, changes);
            None
        }
        Thinking::Budget(range) => Some(budgeted(wanted, *range, changes)),
        Thinking::Levels(levels) => Some(levelled(wanted, levels, changes)),
    }
    .filter(|config| *config != ThinkingConfig::default());
}

fn never(wanted: &ThinkingConfig, changes: &mut Changes) {
    let asks = !wanted.thinking_level.is_empty() || wanted.thinking_budget.is_some_and(|budget| budget != 0);
    match asks {
        true => changes.dropped(CONFIG, "this model does not think"),
        false => changes.ignored(CONFIG, "this model does not think"),
    }
}

fn budgeted(mut wanted: ThinkingConfig, range: Budget, changes: &mut Changes) -> ThinkingConfig {
    let level = Level::named(&std::mem::take(&mut wanted.thinking_level));
    match (level, wanted.thinking_budget) {
        (Some(_), Some(_)) => changes.ignored(LEVEL, "there is a budget, which says more"),
        (Some(level), None) => {
            let budget = tokens(level).clamp(range.least, range.most);
            changes.altered(LEVEL, format!("this model takes a budget; asked for {budget} tokens"));
            wanted.thinking_budget = Some(budget);
        }
        _ => {}
    }
    if let Some(budget) = wanted.thinking_budget {
        let fits = within(budget, range);
        if fits != budget {
            changes.altered(BUDGET, format!("this model takes {}; asked for {fits}", said(range)));
        }
        wanted.thinking_budget = Some(fits);
        if fits == 0 && wanted.include_thoughts.take() == Some(true) {
            changes.ignored(format!("{CONFIG}.includeThoughts"), "there will be no thoughts");
        }
    }
    wanted
}

fn within(budget: i32, range: Budget) -> i32 {
    match budget {
        DYNAMIC => DYNAMIC,
        ..=0 if range.off => 0,
        _ => budget.clamp(range.least, range.most),
    }
}

fn said(range: Budget) -> String {
    let off = if range.off { "0 or " } else { "" };
    format!("{off}{} to {}", range.least, range.most)
}

pub(super) fn tokens(level: Level) -> i32 {
    match level {
        Level::Minimal | Level::Low => 1_024,
        Level::Medium => 8_192,
        Level::High => 24_576,
    }
}

fn levelled(mut wanted: ThinkingConfig, levels: &[Level], changes: &mut Changes) -> ThinkingConfig {
    let level = Level::named(&wanted.thinking_level);
    let budget = wanted.thinking_budget.take();
    let asked = match (level, budget) {
        (Some(level), Some(_)) => {
            changes.ignored(BUDGET, "there is a level");
            Some((LEVEL, level))
        }
        (Some(level), None) => Some((LEVEL, level)),
        (None, Some(DYNAMIC)) => {
            changes.ignored(BUDGET, "this model decides by itself anyway");
            None
        }
        (None, Some(budget)) => Some((BUDGET, nearest(budget))),
        (None, None) => None,
    };
    let Some((field, level)) = asked else { return wanted };
    // The next higher one thinks enough.
    let fits = levels.iter().find(|known| **known >= level).or(levels.last()).copied().unwrap_or(level);
    let off = if budget == Some(0) { "cannot do without thinking" } else { "thinks by levels" };
    match field == BUDGET {
        true => changes.altered(field, format!("this model {off}; asked for {}", fits.as_str())),
        false if fits != level => {
            changes.altered(field, format!("this model has no such level; asked for {}", fits.as_str()));
        }
        false => {}
    }
    fits.as_str().clone_into(&mut wanted.thinking_level);
    wanted
}

fn nearest(budget: i32) -> Level {
    match budget {
        ..=0 => Level::Minimal,
        _ => LEVELS.iter().find(|(most, _)| budget <= *most).map_or(Level::High, |(_, level)| *level),
    }
}
