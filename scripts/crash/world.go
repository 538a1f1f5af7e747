package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/carried"
	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// files is how many a workspace has at first.
const files = 120

// A world is a home of Umbra's, a user's repository with a mission in it, and
// what its snapshots must hold. It is for one goroutine.
type world struct {
	dir     string
	work    string // the workspace, the top of a Git repository
	umbra   *lab.Umbra
	mission lab.Mission
	rand    *rand.Rand
	log     string // where processes write down the points that they pass
	daemon  bool   // commands ask a daemon, which is what dies; else they work alone

	acked map[string]manifest // by snapshot, of the mission
	order []string            // of acked, as they were told
	fresh []string            // acked, and not yet compared with the disk's
	kept  manifest            // what the workspace holds of ignored files
	made  int                 // numbers what is made

	cast             // who is in it beside the mission
	grounds []string // user's repositories for first snapshots, the oldest first
}

// A cast has what some scenes need beside the world's mission, each nil until one is needed.
type cast struct {
	talk    *talk
	chat    *chat
	stage   *stage
	aged    *aged
	carried *carried.Mission
}

// newWorld makes one below dir.
func newWorld(ctx context.Context, binary, dir string, seed uint64) (*world, error) {
	w := &world{dir: dir, work: filepath.Join(dir, "work"), rand: rand.New(rand.NewPCG(seed, 7)), log: filepath.Join(dir, "passed"), acked: map[string]manifest{}}
	var err error
	if w.umbra, err = lab.NewUmbra(binary, filepath.Join(dir, "homes")); err != nil {
		return nil, err
	}
	if err := errors.Join(w.ground(w.template()), w.copyGround(ctx, w.work), w.commit(ctx, w.work)); err != nil {
		return nil, err
	}
	for range 3 {
		if err := w.nextGround(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := w.alone(ctx, w.work, "mission", "new", "--no-launch", "--name", "one", "--", "true"); err != nil {
		return nil, err
	}
	list := []lab.Mission{}
	if err := w.umbra.JSON(ctx, w.work, &list, "mission", "ls", "--no-daemon"); err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%d missions where one was made", len(list))
	}
	w.mission = list[0]
	held, kept, err := survey(w.work)
	w.kept = kept
	w.ack(w.mission.Head, held)
	return w, err
}

// ground makes what a user's repository holds: files, a link, modes, a directory
// that is ignored, one that is empty, and one that is closed.
func (w *world) ground(root string) error {
	tree := &lab.Tree{Files: files, Seed: 3}
	if err := tree.Make(root); err != nil {
		return err
	}
	for name, text := range map[string]string{".gitignore": "/" + ignored + "/\n", "run.sh": "#!/bin/sh\n", ignored + "/keep": "not captured\n", "flat": "a file\n", "deep/a/b/c": "deep\n"} {
		if err := w.write(filepath.Join(root, name), text); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(root, "run.sh"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink("flat", filepath.Join(root, "link")); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(root, "empty"), 0o755); err != nil {
		return err
	}
	if err := w.readOnly(root, "nobody writes here\n"); err != nil {
		return err
	}
	return nil
}

// template is a workspace that others are copies of.
func (w *world) template() string { return filepath.Join(w.dir, "ground") }

func (w *world) copyGround(ctx context.Context, root string) error {
	_, _, err := lab.Command{Args: []string{"cp", "-a", w.template() + "/.", root}, Env: lab.GitEnv(w.dir)}.Run(ctx)
	return err
}

// commit makes a user's repository of what is there.
func (w *world) commit(ctx context.Context, root string) error {
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		if _, err := w.git(ctx, root, args...); err != nil {
			return err
		}
	}
	return nil
}

// readOnlyDir is the directory of each workspace that is closed.
const readOnlyDir = "readonly"

// readOnly writes a file in a directory that is closed again.
func (w *world) readOnly(root, text string) error {
	dir := filepath.Join(root, readOnlyDir)
	if err := os.Chmod(dir, 0o755); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := w.write(filepath.Join(dir, "file"), text); err != nil {
		return err
	}
	return os.Chmod(dir, 0o555)
}

// nextGround makes another workspace for a first snapshot. It waits before it is
// committed: what the user's index says of a file of the same second is not
// believed.
func (w *world) nextGround(ctx context.Context) error {
	w.made++
	root := filepath.Join(w.dir, fmt.Sprintf("ground-%d", w.made))
	if err := w.copyGround(ctx, root); err != nil {
		return err
	}
	w.grounds = append(w.grounds, root)
	return nil
}

func (w *world) write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// git runs git in the user's repository at root.
func (w *world) git(ctx context.Context, root string, args ...string) (string, error) {
	_, out, err := lab.Command{Args: append([]string{"git"}, args...), Dir: root, Env: lab.GitEnv(w.dir)}.Run(ctx)
	return string(out), err
}

// alone runs a command that nobody kills, without a daemon.
func (w *world) alone(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	_, out, err := w.umbra.Run(ctx, dir, append([]string{"--no-daemon"}, args...)...)
	if partly(err) {
		err = nil
	}
	return out, err
}

// partly tells the exit code of a command that was done, with something to report.
func partly(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == partlyCode
}

// Exit codes of umbra.
const (
	partlyCode   = 3
	notFoundCode = 10
)

// ack notes that a snapshot was told of as taken, of what the workspace held.
func (w *world) ack(id string, held manifest) {
	if _, known := w.acked[id]; known {
		return
	}
	w.acked[id] = held
	w.order, w.fresh = append(w.order, id), append(w.fresh, id)
}

// anyMoment is a snapshot that was told of, other than the newest.
func (w *world) anyMoment() string {
	return w.order[w.rand.IntN(max(1, len(w.order)-1))]
}

// edit changes the workspace as people do: some files written in place, some
// anew, some gone, a file where a directory was, and modes.
func (w *world) edit(n int) error {
	for range n {
		w.made++
		if err := w.editOnce(); err != nil {
			return fmt.Errorf("edit the workspace: %w", err)
		}
	}
	return nil
}

func (w *world) editOnce() error {
	text := fmt.Sprintf("text %d of %x\n%s", w.made, w.rand.Uint64(), strings.Repeat("more\n", w.rand.IntN(400)))
	tree := lab.Tree{Files: files}
	name := filepath.Join(w.work, tree.Path(w.rand.IntN(files)))
	fresh := filepath.Join(w.work, fmt.Sprintf("new/%d/%d", w.made%7, w.made))
	deep := filepath.Join(w.work, "deep")
	switch w.rand.IntN(11) {
	case 0, 1, 2:
		return w.write(name, text)
	case 3:
		if err := w.write(name+".swap", text); err != nil {
			return err
		}
		return os.Rename(name+".swap", name)
	case 4, 5:
		return w.write(fresh, text)
	case 6:
		return os.RemoveAll(name)
	case 7:
		if info, err := os.Stat(deep); err == nil && info.IsDir() {
			if err := os.RemoveAll(deep); err != nil {
				return err
			}
			return os.WriteFile(deep, []byte(text), 0o644)
		}
		if err := os.RemoveAll(deep); err != nil {
			return err
		}
		return w.write(filepath.Join(deep, "a/b/c"), text)
	case 8:
		return w.readOnly(w.work, text)
	case 9:
		info, err := os.Stat(filepath.Join(w.work, "run.sh"))
		if err != nil {
			return w.write(filepath.Join(w.work, "run.sh"), text)
		}
		return os.Chmod(filepath.Join(w.work, "run.sh"), info.Mode()^0o111)
	}
	link := filepath.Join(w.work, "link")
	if err := os.RemoveAll(link); err != nil {
		return err
	}
	return os.Symlink(fmt.Sprintf("to-%d", w.made), link)
}

// largeSize is more than a capture reads as a whole.
const largeSize = 10 << 20

// many writes so many files that a snapshot makes a pack of them, and a large one.
func (w *world) many() error {
	w.made++
	for i := range 40 {
		if err := w.write(filepath.Join(w.work, fmt.Sprintf("many/%d", i)), fmt.Sprintf("%d of %d: %x\n", i, w.made, w.rand.Uint64())); err != nil {
			return err
		}
	}
	large := strings.Repeat(fmt.Sprintf("%x of a large file\n", w.rand.Uint64()), largeSize/20)
	return w.write(filepath.Join(w.work, "many", "large"), large)
}

// shadow runs git on the mission's shadow repository.
func (w *world) shadow(ctx context.Context, args ...string) (string, error) {
	return w.mission.Git(ctx, args...)
}

// last is the newest snapshot that was told of.
func (w *world) last() string { return w.order[len(w.order)-1] }

// hex tells a snapshot's id.
func hexID(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}

// reportedIDs are the snapshots that a command has told of, one a line.
func reportedIDs(out string) []string {
	return slices.DeleteFunc(strings.Fields(out), func(word string) bool { return !hexID(word) })
}
