package daemon

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// peerID asks the kernel for the user at the other end (LOCAL_PEERCRED,
// unix(4)).
func peerID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	var asked error
	err = raw.Control(func(fd uintptr) { cred, asked = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) })
	if err = errors.Join(err, asked); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
