package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A configuration is that of an agent in a home of its own, of which a version is kept
// with each mission that is made.
type configuration struct {
	root     string
	umbra    *lab.Umbra
	versions []string // what the agent was told by them, the oldest first
}

// configuring makes a mission of an agent whose configuration has changed, or of which
// there is no version yet.
func configuring(ctx context.Context, w *world) (scene, error) {
	root, u, err := w.newHome(ctx)
	if err != nil {
		return scene{}, err
	}
	c := &configuration{root: root, umbra: u}
	if w.rand.IntN(2) == 0 {
		if err := errors.Join(c.change(w), c.mission(ctx, "before")); err != nil {
			return scene{}, err
		}
		if err := w.mayPack(ctx, lab.Mission{Shadow: c.store()}); err != nil {
			return scene{}, err
		}
	}
	return scene{args: c.making("configured"), umbra: u, dir: root, settle: c.end}, c.change(w)
}

func (c *configuration) making(name string) []string {
	return []string{"mission", "new", "--no-launch", "--name", name, "--", "claude"}
}

func (c *configuration) mission(ctx context.Context, name string) error {
	if _, said, err := c.umbra.Run(ctx, c.root, append([]string{"--no-daemon"}, c.making(name)...)...); err != nil {
		return fmt.Errorf("make mission %s: %w %s", name, err, said)
	}
	return nil
}

// change gives the agent another configuration.
func (c *configuration) change(w *world) error {
	w.made++
	text := fmt.Sprintf("told %d\n", w.made)
	c.versions = append(c.versions, text)
	home := filepath.Join(c.umbra.Base, "home", ".claude")
	return errors.Join(w.write(filepath.Join(home, "CLAUDE.md"), text), w.write(filepath.Join(home, "commands", "deep", "one.md"), text))
}

// store is the repository of the versions.
func (c *configuration) store() string {
	return filepath.Join(c.umbra.Base, "umbra", "agents", "claude.git")
}

// end makes the mission again if it is not there, and checks that all versions are, in
// their order, that the missions name theirs, and that none was set aside as damaged.
func (c *configuration) end(ctx context.Context, w *world, f fate) error {
	there, err := c.missions(ctx)
	if err != nil {
		return err
	}
	if there["configured"] == "" {
		if !f.killed && f.code == 0 {
			return errors.New("a mission was told of as made, and is not there with its configuration")
		}
		if err := c.mission(ctx, "again"); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"doctor", "--fix"}, {"doctor"}} {
		if _, said, err := c.umbra.Run(ctx, c.root, append(args, "--no-daemon")...); err != nil {
			return fmt.Errorf("%v: %w %s", args, err, said)
		}
	}
	if aside, err := filepath.Glob(c.store() + ".*"); err != nil || len(aside) > 0 {
		return fmt.Errorf("versions of the configuration were set aside: %v (%v)", aside, err)
	}
	store := lab.Mission{Shadow: c.store()}
	if said, err := store.Git(ctx, "fsck", "--full", "--no-progress"); err != nil || strings.TrimSpace(dangling(said)) != "" {
		return fmt.Errorf("git fsck --full of the versions of the configuration: %w %s", err, said)
	}
	ids, err := store.Git(ctx, "rev-list", "--reverse", "claude")
	if err != nil {
		return err
	}
	list := strings.Fields(ids)
	if len(list) != len(c.versions) {
		return fmt.Errorf("there are the versions %v of the configuration, and were %d", list, len(c.versions))
	}
	for i, id := range list {
		for _, name := range []string{"CLAUDE.md", "commands/deep/one.md"} {
			if is, err := store.Git(ctx, "show", id+":"+name); err != nil || is+"\n" != c.versions[i] {
				return fmt.Errorf("version %s of the configuration has in %s %q, not %q (%v)", id, name, is, c.versions[i], err)
			}
		}
	}
	if there, err = c.missions(ctx); err != nil {
		return err
	}
	for name, id := range there {
		if want := list[len(list)-1]; name != "before" && id != want || name == "before" && id != list[0] {
			return fmt.Errorf("mission %s has version %s of the configuration, of %v", name, id, list)
		}
	}
	if err := leftovers(filepath.Join(c.umbra.Base, "umbra")); err != nil {
		return err
	}
	return removeAll(c.root, c.umbra.Base)
}

// missions are those of the home with their versions of the configuration.
func (c *configuration) missions(ctx context.Context) (map[string]string, error) {
	var list []struct {
		Name   string
		Config string `json:"config_commit"`
	}
	if err := c.umbra.JSON(ctx, c.root, &list, "mission", "ls", "--no-daemon"); err != nil {
		return nil, err
	}
	of := map[string]string{}
	for _, m := range list {
		of[m.Name] = m.Config
	}
	return of, nil
}
