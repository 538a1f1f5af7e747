package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A Session is a conversation with Claude Code as Umbra hears of it: each event
// is a process `umbra hook claude` with the payload that Claude Code writes.
type Session struct {
	ID         string
	Workspace  string
	Transcript string // may be missing
	Mission    Mission
	Alone      bool // its hooks work without a daemon

	umbra   *Umbra
	prompts int
	tools   int
	lenient bool
}

// NewSession is one in that workspace; n tells it from others of the home.
func (u *Umbra) NewSession(workspace string, n int) *Session {
	id := fmt.Sprintf("%08d-0000-4000-8000-%012d", n, n)
	return &Session{
		ID: id, Workspace: workspace, umbra: u,
		Transcript: filepath.Join(u.Base, "home", ".claude", "projects", "w", id+".jsonl"),
	}
}

// Begin starts the session, sends the first prompt and finds the mission that
// Umbra makes of it.
func (s *Session) Begin(ctx context.Context) error {
	// A tree that takes longer to import than a hook may wait is imported after
	// it: these two don't say how they fared.
	ctx, cancel := context.WithTimeout(ctx, patience.Of(2*time.Minute))
	defer cancel()
	s.lenient = true
	if _, err := s.event(ctx, "SessionStart", map[string]any{"source": "startup"}); err != nil {
		return err
	}
	if _, err := s.Prompt(ctx); err != nil {
		return err
	}
	s.lenient = false
	for {
		list, err := s.missions(ctx)
		if err != nil {
			return err
		}
		for _, m := range list {
			if m.SessionID == s.ID && m.Head != "" {
				s.Mission = m
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("session %s became no mission: %w", s.ID, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// missions lists those of the home, as the hooks work: with a daemon or without.
func (s *Session) missions(ctx context.Context) ([]Mission, error) {
	if !s.Alone {
		return s.umbra.Missions(ctx)
	}
	var list []Mission
	return list, s.umbra.JSON(ctx, "/", &list, "mission", "ls", "--all", "--no-daemon")
}

// Prompt tells of a prompt of the user's.
func (s *Session) Prompt(ctx context.Context) (Cost, error) {
	s.prompts++
	return s.event(ctx, "UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": fmt.Sprintf("p%d", s.prompts)})
}

// Tool tells of a tool that is about to write: a snapshot of everything that was
// written before.
func (s *Session) Tool(ctx context.Context) (Cost, error) {
	s.tools++
	return s.event(ctx, "PreToolUse", map[string]any{
		"tool_name": "Write", "tool_use_id": fmt.Sprintf("t%d", s.tools),
		"tool_input": map[string]any{"file_path": filepath.Join(s.Workspace, "file"), "content": "text"},
	})
}

// Stop tells that the turn has ended.
func (s *Session) Stop(ctx context.Context) (Cost, error) {
	return s.event(ctx, "Stop", map[string]any{"stop_hook_active": false})
}

// End tells that the session is over.
func (s *Session) End(ctx context.Context) (Cost, error) {
	return s.event(ctx, "SessionEnd", map[string]any{"reason": "prompt_input_exit"})
}

func (s *Session) event(ctx context.Context, name string, fields map[string]any) (Cost, error) {
	command, err := s.Hook(name, fields)
	if err != nil {
		return Cost{}, err
	}
	cost, _, err := command.Run(ctx)
	return cost, err
}

// Hook is the command that tells of an event, with what Claude Code says of it
// beside what it always says.
func (s *Session) Hook(name string, fields map[string]any) (Command, error) {
	all := map[string]any{
		"session_id": s.ID, "transcript_path": s.Transcript, "cwd": s.Workspace, "hook_event_name": name,
		"permission_mode": "default", "prompt_id": fmt.Sprintf("p%d", s.prompts),
	}
	maps.Copy(all, fields)
	payload, err := json.Marshal(all)
	if err != nil {
		return Command{}, fmt.Errorf("write an event: %w", err)
	}
	command := s.umbra.Command(s.Workspace, "hook", "claude")
	if s.Alone {
		command.Args = append(command.Args, "--no-daemon")
	}
	if !s.lenient {
		command.Args = append(command.Args, "--strict")
	}
	command.Stdin = payload
	return command, nil
}

// Umbra is the home that the session is in.
func (s *Session) Umbra() *Umbra { return s.umbra }

// Tip is the newest snapshot of the session's mission.
func (s *Session) Tip(ctx context.Context) (string, error) { return s.Mission.Tip(ctx) }

// ReadAll waits until nothing of the workspace is unread, see Umbra.ReadAll.
func (s *Session) ReadAll(ctx context.Context) error { return s.umbra.ReadAll(ctx, s.Workspace) }
