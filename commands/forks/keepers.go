package forks

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/missions"
)

// keepers starts the keepers of forks: processes of this program, each in a session of
// its own, so that neither Ctrl-C nor the end of this process reaches them.
type keepers struct {
	c       *call.Call
	timeout time.Duration
	prompt  string // for the agent; "" is the one that is kept for it
}

func (k keepers) command(m missions.Mission, more ...string) (*exec.Cmd, error) {
	self, err := k.c.Executable()
	if err != nil {
		return nil, err
	}
	home, err := k.c.HomeDir()
	if err != nil {
		return nil, err
	}
	args := []string{"--home", home, keeper.ForkVerb, m.ID}
	if k.timeout > 0 {
		args = append(args, "--timeout", k.timeout.String())
	}
	if k.prompt != "" {
		args = append(args, "--prompt="+k.prompt)
	}
	if k.c.NoDaemon {
		args = append(args, "--no-daemon")
	}
	cmd := exec.Command(self, append(args, more...)...)
	cmd.Dir, cmd.Env = m.Workspace, k.c.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

func (k keepers) startDetached(m missions.Mission) error {
	cmd, err := k.command(m)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// A keeperEvent is a line that a keeper says, or its end, or the end of its fork's check.
type keeperEvent struct {
	mission string
	at      time.Time
	line    string
	ended   bool
	code    int  // of its exit, once it has ended
	checked bool // the line is what the check says of its fork
}

// outputDelay is how long the lines of a keeper that has ended are still waited for.
const outputDelay = time.Second

// mailbox has what keepers say until it is taken. No keeper waits for that, so that the
// lines of one that has ended are all there.
type mailbox struct {
	more chan struct{} // something is there

	mu     sync.Mutex
	events []keeperEvent
}

func newMailbox() *mailbox { return &mailbox{more: make(chan struct{}, 1)} }

func (b *mailbox) put(e keeperEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	select {
	case b.more <- struct{}{}:
	default:
	}
}

func (b *mailbox) takeAll() []keeperEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.events
	b.events = nil
	return all
}

// start starts the keeper of a mission, and puts into a mailbox what the keeper says, and
// its end.
func (k keepers) start(m missions.Mission, heard *mailbox) (*exec.Cmd, error) {
	cmd, err := k.command(m, "--starter", strconv.Itoa(os.Getpid()))
	if err != nil {
		return nil, err
	}
	lines := &lineWriter{line: func(line string) { heard.put(keeperEvent{mission: m.ID, at: k.c.Now(), line: line}) }}
	cmd.Stderr, cmd.WaitDelay = lines, outputDelay
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // its exit code says how it ended
		heard.put(keeperEvent{mission: m.ID, at: k.c.Now(), ended: true, code: cmd.ProcessState.ExitCode()})
	}()
	return cmd, nil
}

// lineWriter gives away each line that is written.
type lineWriter struct {
	line func(string)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		w.rest = rest
		w.line(strings.TrimRight(string(line), "\r"))
	}
}
