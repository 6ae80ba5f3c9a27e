//! How long an answer may be, and how it is drawn.

use super::super::Abilities;
use super::super::abilities::{Level, Thinking};
use super::{Changes, thinking};
use crate::proto::gemini::GenerationConfig;

const MOST: &str = "generationConfig.maxOutputTokens";
const VISIBLE: &str = "generationConfig.visibleOutputTokens";

pub(super) fn fit(config: &mut GenerationConfig, abilities: &Abilities, changes: &mut Changes) {
    visible(config, abilities, changes);
    if let (Some(wanted), Some(most)) = (config.max_output_tokens, abilities.output)
        && wanted > most
    {
        changes.altered(MOST, format!("this model gives at most {most}"));
        config.max_output_tokens = Some(most);
    }
    if !abilities.samplers {
        samplers(config, changes);
    }
}

/// Thoughts count as output, so there is room for them too.
fn visible(config: &mut GenerationConfig, abilities: &Abilities, changes: &mut Changes) {
    let Some(visible) = config.visible_output_tokens.take() else { return };
    let room = headroom(config, &abilities.thinking);
    let sum = visible.saturating_add(room).min(abilities.output.unwrap_or(i32::MAX));
    let most = config.max_output_tokens.map_or(sum, |most| most.min(sum));
    if room > 0 {
        changes.altered(VISIBLE, format!("thoughts count too; asked for {most} in all"));
    }
    config.max_output_tokens = Some(most);
}

/// Of a thinking that fits already.
fn headroom(config: &GenerationConfig, thinks: &Thinking) -> i32 {
    if *thinks == Thinking::Never {
        return 0;
    }
    let wanted = config.thinking_config.as_ref();
    let level = wanted.and_then(|wanted| Level::named(&wanted.thinking_level));
    match (level, wanted.and_then(|wanted| wanted.thinking_budget)) {
        (Some(level), _) => thinking::tokens(level),
        (None, Some(budget)) if budget >= 0 => budget,
        _ => thinking::tokens(Level::Medium),
    }
}

fn samplers(config: &mut GenerationConfig, changes: &mut Changes) {
    let all =
        [("temperature", &mut config.temperature), ("topP", &mut config.top_p), ("topK", &mut config.top_k)];
    for (name, value) in all {
        if value.take().is_some() {
            changes.dropped(format!("generationConfig.{name}"), "this model does not listen to it");
        }
    }
}
