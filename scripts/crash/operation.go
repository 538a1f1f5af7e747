package main

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/scripts/crash/carried"
	"github.com/umbra-vcs/umbra/scripts/lab"
)

// An operation is something that processes are killed in the middle of.
type operation struct {
	name string
	// daemon says that it happens in a daemon alone, inside that it has none.
	daemon, inside bool
	// prepare makes the scene, undisturbed, and returns the command that dies.
	prepare func(context.Context, *world) (scene, error)
}

// A scene is what a command is killed in.
type scene struct {
	args  []string   // of umbra
	umbra *lab.Umbra // its home, nil: the world's
	stdin []byte
	dir   string   // where it is run, "": in the workspace
	old   manifest // of the workspace before
	new   manifest // and after, nil if it stays as it was
	// asker is how the command dies that asks a daemon, which is to die.
	asker death
	// told says that the command prints the id of a snapshot of what was there.
	told bool
	// start says that what a daemon does before it serves belongs to it.
	start bool
	// linger waits until what the daemon does by itself is done, or it is dead.
	linger func(dead func() bool)
	// stop ends the work of those who write to the workspace meanwhile, nil if
	// nobody does. The next command after a kill comes before it.
	stop func() error
	// settle is done after the recovery, and says what is wrong.
	settle func(context.Context, *world, fate) error
}

func operations() []operation {
	return []operation{
		{name: "snapshot", prepare: snapshotting((*world).few)},
		{name: "import", prepare: snapshotting((*world).many)},
		{name: "restore", prepare: restoring},
		{name: "undo", prepare: undoing},
		{name: "redo", prepare: redoing},
		{name: "take back", inside: true, prepare: interrupted("undo")},
		{name: "finish", inside: true, prepare: interrupted("redo")},
		{name: "besieged restore", prepare: besieged},
		{name: "hook", prepare: hooking},
		{name: "fork", prepare: packing(forking)},
		{name: "unfork", inside: true, prepare: unforking},
		{name: "promote", prepare: packing(promoting)},
		{name: "merge", prepare: packing(merging)},
		{name: "remove", prepare: packing(removing)},
		{name: "rename", prepare: packing(renaming)},
		{name: "pin", prepare: pinning},
		{name: "unpin", prepare: packing(unpinning)},
		{name: "rebuild", prepare: rebuilding},
		{name: "first", inside: true, prepare: beginning},
		{name: "verify", inside: true, prepare: verifying},
		{name: "configuration", inside: true, prepare: configuring},
		{name: "conversation", prepare: retelling},
		{name: "fork of a session", prepare: branching},
		{name: "install", prepare: installing},
		{name: "uninstall", prepare: uninstalling},
		{name: "handover", prepare: handing("")},
		{name: "handover from a dying agent", prepare: handing("agent")},
		{name: "handover from a dying keeper", prepare: handing("keeper")},
		{name: "handover taken over", daemon: true, prepare: takingOver},
		{name: "end of an agent", daemon: true, prepare: ending},
		{name: "side fork entered", prepare: entering},
		{name: "side fork left", prepare: leaving},
		{name: "side fork entered in place", prepare: enteringInPlace},
		{name: "side fork left in place", prepare: leavingInPlace},
		{name: "end of a side fork", daemon: true, prepare: endingAside},
		{name: "side fork entered by its agent", daemon: true, prepare: enteringItself},
		{name: "side fork left with a report", daemon: true, prepare: leavingWithReport},
		{name: "side fork left with all", prepare: leavingWithAll},
		{name: "report told", daemon: true, prepare: telling},
		{name: "report taken back", prepare: untelling},
		{name: "repack", daemon: true, prepare: repacking},
		{name: "prune", inside: true, prepare: pruning},
		{name: "push", inside: true, prepare: carrying((*carried.Mission).Pushing)},
		{name: "fetch", inside: true, prepare: carrying((*carried.Mission).Fetching)},
		{name: "export", inside: true, prepare: carrying((*carried.Mission).Exporting)},
		{name: "import of a file", inside: true, prepare: carrying((*carried.Mission).Importing)},
	}
}

// few are some edits.
func (w *world) few() error { return w.edit(1 + w.rand.IntN(12)) }

func snapshotting(change func(*world) error) func(context.Context, *world) (scene, error) {
	return func(_ context.Context, w *world) (scene, error) {
		if err := change(w); err != nil {
			return scene{}, err
		}
		old, _, err := survey(w.work)
		return scene{args: []string{"snapshot"}, old: old, told: true}, err
	}
}

// restoring takes the workspace, which no snapshot holds as it is, to a moment.
func restoring(_ context.Context, w *world) (scene, error) {
	if err := w.few(); err != nil {
		return scene{}, err
	}
	old, _, err := survey(w.work)
	to := w.anyMoment()
	return scene{args: []string{"restore", to, "--all"}, old: old, new: w.acked[to]}, err
}

func undoing(ctx context.Context, w *world) (scene, error) {
	s, err := restoring(ctx, w)
	if err != nil {
		return s, err
	}
	if _, err := w.alone(ctx, w.work, s.args...); err != nil {
		return s, err
	}
	return scene{args: []string{"undo"}, old: s.new, new: s.old}, nil
}

func redoing(ctx context.Context, w *world) (scene, error) {
	s, err := undoing(ctx, w)
	if err != nil {
		return s, err
	}
	if _, err := w.alone(ctx, w.work, "undo"); err != nil {
		return s, err
	}
	return scene{args: []string{"redo"}, old: s.new, new: s.old}, nil
}

func pinning(_ context.Context, w *world) (scene, error) {
	w.made++
	old, _, err := survey(w.work)
	name := fmt.Sprintf("pin-%d", w.made)
	return scene{args: []string{"pin", w.anyMoment(), name}, old: old, settle: func(ctx context.Context, w *world, f fate) error {
		_, err := w.alone(ctx, w.work, "unpin", name)
		if f.killed || f.code != 0 {
			err = nil // it may be there or not
		}
		return err
	}}, err
}

func unpinning(ctx context.Context, w *world) (scene, error) {
	s, err := pinning(ctx, w)
	if err != nil {
		return s, err
	}
	if _, err := w.alone(ctx, w.work, s.args...); err != nil {
		return s, err
	}
	name := s.args[2]
	s.args = []string{"unpin", name}
	s.settle = func(ctx context.Context, w *world, f fate) error {
		_, _ = w.alone(ctx, w.work, "unpin", name) // it may be gone
		return nil
	}
	return s, nil
}

func rebuilding(_ context.Context, w *world) (scene, error) {
	old, _, err := survey(w.work)
	return scene{args: []string{"doctor", "--rebuild"}, old: old}, err
}
