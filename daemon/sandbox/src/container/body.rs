//! What the engine is asked for.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType,
    ResourcesUlimits,
};

use super::{Containers, LABEL};
use crate::identity::Identity;
use crate::place::Place;
use crate::{Command, Limits, Network, Profile, environment, git, protected};

/// Home and temporary files inside: in memory, of a bounded size.
const TEMPORARY: &str = "/tmp";
const HOME: &str = "/run/home";

/// Nanoseconds of a processor, in a hundredth of a second of each.
const NANOS_PER_PERCENT: i64 = 10_000_000;

/// Processes of the supervisor beside the program's.
const OF_THE_BOX: u64 = 4;

/// The first process.
const SUPERVISOR: &str = include_str!("supervisor.sh");

/// A container for a command.
pub(super) fn of(
    containers: &Containers,
    command: &Command,
    place: &Place,
    identity: Identity,
) -> ContainerCreateBody {
    let Identity { uid, gid } = identity;
    let policy = &containers.policy;
    let path = policy.path.as_deref().unwrap_or(environment::PATH);
    let given = environment::variables(path, HOME, TEMPORARY);
    // A name alone takes away what the image brings.
    let mut variables: Vec<String> = containers
        .brought
        .variables
        .iter()
        .filter(|name| given.iter().all(|(own, _)| own != *name))
        .cloned()
        .collect();
    variables.extend(given.iter().map(|(name, value)| format!("{name}={value}")));
    if command.profile == Profile::GitWrite {
        variables.extend(git::variables().iter().map(|(name, value)| format!("{name}={value}")));
    }
    let kib = |bytes: u64| (bytes / 1024).to_string();
    let Limits { memory_bytes, address_bytes, .. } = command.limits;
    let mut first = ["/bin/sh", "-c", SUPERVISOR, "sh"].map(str::to_owned).to_vec();
    first.extend([kib(memory_bytes), kib(address_bytes)]);
    let kept = protected::mounts(place, command.profile);
    first.extend(kept.iter().flat_map(|mount| [identity_of(&mount.path), text(&mount.path)]));
    first.push("--".to_owned());
    ContainerCreateBody {
        image: Some(containers.image.clone()),
        // What the image would start is of no interest.
        entrypoint: Some(first),
        cmd: Some(command.argv.clone()),
        env: Some(variables),
        working_dir: Some(place.cwd.to_string_lossy().into_owned()),
        user: Some(format!("{uid}:{gid}")),
        labels: Some(HashMap::from([(LABEL.to_owned(), containers.owner.clone())])),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        // Its input ends with our connection.
        stdin_once: Some(true),
        tty: Some(false),
        network_disabled: Some(command.network != Network::All),
        // What the image would run by itself.
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        host_config: Some(host(containers, command, (place, kept))),
        ..ContainerCreateBody::default()
    }
}

fn host(
    containers: &Containers,
    command: &Command,
    (place, kept): (&Place, Vec<protected::Mount>),
) -> HostConfig {
    let Limits { total_memory_bytes, processes, cpu_percent, temporary_bytes, .. } = command.limits;
    let mode = if command.network == Network::All { "bridge" } else { "none" };
    let space = format!("rw,nosuid,nodev,exec,mode=1777,size={temporary_bytes}");
    // A volume of the image would be a directory on the disk without bounds.
    let volumes = containers.brought.volumes.iter().map(String::as_str);
    let tmpfs = [TEMPORARY, HOME].into_iter().chain(volumes);
    let tmpfs = tmpfs.map(|place| (place.to_owned(), space.clone()));
    HostConfig {
        network_mode: Some(mode.to_owned()),
        mounts: Some(mounts(containers, command, (place, kept))),
        tmpfs: Some(tmpfs.collect()),
        shm_size: Some(signed(temporary_bytes)),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        privileged: Some(false),
        ipc_mode: Some("private".to_owned()),
        init: Some(false),
        memory: Some(signed(total_memory_bytes)),
        // With swap counted: none.
        memory_swap: Some(signed(total_memory_bytes)),
        pids_limit: Some(signed(processes.saturating_add(OF_THE_BOX))),
        nano_cpus: cpu_percent.map(|percent| i64::from(percent) * NANOS_PER_PERCENT),
        ulimits: Some(ulimits(&command.limits)),
        // Output is read from the connection, and kept nowhere else.
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        ..HostConfig::default()
    }
}

/// Limits of each process. Those of memory are the supervisor's to set. The number of processes is not
/// among them: the kernel counts all of a user together, in whatever container.
fn ulimits(limits: &Limits) -> Vec<ResourcesUlimits> {
    [
        ("core", 0),
        ("cpu", limits.cpu.as_secs().max(1)),
        ("fsize", limits.file_bytes),
        ("nofile", limits.open_files),
    ]
    .map(|(name, most)| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(signed(most)),
        hard: Some(signed(most)),
    })
    .into()
}

/// The workspace at its own path, what may be read, and what stays as it is or hidden.
fn mounts(
    containers: &Containers,
    command: &Command,
    (place, kept): (&Place, Vec<protected::Mount>),
) -> Vec<Mount> {
    let is_read_only = command.profile == Profile::ReadOnly;
    let mut mounts = Vec::new();
    for readable in containers.policy.readable.iter().filter(|path| path.exists()) {
        mounts.push(bind(readable, readable, true));
    }
    mounts.extend(place.roots.iter().map(|root| bind(root, root, is_read_only)));
    mounts.extend(kept.iter().map(|kept| bind(&kept.path, &kept.path, kept.is_read_only)));
    for hidden in &place.hidden {
        mounts.push(if hidden.is_dir() {
            Mount {
                target: Some(hidden.to_string_lossy().into_owned()),
                typ: Some(MountType::TMPFS),
                read_only: Some(true),
                ..Mount::default()
            }
        } else {
            bind(Path::new("/dev/null"), hidden, true)
        });
    }
    mounts
}

/// What the supervisor compares with what was mounted: links may have been put in its place meanwhile.
fn identity_of(path: &Path) -> String {
    path.symlink_metadata()
        .map_or_else(|_gone| "gone".to_owned(), |it| format!("{}:{}", it.dev(), it.ino()))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A mount is refused where its source is not there; the older way would make it.
fn bind(from: &Path, to: &Path, read_only: bool) -> Mount {
    Mount {
        source: Some(from.to_string_lossy().into_owned()),
        target: Some(to.to_string_lossy().into_owned()),
        typ: Some(MountType::BIND),
        read_only: Some(read_only),
        ..Mount::default()
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_reach_the_engine_as_they_were_given() {
        let limits = ulimits(&Limits::SCRIPT);
        let of = |name: &str| {
            let named = limits.iter().find(|limit| limit.name.as_deref() == Some(name));
            named.and_then(|limit| limit.hard)
        };
        assert_eq!(of("cpu"), Some(60));
        assert_eq!(of("fsize"), Some(64 * 1024 * 1024));
        assert_eq!(of("core"), Some(0));
        assert_eq!(signed(u64::MAX), i64::MAX);
    }

    #[test]
    fn a_mount_needs_its_source() {
        let mount = bind(Path::new("/a"), Path::new("/b"), true);
        assert_eq!(mount.typ, Some(MountType::BIND), "the older way makes what is not there");
        assert_eq!(mount.read_only, Some(true));
    }
}
