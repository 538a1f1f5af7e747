package daemon

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// peerID asks the kernel for the user at the other end (SO_PEERCRED, unix(7)).
func peerID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var asked error
	err = raw.Control(func(fd uintptr) { cred, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, asked); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
