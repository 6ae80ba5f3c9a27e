//! Reads one answer, as bytes or as chunks, and prints its CPU time in microseconds, its peak of memory, how much that
//! grew while it read, and how many pieces there were.

use agena::domain::model::Backend;
use agena::model::google::{Api, Google};
use agena::model::http::{Call, Deadlines, Http, Proxy};
use agena::proto::gemini::{Content, GenerateContentRequest, Part};
use futures::StreamExt;

pub fn run(how: &str, url: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let http = Http::new(Deadlines::default(), &Proxy::None).unwrap();
    let (cpu, before) = (cpu_us(), peak_kib());
    let count = runtime.block_on(async {
        match how {
            "bytes" => bytes(&http, url).await,
            _ => chunks(http, url).await,
        }
    });
    let peak = peak_kib();
    println!("{} {peak} {} {count}", cpu_us() - cpu, peak - before);
}

async fn bytes(http: &Http, url: &str) -> usize {
    let answer = http.send(Call::post(url, "{}")).await.unwrap();
    answer.pieces().map(|piece| piece.unwrap().len()).fold(0, |sum, length| async move { sum + length }).await
}

async fn chunks(http: Http, url: &str) -> usize {
    let site = Api {
        base_url: url.to_owned(),
        version: "v1beta".to_owned(),
        key: None,
        bearer: false,
        origin: String::new(),
    };
    let contents = vec![Content { role: "user".to_owned(), parts: vec![Part::text("hi")] }];
    let request = GenerateContentRequest { model: "m".to_owned(), contents, ..Default::default() };
    Google::new(site, http).stream(request).map(|chunk| chunk.unwrap()).count().await
}

/// Nanoseconds on the processor are the first number there.
fn cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1000.0
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
