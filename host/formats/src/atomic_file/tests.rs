use super::*;

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.off");
    write_atomically(&path, |file| file.write_all(b"old")).unwrap();
    let failed = write_atomically(&path, |file| {
        file.write_all(b"half")?;
        Err(io::Error::other("full"))
    });
    assert!(failed.unwrap_err().to_string().ends_with("a.off: full"));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    write_atomically(&path, |file| file.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn devices_and_links_stay_what_they_are() {
    use std::os::unix::fs::FileTypeExt;
    let null = Path::new("/dev/null");
    write_atomically(null, |file| file.write_all(b"gone")).unwrap();
    assert!(null.metadata().unwrap().file_type().is_char_device());

    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, b"old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    write_atomically(&link, |file| file.write_all(b"new")).unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read(&file).unwrap(), b"new");
    assert!(write_atomically(folder.path(), |_| Ok(())).is_err());
    assert!(AtomicFile::create(&folder.path().join("none/file")).is_err());
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_private_file_stays_private_without_set_ids_and_a_read_only_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.off");
    for kept in [0o600, 0o640, 0o666] {
        std::fs::write(&path, b"old").unwrap();
        set_mode(&path, kept);
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(
            (mode(&path), std::fs::read(&path).unwrap()),
            (kept, b"new".to_vec())
        );
    }
    for (old, kept) in [(0o4755, 0o755), (0o2750, 0o750), (0o6600, 0o600)] {
        set_mode(&path, old);
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(mode(&path), kept);
    }
    set_mode(&path, 0o444);
    let error = write_atomically(&path, |file| file.write_all(b"newer")).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("make it writable, or choose another name")
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn a_dangling_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("second", at("first")).unwrap();
    std::os::unix::fs::symlink("file", at("second")).unwrap();
    write_atomically(&at("first"), |file| file.write_all(b"new")).unwrap();
    assert!(at("first").is_symlink() && at("second").is_symlink());
    assert!(!at("file").is_symlink());
    assert_eq!(std::fs::read(at("file")).unwrap(), b"new");
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    assert!(AtomicFile::create(&at("loop")).is_err());
    std::os::unix::fs::symlink("none/file", at("nowhere")).unwrap();
    assert!(AtomicFile::create(&at("nowhere")).is_err());
}

#[test]
fn of_several_files_all_take_their_names_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.node"), b"old").unwrap();
    let create = |name: &str| {
        let mut file = AtomicFile::create(&at(name)).unwrap();
        file.write_all(b"new").unwrap();
        file
    };
    let files = ["a.node", "a.face", "a.ele"].map(create);
    // No file can get the name of a folder.
    std::fs::create_dir_all(at("a.ele/full")).unwrap();
    assert!(AtomicFile::commit_all(files).is_err());
    assert_eq!(std::fs::read(at("a.node")).unwrap(), b"old");
    assert!(!at("a.face").exists());
    assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    std::fs::remove_dir_all(at("a.ele")).unwrap();
    AtomicFile::commit_all(["a.node", "a.ele"].map(create)).unwrap();
    assert_eq!(std::fs::read(at("a.node")).unwrap(), b"new");
    assert_eq!(folder.path().read_dir().unwrap().count(), 2);
}

/// Two processes that alternated within a set of names would leave files of both.
#[cfg(unix)]
#[test]
fn files_of_two_processes_with_the_same_names_do_not_mix() {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let files = ["a.node", "a.ele"]
        .map(|name| AtomicFile::written(&at(name), |file| file.write_all(b"new")).unwrap());
    let other = File::open(folder.path()).unwrap();
    other.lock().unwrap();
    let (done, waits) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || done.send(AtomicFile::commit_all(files)));
        let early = waits.recv_timeout(Duration::from_millis(100));
        assert!(matches!(early, Err(RecvTimeoutError::Timeout)));
        assert!(!at("a.node").exists() && !at("a.ele").exists());
        other.unlock().unwrap();
        waits.recv().unwrap().unwrap();
    });
    assert!(at("a.node").exists() && at("a.ele").exists());
}

/// All threads in memory, if there is such a folder, and elsewhere.
#[test]
fn processes_write_their_parts_of_one_file() {
    let all: Vec<u8> = (0..300_000).map(|i| (i % 251) as u8).collect();
    let folders = [tempfile::tempdir_in("/dev/shm"), tempfile::tempdir()];
    for folder in folders.into_iter().flatten() {
        let path = folder.path().join("a");
        // Also with fewer or more allocated bytes than are written.
        for (elsewhere, begun) in [
            (false, 0),
            (true, 0),
            (true, 1 << 20),
            (false, 150_000),
            (false, 1 << 20),
        ] {
            AtomicFile::begin(&path, begun);
            let mut file = AtomicFile::create_shared(&path, elsewhere).unwrap();
            let set_aside = file.set_aside();
            let name = file.name_for_others().unwrap();
            // The last part first: the file must have its full length at once.
            for part in [200_000..300_000, 1000..200_000] {
                let mut shared = SharedPart::open(&name, set_aside).unwrap();
                let out = shared.file();
                out.seek(SeekFrom::Start(part.start as u64)).unwrap();
                out.write_all(&all[part]).unwrap();
            }
            file.write_all(&all[..1000]).unwrap();
            assert!(!path.exists());
            file.commit().unwrap();
            assert!(std::fs::read(&path).unwrap() == all);
            #[cfg(unix)]
            assert!(
                std::os::unix::fs::MetadataExt::blocks(&path.metadata().unwrap()) * 512 < 310_000
            );
            std::fs::remove_file(&path).unwrap();
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
    assert!(SharedPart::open(Path::new("/none/such"), 0).is_err());
}
