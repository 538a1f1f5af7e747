package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// Build makes a program of the source at top, umbra itself being ".", as a
// release is built, with the build tags that are given.
func Build(ctx context.Context, top, program, out string, tags ...string) error {
	_, _, err := Command{Args: []string{"go", "build", "-trimpath", "-tags", strings.Join(tags, ","), "-o", out, program}, Dir: top, Env: append(os.Environ(), "CGO_ENABLED=0")}.Run(ctx)
	return err
}

// An Umbra is a home of Umbra's of its own, with a person's home around it, and
// the program that is run on it. Nothing of the real user's is seen or touched.
type Umbra struct {
	Binary string
	Base   string // holds the homes

	env []string
}

// NewUmbra makes the homes below base, which it makes.
func NewUmbra(binary, base string) (*Umbra, error) {
	u := &Umbra{Binary: binary, Base: base, env: []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1",
		"HOME=" + filepath.Join(base, "home"), "UMBRA_HOME=" + filepath.Join(base, "umbra"), "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"),
		"CLAUDE_CODE_ENTRYPOINT=cli",
	}}
	for _, name := range []string{"home", "umbra", "run"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o700); err != nil {
			return nil, fmt.Errorf("make a home: %w", err)
		}
	}
	return u, nil
}

// Command is one command of Umbra's in dir.
func (u *Umbra) Command(dir string, args ...string) Command {
	return Command{Args: append([]string{u.Binary}, args...), Dir: dir, Env: u.env}
}

// Run runs one command in dir and returns what it cost and printed.
func (u *Umbra) Run(ctx context.Context, dir string, args ...string) (Cost, string, error) {
	cost, out, err := u.Command(dir, args...).Run(ctx)
	return cost, strings.TrimSpace(string(out)), err
}

// JSON runs one command in dir with --json and reads what it prints into v.
func (u *Umbra) JSON(ctx context.Context, dir string, v any, args ...string) error {
	_, out, err := u.Run(ctx, dir, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		return fmt.Errorf("umbra %s: %w in %q", strings.Join(args, " "), err, out)
	}
	return nil
}

// Daemon is what a daemon says of itself.
type Daemon struct {
	Running  bool    `json:"running"`
	PID      Process `json:"pid"`
	Missions int     `json:"missions"`
	Watches  int     `json:"watches"`
}

// Status is what Umbra says of itself and of one workspace.
type Status struct {
	Daemon struct {
		Overflows int `json:"overflows"`
	} `json:"daemon"`
	Walks []struct {
		Count int    `json:"count"`
		Why   string `json:"last_why"`
	} `json:"walks"`
	// Unread counts what was taken over from the user's index and not read yet.
	Unread []struct {
		Files int `json:"files"`
	} `json:"unread"`
	Problems []struct {
		Message string `json:"message"`
		Fix     string `json:"fix"`
	} `json:"problems"`
}

// Status asks for it in a workspace.
func (u *Umbra) Status(ctx context.Context, workspace string) (Status, error) {
	var s Status
	return s, u.JSON(ctx, workspace, &s, "status")
}

// ReadAll waits until the daemon, which does it when nothing is asked of it, has
// read all that the workspace's first snapshot took over from the user's index.
func (u *Umbra) ReadAll(ctx context.Context, workspace string) error {
	for {
		s, err := u.Status(ctx, workspace)
		if err != nil || len(s.Unread) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d files of %s are unread: %w", s.Unread[0].Files, workspace, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// Serve starts a daemon as a child of this process, which is how one is had
// where no client would start it: in a sandbox. Ended is closed when it has
// ended.
func (u *Umbra) Serve(ctx context.Context) (pid Process, ended <-chan struct{}, err error) {
	cmd := exec.Command(u.Binary, "daemon", "run")
	cmd.Dir, cmd.Env = "/", u.env
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return 0, nil, fmt.Errorf("start the daemon: %w", err)
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is its user's to tell
		close(over)
	}()
	for {
		d, err := u.Daemon(ctx)
		if err == nil && d.Running && int(d.PID) == cmd.Process.Pid {
			return d.PID, over, nil
		}
		select {
		case <-ctx.Done():
			return 0, over, errors.Join(ctx.Err(), cmd.Process.Kill())
		case <-over:
			return 0, over, fmt.Errorf("the daemon ended: %s", &said)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Start starts the daemon.
func (u *Umbra) Start(ctx context.Context) (Daemon, error) {
	if _, _, err := u.Run(ctx, "/", "daemon", "start"); err != nil {
		return Daemon{}, err
	}
	return u.Daemon(ctx)
}

// Daemon asks the daemon, which may not run.
func (u *Umbra) Daemon(ctx context.Context) (Daemon, error) {
	var d Daemon
	return d, u.JSON(ctx, "/", &d, "daemon", "status")
}

// Watched waits until the daemon watches at least that many directories.
func (u *Umbra) Watched(ctx context.Context, least int) error {
	for {
		d, err := u.Daemon(ctx)
		if err != nil || d.Watches >= least {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the daemon watches %d directories of %d: %w", d.Watches, least, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop stops the daemon and returns when its process is gone.
func (u *Umbra) Stop() error {
	// The context of a run that was interrupted is over by now.
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	d, err := u.Daemon(ctx)
	if err != nil || !d.Running {
		return err
	}
	if _, _, err := u.Run(ctx, "/", "daemon", "stop"); err != nil {
		return err
	}
	for {
		if _, err := d.PID.Resident(); errors.Is(err, os.ErrNotExist) || err != nil && strings.Contains(err.Error(), "no field") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("daemon %d did not stop", d.PID)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A Mission is what Umbra says of one.
type Mission struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Workspace string `json:"workspace"`
	Ref       string `json:"ref"`
	Head      string `json:"head"`
	SessionID string `json:"session_id"`
	Session   string `json:"session_path"`
	Shadow    string `json:"shadow_repo"`
	State     string `json:"state"`
	PID       int    `json:"pid"`
}

// Missions lists all that are in the home.
func (u *Umbra) Missions(ctx context.Context) ([]Mission, error) {
	var list []Mission
	return list, u.JSON(ctx, "/", &list, "mission", "ls", "--all")
}

// Tip is the newest snapshot of a mission, read from its ref without asking
// Umbra; it costs no process unless the ref is packed.
func (m Mission) Tip(ctx context.Context) (string, error) {
	if id, err := os.ReadFile(filepath.Join(m.Shadow, filepath.FromSlash(m.Ref))); err == nil {
		return strings.TrimSpace(string(id)), nil
	}
	return m.Git(ctx, "rev-parse", "--verify", m.Ref)
}

// Git runs one git command on the mission's shadow repository.
func (m Mission) Git(ctx context.Context, args ...string) (string, error) {
	_, out, err := Command{Args: append([]string{"git", "--git-dir=" + m.Shadow}, args...), Dir: m.Shadow, Env: GitEnv(m.Shadow)}.Run(ctx)
	return strings.TrimSpace(string(out)), err
}
