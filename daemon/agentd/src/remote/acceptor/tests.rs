use agentd_engine::{RandomIds, SystemClock};

use super::*;
use crate::access::Tokens;
use crate::config::RemoteConfig;
use crate::environment::Environment;

#[tokio::test(start_paused = true)]
async fn a_port_in_use_is_a_warning_until_it_is_free_and_then_served() {
    let dir = tempfile::tempdir().unwrap();
    let tokens =
        Tokens::load(&dir.path().join("tokens.json"), Arc::new(SystemClock), Arc::new(RandomIds))
            .unwrap();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let config = RemoteConfig {
        listen: vec![address.to_string()],
        insecure_loopback: true,
        ..RemoteConfig::default()
    };
    let (remote, listeners) = Remote::open(&config, Arc::new(tokens), &Environment::new()).unwrap();
    let control = Control::for_tests();
    let mut incoming = Incoming::new(Arc::clone(&remote), listeners, control.clone());
    // The clock is paused: time goes on when nothing else can be done.
    let _nobody = tokio::time::timeout(LISTEN_EVERY * 2, incoming.next()).await;
    let warnings = control.warnings();
    assert!(warnings.len() == 1 && warnings[0].text.contains(&address.to_string()), "{warnings:?}");
    assert_eq!(remote.addresses(), []);
    drop(other);
    let _nobody = tokio::time::timeout(LISTEN_EVERY * 2, incoming.next()).await;
    assert_eq!((control.warnings(), remote.addresses()), (Vec::new(), vec![address]));
    let (tcp, _stream) = tokio::join!(TcpStream::connect(address), incoming.next());
    tcp.unwrap();
}
