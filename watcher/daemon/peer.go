package daemon

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

type peerKey struct{}

// peer is who is at the other end of a connection.
type peer struct {
	uid  int
	err  error
	conn *net.UnixConn
}

// withPeer puts into a connection's context who is at its other end. It is
// called once for each connection.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	var p peer
	if socket, ok := conn.(*net.UnixConn); ok {
		p.conn = socket
		p.uid, p.err = peerID(socket)
	} else {
		p.err = fmt.Errorf("%T has no peer", conn)
	}
	return context.WithValue(ctx, peerKey{}, p)
}

// refused says why a connection's peer is not served, "" if it is. The socket
// is in a directory that no other user can enter; this is the second lock.
func refused(ctx context.Context) string {
	p, ok := ctx.Value(peerKey{}).(peer)
	switch {
	case !ok:
		return "who asks is not known"
	case p.err != nil:
		return fmt.Sprintf("who asks can't be told: %v", p.err)
	case p.uid != os.Geteuid():
		return fmt.Sprintf("this daemon serves user %d, not user %d", os.Geteuid(), p.uid)
	}
	return ""
}

// hasLeft reports whether who asked has closed the connection: a client that
// was not answered in time does without, and what it asked for is not to be done
// twice. The request was read before, whole.
func hasLeft(ctx context.Context) bool {
	p, _ := ctx.Value(peerKey{}).(peer)
	if p.conn == nil {
		return false
	}
	raw, err := p.conn.SyscallConn()
	if err != nil {
		return true
	}
	var n int
	var asked error
	err = raw.Control(func(fd uintptr) {
		n, _, asked = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err != nil || n == 0 && asked == nil
}
