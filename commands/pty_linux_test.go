package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// pty is a program on a terminal of its own.
type pty struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd
	ended  chan struct{}

	mu   sync.Mutex
	said bytes.Buffer
	seen int
}

// onTerminal starts a program as the leader of a session on a new terminal, in
// an empty home and workspace.
func onTerminal(t *testing.T, argv ...string) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, master: master, slave: slave, ended: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.cmd.Dir = filepath.Join(t.TempDir(), "work")
	home := t.TempDir()
	if err := os.Mkdir(p.cmd.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "UMBRA_HOME=" + filepath.Join(home, "umbra-home"), "TERM=xterm",
		"SHELL=/bin/sh", "PS1=$ ", "UMBRA_NO_DAEMON=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read()
	t.Cleanup(func() {
		master.Close() // hangs up whoever is left
		slave.Close()
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

func (p *pty) read() {
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.said.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pty) typed(s string) {
	p.t.Helper()
	if _, err := p.master.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// expect waits until the program has said what matches, after what was
// expected before, and returns the first group.
func (p *pty) expect(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var found string
	if !patience.Until(time.Minute, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		text := p.said.String()[p.seen:]
		at := re.FindStringSubmatchIndex(text)
		if at == nil {
			return false
		}
		p.seen += at[1]
		found = text[at[len(at)-2]:at[len(at)-1]]
		return true
	}) {
		p.t.Fatalf("waited for %q; %s", pattern, p.scene())
	}
	return found
}

// insist types s until the program has answered: what is typed while a shell
// hands its terminal over is the shell's, or lost.
func (p *pty) insist(s, pattern string) {
	p.t.Helper()
	p.retyped(s, pattern, 200*time.Millisecond)
}

// retyped types s, and again after each pause, until the program has answered.
func (p *pty) retyped(s, pattern string, pause time.Duration) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	said := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return re.MatchString(p.said.String()[p.seen:])
	}
	var last time.Time
	patience.Until(time.Minute, func() bool {
		if said() {
			return true
		}
		if time.Since(last) > pause {
			p.typed(s)
			last = time.Now()
		}
		return false
	})
	p.expect(pattern)
}

// code waits for the end of the program.
func (p *pty) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience.Of(time.Minute)):
		p.t.Fatalf("it has not ended; %s", p.scene())
	}
	return -1
}

// agentScript is a mission whose agent is a shell script.
func agentScript(script string) []string {
	return []string{"umbra", "mission", "new", "--", "sh", "-c", script}
}

func TestKeeperGivesTheAgentsExitCode(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript("test -t 0 && test -t 1 && exit 7")...)
	if code := p.code(); code != 7 {
		t.Errorf("exit code %d, want 7; the terminal shows:\n%s", code, p.said.String())
	}
}

func TestKeeperLeavesCtrlCToTheAgent(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript("trap 'echo heard; exit 5' INT; echo ready; while :; do sleep 0.05; done")...)
	p.expect("ready")
	p.typed("\x03")
	p.expect("heard")
	if code := p.code(); code != 5 {
		t.Errorf("exit code %d, want 5", code)
	}
}

func TestKeeperStopsAndContinuesWithItsAgent(t *testing.T) {
	t.Parallel()
	stopped := exec.Command("sh", "-c", "kill -STOP $$")
	if err := stopped.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	var status unix.WaitStatus
	_, err := unix.Wait4(stopped.Process.Pid, &status, unix.WUNTRACED, nil) // it has stopped now
	go func() { ended <- stopped.Wait() }()
	said := false
	select {
	case <-ended:
		said = true
	case <-time.After(50 * time.Millisecond):
	}
	if err := errors.Join(err, stopped.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	hazards.Shown(t, hazards.H40, status.Stopped() && !said, "`exec.Cmd.Wait` says nothing of a child that was stopped")
	hazards.Held(t, hazards.H40, "a keeper stops with its agent, and goes on with it in the foreground")
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	p.typed("umbra mission new -- sh -c 'echo rea\"\"dy; while read x; do echo got-$x; test $x != bye || exit 4; done'\n")
	p.expect("ready\r?\n")
	p.typed("\x1a")
	p.expect("Stopped")
	p.typed("umbra daemon status\n") // a keeper that is stopped keeps nobody out
	p.expect("it does not run")
	p.typed("fg\n")
	p.expect("umbra mission new")
	p.insist("hello\n", "got-hello") // it hears each, also what was typed in vain
	p.typed("bye\n")
	p.expect("got-bye\r?\n")
	p.typed("echo code$?\n")
	if code := p.expect(`code(\d+)`); code != "4" {
		t.Errorf("exit code %s, want 4", code)
	}
	p.typed("exit\n")
	p.code()
}

// TestWaitStops waits on after a Ctrl-Z, and serves nobody meanwhile.
func TestWaitStops(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	p.typed("umbra mission new --name one --no-launch -- true && echo ma\"\"de\n")
	p.expect("made")
	p.typed("umbra mission wait one --state closed\n")
	p.expect(`--state closed\r?\n(?s:.*)\[\?2004l`)
	p.insist("\x1a", `Stopped +umbra mission wait`)
	p.typed("umbra daemon status\n")
	p.expect("it does not run")
	p.typed("umbra mission resume one; fg\n")
	p.expect("one .*closed")
	p.typed("exit\n")
	p.code()
}

func TestKeeperBroughtToTheForegroundFromTheBackground(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	// bash, since dash starts programs by vfork: one that is stopped before its
	// exec leaves dash itself where no signal reaches it.
	p.typed("umbra mission new -- bash -c 'echo rea\"\"dy; while ! test -e go; do sleep 0.05; done; read x; echo got-$x'\n")
	p.expect("ready\r?\n")
	p.typed("\x1a")
	p.expect("Stopped")
	p.typed("bg\n")
	p.expect("&")
	p.typed("echo shell$((40+2))\n")
	p.expect("shell42")
	p.typed("fg\n") // of which bash tells nobody: the job runs
	p.expect("umbra mission new")
	p.inFront("bash -c")
	p.typed("\x1a")
	p.expect("Stopped")
	p.typed("touch go; fg\n")
	p.expect("umbra mission new")
	p.insist("hello\n", "got-hello")
	p.typed("exit\n")
	p.code()
}

func TestKeeperThatNobodyCouldContinueGoesOn(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript(`echo ready; read x; echo "got-$x"`)...)
	p.expect("ready")
	p.typed("\x1a")
	p.typed("hello\n")
	p.expect("got-hello")
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestKeeperPassesOnSIGTERM(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript("trap 'echo heard; exit 9' TERM; echo ready; while :; do sleep 0.05; done")...)
	p.expect("ready")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.expect("heard")
	if code := p.code(); code != 9 {
		t.Errorf("exit code %d, want 9", code)
	}
}

func TestKeeperPutsTheTerminalBack(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript("stty raw -echo; kill -KILL $$")...)
	before, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if code := p.code(); code != 128+9 {
		t.Errorf("exit code %d, want %d", code, 128+9)
	}
	after, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *before != *after {
		t.Errorf("modes %+v, were %+v", after, before)
	}
	p.expect(regexp.QuoteMeta("\x1b[?1047l"))
}

func TestKeeperThatCannotStartItsAgent(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "umbra", "mission", "new", "--", "./no-such-program")
	if code := p.code(); code != 125 {
		t.Errorf("exit code %d, want 125", code)
	}
	p.expect("no such program")
	if out := p.run("mission", "ls", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("what could not begin has left %s", out)
	}
}

// TestForkSaysHowToLaunch: a fork that was only made says what to type next.
func TestForkSaysHowToLaunch(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "sh", "-c", `umbra mission new --name one --no-launch -- true && umbra fork one --name two --no-launch && umbra fork one --name all --count 2`)
	for _, hint := range []string{"its agent: umbra mission resume two", "the first of them: umbra mission resume all-1"} {
		p.expect("to launch " + hint + `\r\n`)
	}
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestMistypedProgramMakesNothing: neither a mission nor a fork, on a PATH of the agent's
// own too; what is only made is not looked for.
func TestMistypedProgramMakesNothing(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "sh", "-c", `mkdir own && printf '#!/bin/sh\necho it runs\n' >own/program && chmod +x own/program
		umbra mission new --name one --no-launch -- mistyped || exit 9
		umbra mission new --name two -- mistyped; [ $? = 125 ] || exit 8
		umbra mission new --name two --env PATH="$PWD/own" -- ls; [ $? = 125 ] || exit 7
		umbra mission new --name two --env PATH="$PWD/own" --agent opencode; [ $? = 1 ] || exit 6
		umbra fork one --name two -- mistyped; [ $? = 125 ] || exit 5
		umbra mission new --name three --env PATH="$PWD/own" -- program`)
	p.expect("mistyped is not on PATH")
	p.expect("it runs")
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if out := p.run("mission", "ls", "--json"); strings.Contains(out, `"two"`) || !strings.Contains(out, `"one"`) || !strings.Contains(out, `"three"`) {
		t.Errorf("mission ls: %s", out)
	}
}

func TestKeeperSaysWhyItsAgentDidNotBegin(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "sh", "-c", `echo rubbish >agent; chmod +x agent; exec umbra mission new -- ./agent`)
	if code := p.code(); code != 125 {
		t.Errorf("exit code %d, want 125", code)
	}
	p.expect("umbra: start ./agent: exec format error")
	if out := p.run("mission", "ls"); !strings.Contains(out, "error") {
		t.Errorf("mission ls: %s", out)
	}
}

func TestAgentOwnsTheTerminalFromItsFirstInstant(t *testing.T) {
	t.Parallel()
	agent := agentScript(`read -r pid comm state ppid group session tty foreground rest </proc/$$/stat; echo "apart $((foreground - group))"
		read line <&3 && echo "inherited $line"; exit 6`)
	p := onTerminal(t, append([]string{"bash", "-c", `echo three >three; exec 3<three; "$@"`, "bash"}, agent...)...)
	p.expect(`apart 0\r\n`)
	p.expect(`inherited three\r\n`)
	if code := p.code(); code != 6 {
		t.Errorf("exit code %d, want 6", code)
	}
}

// What an agent leaves running must hold nothing that its keeper waits for.
func TestKeeperDoesNotWaitForWhatItsAgentLeavesBehind(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript("sleep 60 & exit 6")...)
	if code := p.code(); code != 6 {
		t.Errorf("exit code %d, want 6", code)
	}
}

// run runs umbra without a terminal, in the pty's home and workspace.
func (p *pty) run(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("umbra", args...)
	cmd.Dir, cmd.Env = p.cmd.Dir, p.cmd.Env
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	} else if ok {
		p.t.Fatalf("umbra %s: exit code %d\n%s", strings.Join(args, " "), exit.ExitCode(), out)
	}
	return string(out)
}

func TestKeeperReportsItsAgent(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, agentScript("echo ready; read x; exit 3")...)
	p.expect("ready")
	p.run("mission", "wait", "sh-1", "--state", "running,idle", "--timeout", "1m")
	if out := p.run("mission", "ls", "--live"); !strings.Contains(out, "sh-1") {
		t.Errorf("mission ls --live: %q", out)
	}
	p.typed("\n")
	if code := p.code(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if out := p.run("mission", "show", "sh-1"); !strings.Contains(out, "exit code 3") {
		t.Errorf("mission show: %s", out)
	}
	if out := p.run("doctor"); !strings.Contains(out, "all is well") {
		t.Errorf("doctor: %s", out)
	}
}

func TestTerminalIsAsked(t *testing.T) {
	t.Parallel()
	p := onTerminal(t, "bash", "--norc", "--noprofile", "-i")
	p.typed("echo ready$((1+1))\n")
	p.expect("ready2")
	p.run("mission", "new", "--no-launch", "--name", "one", "--", "true")
	p.run("mission", "new", "--no-launch", "--name", "two", "--", "true")

	p.typed("umbra mission rm one; echo code$?\n")
	p.expect(`Remove\?\r\n  y  yes\r\n  n  no\r\n> `)
	p.typed("n\n")
	p.expect("nothing was removed")
	p.expect("code12")
	p.typed("umbra mission rm one; echo code$?\n")
	p.expect(`Remove\?(.|\s)*> `)
	p.typed("yes\n")
	p.expect("one.* removed")
	p.expect("code0")

	p.typed("PAGER='sed s/^/paged:/' umbra log two\n")
	p.expect("paged:.*turn 0")
	p.expect(`\x1b\[36m`) // an address, in colour
	p.typed("NO_COLOR=1 PAGER=cat umbra log two; echo over$((1+1))\n")
	p.expect("two@start .* ago|two@start .* now")
	p.expect("over2")
	p.typed("exit\n")
	p.code()
}
