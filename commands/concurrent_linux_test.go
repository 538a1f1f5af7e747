package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// A person has a home, a repository to work in, and umbra as it is installed:
// each command is a process.
type person struct {
	*testing.T
	base, work string
	env        []string
	as         *syscall.Credential // nil: who runs the tests
}

func newPerson(t *testing.T) *person {
	base, err := filepath.EvalSymlinks(t.TempDir())
	calltest.Must(t, err)
	return personIn(t, base, nil)
}

func personIn(t *testing.T, base string, as *syscall.Credential) *person {
	p := &person{T: t, as: as, base: base, work: filepath.Join(base, "work"), env: []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"HOME=" + filepath.Join(base, "home"), "UMBRA_HOME=" + filepath.Join(base, "umbra"),
	}}
	for _, dir := range []string{filepath.Join(base, "home"), p.work} {
		calltest.Must(t, os.MkdirAll(dir, 0o700))
		p.own(dir)
	}
	p.git("init", "-q")
	p.write("a.txt", "one\n")
	t.Cleanup(func() {
		if _, err := p.umbra(p.base, "daemon", "stop"); err != nil {
			t.Errorf("stop the daemon: %v", err)
		}
	})
	return p
}

func (p *person) write(name, text string) {
	p.Helper()
	calltest.Must(p.T, os.WriteFile(filepath.Join(p.work, name), []byte(text), 0o600))
	p.own(filepath.Join(p.work, name))
}

// own gives a file to the person.
func (p *person) own(file string) {
	p.Helper()
	if p.as != nil {
		calltest.Must(p.T, os.Chown(file, int(p.as.Uid), int(p.as.Gid)))
	}
}

// command is one process in dir.
func (p *person) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, p.env
	if p.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	}
	return cmd
}

func said(cmd *exec.Cmd) (string, error) {
	var told strings.Builder
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, out, told.String())
	}
	return strings.TrimSpace(string(out)), err
}

func (p *person) umbra(dir string, args ...string) (string, error) {
	return said(p.command(dir, "umbra", args...))
}

// must runs umbra in the workspace, and returns what it printed.
func (p *person) must(args ...string) string {
	p.Helper()
	out, err := p.umbra(p.work, args...)
	calltest.Must(p.T, err)
	return out
}

// refused runs umbra where it is to say no, in these words.
func (p *person) refused(words string, args ...string) {
	p.Helper()
	if out, err := p.umbra(p.work, args...); err == nil || !strings.Contains(err.Error(), words) {
		p.Errorf("%v: %s, %v; want %q", args, out, err, words)
	}
}

func (p *person) git(args ...string) string {
	p.Helper()
	out, err := said(p.command(p.work, "git", args...))
	calltest.Must(p.T, err)
	return out
}

// shadow asks git about the one project there is.
func (p *person) shadow(args ...string) string {
	p.Helper()
	repos, err := filepath.Glob(filepath.Join(p.base, "umbra/projects/*/shadow.git"))
	calltest.Must(p.T, err)
	if len(repos) != 1 {
		p.Fatalf("repositories %v", repos)
	}
	return p.git(append([]string{"--git-dir=" + repos[0]}, args...)...)
}

// tree is what git makes of a directory.
func (p *person) tree(dir string) string {
	p.Helper()
	repo := p.TempDir()
	p.git("init", "-q", "--bare", repo)
	for _, args := range [][]string{{"add", "-A", "-f"}, {"write-tree"}} {
		out, err := said(p.command(dir, "git", append([]string{"--git-dir=" + repo, "--work-tree=" + dir}, args...)...))
		calltest.Must(p.T, err)
		if out != "" {
			return out
		}
	}
	p.Fatalf("git says nothing of %s", dir)
	return ""
}

// well has doctor and git look at everything.
func (p *person) well() {
	p.Helper()
	p.must("doctor")
	p.shadow("fsck", "--full", "--strict", "--no-dangling")
}

// linear gives the trees of a mission's history, newest first, in which nobody
// has two parents.
func (p *person) linear(name string) []string {
	p.Helper()
	var trees []string
	for line := range strings.Lines(p.shadow("log", "--format=%T %P", "refs/heads/"+name)) {
		fields := strings.Fields(line)
		if len(fields) > 2 {
			p.Errorf("%s has a merge: %s", name, line)
		}
		trees = append(trees, fields[0])
	}
	return trees
}

// TestEightByEight has eight processes of a shell take eight snapshots each, by
// the daemon and without it, while a program writes and forks are made: all
// succeed, and each snapshot and each fork is what it says (H26).
func TestEightByEight(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.must("mission", "new", "--no-launch", "--name", "one", "--", "true")
	stop := make(chan struct{})
	var writer, all sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				text, place := fmt.Sprintln(n), filepath.Join(p.work, fmt.Sprintf("f%d", n%20))
				if err := os.WriteFile(place+".new", []byte(text), 0o600); err == nil {
					_ = os.Rename(place+".new", place)
				}
			}
		}
	})
	var mu sync.Mutex
	ids := map[string]bool{}
	for n := range 8 {
		all.Go(func() {
			args := []string{"snapshot", "-m", fmt.Sprint("process ", n)}
			if n%2 == 1 {
				args = append(args, "--no-daemon")
			}
			for range 8 {
				id, err := p.umbra(p.work, args...)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				ids[id] = true
				mu.Unlock()
			}
		})
	}
	forks := make([]missions.Mission, 4)
	all.Go(func() {
		for n := range forks {
			out, err := p.umbra(p.work, "fork", "one", "--no-launch", "--json", "--quiet", "--name", fmt.Sprint("fork-", n))
			if err == nil {
				err = json.Unmarshal([]byte(out), &forks[n])
			}
			if err != nil || forks[n].Parent == nil {
				t.Errorf("fork: %v %s", err, out)
				return
			}
		}
	})
	all.Wait()
	close(stop)
	writer.Wait()
	if t.Failed() {
		return
	}
	trees := p.linear("one")
	history := strings.Fields(p.shadow("rev-list", "refs/heads/one"))
	for id := range ids {
		if !slices.Contains(history, id) {
			t.Errorf("snapshot %q was told of and is not in the history", id)
		}
	}
	for _, f := range forks {
		got := p.tree(f.Workspace)
		if want := p.shadow("rev-parse", f.Parent.Snapshot+"^{tree}"); got != want || !slices.Contains(trees, got) {
			t.Errorf("%s has %s, was made of %s", f.Name, got, want)
		}
	}
	hazards.Held(t, hazards.H26, "eight processes of the real program by eight, by the daemon and without it, while a program writes: 64 of 64 succeed, and each fork made meanwhile is exactly a snapshot of its source")
	p.well()
}

// TestWorkspaceMovedUnderTheDaemon takes a workspace away from the daemon that
// watches it, and puts another in its place: an error, in words, and no snapshot.
func TestWorkspaceMovedUnderTheDaemon(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.must("mission", "new", "--no-launch", "--name", "one", "--", "true")
	event := p.agent().event
	event("SessionStart", `"source":"startup",`)
	event("UserPromptSubmit", `"prompt":"begin",`)
	p.write("b.txt", "two\n")
	p.must("snapshot", "one")
	before := p.linear("one")
	tips := p.shadow("for-each-ref", "refs/agents")
	aside := p.work + ".aside"
	unmoved := func(what string) {
		t.Helper()
		event("PreToolUse", `"tool_name":"Write","tool_use_id":"`+what+`","tool_input":{"file_path":"b.txt"},`)
		p.refused("is in "+aside+" now", "snapshot", "one")
		p.refused("is in "+aside+" now", "restore", "one@start", "--yes")
		if got := p.shadow("for-each-ref", "refs/agents"); got != tips {
			t.Errorf("%s: %s, before %s", what, got, tips)
		}
	}
	calltest.Must(t, os.Rename(p.work, aside))
	calltest.Must(t, os.Mkdir(p.work, 0o700))
	unmoved("an empty one")
	p.write("c.txt", "somebody else's\n")
	unmoved("another")
	calltest.Must(t, os.RemoveAll(p.work))
	calltest.Must(t, os.Rename(aside, p.work))
	p.write("b.txt", "three\n")
	p.must("snapshot", "one")
	if after := p.linear("one"); len(after) != len(before)+1 || after[0] != p.tree(p.work) {
		t.Errorf("after it came back: %v, before %v", after, before)
	}
	there := p.work + ".there"
	calltest.Must(t, os.Rename(p.work, there))
	_, err := p.umbra(p.base, "project", "move", p.work, there)
	calltest.Must(t, err)
	p.work = there
	p.write("b.txt", "four\n")
	p.must("snapshot", "one")
	if after := p.linear("one"); len(after) < len(before)+2 || after[0] != p.tree(p.work) {
		t.Errorf("after it was moved for good: %v", after)
	}
	p.well()
}

// stopped stops the daemon as Ctrl-Z or a debugger does, and returns what ends it.
// It is stopped where it has no lock of the workspace: a test that wants one
// there takes it itself.
func (p *person) stopped() (end func()) {
	p.Helper()
	defer p.hold()()
	var d struct{ PID int }
	calltest.Must(p.T, json.Unmarshal([]byte(p.must("daemon", "status", "--json")), &d))
	calltest.Must(p.T, syscall.Kill(d.PID, syscall.SIGSTOP))
	return func() { calltest.Must(p.T, syscall.Kill(d.PID, syscall.SIGKILL)) }
}

// TestHookBesideAHungDaemon does in its own process, and in its own time, what a
// daemon that was stopped does not. If that one was stopped in the middle of a
// capture it still has the workspace's lock: then the agent goes on, the log says
// who is in the way, and the snapshot is made up for when that one is gone.
func TestHookBesideAHungDaemon(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	a := p.agent()
	a.event("SessionStart", `"source":"startup",`)
	a.event("UserPromptSubmit", `"prompt":"one",`)
	p.must("daemon", "start")
	p.write("b.txt", "two\n")
	a.event("PreToolUse", `"tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"x"},`)
	end := p.stopped()
	p.write("b.txt", "three\n")
	want, taken := p.tree(p.work), false
	for n := 0; n < 5 && !taken; n++ { // on a busy machine the second that is left may not do
		a.event("PreToolUse", fmt.Sprintf(`"tool_name":"Bash","tool_use_id":"hung-%d","tool_input":{"command":"x"},`, n))
		taken = p.shadow("rev-parse", "refs/heads/one^{tree}") == want
	}
	if !taken {
		t.Errorf("the hook of a tool takes no snapshot beside a daemon that hangs: %s", p.shadow("log", "--oneline", "refs/heads/one"))
	}
	a.event("UserPromptSubmit", `"prompt":"go on","prompt_id":"2",`)
	if out := p.must("log", "one", "--no-daemon"); !strings.Contains(out, "  go on") {
		t.Errorf("the hook of a prompt took no snapshot: %s", out)
	}

	free := p.hold()
	p.write("b.txt", "four\n")
	before := p.linear("one")
	a.event("PreToolUse", `"tool_name":"Bash","tool_use_id":"3","tool_input":{"command":"x"},`)
	log, err := os.ReadFile(filepath.Join(p.base, "umbra/daemon.log"))
	if err != nil || !strings.Contains(string(log), "another operation is at work here") {
		t.Errorf("the log does not say what was in the way: %v %s", err, log)
	}
	if after := p.linear("one"); !slices.Equal(after, before) {
		t.Errorf("a snapshot was taken of a workspace that somebody else has: %v, before %v", after, before)
	}
	for reading, says := range map[string]string{"status": "but it does not answer", "log": "  go on", "doctor": "but it does not answer"} {
		if out, _ := p.umbra(p.work, reading); !strings.Contains(out, says) {
			t.Errorf("%s beside a daemon that hangs does not say %q: %s", reading, says, out)
		}
	}
	if out := p.must("status"); !strings.Contains(out, "daemon: it does not answer, this process did the work") {
		t.Errorf("status beside a daemon that hangs calls it none: %s", out)
	}
	p.refused("holds Umbra's home, but it does not answer", "snapshot", "one")
	end()
	free()
	p.must("daemon", "start")
	p.must("snapshot", "one")
	if out := p.must("log", "one"); !strings.Contains(out, "(late)") || !strings.Contains(out, "before Bash") {
		t.Errorf("what was asked for was not made up for: %s", out)
	}
	p.well()
}

// hold takes the workspace's lock, as whoever captures does.
func (p *person) hold() (free func()) {
	p.Helper()
	var st syscall.Stat_t
	calltest.Must(p.T, syscall.Stat(p.work, &st))
	file, err := os.OpenFile(filepath.Join(p.base, "umbra/locks", fmt.Sprintf("%d-%d", st.Dev, st.Ino)), os.O_RDWR, 0)
	calltest.Must(p.T, err)
	calltest.Must(p.T, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	return func() { calltest.Must(p.T, file.Close()) }
}

// An agent that calls Umbra's hooks.
type hookAgent struct{ *person }

func (p *person) agent() hookAgent { return hookAgent{p} }

// event calls the hook as it was installed, which succeeds whatever happens.
func (a hookAgent) event(name, more string) {
	a.Helper()
	cmd := a.command(a.work, "umbra", "hook", "claude")
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"` + name + `","session_id":"11111111-2222-4333-8444-555555555555",` + more + `"cwd":"` + a.work + `"}`)
	if _, err := said(cmd); err != nil {
		a.Error(err)
	}
}
