//! One page at an address of this machine.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use trioxide::{Error, Result, progress};
use trioxide_arguments::print;

/// Most bytes of a request that are read.
const REQUEST: u64 = 16 << 10;
/// Longest wait for a browser that has connected.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes a port of this machine: no other machine can connect.
pub fn listen(port: Option<u16>) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).map_err(|error| {
        let place = port.map_or("no port".to_owned(), |port| format!("port {port}"));
        Error::Argument(format!(
            "{place} can be taken on this machine ({error}): choose another --port, or write the page by -o"
        ))
    })
}

/// Prints the address, and serves the page there until the process ends.
pub fn serve(listener: &TcpListener, page: &str) -> Result<()> {
    let failed = |error: io::Error| Error::Argument(format!("the page cannot be served: {error}"));
    let address = listener.local_addr().map_err(failed)?;
    print(&format!(
        "http://{address}/ shows the page; Ctrl-C ends it\n"
    ))?;
    progress::stage("the page is served");
    thread::scope(|scope| {
        loop {
            let (stream, _) = listener.accept().map_err(failed)?;
            // A browser that goes away loses its own page only; one connects before it asks.
            let answer = || _ = answer(stream, page);
            thread::Builder::new()
                .spawn_scoped(scope, answer)
                .map_err(failed)?;
        }
    })
}

/// Answers one request. Other names of this machine are refused: a page elsewhere may have one of its own lead here.
/// The port may be another one, where the page is forwarded.
fn answer(mut stream: TcpStream, page: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new((&stream).take(REQUEST)).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut host = String::new();
    for line in lines {
        let line = line?;
        match line.split_once(':') {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                host = value.trim().to_owned()
            }
            Some(_) => {}
        }
    }
    let name = host.split(':').next().unwrap_or_default();
    let is_known = ["127.0.0.1", "localhost"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name));
    let (status, body) = match first.split(' ').take(2).collect::<Vec<_>>()[..] {
        _ if !is_known => ("403 Forbidden", ""),
        ["GET", "/"] => ("200 OK", page),
        _ => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
