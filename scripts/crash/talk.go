package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A talk is a session with an agent in a workspace of its own, of which Umbra
// hears by its hooks.
type talk struct {
	root         string
	session      *lab.Session
	conversation *lab.Conversation
}

// talking is the world's session; it begins when it is asked for first.
func (w *world) talking(ctx context.Context) (*talk, error) {
	if w.talk != nil {
		return w.talk, nil
	}
	root := filepath.Join(w.dir, "talk")
	if err := errors.Join(w.copyGround(ctx, root), w.commit(ctx, root)); err != nil {
		return nil, err
	}
	t := &talk{root: root, session: w.umbra.NewSession(root, 1)}
	t.session.Alone = true
	var err error
	if t.conversation, err = t.session.Converse(); err != nil {
		return nil, err
	}
	if _, err := t.conversation.Grow(1); err != nil {
		return nil, err
	}
	w.talk = t
	return t, t.session.Begin(ctx)
}

// hooking tells of one event of a turn: a prompt, a tool that is about to write,
// or the end. The conversation has grown since the event before, and files have
// changed.
func hooking(ctx context.Context, w *world) (scene, error) {
	t, err := w.talking(ctx)
	if err != nil {
		return scene{}, err
	}
	w.made++
	if _, err := t.conversation.Grow(1 + w.rand.IntN(30_000)); err != nil {
		return scene{}, err
	}
	if err := w.write(filepath.Join(t.root, fmt.Sprintf("said/%d", w.made%50)), fmt.Sprintln(w.made)); err != nil {
		return scene{}, err
	}
	said, err := os.ReadFile(t.session.Transcript)
	if err != nil {
		return scene{}, err
	}
	name, fields := "UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": fmt.Sprintf("killed%d", w.made)}
	switch w.rand.IntN(3) {
	case 0:
		name, fields = "PreToolUse", map[string]any{
			"tool_name": "Write", "tool_use_id": fmt.Sprintf("killed%d", w.made),
			"tool_input": map[string]any{"file_path": filepath.Join(t.root, "file"), "content": "text"},
		}
	case 1:
		name, fields = "Stop", map[string]any{"stop_hook_active": false}
	}
	t.session.Alone = false // execute says where it is done
	command, err := t.session.Hook(name, fields)
	t.session.Alone = true
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(w.work)
	return scene{args: command.Args[1:], stdin: command.Stdin, dir: t.root, old: old, settle: func(ctx context.Context, w *world, _ fate) error {
		return w.endTurn(ctx, t, said)
	}}, err
}

// endTurn ends the turn, undisturbed, and takes a snapshot: the agent's file is
// as it was, and the snapshot holds what is there.
func (w *world) endTurn(ctx context.Context, t *talk, said []byte) error {
	if now, err := os.ReadFile(t.session.Transcript); err != nil || !bytes.Equal(now, said) {
		return fmt.Errorf("the agent's conversation was changed (%v)", err)
	}
	if _, err := t.session.Stop(ctx); err != nil {
		return fmt.Errorf("the next hook: %w", err)
	}
	out, err := w.alone(ctx, t.root, "snapshot")
	if err != nil {
		return err
	}
	held, _, err := survey(t.root)
	if err != nil {
		return err
	}
	text, err := t.session.Mission.Git(ctx, "ls-tree", "-r", "-z", "--full-tree", out)
	if err != nil {
		return err
	}
	if d := listed(text).differs(held); d != "" {
		return fmt.Errorf("snapshot %s of a session does not hold what was there:\n%s", out, d)
	}
	return nil
}
