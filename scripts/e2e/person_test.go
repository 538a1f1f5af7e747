package e2e

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
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// A person has a home, a repository they work in, an agent and umbra on
// PATH, and a model server that logs what the model is sent.
type person struct {
	*testing.T
	client clients.Client
	binary string // umbra
	server *standin.Server
	home   string
	repo   string
	env    []string
	wrong  []string // what failed, as it was said
}

// Fatalf ends the test, and keeps what it says: see evidence.
func (p *person) Fatalf(format string, args ...any) {
	p.Helper()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
	p.T.Fatalf(format, args...)
}

// Errorf fails the test, and keeps what it says.
func (p *person) Errorf(format string, args ...any) {
	p.Helper()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
	p.T.Errorf(format, args...)
}

// newPerson begins with a fresh home and repository; at its end every invariant
// must hold.
func newPerson(t *testing.T, version string, env ...string) *person {
	t.Helper()
	return newPersonWith(t, clients.Claude(t, version), env...)
}

// newPersonWith is newPerson with another agent.
func newPersonWith(t *testing.T, client clients.Client, env ...string) *person {
	t.Helper()
	return newPersonAt(t, client, "app", env...)
}

// newPersonHeld is newPersonWith whose umbra has its failpoints.
func newPersonHeld(t *testing.T, client clients.Client, env ...string) *person {
	t.Helper()
	return newPersonOf(t, heldPath(), client, "app", env...)
}

// newPersonAt is newPersonWith whose repository has that path in the folder src.
func newPersonAt(t *testing.T, client clients.Client, place string, env ...string) *person {
	t.Helper()
	return newPersonOf(t, umbraPath(), client, place, env...)
}

func newPersonOf(t *testing.T, binary string, client clients.Client, place string, env ...string) *person {
	t.Helper()
	server := standin.New(t)
	home := t.TempDir()
	repo := filepath.Join(home, "src", place)
	p := &person{T: t, client: client, binary: binary, server: server, home: home, repo: repo}
	bin := filepath.Dir(binary)
	for _, v := range client.Env(home, server.URL) {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			v = "PATH=" + bin + string(os.PathListSeparator) + rest
		}
		p.env = append(p.env, v)
	}
	p.env = append(p.env, env...)
	if err := os.MkdirAll(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := client.Prepare(home, server.URL, repo); err != nil {
		t.Fatal(err)
	}
	makeRepository(t, repo)
	t.Cleanup(p.leave)
	return p
}

// leave checks all invariants and ends what still runs.
func (p *person) leave() {
	p.Helper()
	defer func() {
		if p.Failed() {
			p.evidence()
		}
	}()
	if out := p.run(p.repo, "umbra", "doctor"); out.code != 0 {
		p.Errorf("doctor: %s", out)
	} else {
		p.Logf("doctor: %s", out)
	}
	if !p.withoutDaemon() {
		if out := p.run(p.home, "umbra", "daemon", "stop"); out.code != 0 {
			p.Errorf("stop the daemon: %s", out)
		}
	}
	p.endAll()
	p.fsck()
}

// endAll kills what still runs in the home, as the housekeeping that umbra starts apart:
// it would write to a directory that is being removed.
func (p *person) endAll() {
	p.Helper()
	p.wait("what runs in the home to end", func() bool { return lab.Kill("HOME="+p.home+"\x00") == 0 })
}

// fsck checks all repositories, once nothing writes to them: git lists their objects
// before it reads their refs, and misses a commit that was made between the two.
func (p *person) fsck() {
	p.Helper()
	shadows, err := filepath.Glob(filepath.Join(p.home, ".local", "share", "umbra", "projects", "*", "shadow.git"))
	if err != nil || len(shadows) == 0 {
		p.Errorf("no shadow repository: %v", err)
	}
	for _, dir := range append(shadows, p.repo) {
		if out := p.run(dir, "git", "fsck", "--full", "--strict"); out.code != 0 {
			p.Errorf("fsck of %s: %s", dir, out)
		}
	}
}

func (p *person) withoutDaemon() bool {
	for _, v := range p.env {
		if v == "UMBRA_NO_DAEMON=1" {
			return true
		}
	}
	return false
}

func umbraPath() string { return os.Getenv(binaryVar) }

// output is what a program ended with.
type output struct {
	args           []string
	stdout, stderr string
	code           int
}

func (o output) String() string {
	return strings.Join(o.args, " ") + "\nexit code " + itoa(o.code) + "\nstdout: " + o.stdout + "\nstderr: " + o.stderr
}

// command is a program to be run in dir, ended after five minutes, which an agent may take
// two of on a machine that others have made busy since the gate measured it, and given up
// on where a child that it has left keeps its output open for another minute.
func (p *person) command(dir string, args ...string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(5*time.Minute))
	path := args[0]
	if path == "umbra" {
		path = p.binary
	}
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(p.env, "PWD="+dir), patience.Of(time.Minute)
	return cmd, cancel
}

func (p *person) run(dir string, args ...string) output {
	p.Helper()
	return p.runWith(nil, dir, args...)
}

// runWith is run with something on stdin.
func (p *person) runWith(stdin io.Reader, dir string, args ...string) output {
	p.Helper()
	cmd, cancel := p.command(dir, args...)
	defer cancel()
	begin := time.Now()
	defer func() { p.Logf("%6.2fs %.60q", time.Since(begin).Seconds(), args) }()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil && (cmd.ProcessState == nil || errors.Is(err, exec.ErrWaitDelay)) {
		p.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return output{args: args, stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// umbra runs umbra in the repository; it must succeed.
func (p *person) umbra(args ...string) string {
	p.Helper()
	return p.umbraIn(p.repo, args...)
}

func (p *person) umbraIn(dir string, args ...string) string {
	p.Helper()
	out := p.run(dir, append([]string{"umbra"}, args...)...)
	if out.code != 0 {
		p.Fatalf("%s", out)
	}
	return out.stdout
}

// refused runs umbra, which must end with that code and say what was said.
func (p *person) refused(code int, says string, args ...string) {
	p.Helper()
	out := p.run(p.repo, append([]string{"umbra"}, args...)...)
	if out.code != code || !strings.Contains(out.stderr, says) {
		p.Fatalf("want exit code %d and %q: %s", code, says, out)
	}
}

// asked is umbra's answer as JSON.
func asked[T any](p *person, args ...string) T {
	p.Helper()
	var v T
	out := p.umbra(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		p.Fatalf("umbra %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

// mission is what these tests read of a mission's JSON.
type mission struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	State       string `json:"state"`
	LastError   string `json:"last_error"`
	Managed     string `json:"managed"`
	PID         int    `json:"pid"`
	Workspace   string `json:"workspace"`
	SessionID   string `json:"session_id"`
	SessionPath string `json:"session_path"`
	Turn        int    `json:"turn"`
	ExitCode    *int   `json:"exit_code"`
	ClosedHow   string `json:"closed_how"`
	SideFork    string `json:"side_fork"`
	SideForkOf  string `json:"side_fork_of"`
	Head        string `json:"head"`
}

func (p *person) mission(name string) mission {
	p.Helper()
	return asked[mission](p, "mission", "show", name)
}

// entry is what these tests read of a snapshot's JSON.
type entry struct {
	ID       string   `json:"id"`
	Address  string   `json:"address"`
	State    string   `json:"state"`
	Triggers []string `json:"triggers"`
	Message  string   `json:"message"`
	Turn     int      `json:"turn"`
	Partial  bool     `json:"partial"`
}

// wait polls until done says so, for five minutes: on a busy machine an agent takes one to
// start.
func (p *person) wait(what string, done func() bool) {
	p.Helper()
	if !patience.Until(5*time.Minute, done) {
		p.Fatalf("waited %s for %s", patience.Of(5*time.Minute), what)
	}
}
