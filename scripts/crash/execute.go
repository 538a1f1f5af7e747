package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// repackPatience is how long a daemon's repack may take on an idle machine: git is given a
// low priority, and waits beside others' work.
const repackPatience = 10 * time.Minute

// hanging is after how long a process hangs.
func hanging() time.Duration { return patience.Of(repackPatience) }

// execute runs a scene's command, and has its process, or the daemon that does
// the work, die so. When it returns, no daemon of the world's runs.
func (w *world) execute(ctx context.Context, s scene, d death) (fate, error) {
	ctx, cancel := context.WithTimeout(ctx, hanging())
	defer cancel()
	u, dir := w.umbra, w.work
	if s.umbra != nil {
		u = s.umbra
	}
	if s.dir != "" {
		dir = s.dir
	}
	if !w.daemon {
		command := u.Command(dir, append([]string{"--no-daemon"}, s.args...)...)
		command.Stdin = s.stdin
		v, err := begin(ctx, command, d, w.log)
		if err != nil {
			return fate{}, err
		}
		return v.wait()
	}
	d.woken = !s.start
	daemon, err := w.serve(ctx, u, d)
	if err != nil {
		return fate{}, err
	}
	if daemon.injector != nil {
		daemon.injector.Wake()
	}
	command := u.Command(dir, s.args...)
	command.Stdin = s.stdin
	client, err := begin(ctx, command, s.asker, os.DevNull)
	if err != nil {
		return fate{}, errors.Join(err, u.Stop())
	}
	asked, err := client.wait()
	if err != nil {
		return fate{}, err
	}
	if s.asker != (death{}) {
		asked.code = 0 // it told of nothing
	}
	if s.linger != nil {
		s.linger(daemon.dead)
	}
	if d.after > 0 {
		daemon.kill() // it has had its time
	} else if err := u.Stop(); err != nil && !daemon.dies() {
		return fate{}, fmt.Errorf("stop the daemon: %w", err)
	}
	f, err := daemon.wait()
	if err != nil {
		return fate{}, err
	}
	// One that the client has started instead.
	if err := u.Stop(); err != nil {
		return fate{}, fmt.Errorf("stop the daemon: %w", err)
	}
	asked.killed = f.killed
	asked.hit, asked.at, asked.calls = f.hit, f.at, f.calls
	if f.killed || f.hit {
		asked.said += "\nthe daemon said: " + f.said
	}
	return asked, nil
}

// serve starts a daemon that is to die, and returns when it can be asked, or is
// dead already.
func (w *world) serve(ctx context.Context, u *lab.Umbra, d death) (*victim, error) {
	home := filepath.Join(u.Base, "umbra")
	old, _ := filepath.Glob(filepath.Join(home, "socket-*"))
	for _, name := range old { // of one that was killed
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	v, err := begin(ctx, u.Command("/", "daemon", "run"), d, w.log)
	if err != nil {
		return nil, err
	}
	for !v.dead() {
		if now, _ := filepath.Glob(filepath.Join(home, "socket-*")); len(now) > 0 {
			break
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the daemon does not serve: %w", ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return v, nil
}

// recover does what comes after a kill: the next command, which may be killed
// too, and then one that nobody kills. It returns what became of the former.
func (w *world) recover(ctx context.Context, again death) (first fate, err error) {
	s := scene{args: []string{"snapshot"}}
	if again != (death{}) {
		held, _, err := survey(w.work)
		if err != nil {
			return first, err
		}
		first, err = w.execute(ctx, s, again)
		if err != nil {
			return first, err
		}
		after, _, err := survey(w.work)
		if err != nil {
			return first, err
		}
		if after.differs(held) == "" { // it has recovered nothing, so that this is what it took
			w.heed(first, held)
		}
	}
	f, err := w.execute(ctx, s, death{})
	if err != nil {
		return first, err
	}
	if f.code != 0 || len(reportedIDs(f.out)) != 1 {
		return first, fmt.Errorf("the next command: %s", f)
	}
	held, _, err := survey(w.work)
	if err != nil {
		return first, err
	}
	w.heed(f, held)
	return first, nil
}

// heed notes what a command has told of a snapshot, killed afterwards or not.
func (w *world) heed(f fate, held manifest) {
	for _, id := range slices.Compact(reportedIDs(f.out)) {
		w.ack(id, held)
	}
}
