package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A stage has a scripted agent under a keeper, in a home and a workspace of its
// own. The agent writes each prompt into notes.txt, so that the workspace tells
// what the conversation must hold, and the agent says what it does.
type stage struct {
	root    string
	umbra   *lab.Umbra
	mission lab.Mission
	moments []moment
	trials  int

	keeper *exec.Cmd
	ended  chan struct{} // the keeper has
	prompt io.WriteCloser
	shown  *shown
}

// A moment is a snapshot at which the agent waited, and how many prompts there
// were then.
type moment struct {
	id      string
	prompts int
	held    manifest
}

// shown is what a keeper and its agents have printed.
type shown struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// newStage makes one, with an agent of two turns.
func (w *world) newStage(ctx context.Context) (made *stage, err error) {
	root, u, err := w.newHome(ctx)
	if err != nil {
		return nil, err
	}
	s := &stage{root: root, umbra: u}
	defer func() {
		if err != nil && s.keeper != nil {
			err = errors.Join(err, s.close())
		}
	}()
	script := fmt.Sprintf("#!/bin/sh\necho $$ >'%[1]s.new' && mv '%[1]s.new' '%[1]s'\nCLAUDE_CONFIG_DIR=\"$HOME/.claude\" exec '%[2]s' scripted-agent \"$@\"\n", s.pidFile(), u.Binary)
	if err := errors.Join(w.write(s.agent(), script), os.Chmod(s.agent(), 0o755), s.makeToolCaller()); err != nil {
		return nil, err
	}
	if err := s.launch("mission", "new", "--name", "live", "--", s.agent()); err != nil {
		return nil, err
	}
	if err := s.shows(ctx, 0, "\n> "); err != nil {
		return nil, err
	}
	list, err := s.missions(ctx)
	if err != nil || len(list) != 1 {
		return nil, fmt.Errorf("the missions of a stage are %+v (%w)", list, err)
	}
	s.mission = list[0]
	for n := 1; n <= 2; n++ {
		if err := s.say(ctx, n); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *stage) agent() string   { return filepath.Join(s.umbra.Base, "bin", "claude") }
func (s *stage) pidFile() string { return filepath.Join(s.umbra.Base, "agentpid") }

// launch starts a keeper.
func (s *stage) launch(args ...string) error {
	c := s.umbra.Command(s.root, args...)
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.Dir, c.Env, &syscall.SysProcAttr{Setpgid: true}
	in, prompt, err := os.Pipe()
	if err != nil {
		return err
	}
	s.shown = &shown{}
	_, _ = s.shown.Write([]byte("\n"))
	// A pipe of its own, so that waiting for the keeper does not wait for an agent that outlives it.
	from, out, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	err = cmd.Start()
	_, _ = in.Close(), out.Close()
	if err != nil {
		return fmt.Errorf("start a keeper: %w", err)
	}
	go func(to *shown) {
		_, _ = io.Copy(to, from)
		_ = from.Close()
	}(s.shown)
	s.keeper, s.prompt, s.ended = cmd, prompt, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(s.ended)
	return nil
}

// shows waits until the agent has shown a text after so many bytes.
func (s *stage) shows(ctx context.Context, after int, text string) error {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	for {
		all := s.shown.String()
		if strings.Contains(all[after:], text) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the agent does not show %q: %w; it shows:\n%s", text, ctx.Err(), all)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// say gives the agent its n-th prompt, and notes the moment when it has answered.
func (s *stage) say(ctx context.Context, n int) error {
	before := len(s.shown.String())
	if _, err := fmt.Fprintf(s.prompt, "prompt %d\n", n); err != nil {
		return err
	}
	if err := s.shows(ctx, before, "I remember "+prompts(n)+".)\n> "); err != nil {
		return err
	}
	// A machine that is busy may have let go of a hook.
	if _, said, err := s.umbra.Run(ctx, s.root, "mission", "wait", "live", "--state", "idle", "--timeout", patience.Of(time.Minute).String()); err != nil {
		return fmt.Errorf("wait for the end of the turn: %w %s", err, said)
	}
	held, _, err := survey(s.root)
	if err != nil {
		return err
	}
	_, id, err := s.umbra.Run(ctx, s.root, "snapshot")
	s.moments = append(s.moments, moment{id, n, held})
	return err
}

func prompts(n int) string {
	if n == 1 {
		return "1 prompt"
	}
	return fmt.Sprint(n, " prompts")
}

// noted counts the prompts that the workspace tells of.
func (s *stage) noted() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.root, "notes.txt"))
	return bytes.Count(text, []byte("\n")), err
}

func (s *stage) missions(ctx context.Context) ([]lab.Mission, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	var list []lab.Mission
	return list, s.umbra.JSON(ctx, s.root, &list, "mission", "ls")
}

// agentPID is the process of the agent that was launched last.
func (s *stage) agentPID() (int, error) {
	text, err := os.ReadFile(s.pidFile())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// alive reports whether a process is.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// kept reports whether the keeper lives.
func (s *stage) kept() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// handing reads whether the mission is in the middle of a handover, or a restore is
// under way: what of, or "".
func (s *stage) handing() (string, error) { return s.handingOf(s.mission.ID) }

func (s *stage) handingOf(mission string) (string, error) {
	logs, err := filepath.Glob(filepath.Join(s.umbra.Base, "umbra", "journal", "*", "phases"))
	if err != nil {
		return "", err
	}
	for _, log := range logs {
		if text, err := os.ReadFile(log); err == nil && !bytes.Contains(text, []byte("\ndone ")) {
			return fmt.Sprintf("%s: %s", log, text), nil
		}
	}
	text, err := os.ReadFile(filepath.Join(s.umbra.Base, "umbra", "journal", "live", mission+".log"))
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	_, last, _ := strings.Cut(lines[len(lines)-1], " ")
	var live struct {
		Waiting struct {
			Handover json.RawMessage `json:"handover"`
		} `json:"waiting"`
	}
	if err := json.Unmarshal([]byte(last), &live); err != nil {
		return "somebody writes", nil
	}
	return string(live.Waiting.Handover), nil
}

// close ends all of it: the agent ends as a user ends it, so that
// no hook of its starts a daemon later.
func (s *stage) close() error {
	_, _ = s.prompt.Write([]byte("exit\n"))
	select {
	case <-s.ended:
	case <-time.After(patience.Of(time.Minute)):
		_ = s.keeper.Process.Kill()
		<-s.ended
	}
	_ = s.prompt.Close()
	if pid, err := s.agentPID(); err == nil && alive(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return s.umbra.Stop()
}
