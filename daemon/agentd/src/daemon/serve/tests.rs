use super::*;

#[tokio::test]
async fn a_server_that_ends_by_itself_is_a_failure_and_a_stop_is_none() {
    let stop = CancellationToken::new();
    let mut servers = JoinSet::new();
    servers.spawn(std::future::pending());
    servers.spawn(async { panic!("on purpose") });
    assert!(!until_told(&stop, &mut servers).await, "one panicked");
    servers.spawn(async {});
    assert!(!until_told(&stop, &mut servers).await, "one returned");
    stop.cancel();
    assert!(until_told(&stop, &mut servers).await);
}
