//! A server that streams chunks as fast as they are taken.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

pub struct Server {
    pub url: String,
    child: Child,
}

impl Server {
    pub fn start(chunks: usize, size: usize) -> Self {
        let mut child =
            super::own(&["--serve", &format!("{chunks}x{size}")]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { url: format!("http://{}", line.trim()), child }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn serve(shape: &str) {
    let (chunks, size) = shape.split_once('x').unwrap();
    let (chunks, size): (usize, usize) = (chunks.parse().unwrap(), size.parse().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    let (mut socket, _) = listener.accept().unwrap();
    request(&mut socket);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    let chunk = format!(
        r#"data: {{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"{}"}}]}},"index":0}}],"usageMetadata":{{"promptTokenCount":12,"candidatesTokenCount":34,"totalTokenCount":46}},"modelVersion":"gemini-fake","responseId":"abc"}}"#,
        "word ".repeat(size / 5)
    ) + "\r\n\r\n";
    for _ in 1..chunks {
        socket.write_all(chunk.as_bytes()).unwrap();
    }
    let last = chunk.replace(r#""index":0"#, r#""finishReason":"STOP","index":0"#);
    socket.write_all(last.as_bytes()).unwrap();
}

fn request(socket: &mut TcpStream) {
    let (mut told, mut buffer) = (Vec::new(), [0; 4096]);
    // The body is short and comes with the head.
    while !told.windows(4).any(|window| window == b"\r\n\r\n") || !told.ends_with(b"}") {
        let read = socket.read(&mut buffer).unwrap();
        told.extend_from_slice(&buffer[..read]);
    }
}
