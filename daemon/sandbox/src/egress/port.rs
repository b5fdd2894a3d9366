//! A port in the network of a box, from its supervisor to the daemon.
//!
//! A socket stays in the network in which it was made, whoever holds it: so nothing inside has to
//! carry what goes over it.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Opens a port on loopback, hands it over, and tells its number.
///
/// # Errors
/// Of the system.
pub(crate) fn open(control: &std::os::unix::net::UnixStream) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("there is no room for a descriptor"));
    }
    sendmsg(control, &[IoSlice::new(b"P")], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(port)
}

/// Takes the port that [`open`] has opened; none: the other end is gone.
///
/// # Errors
/// Of the system, and when something else comes.
///
/// # Cancel safety
/// It can be dropped and called again.
pub(crate) async fn take(control: &UnixStream) -> io::Result<Option<TcpListener>> {
    loop {
        control.readable().await?;
        match control.try_io(Interest::READABLE, || receive(control)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(descriptor) => return Ok(descriptor.map(TcpListener::from)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

fn receive(control: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut byte)];
    let received = recvmsg(control, &mut into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let unexpected = || io::Error::new(io::ErrorKind::InvalidData, "it opened no port");
    descriptor.map(Some).ok_or_else(unexpected)
}
