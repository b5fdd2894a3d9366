//! What only containers have: an engine, and what a daemon that was killed leaves with it.

use std::path::PathBuf;

use agentd_sandbox::{Backend, Choice, ContainerSettings, choose};
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    CreateContainerOptions, InspectContainerOptions, StartContainerOptions,
};
use bollard::{API_DEFAULT_VERSION, Docker};

use crate::boxes::{boxed, container, policy};

#[tokio::test]
async fn without_an_engine_or_an_image_one_line_says_what_is_missing() {
    let mut policy = policy(Vec::new());
    let only = Choice::Only(Backend::Container);
    policy.container = None;
    let refused = choose(only, &policy).await.expect_err("no image").to_string();
    assert!(refused.contains("container: sandbox.container.image names no image"), "{refused}");
    let socket = PathBuf::from("/nonexistent/engine.sock");
    policy.container = Some(ContainerSettings { image: "debian".to_owned(), socket });
    let refused = choose(only, &policy).await.expect_err("no engine").to_string();
    assert!(refused.contains("there is no engine at /nonexistent/engine.sock"), "{refused}");
    assert!(!refused.contains('\n'), "{refused}");
}

#[tokio::test]
async fn a_missing_image_is_told_and_not_fetched() {
    let Some(ContainerSettings { socket, .. }) = container() else {
        println!("image: skipped: SANDBOX_TEST_ENGINE names no engine");
        return;
    };
    let mut policy = policy(Vec::new());
    let image = "agentd-no-such-image:1".to_owned();
    policy.container = Some(ContainerSettings { image, socket });
    let refused = choose(Choice::Only(Backend::Container), &policy).await.expect_err("no image");
    assert!(refused.to_string().contains("agentd-no-such-image:1 cannot be used"), "{refused}");
}

#[tokio::test]
async fn what_a_daemon_that_was_killed_has_left_is_removed_at_the_next_start() {
    let Some(ContainerSettings { image, socket }) = container() else {
        println!("leftovers of containers: skipped: SANDBOX_TEST_ENGINE names no engine");
        return;
    };
    let path = socket.to_string_lossy();
    let engine = Docker::connect_with_unix(&path, 30, API_DEFAULT_VERSION).expect("an engine");
    let engine = engine.negotiate_version().await.expect("it answers");
    // Of another boot, so that it is surely no more; and one of a daemon that nobody here can judge.
    let mut left = Vec::new();
    for owner in ["another-boot/pid:[1]/1/1/1", "unknown"] {
        let body = ContainerCreateBody {
            image: Some(image.clone()),
            cmd: Some(["sleep", "600"].map(str::to_owned).into()),
            labels: Some([("agentd.owner".to_owned(), owner.to_owned())].into()),
            network_disabled: Some(true),
            ..ContainerCreateBody::default()
        };
        let made = engine.create_container(None::<CreateContainerOptions>, body).await;
        let id = made.expect("a container").id;
        engine.start_container(&id, None::<StartContainerOptions>).await.expect("it runs");
        left.push(id);
    }
    boxed(Backend::Container).await.expect("the engine works");
    let [gone, kept] = left.as_slice() else { unreachable!("there are two") };
    let look = |id: String| {
        let engine = engine.clone();
        async move { engine.inspect_container(&id, None::<InspectContainerOptions>).await }
    };
    assert!(look(gone.clone()).await.is_err(), "it is removed");
    assert!(look(kept.clone()).await.is_ok(), "it may be another's");
    let options = bollard::query_parameters::RemoveContainerOptionsBuilder::default().force(true);
    engine.remove_container(kept, Some(options.build())).await.expect("removed");
}
