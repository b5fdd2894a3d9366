use super::*;

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("create directories");
    std::fs::write(path, text).expect("write a file");
}

fn shown(found: Found, name: Option<&str>) -> String {
    told(found, name).output
}

#[test]
fn packages_of_the_system_are_those_that_are_installed() {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path();
    write(
        root,
        "var/lib/dpkg/status",
        "Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.2.13\n\n\
         Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n\
         Package: bash\nStatus: install ok installed\nVersion: 5.2\nDescription: a\n shell\n",
    );
    write(root, "lib/apk/db/installed", "C:x\nP:musl\nV:1.2.4-r2\n\nP:busybox\nV:1.36\n");
    write(root, "opt/homebrew/Cellar/jq/1.7.1/README", "");
    let mut found = Found::default();
    system(root, &mut found);
    assert_eq!(
        shown(found, None),
        "dpkg, 2 packages:\nbash 5.2\nzlib1g 1:1.2.13\napk, 2 packages:\nbusybox 1.36\n\
         musl 1.2.4-r2\nHomebrew, 1 packages:\njq 1.7.1"
    );
    write(root, "var/lib/rpm/rpmdb.sqlite", "");
    let mut found = Found::default();
    system(root, &mut found);
    let told = shown(found, Some("ZLIB"));
    assert!(told.starts_with("dpkg, 1 packages:\nzlib1g 1:1.2.13\n[rpm: "), "{told}");
}

#[test]
fn a_machine_without_a_known_database_is_told_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut found = Found::default();
    system(dir.path(), &mut found);
    let told = shown(found, None);
    assert!(told.starts_with("[No package was found.]\n[There is no database"), "{told}");
}

#[test]
fn packages_of_a_project_are_those_of_its_own_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path();
    write(root, "Cargo.lock", "version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\n");
    write(
        root,
        "package-lock.json",
        r#"{"packages": {"": {"version": "9"}, "node_modules/@a/b": {"version": "2.0.0"},
            "node_modules/c/node_modules/d": {"version": "3"}}}"#,
    );
    write(root, ".venv/lib/python3.12/site-packages/requests-2.31.0.dist-info/METADATA", "");
    write(root, ".venv/lib/python3.12/site-packages/Old_Tool-1.0-py3.12.egg-info/PKG-INFO", "");
    write(root, ".venv/lib/python3.12/site-packages/requests/__init__.py", "");
    let protected = Protected::new(Vec::new());
    let mut found = Found::default();
    project("Cargo.lock", cargo_lock, root, &protected, &mut found);
    project("package-lock.json", npm_lock, root, &protected, &mut found);
    python(root, &protected, &mut found);
    found.groups.retain(|(from, _)| !from.starts_with("Python in /"));
    assert_eq!(
        shown(found, None),
        "Cargo.lock, 1 packages:\nserde 1.0.1\npackage-lock.json, 2 packages:\n@a/b 2.0.0\nd 3\n\
         Python of .venv, 2 packages:\nOld_Tool 1.0\nrequests 2.31.0"
    );
    // A lock of the first version, and one that is damaged.
    write(root, "package-lock.json", r#"{"dependencies": {"e": {"version": "4"}}}"#);
    write(root, "Cargo.lock", "not toml at all");
    let mut found = Found::default();
    project("Cargo.lock", cargo_lock, root, &protected, &mut found);
    project("package-lock.json", npm_lock, root, &protected, &mut found);
    let told = shown(found, None);
    assert_eq!(told, "package-lock.json, 1 packages:\ne 4\n[Cargo.lock cannot be read.]");
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let package = |at: usize| Package { name: format!("p{at:04}"), version: "1".to_owned() };
    let mut found = Found::default();
    found.add("dpkg", (0..MAX_SHOWN + 5).map(package).collect());
    found.add("apk", vec![package(0)]);
    let told = shown(found, None);
    assert!(told.ends_with("[300 of 306 packages are shown; a name finds the others.]"), "{told}");
}
