package callbacks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// Runner runs the programs. It is safe for concurrent use.
type Runner struct {
	Environ   func() []string                      // of this process; a program is given a little of it
	Limit     time.Duration                        // after which a program is killed
	After     func(time.Duration) <-chan time.Time // time.After, but for tests
	MoreBytes int64                                // by which what it gives may be longer than what it got
}

// NewRunner has the limits that docs/agents/generic.md names.
func NewRunner() Runner {
	return Runner{Environ: os.Environ, Limit: 30 * time.Second, After: time.After, MoreBytes: 64 << 20}
}

// outputBeyond is how long a program's output is waited for once it has ended: a process
// that it left behind may hold it open.
const outputBeyond = time.Second

// Copy writes to w what the programs make of a conversation of d.Length bytes. There is at
// least one. After an error, what was written is not to be used.
func (r Runner) Copy(ctx context.Context, w io.Writer, conversation io.Reader, p Programs, d Description) error {
	dir, err := os.MkdirTemp("", "umbra-callback-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	last := call{program: p.Rewrite, key: "tools.rewrite", in: conversation, out: w}
	last.Description, last.Call = d, rewriting
	if p.Cut == nil {
		return r.run(ctx, last, dir)
	}
	first := call{program: p.Cut, key: "tools.cut", in: conversation, out: w}
	first.Description, first.Call = d, cutting
	if p.Rewrite == nil {
		return r.run(ctx, first, dir)
	}
	between, err := os.OpenFile(filepath.Join(dir, "between"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer between.Close()
	first.out = between
	if err := r.run(ctx, first, dir); err != nil {
		return err
	}
	if last.Length, err = between.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	last.in = io.NewSectionReader(between, 0, last.Length)
	return r.run(ctx, last, dir)
}

// call is one run of a program.
type call struct {
	Description
	program []string
	key     string // of the configuration, that names it
	in      io.Reader
	out     io.Writer
}

// fails is what its user is told.
func (c call) fails(format string, args ...any) error {
	reason := fmt.Errorf(format, args...)
	return missions.Errorf(missions.KindFailed, "mend that program, or do without: umbra config unset "+c.key,
		"the conversation is not copied: %s (%s) %w", c.program[0], c.key, reason)
}

// run runs a program in a directory of its own, below dir, and ends all that it has left
// running. It has a session of its own, so that it waits at no terminal unseen.
func (r Runner) run(ctx context.Context, c call, dir string) error {
	work := filepath.Join(dir, c.Call)
	description, err := json.MarshalIndent(c.Description, "", "  ")
	if err != nil {
		return err
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "description.json"), append(description, '\n'), 0o600); err != nil {
		return err
	}
	out, said := &bounded{w: c.out, left: c.Length + r.MoreBytes, full: make(chan struct{})}, &beginning{}
	cmd := exec.Command(c.program[0], append(slices.Clone(c.program[1:]), c.Call)...)
	cmd.Dir, cmd.Env = work, append(r.environ(), "PWD="+work)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = outputBeyond
	if err := cmd.Start(); err != nil {
		return c.fails("can't be started: %w", bare(err))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var cutOff error
	endedItself := false
	select {
	case err = <-ended:
		endedItself = true
	case <-out.full: // which is told below
	case <-ctx.Done():
		cutOff = ctx.Err()
	case <-r.After(r.Limit):
		cutOff = c.fails("had not ended after %s", r.Limit)
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it, or what it has left running, if anything
	if !endedItself {
		<-ended
	}
	switch {
	case cutOff != nil:
		return cutOff
	case out.isOver():
		return c.fails("gave more than %d bytes", c.Length+r.MoreBytes)
	case out.err != nil:
		return out.err // there is no room for it, or the like
	case errors.Is(err, exec.ErrWaitDelay):
		return c.fails("has left a process running that holds its output")
	case err != nil:
		return c.fails("failed: %s", cmp.Or(said.line(), err.Error()))
	case out.written == 0:
		return c.fails("gave nothing")
	}
	return nil
}

// environ is what of this process's environment a program is given: no secret is in it.
func (r Runner) environ() (kept []string) {
	for _, variable := range r.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "HOME", "PATH", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR":
			kept = append(kept, variable)
		}
	}
	return kept
}

// bare is why a program can't be started, without its path once more.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// bounded passes on so many bytes. It is written to by one goroutine; isOver alone may be
// called by others meanwhile.
type bounded struct {
	w       io.Writer
	left    int64
	written int64
	err     error         // of w
	full    chan struct{} // closed once more came
}

var errFull = errors.New("too much")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		if !b.isOver() {
			close(b.full)
		}
		return 0, errFull
	}
	n, err := b.w.Write(p)
	b.left, b.written, b.err = b.left-int64(n), b.written+int64(n), err
	return n, err
}

func (b *bounded) isOver() bool {
	select {
	case <-b.full:
		return true
	default:
		return false
	}
}

// mostSaid bounds what is kept of what a program says of itself, in bytes.
const mostSaid = 4096

// beginning keeps the beginning of what is written.
type beginning struct{ kept []byte }

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), mostSaid-len(b.kept))]...)
	return len(p), nil
}

// line is its first line, without secrets.
func (b *beginning) line() string { return sessions.Brief(string(secrets.Redact(b.kept))) }
