//! System calls that no program of a box may make.
//!
//! A list of what is refused: builds use most of what a kernel has. Refused is what reaches other
//! processes, the machine as a whole, or parts of the kernel known for their holes.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::{Files, Modes, Sockets};

/// Refused with "not permitted", whatever the arguments.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Other views of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    // Holes: io_uring also makes sockets that a filter does not see.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// What changes modes, owners and attributes of files. Landlock does not hold it, so that it is
/// refused where nothing may be changed.
const OF_MODES: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    // fchmodat2, which the C library of older systems has no name for.
    452,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // setxattrat and removexattrat.
    463,
    466,
];

/// The same by their older calls, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OF_MODES_BEFORE: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OF_MODES_BEFORE: &[libc::c_long] = &[];

/// What cuts off a file by its name. Landlock holds it from Linux 6.2 on; to cut off what is open for
/// writing is another call.
const OPEN_CALLS: &[(libc::c_long, u8)] = &[(libc::SYS_openat, 2)];
#[cfg(target_arch = "x86_64")]
const OPEN_CALL_BEFORE: &[(libc::c_long, u8)] = &[(libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPEN_CALL_BEFORE: &[(libc::c_long, u8)] = &[];

/// Text put into the input of a terminal as if it had been typed.
const TERMINAL_INPUT: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// Applies the filters to this process and what it becomes.
pub(super) fn apply(sockets: Sockets, modes: Modes, files: Files) -> Result<(), String> {
    let wrong = |error: &dyn std::fmt::Display| format!("seccomp refused: {error}");
    for program in [refusing(sockets, modes, files), unknown(files)] {
        let program = program.map_err(|error| wrong(&error))?;
        apply_filter(&program).map_err(|error| wrong(&error))?;
    }
    #[cfg(target_arch = "x86_64")]
    apply_filter(&without_x32()).map_err(|error| wrong(&error))?;
    Ok(())
}

fn refusing(
    sockets: Sockets,
    modes: Modes,
    files: Files,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|number| (*number, Vec::new())).collect();
    let equal = |argument: u8, value: u64| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
    };
    let mut ioctl = Vec::new();
    for request in TERMINAL_INPUT {
        ioctl.push(SeccompRule::new(vec![equal(1, *request)?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctl);
    // A new user namespace opens more of the kernel than a program needs.
    let flag = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    let namespace =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![namespace])?]);
    if files == Files::ByLandlock {
        rules.insert(libc::SYS_truncate, Vec::new());
        // Opened for reading, or for neither reading nor writing (3), and cut off: no program means it.
        let looked_at = u64::from((libc::O_ACCMODE | libc::O_TRUNC).unsigned_abs());
        for (number, argument) in OPEN_CALLS.iter().chain(OPEN_CALL_BEFORE) {
            let mut cut_off = Vec::new();
            for access in [libc::O_RDONLY, libc::O_ACCMODE] {
                let flags = u64::from((access | libc::O_TRUNC).unsigned_abs());
                let is_asked = SeccompCmpOp::MaskedEq(looked_at);
                let condition =
                    SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, is_asked, flags)?;
                cut_off.push(SeccompRule::new(vec![condition])?);
            }
            rules.insert(*number, cut_off);
        }
    }
    if modes == Modes::Kept {
        rules.extend(OF_MODES.iter().chain(OF_MODES_BEFORE).map(|number| (*number, Vec::new())));
        // Without a name and a time it is "now" for an open file, which a program that makes a file of
        // its own may say.
        let mut others = Vec::new();
        for argument in [1, 2] {
            let given =
                SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
            others.push(SeccompRule::new(vec![given])?);
        }
        rules.insert(libc::SYS_utimensat, others);
    }
    match sockets {
        Sockets::Any => {}
        Sockets::None => {
            rules.insert(libc::SYS_socket, Vec::new());
        }
        Sockets::Internet => {
            let mut others = Vec::new();
            for family in [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
                let family = u64::from(family.unsigned_abs());
                others.push(SeccompCondition::new(
                    0,
                    SeccompCmpArgLen::Dword,
                    SeccompCmpOp::Ne,
                    family,
                )?);
            }
            rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
        }
    }
    filter(rules, libc::EPERM)
}

/// The arguments of clone3 and openat2 are out of a filter's sight, so they are answered as by a
/// kernel without them: the C library then takes clone, and hardly a program opens that way.
fn unknown(files: Files) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    if files == Files::ByLandlock {
        rules.insert(libc::SYS_openat2, Vec::new());
    }
    filter(rules, libc::ENOSYS)
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}

/// The second set of call numbers of x86-64, for programs with short pointers: it would go around
/// the lists above, and no system uses it.
#[cfg(target_arch = "x86_64")]
fn without_x32() -> BpfProgram {
    use seccompiler::sock_filter;

    /// The bit that these numbers have.
    const X32: u32 = 0x4000_0000;
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    vec![
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERRNO | libc::ENOSYS.unsigned_abs() },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
    ]
}
