package checks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Running says in a file of Umbra's home that this process runs a check. The file is locked
// while the process lives. One that is not locked is of a process that was killed, and says
// which process group it has left.
type Running struct {
	file *os.File
	path string
}

// record is what the file says of the command that runs. It is empty before there is one.
type record struct {
	Group lock.Owner `json:"group"` // the process that leads its process group
	// Mark is in the environment of all that the command starts. By it the group is known
	// once its first process has ended.
	Mark string `json:"mark"`
}

// markVariable is the variable that has the mark of a record.
const markVariable = "UMBRA_CHECK"

// Begin says that this process is about to run a check. of is what processes that are killed
// have in common with those that come after: a mission, or what else its caller names. What
// killed ones have left of it is ended first.
func Begin(ctx context.Context, h home.Home, of string) (*Running, error) {
	if _, err := EndLeft(ctx, h, of); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(h.RunningChecksDir(), 0o700); err != nil {
		return nil, err
	}
	return newRecord(ctx, filepath.Join(h.RunningChecksDir(), of), lockNow)
}

// newRecord makes a record whose name begins so, and locks it.
func newRecord(ctx context.Context, of string, take func(*os.File) error) (*Running, error) {
	for ctx.Err() == nil {
		path := of + "." + rand.Text()
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		var is bool
		if err = take(file); err == nil {
			is, err = disk.IsAt(path, file)
		}
		switch {
		case is:
			return &Running{file: file, path: path}, nil
		case err == nil || errors.Is(err, syscall.EWOULDBLOCK):
			_ = file.Close() // another process took it for one that was left, before it was locked
		default:
			_, _ = os.Remove(path), file.Close()
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// lockNow locks a file. The error is syscall.EWOULDBLOCK where another process has it locked.
func lockNow(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// note says which process leads the group of the command that is about to run.
func (r *Running) note(pid int, mark string) error {
	text, err := json.Marshal(record{Group: lock.Process(pid, "check"), Mark: mark})
	if err != nil {
		return err
	}
	if err := r.file.Truncate(0); err != nil {
		return err
	}
	_, err = r.file.WriteAt(text, 0)
	return err
}

// End says that this process runs it no more.
func (r *Running) End() error { return errors.Join(os.Remove(r.path), r.file.Close()) }

// RunsElsewhere reports whether another process that lives runs the same check.
func (r *Running) RunsElsewhere() (bool, error) {
	dir, own := filepath.Split(r.path)
	of, _, _ := strings.Cut(own, ".")
	names, err := runningNames(dir)
	for _, name := range names {
		if thing, _, _ := strings.Cut(name, "."); thing != of || name == own {
			continue
		}
		file, held, cannot := openLeft(dir + name)
		if held {
			return true, nil
		}
		if err = errors.Join(err, cannot); file != nil {
			_ = file.Close()
		}
	}
	return false, err
}

// EndLeft ends what processes that were killed have left of a check, and reports whether a
// process that lives runs it.
func EndLeft(ctx context.Context, h home.Home, of string) (runs bool, err error) {
	names, err := runningNames(h.RunningChecksDir())
	if err != nil {
		return false, err
	}
	var failed []error
	for _, name := range names {
		if thing, _, _ := strings.Cut(name, "."); thing != of {
			continue
		}
		alive, err := endOne(ctx, filepath.Join(h.RunningChecksDir(), name))
		runs, failed = runs || alive, append(failed, err)
	}
	return runs, errors.Join(failed...)
}

// Left are the checks whose processes were killed, by what their callers have named.
func Left(h home.Home) (list []string, err error) {
	names, err := runningNames(h.RunningChecksDir())
	for _, name := range names {
		file, held, cannot := openLeft(filepath.Join(h.RunningChecksDir(), name))
		if err = errors.Join(err, cannot); file == nil || held {
			continue
		}
		_ = file.Close()
		if of, _, _ := strings.Cut(name, "."); !slices.Contains(list, of) {
			list = append(list, of)
		}
	}
	return list, err
}

func runningNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// openLeft opens and locks a file whose process was killed. held says that its process lives;
// without a file and without that, the file is gone. With an error neither is known.
func openLeft(path string) (file *os.File, held bool, err error) {
	file, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := lockNow(file); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, true, nil
		}
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return file, false, nil
}

func endOne(ctx context.Context, path string) (held bool, err error) {
	file, held, err := openLeft(path)
	if file == nil {
		return held, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	if err != nil {
		return false, err
	}
	var left record
	// One that is not whole was being written: its command waited for that, and has ended.
	if json.Unmarshal(text, &left) == nil && left.Group.PID > 0 {
		if err := left.end(ctx, path); err != nil {
			return false, err
		}
	}
	return false, os.Remove(path)
}

// end ends a process group that a killed process has left. path is its record.
func (l record) end(ctx context.Context, path string) error {
	if l.Group.Liveness() == lock.Unknown {
		return missions.Errorf(missions.KindBusy, "once that container is stopped: rm "+home.ShellQuote(path),
			"a check that was cut off (process %d) can't be seen from here: it may run on in another container", l.Group.PID)
	}
	group, err := l.group()
	if err != nil {
		return err
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for deadline := time.Now().Add(stopPatience); ; {
			if !group.lives() {
				return nil
			}
			if signal != 0 {
				_ = syscall.Kill(-group.id, signal) // whether it did is seen
				signal = 0
			}
			if time.Now().After(deadline) {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return fmt.Errorf("a check that was cut off (process group %d) does not end", group.id)
}

// group is a process group, with processes that are known to be of it. While one of these
// lives, its number is no other group's.
type group struct {
	id    int
	known []lock.Owner
}

// group is what is left of the record's one. Its number may be another group's by now: it is
// the same if its first process lives, or one of its processes has the mark.
func (l record) group() (group, error) {
	g := group{id: l.Group.PID}
	if l.Group.Liveness() == lock.Alive {
		g.known = []lock.Owner{l.Group}
		return g, nil
	}
	pids, err := lock.GroupMembers(g.id)
	for _, pid := range pids {
		one := lock.Process(pid, "check")
		if lock.HasVariable(pid, markVariable+"="+l.Mark) {
			g.known = append(g.known, one)
		}
	}
	return g, err
}

// lives reports whether one of the group lives.
func (g *group) lives() bool {
	g.known = slices.DeleteFunc(g.known, func(p lock.Owner) bool { return p.Liveness() != lock.Alive })
	if len(g.known) == 0 {
		return false
	}
	pids, _ := lock.GroupMembers(g.id) // else those that are known
	for _, pid := range pids {
		if !slices.ContainsFunc(g.known, func(p lock.Owner) bool { return p.PID == pid }) {
			g.known = append(g.known, lock.Process(pid, "check"))
		}
	}
	return true
}
