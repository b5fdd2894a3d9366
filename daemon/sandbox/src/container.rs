//! Hard isolation: each program in a container of its own, made through the Docker API.
//!
//! The image is the owner's choice and is never fetched. The container has a read-only root, the
//! workspace at its own path, no capabilities, and no network unless the command may use it. Its
//! first process is a shell of the image (`supervisor.sh`) whose input is a connection to the daemon:
//! its end kills everything, also when the daemon was killed. What is left then is the stopped
//! container, which the next start removes by its label.

mod body;
mod run;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use bollard::models::ImageInspect;
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptions, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder,
};
use bollard::{API_DEFAULT_VERSION, Docker};
use tokio::runtime::Handle;

pub(crate) use self::run::ContainerRun;
use crate::child::Run;
use crate::identity::Identity;
use crate::launch::{self, SpawnError};
use crate::protected::Look;
use crate::{Accounting, Backend, Child, Command, Network, Policy, Sandbox, owner};

/// Longest wait for an answer of the engine, but for that to the question when a container ends.
const ANSWER: Duration = Duration::from_secs(20);

/// Pauses before each try to remove a container: an engine may be restarting.
const REMOVAL_PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(2), Duration::from_secs(20), Duration::from_secs(120)];

/// Longest run of a container.
const LONGEST_RUN: Duration = Duration::from_secs(24 * 60 * 60);

/// Says whose a container is.
const LABEL: &str = "agentd.owner";

/// Most containers that a daemon before has left and that are removed.
const MAX_LEFTOVERS: usize = 1_000;

/// Longest message of the engine in characters.
const MAX_MESSAGE: usize = 300;

/// Which engine, and what programs run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerSettings {
    /// Name of an image that the engine has. It needs `sh`, and `bash` for command lines.
    pub image: String,
    /// The engine's socket.
    pub socket: PathBuf,
}

/// Programs in containers.
#[derive(Debug)]
pub(crate) struct Containers {
    engine: Docker,
    image: String,
    brought: Brought,
    owner: String,
    policy: Policy,
}

/// What an image would bring into its containers beside its files.
#[derive(Debug, Default)]
struct Brought {
    /// Names of variables.
    variables: Vec<String>,
    /// Directories that would lie on the disk.
    volumes: Vec<String>,
}

impl Brought {
    fn by(image: ImageInspect) -> Self {
        let config = image.config.unwrap_or_default();
        let name = |variable: &String| variable.split('=').next().unwrap_or_default().to_owned();
        let variables = config.env.unwrap_or_default().iter().map(name).collect();
        Self { variables, volumes: config.volumes.unwrap_or_default() }
    }
}

impl Containers {
    /// Connects to the engine, looks for the image, and removes what a daemon that was killed left.
    ///
    /// # Errors
    /// One line, and whether it is something broken and not something absent.
    pub(crate) async fn open(policy: &Policy) -> Result<Self, (String, bool)> {
        let settings = policy.container.as_ref().filter(|settings| !settings.image.is_empty());
        let Some(ContainerSettings { image, socket }) = settings else {
            return Err(("sandbox.container.image names no image".to_owned(), false));
        };
        let place = socket.display();
        let path = socket.to_string_lossy();
        let engine = Docker::connect_with_unix(&path, ANSWER.as_secs(), API_DEFAULT_VERSION)
            .map_err(|error| (format!("there is no engine at {place}: {}", told(&error)), false))?;
        let engine = engine
            .negotiate_version()
            .await
            .map_err(|error| (format!("the engine at {place}: {}", told(&error)), true))?;
        let brought = engine.inspect_image(image).await.map(Brought::by).map_err(|error| {
            (format!("the image {image} cannot be used: {}", told(&error)), false)
        })?;
        let owner = owner::own().ok_or(("/proc does not tell who this is".to_owned(), true))?;
        let image = image.clone();
        let containers = Self { engine, image, brought, owner, policy: policy.clone() };
        containers.remove_leftovers().await.map_err(|error| (told(&error), true))?;
        Ok(containers)
    }

    async fn remove_leftovers(&self) -> Result<(), bollard::errors::Error> {
        let filters = HashMap::from([("label", vec![LABEL])]);
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
        let all = self.engine.list_containers(Some(options)).await?;
        let left = all.into_iter().filter_map(|container| {
            let label = container.labels.as_ref().and_then(|labels| labels.get(LABEL));
            container.id.filter(|_| label.is_some_and(|it| owner::is_gone(it)))
        });
        let left: Vec<String> = left.take(MAX_LEFTOVERS).collect();
        let engine = self.engine.clone();
        // Nobody waits for it, so that many do not keep the daemon from its work.
        drop(Handle::current().spawn(async move {
            for id in left {
                tracing::info!(container = id, "what a daemon has left is ended and removed");
                remove(&engine, &id).await;
            }
        }));
        Ok(())
    }
}

#[async_trait]
impl Sandbox for Containers {
    fn backend(&self) -> Backend {
        Backend::Container
    }

    fn accounting(&self) -> Accounting {
        Accounting::Group { controllers: vec!["memory", "pids", "cpu"] }
    }

    async fn spawn(&self, command: &Command) -> Result<Child, SpawnError> {
        if matches!(command.network, Network::Hosts(_)) {
            return Err(SpawnError::NoHosts { backend: Backend::Container });
        }
        let (place, identity) = launch::check(command, &self.policy)?;
        launch::not_root(&place, identity)?;
        let identity = identity.unwrap_or_else(Identity::own);
        let look = Look::taken(&place).await;
        let wrong =
            |error: bollard::errors::Error| SpawnError::Start(io::Error::other(told(&error)));
        let config = body::of(self, command, &place, identity);
        let engine = self.engine.clone();
        // On its own, so that it is removed even when nobody waits for it any more.
        let making = Handle::current().spawn(async move {
            let made = engine.create_container(None::<CreateContainerOptions>, config).await?;
            Ok::<_, bollard::errors::Error>(ContainerRun::of(&engine, made.id))
        });
        let broke_off = |error| SpawnError::Start(io::Error::other(error));
        let mut run = making.await.map_err(broke_off)?.map_err(wrong)?;
        let attach = AttachContainerOptionsBuilder::default()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        let attached = self.engine.attach_container(run.id(), Some(attach)).await.map_err(wrong)?;
        let (stdout, stderr) = run.connect(attached);
        self.engine.start_container(run.id(), None).await.map_err(wrong)?;
        Ok(Child {
            stdout: Some(stdout),
            stderr: Some(stderr),
            run: Run::Container(run),
            egress: None,
            place,
            look,
        })
    }
}

/// Removes a container, and ends it if it runs.
async fn remove(engine: &Docker, id: &str) {
    for pause in REMOVAL_PAUSES {
        tokio::time::sleep(pause).await;
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match engine.remove_container(id, Some(options)).await {
            Ok(())
            | Err(bollard::errors::Error::DockerResponseServerError {
                status_code: 404 | 409,
                ..
            }) => return,
            Err(error) => {
                tracing::warn!(container = id, error = told(&error), "a container was not removed");
            }
        }
    }
}

/// An error of the engine in one line of a bounded length.
fn told(error: &bollard::errors::Error) -> String {
    let text = match error {
        bollard::errors::Error::DockerResponseServerError { message, .. } => message.clone(),
        other => other.to_string(),
    };
    text.trim().replace('\n', "; ").chars().take(MAX_MESSAGE).collect()
}
