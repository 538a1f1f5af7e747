// Package home is Umbra's own directory: its layout, its lock, the room on its disk, and the
// configuration that counts. It knows no project and no mission.
package home

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
)

// AsideSuffix follows the name of what was set aside, before a number.
const AsideSuffix = ".damaged-"

// SetAside renames what is damaged to a free name beside it.
func SetAside(path string) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s%s%d", path, AsideSuffix, n)
		switch _, err := os.Lstat(to); {
		case errors.Is(err, fs.ErrNotExist):
			return os.Rename(path, to)
		case err != nil:
			return err
		}
	}
}

// GitHookNames are the hooks by which Git tells that HEAD has moved, and when.
func GitHookNames() []string {
	return []string{"post-commit", "post-checkout", "post-merge", "post-rewrite"}
}

// HooksFile is where a home remembers which hooks of agents were installed: another
// program that writes an agent's settings anew takes them out, and nothing else tells.
const HooksFile = "hooks.json"

// UnfinishedProjectPrefix begins the name of a project that is being made.
const UnfinishedProjectPrefix = ".new-"

// Home is Umbra's own directory on this machine and the layout below it.
type Home struct {
	Dir     string // absolute
	Machine string // the machine's id, for locks, sockets and bindings
}

// HomeDirs are the directories every home has. The index is not one of them: it
// is a cache, made by who keeps it, and nothing fails without it.
var HomeDirs = [...]string{"projects", "journal", "statcache", "locks", "agents", "trash", "cookies"}

// DefaultDir is where Umbra keeps its data: $UMBRA_HOME, else below
// $XDG_DATA_HOME, else below the user's home directory.
func DefaultDir(getenv func(string) string) (string, error) {
	if dir := getenv("UMBRA_HOME"); dir != "" {
		return checkAbsolute("UMBRA_HOME", dir)
	}
	if dir := getenv("XDG_DATA_HOME"); dir != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "umbra"), nil
	}
	dir := getenv("HOME")
	if dir == "" {
		return "", missions.Errorf(missions.KindUsage, "set UMBRA_HOME, or give --home DIR", "neither UMBRA_HOME, XDG_DATA_HOME nor HOME is set")
	}
	return filepath.Join(dir, ".local", "share", "umbra"), nil
}

func checkAbsolute(what, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", missions.Errorf(missions.KindUsage, "give an absolute path", "%s is %q, which is not absolute", what, dir)
	}
	return filepath.Clean(dir), nil
}

// Open opens the home at dir, making it if it is missing. It refuses one
// that others may read, that belongs to somebody else or that is a directory of
// other things.
func Open(dir string) (Home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Home{}, missions.Errorf(missions.KindFailed, "choose another with --home DIR or UMBRA_HOME", "make Umbra's home %s: %w", dir, err)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Home{}, fmt.Errorf("resolve Umbra's home: %w", err)
	}
	if err := checkOwner(resolved); err != nil {
		return Home{}, err
	}
	if err := checkEntries(resolved); err != nil {
		return Home{}, err
	}
	for _, name := range HomeDirs {
		err := os.MkdirAll(filepath.Join(resolved, name), 0o700)
		if err != nil && (Home{Dir: resolved}).CheckWritable() == nil { // what can only be read has nothing there
			return Home{}, missions.Errorf(missions.KindFailed, "", "make %s: %w", filepath.Join(resolved, name), err)
		}
	}
	machine, err := ensureMachineID(resolved)
	if err != nil {
		return Home{}, err
	}
	return Home{Dir: resolved, Machine: machine}, nil
}

// Find is Open for a process in a hurry: the home at dir if it is there
// and well. It makes nothing and explains nothing; where it reports false,
// Open does.
func Find(dir string) (Home, bool) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil || checkOwner(resolved) != nil {
		return Home{}, false
	}
	machine, err := readMachineID(resolved)
	return Home{Dir: resolved, Machine: machine}, err == nil && machine != ""
}

func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at Umbra's home: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return missions.Errorf(missions.KindFailed, "run as its owner, or choose another with --home DIR",
			"Umbra's home %s belongs to user %d, not to you", dir, stat.Uid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return missions.Errorf(missions.KindFailed, "chmod 700 "+dir,
			"Umbra's home %s can be read by others (mode %04o)", dir, info.Mode().Perm())
	}
	return nil
}

// isMachineID reports whether id is in the form of machine-id(5).
func isMachineID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// readMachineID is the system's id of this machine, else the one that the home
// keeps, "" if neither is there.
func readMachineID(home string) (string, error) {
	for _, name := range []string{"/etc/machine-id", filepath.Join(home, "machine-id")} {
		p, err := disk.ReadFile(name)
		if id := strings.TrimSpace(string(p)); err == nil && isMachineID(id) {
			return id, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && filepath.Dir(name) == home {
			return "", fmt.Errorf("read the machine's id: %w", err)
		}
	}
	return "", nil
}

// ensureMachineID is a name for this machine that says nothing about it: made once
// and kept in the home, apart for each machine that mounts the same home.
func ensureMachineID(home string) (string, error) {
	if id, err := readMachineID(home); id != "" || err != nil {
		return id, err
	}
	name := filepath.Join(home, "machine-id")
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a machine id: %w", err)
	}
	id := hex.EncodeToString(b[:])
	err := journal.Place(name, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, id+"\n")
		return err
	}, journal.PlaceOptions{})
	if errors.Is(err, fs.ErrExist) { // another process was first
		p, err := disk.ReadFile(name)
		return strings.TrimSpace(string(p)), err
	}
	if err != nil && (Home{Dir: home}).CheckWritable() != nil {
		return id, nil // nothing in it is this machine's
	}
	return id, err
}

func (h Home) Path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// ProjectsDir holds a directory for each project.
func (h Home) ProjectsDir() string { return h.Path("projects") }

// IndexDir is the cache that may be deleted at any time.
func (h Home) IndexDir() string { return h.Path("index") }

// LockFile is the home lock, which guards the index and the live watchers.
func (h Home) LockFile() string { return h.Path("lock") }

// CookieDir is where a watcher's cookies are written.
func (h Home) CookieDir() string { return h.Path("cookies") }

// LogFile is the daemon's log.
func (h Home) LogFile() string { return h.Path("daemon.log") }

// OutputFile is what the agent of a mission has printed where it had no terminal.
func (h Home) OutputFile(mission string) string { return h.Path("agents", "output", mission) }

// CheckOutputFile is what the newest check of a mission's workspace has printed.
func (h Home) CheckOutputFile(mission string) string { return h.Path("agents", "checks", mission) }

// CheckResultFile is what the newest check of a mission's workspace said, and of which
// snapshot.
func (h Home) CheckResultFile(mission string) string {
	return h.CheckOutputFile(mission) + checkResultEnd
}

const checkResultEnd = ".json"

// RunningChecksDir has a file for each process that runs a check.
func (h Home) RunningChecksDir() string { return h.Path("agents", "checks", "running") }

// LandedFile is which work of a mission is on a branch of the user's.
func (h Home) LandedFile(mission string) string { return h.Path("agents", "landed", mission) }

// BisectFile is how far a search for the turn that broke something has come.
func (h Home) BisectFile(mission string) string { return h.Path("agents", "bisect", mission) }

// FixFile is what umbra fix goes on from, for a mission that it mends.
func (h Home) FixFile(mission string) string { return h.Path("agents", "fixes", mission) }

// SocketFile holds the path of the socket of whoever holds the home lock.
func (h Home) SocketFile() string { return h.Path("socket-" + h.Machine) }

// ConfigFile is the user's configuration.
func (h Home) ConfigFile() string { return h.Path("config.yml") }

func (h Home) StatCacheFile(id FileIdentity) string {
	return h.Path("statcache", fmt.Sprintf("%x-%x", id.Device, id.Inode))
}
