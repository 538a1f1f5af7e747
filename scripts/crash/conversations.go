package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A chat is a session with an agent in a home of its own, idle, of two turns.
type chat struct {
	root    string
	umbra   *lab.Umbra
	session *lab.Session
	first   string // the snapshot that the first turn ended with
	held    [2]manifest
	lines   [2]int // of the conversation at the end of each turn
	said    []byte // the agent's file
}

// chatting is the world's, made if there is none in which nothing was done yet.
func (w *world) chatting(ctx context.Context) (*chat, error) {
	if w.chat != nil {
		return w.chat, nil
	}
	root, u, err := w.newHome(ctx)
	if err != nil {
		return nil, err
	}
	c := &chat{root: root, umbra: u, session: u.NewSession(root, 1)}
	c.session.Alone = true
	talk, err := c.session.Converse()
	if err != nil {
		return nil, err
	}
	for turn := range c.lines {
		if turn == 0 {
			err = c.session.Begin(ctx)
		} else {
			_, err = c.session.Prompt(ctx)
		}
		if err == nil {
			_, err = talk.Grow(1 + w.rand.IntN(30_000))
		}
		if err == nil {
			err = w.write(filepath.Join(root, fmt.Sprintf("said/%d", turn)), fmt.Sprintln(turn))
		}
		if err == nil {
			_, err = c.session.Stop(ctx)
		}
		if err == nil {
			c.held[turn], _, err = survey(root)
		}
		if err == nil {
			c.said, err = os.ReadFile(c.session.Transcript)
		}
		if err != nil {
			return nil, err
		}
		c.lines[turn] = bytes.Count(c.said, []byte("\n"))
		if turn == 0 {
			if c.first, err = c.session.Tip(ctx); err != nil {
				return nil, err
			}
		}
	}
	w.chat = c
	return c, nil
}

// retelling restores files and conversation of a session to the end of its first
// turn.
func retelling(ctx context.Context, w *world) (scene, error) {
	c, err := w.chatting(ctx)
	if err != nil {
		return scene{}, err
	}
	return scene{
		args: []string{"restore", c.first, "--quiet"}, umbra: c.umbra, dir: c.root,
		settle: func(ctx context.Context, w *world, f fate) error {
			return c.end(ctx, w, f, "", c.lines[0])
		},
	}, nil
}

// branching forks a session with its conversation.
func branching(ctx context.Context, w *world) (scene, error) {
	c, err := w.chatting(ctx)
	if err != nil {
		return scene{}, err
	}
	if err := w.mayPack(ctx, c.session.Mission, c.root); err != nil {
		return scene{}, err
	}
	at := filepath.Join(c.umbra.Base, "fork")
	return scene{
		args: []string{"fork", c.session.Mission.ID, "--no-launch", "--name", "forked", "--workspace", at}, umbra: c.umbra, dir: c.root,
		settle: func(ctx context.Context, w *world, f fate) error {
			return c.end(ctx, w, f, at, c.lines[1])
		},
	}, nil
}

// end looks at what a command, killed or not, has made of a session: all of it, or
// nothing, and then another can be tried. Fork is the workspace of a fork, "" after a restore; lines are those of
// the conversation that was to be installed.
func (c *chat) end(ctx context.Context, w *world, f fate, fork string, lines int) error {
	if _, said, err := c.umbra.Run(ctx, c.root, "snapshot", "--no-daemon"); err != nil {
		return fmt.Errorf("the next command: %w %s", err, said)
	}
	for _, args := range [][]string{{"doctor", "--fix"}, {"doctor"}} {
		if _, said, err := c.umbra.Run(ctx, c.root, append(args, "--no-daemon")...); err != nil {
			return fmt.Errorf("%v: %w %s", args, err, said)
		}
	}
	if now, err := os.ReadFile(c.session.Transcript); err != nil || !bytes.Equal(now, c.said) {
		return fmt.Errorf("the agent's own conversation was changed (%v)", err)
	}
	var list []lab.Mission
	if err := c.umbra.JSON(ctx, c.root, &list, "mission", "ls", "--no-daemon"); err != nil {
		return err
	}
	made, err := c.installed(list, lines)
	if err != nil {
		return err
	}
	if !made && !f.killed && f.code == 0 {
		return errors.New("it was told of as done, and no conversation was installed")
	}
	// The journal keeps what a command took away until its home's next idle point.
	files := []error{leftovers(filepath.Join(c.umbra.Base, "umbra", "projects")), leftovers(filepath.Join(c.umbra.Base, "home")), leftovers(c.root)}
	switch {
	case fork == "":
		want := c.held[1]
		if made {
			want = c.held[0]
		}
		files = append(files, same(c.root, want))
	case made:
		files = append(files, same(c.root, c.held[1]), same(fork, c.held[1]))
	default:
		if _, err := os.Lstat(fork); !errors.Is(err, fs.ErrNotExist) {
			files = append(files, fmt.Errorf("there is no fork, and %s is there (%v)", fork, err))
		}
		files = append(files, same(c.root, c.held[1]))
	}
	if err := errors.Join(files...); err != nil || !made {
		return err
	}
	w.chat = nil
	return removeAll(c.root, c.umbra.Base)
}

// same holds a workspace against what it must hold.
func same(root string, want manifest) error {
	held, _, err := survey(root)
	if err != nil {
		return err
	}
	if d := held.differs(want); d != "" {
		return fmt.Errorf("%s is not what it must be:\n%s", root, d)
	}
	return nil
}

// installed reports whether there is a conversation beside the agent's own. Each
// is whole and some mission's.
func (c *chat) installed(list []lab.Mission, lines int) (made bool, err error) {
	of := map[string]string{}
	for _, m := range list {
		of[m.Session] = m.SessionID
	}
	top := filepath.Join(c.umbra.Base, "home", ".claude", "projects")
	err = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == c.session.Transcript {
			return err
		}
		made = true
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if of[path] == "" || info.Mode().Perm() != 0o600 {
			return fmt.Errorf("%s, %s, is no mission's: they are %+v", path, info.Mode(), list)
		}
		if n := bytes.Count(text, []byte("\n")); n < lines || !bytes.HasSuffix(text, []byte("\n")) {
			return fmt.Errorf("%s has %d lines of %d", path, n, lines)
		}
		for line := range strings.Lines(string(text)) {
			var event struct {
				Session string `json:"sessionId"`
			}
			if err := json.Unmarshal([]byte(line), &event); err != nil || event.Session != "" && event.Session != of[path] {
				return fmt.Errorf("%s is not whole: %q (%v)", path, line, err)
			}
		}
		return nil
	})
	if err == nil && !made && of[c.session.Transcript] == "" {
		err = fmt.Errorf("no mission has the agent's conversation: %+v", list)
	}
	return made, err
}
