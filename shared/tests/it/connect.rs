use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use agentd_proto::v1;
use agentd_shared::{Client, ConnectError, Endpoint, ErrorKind, RpcError, connect, with_deadline};

use crate::scripted_daemon::ScriptedDaemon;

#[tokio::test]
async fn a_missing_or_dead_socket_means_that_no_daemon_runs() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.sock");
    let dead = dir.path().join("dead.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let file = dir.path().join("file.sock");
    std::fs::write(&file, "").unwrap();
    for socket in [missing, dead, file] {
        let error = connect(&Endpoint::new(&socket)).await.unwrap_err();
        assert!(matches!(error, ConnectError::NotRunning { .. }), "{socket:?}: {error:?}");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
}

#[tokio::test]
async fn a_path_that_no_socket_can_have_is_named_as_such() {
    let long = format!("/tmp/{}", "x".repeat(110));
    let error = connect(&Endpoint::new(&long)).await.unwrap_err();
    assert!(matches!(error, ConnectError::PathTooLong { bytes: 115, .. }), "{error:?}");
    assert!(error.hint().contains("AGENTD_HOME"));
}

#[tokio::test]
async fn a_closed_directory_is_told_apart_from_a_missing_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let _listening = ScriptedDaemon::default().listen(&socket);
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o000)).unwrap();
    let connected = connect(&Endpoint::new(&socket)).await;
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    if rustix::process::geteuid().is_root() {
        assert!(connected.is_ok(), "root enters every directory");
    } else {
        assert!(matches!(connected, Err(ConnectError::Denied { .. })), "{connected:?}");
    }
}

#[tokio::test]
async fn every_command_has_a_deadline_and_a_given_one_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let daemon = ScriptedDaemon::default();
    let _listening = daemon.listen(&socket);
    let client = Client::connect(&Endpoint::new(&socket)).await.unwrap();
    let request = v1::ListEventsRequest::default;
    client.event().list_events(request()).await.unwrap();
    let given = with_deadline(request(), Duration::from_secs(2));
    client.event().list_events(given).await.unwrap();
    let deadlines = daemon.deadlines();
    assert_eq!(deadlines, [Some("30000000u".to_owned()), Some("2000000u".to_owned())]);
}

#[tokio::test]
async fn commands_work_again_after_the_daemon_came_back() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("agentd.sock");
    let (first, second) = (ScriptedDaemon::default(), ScriptedDaemon::default());
    // A runtime of its own takes the daemon's open connections with it.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listening = {
        let _inside = runtime.enter();
        first.listen(&socket)
    };
    let client = Client::connect(&Endpoint::new(&socket)).await.unwrap();
    let call = || async { client.event().list_events(v1::ListEventsRequest::default()).await };
    call().await.unwrap();
    drop(listening);
    let stop = move || runtime.shutdown_timeout(Duration::from_secs(10));
    tokio::task::spawn_blocking(stop).await.unwrap();
    std::fs::remove_file(&socket).unwrap();
    let error = RpcError::from(call().await.unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    let _listening = second.listen(&socket);
    call().await.unwrap();
    assert_eq!((first.deadlines().len(), second.deadlines().len()), (1, 1));
}
