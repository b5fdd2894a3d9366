use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use agentd_domain::{Clock, SessionId, TimestampMs, ToolStatus};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::people::{Answer, Nobody, People, Question};
use crate::{FileLedger, LiveOutput};

#[derive(Debug)]
struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> TimestampMs {
        TimestampMs(0)
    }
}

/// Two terminals.
#[derive(Debug, Default)]
struct Two(Mutex<Vec<Announcement>>);

#[async_trait]
impl People for Two {
    async fn ask(&self, _question: Question) -> Answer {
        Answer::NobodyThere
    }

    async fn announce(&self, announcement: Announcement) -> Option<usize> {
        self.0.lock().unwrap().push(announcement);
        Some(2)
    }
}

async fn notify(
    people: Arc<dyn People>,
    surroundings: Surroundings,
    arguments: serde_json::Value,
) -> ToolResult {
    let ctx = ToolContext {
        workspace: "/".into(),
        session: SessionId::from_parts(1, 1),
        clock: Arc::new(NoClock),
        cancel: CancellationToken::new(),
        files: Arc::new(FileLedger::new()),
        output: LiveOutput::nobody(),
        people,
        goals: Arc::new(crate::goals::NoGoals),
        history: Arc::new(crate::history::NoHistory),
        readable: Arc::default(),
        further_roots: Arc::default(),
    };
    let arguments = serde_json::from_value(arguments).unwrap();
    Notify { surroundings }.run(&ctx, arguments, &Action::default()).await
}

#[tokio::test]
async fn it_says_where_a_message_was_shown() {
    let people = Arc::new(Two::default());
    let arguments =
        serde_json::json!({"message": "Done\nnow", "title": "Build", "urgency": "critical"});
    let told = notify(Arc::<Two>::clone(&people), Surroundings::default(), arguments).await;
    assert_eq!(
        told.output,
        "Shown on 2 attached terminals. Not shown on a desktop: the daemon runs in no desktop session."
    );
    let announced = people.0.lock().unwrap().clone();
    let expect = Announcement { text: "Build: Done now".to_owned(), is_grave: true };
    assert_eq!(announced, [expect]);
}

#[tokio::test]
async fn a_desktop_gets_the_message_as_text() {
    let dir = tempfile::tempdir().unwrap();
    let (program, said) = (dir.path().join("notify-send"), dir.path().join("said"));
    let script = format!("#!/bin/sh\nprintf '%s|' \"$@\" > {}\nenv >> {0}\n", said.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    let surroundings =
        Surroundings::of(&[("PATH", &path), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x")]);
    let arguments = serde_json::json!({"message": "-a <b>$(id)</b>"});
    let told = notify(Arc::new(Nobody), surroundings, arguments.clone()).await;
    assert_eq!(told.status, ToolStatus::Success, "{told:?}");
    assert_eq!(told.output, "It could not be kept in the session. Shown on the desktop.");
    let said = fs::read_to_string(&said).unwrap();
    let expect = "--app-name=agentd|--urgency|normal|--|agentd|-a &lt;b&gt;$(id)&lt;/b&gt;|";
    assert!(said.starts_with(expect) && !said.contains("HOME="), "{said}");

    fs::write(&program, "#!/bin/sh\necho no bus >&2\nexit 1\n").unwrap();
    let surroundings =
        Surroundings::of(&[("PATH", &path), ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x")]);
    let told = notify(Arc::new(Two::default()), surroundings, arguments.clone()).await;
    assert!(told.output.ends_with("Not shown on a desktop: notify-send says: no bus."), "{told:?}");

    let empty = Surroundings::of(&[("PATH", "/none"), ("DBUS_SESSION_BUS_ADDRESS", "x")]);
    let told = notify(Arc::new(Nobody), empty, arguments).await;
    assert_eq!(told.error_code, "NOT_NOTIFIED");
    assert!(told.output.contains("the package libnotify-bin adds"), "{told:?}");
}
