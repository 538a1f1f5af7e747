package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// maxSocketPath is how long a socket's path may be: sun_path of macOS holds
// 104 bytes with the final zero, Linux's 108 (unix(7)).
const maxSocketPath = 103

// socketName is the socket's own name in its directory.
const socketName = "umbra.sock"

// privatePrefix begins the names of directories made for one socket.
const privatePrefix = "umbra-"

// socket is the listener, and what is to be taken away with it.
type socket struct {
	net.Listener
	home  home.Home
	path  string
	made  string // a directory made for this socket alone, "" if none
	inode fs.FileInfo
}

// listen opens the socket and publishes its path. The caller has the home lock,
// so a socket that is there already is nobody's.
func listen(o Options) (*socket, error) {
	removeStale(o)
	dir, private, err := socketDir(o)
	if err != nil {
		return nil, err
	}
	s := &socket{home: o.Home, path: filepath.Join(dir, socketName)}
	if private {
		s.made = dir
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove a stale socket: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	listener.SetUnlinkOnClose(false)
	s.Listener = listener
	if err = os.Chmod(s.path, 0o600); err == nil {
		s.inode, err = os.Lstat(s.path)
	}
	if err == nil {
		err = o.Home.PublishSocket(s.path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the socket: %w", err), s.retract(), listener.Close())
	}
	return s, nil
}

// removeStale takes away what a process that was killed left: its socket, and
// the directory made for it.
func removeStale(o Options) {
	path := o.Home.Socket()
	if filepath.Base(path) != socketName || answers(path) {
		return // of no process of this home, which would have the lock: of one that this was copied from
	}
	_ = os.Remove(path)
	if dir := filepath.Dir(path); slices.Contains(tempDirs(o), filepath.Dir(dir)) && strings.HasPrefix(filepath.Base(dir), privatePrefix) {
		_ = os.Remove(dir)
	}
}

// retract takes the socket away, if it is still the one that was made. It does
// not end connections.
func (s *socket) retract() error {
	var errs []error
	info, err := os.Lstat(s.path)
	is := err == nil && s.inode != nil && os.SameFile(info, s.inode)
	if (is || err != nil) && s.home.Socket() == s.path { // else it leads to the one in its place
		errs = append(errs, os.Remove(s.home.SocketFile()))
	}
	if is {
		errs = append(errs, os.Remove(s.path))
	}
	if s.made != "" {
		_ = os.Remove(s.made) // stays if somebody put something there
	}
	for i, err := range errs {
		if errors.Is(err, fs.ErrNotExist) {
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

// published reports whether clients are still led to this socket.
func (s *socket) published() bool {
	info, err := os.Lstat(s.path)
	return err == nil && os.SameFile(info, s.inode) && s.home.Socket() == s.path
}

// socketDir chooses the socket's directory: the user's runtime directory, else
// the home, else, if the path would be too long, a private temporary one.
func socketDir(o Options) (dir string, private bool, err error) {
	sum := sha256.Sum256([]byte(o.Home.Dir))
	candidates := []string{filepath.Join(o.Home.Dir, "run-"+o.Home.Machine[:8])}
	if runtime := o.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) && owned(runtime) {
		candidates = append([]string{filepath.Join(runtime, privatePrefix+hex.EncodeToString(sum[:6]))}, candidates...)
	}
	for _, dir := range candidates {
		if len(filepath.Join(dir, socketName)) <= maxSocketPath && makePrivate(dir) == nil {
			return dir, false, nil
		}
	}
	for _, parent := range tempDirs(o) {
		if dir, err = os.MkdirTemp(parent, privatePrefix); err != nil {
			continue
		}
		if len(filepath.Join(dir, socketName)) <= maxSocketPath {
			return dir, true, nil
		}
		err = errors.Join(fmt.Errorf("%s is too long for a socket's path", dir), os.Remove(dir))
	}
	return "", false, missions.Errorf(missions.KindFailed, "set XDG_RUNTIME_DIR to a short path", "make a directory for the socket: %w", err)
}

// tempDirs are where a private directory may be made: as the user says, else where
// paths are short.
func tempDirs(o Options) []string {
	if dir := o.Getenv("TMPDIR"); filepath.IsAbs(dir) {
		return []string{filepath.Clean(dir), "/tmp"}
	}
	return []string{filepath.Clean(os.TempDir()), "/tmp"}
}

// makePrivate makes dir, or makes sure that it is a directory that only this
// user can enter.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !owned(dir) {
		return fmt.Errorf("%s is not this user's", dir)
	}
	return os.Chmod(dir, 0o700)
}

// owned reports whether dir itself, not what it may link to, is a directory of
// this user's.
func owned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
