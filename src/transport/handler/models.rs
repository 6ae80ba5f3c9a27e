//! `/v1/models`, where three vendors have their lists: the headers say whose client asks.

use crate::facade::Vendor;
use crate::transcode::Route;

/// The paths that are shared.
const SHARED: [&str; 2] = ["/v1/models", "/v1/models/"];

/// Whether more than one vendor has something there.
pub fn is_shared(route: &Route) -> bool {
    let rule = route.rule();
    rule.method == "GET" && (rule.template == SHARED[0] || rule.template.starts_with(SHARED[1]))
}

/// One route for each shared path, which goes on to the vendor's whose client asks.
pub fn shared(openai: &[Route], anthropic: &[Route], gemini: &[Route]) -> Vec<Route> {
    let pick = |routes: &[Route], list: bool| {
        let fits = |route: &&Route| is_shared(route) && (route.rule().template == SHARED[0]) == list;
        routes.iter().find(fits).cloned()
    };
    let one = |list: bool| {
        let of = [pick(openai, list), pick(anthropic, list), pick(gemini, list)];
        let first = of.iter().flatten().next()?.clone();
        Some(Route::plain(first.rule(), move |call| {
            let vendor = Vendor::asking(&call.parts.headers, call.parts.uri.query().unwrap_or_default());
            let route = of.get(vendor as usize).cloned().flatten().unwrap_or_else(|| first.clone());
            async move { route.handle(call.answered_in(vendor.dialect())).await }
        }))
    };
    [true, false].into_iter().filter_map(one).collect()
}
