package daemon

import (
	"context"
	"fmt"
	"net"
	"os"
)

type peerKey struct{}

// peer is who is at the other end of a connection.
type peer struct {
	uid int
	err error
}

// withPeer puts into a connection's context who is at its other end. It is
// called once for each connection.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	var p peer
	if unix, ok := conn.(*net.UnixConn); ok {
		p.uid, p.err = peerID(unix)
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
