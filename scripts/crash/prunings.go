package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// An aged is a small home that is pruned again and again. It has a session that gets two
// turns more each time, a fork of that session, a mission that takes snapshots and restores
// them, and a mission that was pushed and has taken snapshots since.
type aged struct {
	root    string
	umbra   *lab.Umbra
	session *lab.Session
	said    *lab.Conversation
	aside   string              // the workspace of a mission without an agent
	held    map[string]manifest // by snapshot of any mission: those that must be there
	pins    map[string]string   // by name
	claims  map[string]string   // by snapshot: why it stays under each policy
	trials  int
}

// agedTrials is how often one home is pruned. Snapshots that undo needs are never pruned, so
// that the history grows.
const agedTrials = 40

// prunePolicy keeps two turns of each mission.
var prunePolicy = []string{"prune", "--keep-last", "2", "--keep-within", "0s"}

// pruning prunes what has become old in the world's aged home.
func pruning(ctx context.Context, w *world) (scene, error) {
	if w.aged == nil {
		made, err := w.newAged(ctx)
		if err != nil {
			return scene{}, fmt.Errorf("make a home to be pruned: %w", err)
		}
		w.aged = made
	}
	a := w.aged
	if err := a.goOn(ctx, w); err != nil {
		return scene{}, err
	}
	goes, err := a.old(ctx)
	if err == nil && len(goes) == 0 {
		err = errors.New("umbra prune --dry-run lists no snapshot")
	}
	if err != nil {
		return scene{}, err
	}
	return scene{
		args: append(slices.Clone(prunePolicy), "--yes"), umbra: a.umbra, dir: a.root,
		settle: func(ctx context.Context, w *world, f fate) error { return a.settle(ctx, w, goes, f) },
	}, nil
}

// newAged makes an aged home in which nothing is old yet.
func (w *world) newAged(ctx context.Context) (*aged, error) {
	w.made++
	top := filepath.Join(w.dir, fmt.Sprintf("aged-%d", w.made))
	a := &aged{root: filepath.Join(top, "work"), aside: filepath.Join(top, "aside"), held: map[string]manifest{}, pins: map[string]string{}, claims: map[string]string{}}
	var err error
	if a.umbra, err = lab.NewUmbra(w.umbra.Binary, filepath.Join(top, "homes")); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"a": "a\n", "d/b": "b\n", ".gitignore": "/" + ignored + "/\n"} {
		if err := w.write(filepath.Join(a.root, name), text); err != nil {
			return nil, err
		}
	}
	if err := w.commit(ctx, a.root); err != nil {
		return nil, err
	}
	a.session = a.umbra.NewSession(a.root, 1)
	a.session.Alone = true
	if a.said, err = a.session.Converse(); err != nil {
		return nil, err
	}
	if err := errors.Join(a.session.Begin(ctx), a.endTurn(ctx, w, 0)); err != nil {
		return nil, err
	}
	point, err := a.session.Tip(ctx)
	if err != nil {
		return nil, err
	}
	a.claims[point] = "where forks were made"
	remote, pushed := filepath.Join(top, "remote.git"), filepath.Join(top, "pushed")
	if _, err := w.git(ctx, top, "init", "-q", "--bare", remote); err != nil {
		return nil, err
	}
	for name, at := range map[string]string{"aside": a.aside, "pushed": pushed} {
		if _, err := w.git(ctx, a.root, "worktree", "add", "-q", "--detach", at); err != nil {
			return nil, err
		}
		if _, err := a.run(ctx, at, "mission", "new", "--no-launch", "--name", name, "--", "true"); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{
		{"fork", point, "--no-launch", "--name", "forked", "--workspace", filepath.Join(top, "forked")},
		{"remote", "add", "r", remote}, {"push", "r", "pushed"},
	} {
		if _, err := a.run(ctx, a.root, args...); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{a.session.Mission.ID, "aside", "pushed", "forked"} {
		if err := a.adopt(ctx, name, ""); err != nil {
			return nil, err
		}
	}
	for n := range 4 {
		id, err := a.snapshot(ctx, w, pushed, fmt.Sprintf("since %d", n))
		if err != nil {
			return nil, err
		}
		a.claims[id] = "what came after a push"
	}
	return a, errors.Join(a.goOn(ctx, w), a.goOn(ctx, w))
}

// run runs a command that nobody kills.
func (a *aged) run(ctx context.Context, dir string, args ...string) (string, error) {
	_, said, err := a.umbra.Run(ctx, dir, append([]string{"--no-daemon"}, args...)...)
	if err != nil && !partly(err) {
		return said, fmt.Errorf("umbra %s: %w %s", strings.Join(args, " "), err, said)
	}
	return said, nil
}

// snapshot writes a file in the workspace of a mission without an agent, and takes a snapshot.
func (a *aged) snapshot(ctx context.Context, w *world, dir, text string) (string, error) {
	if err := w.write(filepath.Join(dir, "d", "b"), text+"\n"); err != nil {
		return "", err
	}
	out, err := a.run(ctx, dir, "snapshot")
	if err != nil {
		return "", err
	}
	id := strings.Join(reportedIDs(out), " ")
	a.held[id], _, err = survey(dir)
	return id, err
}

// endTurn has the session's agent write two files, and ends its turn.
func (a *aged) endTurn(ctx context.Context, w *world, n int) error {
	if _, err := a.said.Grow(1 + w.rand.IntN(3_000)); err != nil {
		return err
	}
	if err := a.heed(ctx); err != nil {
		return err
	}
	err := errors.Join(w.write(filepath.Join(a.root, "a"), fmt.Sprintf("%d of %d\n", n, w.made)), w.write(filepath.Join(a.root, fmt.Sprintf("n/%d", w.made%5)), fmt.Sprintln(w.made)))
	if err != nil {
		return err
	}
	if _, err := a.session.Stop(ctx); err != nil {
		return err
	}
	return a.heed(ctx)
}

// heed notes which files the session's newest snapshot must hold.
func (a *aged) heed(ctx context.Context) error {
	id, err := a.session.Tip(ctx)
	if err == nil && a.held[id] == nil {
		a.held[id], _, err = survey(a.root)
	}
	return err
}

// goOn makes older snapshots old: it adds two turns, two snapshots, a pin, and now and then a
// restore.
func (a *aged) goOn(ctx context.Context, w *world) error {
	for n := range 2 {
		w.made++
		if _, err := a.session.Prompt(ctx); err != nil {
			return err
		}
		if err := a.endTurn(ctx, w, n); err != nil {
			return err
		}
		if _, err := a.snapshot(ctx, w, a.aside, fmt.Sprintln("aside", w.made)); err != nil {
			return err
		}
	}
	if err := a.pin(ctx, w); err != nil {
		return err
	}
	if w.rand.IntN(4) > 0 {
		return nil
	}
	return a.restore(ctx, w)
}

// pin pins a moment. The fourth pin takes the place of another.
func (a *aged) pin(ctx context.Context, w *world) error {
	names := slices.Sorted(maps.Keys(a.pins))
	if len(names) > 2 {
		name := names[w.rand.IntN(len(names))]
		if _, err := a.run(ctx, a.root, "unpin", name); err != nil {
			return err
		}
		delete(a.pins, name)
	}
	ids := slices.Sorted(maps.Keys(a.held))
	name, id := fmt.Sprintf("pin-%d", w.made), ids[w.rand.IntN(len(ids))]
	a.pins[name] = id
	_, err := a.run(ctx, a.root, "pin", id, name)
	return err
}

// restore restores a moment and undoes that. From then on undo and redo need both snapshots.
func (a *aged) restore(ctx context.Context, w *world) error {
	ids, err := a.log(ctx, "aside")
	if err != nil {
		return err
	}
	to := ids[w.rand.IntN(len(ids)-1)+1] // the newest is what is there
	before, _, err := survey(a.aside)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		args []string
		want manifest
	}{{[]string{"restore", to, "--all", "--files-only"}, a.held[to]}, {[]string{"undo"}, before}} {
		if _, err := a.run(ctx, a.aside, step.args...); err != nil {
			return err
		}
		if err := same(a.aside, step.want); err != nil {
			return fmt.Errorf("after %v: %w", step.args, err)
		}
	}
	a.claims[to] = "what a restore was to"
	return a.adopt(ctx, "aside", "what undo and redo take")
}

// adopt notes what those snapshots of a mission hold whose ids no command has printed.
func (a *aged) adopt(ctx context.Context, mission, claim string) error {
	list, err := a.log(ctx, mission)
	if err != nil {
		return err
	}
	for _, id := range list {
		if a.held[id] != nil {
			continue
		}
		text, err := a.session.Mission.Git(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
		if err != nil {
			return err
		}
		a.held[id], a.claims[id] = listed(text), claim
	}
	return nil
}

// log lists the snapshots of a mission, and of a fork those of its source too.
func (a *aged) log(ctx context.Context, mission string) (ids []string, err error) {
	var list []struct{ ID string }
	if err := a.umbra.JSON(ctx, a.root, &list, "log", mission, "--no-daemon"); err != nil {
		return nil, err
	}
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids, nil
}

// old are the snapshots that umbra prune --dry-run lists. It is an error if one of them must
// stay, or if it is neither held nor among those that were listed before.
func (a *aged) old(ctx context.Context, before ...string) (ids []string, err error) {
	var said struct {
		Missions []struct {
			Moments []struct{ Snapshot string }
		}
	}
	if err := a.umbra.JSON(ctx, a.root, &said, append(slices.Clone(prunePolicy), "--dry-run", "--no-daemon")...); err != nil {
		return nil, err
	}
	for _, m := range said.Missions {
		for _, moment := range m.Moments {
			why := a.claims[moment.Snapshot]
			for name, id := range a.pins {
				if id == moment.Snapshot {
					why = "the pin " + name
				}
			}
			known := a.held[moment.Snapshot] != nil || slices.Contains(before, moment.Snapshot)
			if why != "" || !known {
				return nil, fmt.Errorf("umbra prune lists %s, which must stay (%q) or was never there", moment.Snapshot, why)
			}
			ids = append(ids, moment.Snapshot)
		}
	}
	return ids, nil
}

// settle checks what is there after a kill, prunes again, and checks what is there then.
func (a *aged) settle(ctx context.Context, w *world, goes []string, f fate) error {
	if !f.killed && f.code != 0 {
		return fmt.Errorf("umbra prune: %s", f)
	}
	gone := func(ids []string) {
		for _, id := range ids {
			delete(a.held, id)
		}
	}
	gone(goes)
	if err := a.whole(ctx); err != nil {
		return fmt.Errorf("before it is pruned again: %w", err)
	}
	if _, err := a.snapshot(ctx, w, a.aside, fmt.Sprintln("after a kill", w.made)); err != nil {
		return err
	}
	more, err := a.old(ctx, goes...) // if it was killed before it had marked
	if err != nil {
		return err
	}
	gone(more)
	if _, err := a.run(ctx, a.root, append(slices.Clone(prunePolicy), "--yes")...); err != nil {
		return err
	}
	for _, id := range append(goes, more...) {
		if _, err := a.session.Mission.Git(ctx, "cat-file", "-e", id); err == nil {
			return fmt.Errorf("%s was pruned, and is still stored", id)
		}
	}
	for _, args := range [][]string{{"doctor", "--fix"}, {"doctor"}} {
		if _, err := a.run(ctx, a.root, args...); err != nil {
			return err
		}
	}
	if err := a.whole(ctx); err != nil {
		return err
	}
	if err := leftovers(filepath.Join(a.umbra.Base, "umbra", "projects")); err != nil {
		return err
	}
	if a.trials++; a.trials < agedTrials {
		return nil
	}
	w.aged = nil
	return removeAll(filepath.Dir(a.root))
}

// whole checks that each snapshot that must stay is in a history and holds the files that
// were there when it was taken, that pins lead where they led, and that git fsck is content.
func (a *aged) whole(ctx context.Context) error {
	there := map[string]bool{}
	for _, mission := range []string{a.session.Mission.ID, "aside", "pushed", "forked"} {
		list, err := a.log(ctx, mission)
		if err != nil {
			return err
		}
		for _, id := range list {
			there[id] = true
		}
	}
	for id, held := range a.held {
		if !there[id] {
			return fmt.Errorf("%s is in no history, and must stay (%s)", id, a.claims[id])
		}
		text, err := a.session.Mission.Git(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
		if err != nil {
			return err
		}
		if d := listed(text).differs(held); d != "" {
			return fmt.Errorf("snapshot %s does not hold what was there:\n%s", id, d)
		}
	}
	for name, id := range a.pins {
		if is, err := a.session.Mission.Git(ctx, "rev-parse", "refs/pins/"+name); err != nil || strings.TrimSpace(is) != id {
			return fmt.Errorf("the pin %s leads to %s, not to %s (%w)", name, is, id, err)
		}
	}
	said, err := a.session.Mission.Git(ctx, "fsck", "--full", "--no-progress")
	if err != nil || strings.TrimSpace(dangling(said)) != "" {
		return fmt.Errorf("git fsck --full: %w %s", err, said)
	}
	return nil
}
