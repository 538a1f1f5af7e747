package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A screen is umbra in a terminal of tmux, driven by keys.
type screen struct {
	*testing.T
	dir, socket string
	env         []string
}

// newScreen makes a workspace with a mission and three snapshots.
func newScreen(t *testing.T) *screen {
	t.Helper()
	home := t.TempDir()
	s := &screen{T: t, dir: filepath.Join(home, "work"), socket: filepath.Join(home, "tmux")}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "UMBRA_HOME=" + filepath.Join(home, "umbra"), "UMBRA_NO_DAEMON=1",
		"SHELL=/bin/sh", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PS1=ready> ", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"PAGER=cat", `UMBRA_PAGER=cat; echo paged; read x </dev/tty`, "VISUAL=cat >" + filepath.Join(home, "edited") + " <", "UMBRA_FORK_ROOT=" + filepath.Join(home, "forks"),
	}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.umbra("mission", "new", "--no-launch", "--name", "one", "--", "true")
	for _, word := range []string{"alpha", "bravo", "charlie"} {
		s.write("state.txt", word+"\n")
		s.umbra("snapshot", "-m", "made "+word)
	}
	return s
}

func (s *screen) run(name string, args ...string) string {
	s.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *screen) umbra(args ...string) string {
	s.Helper()
	return s.run("umbra", args...)
}

func (s *screen) tmux(args ...string) string {
	s.Helper()
	return s.run("tmux", append([]string{"-S", s.socket}, args...)...)
}

func (s *screen) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// open starts a shell on a terminal, and the timeline in it.
func (s *screen) open() {
	s.Helper()
	s.shell()
	s.types("umbra timeline")
	s.keys("Enter")
	s.sees("made charlie", "snapshots")
}

// shell starts a shell on a terminal.
func (s *screen) shell() {
	s.Helper()
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", "/bin/sh")
	s.Cleanup(func() { s.tmux("kill-server") })
	s.sees("ready>")
}

// leftClean: the terminal echoes and takes lines, as before.
func (s *screen) leftClean() {
	s.Helper()
	s.types("stty -a | tr ' ;' '\\n\\n' | grep -x -e echo -e icanon | wc -l | sed s/^/modes=/")
	s.keys("Enter")
	s.sees("modes=2")
}

func (s *screen) keys(keys ...string) {
	s.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

func (s *screen) types(text string) {
	s.Helper()
	s.tmux("send-keys", "-l", text)
}

// sees waits until all of it is on the screen.
func (s *screen) sees(want ...string) {
	s.Helper()
	var shown string
	missing := func(w string) bool { return !strings.Contains(shown, w) }
	if !patience.Until(time.Minute, func() bool {
		shown = s.tmux("capture-pane", "-p")
		return !slices.ContainsFunc(want, missing)
	}) {
		s.Fatalf("%q is not on the screen:\n%s", want, shown)
	}
}

// The timeline in a real terminal: it moves, compares, shows what is new,
// restores, is resized and suspended, and leaves the terminal as it was.
func TestTimeline(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	s.open()
	s.keys("j")
	s.sees("+charlie", "-bravo")
	s.keys("Space")
	s.keys("j", "j", "Space")
	s.sees("+charlie", "-alpha")
	s.keys("Escape")
	s.sees("+alpha")
	s.write("state.txt", "delta\n")
	s.umbra("snapshot", "-m", "made delta")
	s.sees("made delta")
	s.keys("p")
	s.types("best")
	s.keys("Enter")
	s.sees("[best]")
	if got := s.umbra("cat", "best", "state.txt"); got != "alpha\n" {
		s.Errorf("what was pinned holds %q", got)
	}
	s.locksNothing()
	s.restores()
	s.opens()
	s.forks()
	s.manages()
	s.merges()
	s.keys("/")
	s.types("bravo")
	s.keys("Enter")
	s.sees("/bravo", "made bravo")
	s.tmux("resize-window", "-x", "50", "-y", "20")
	s.sees("made bravo")
	s.keys("C-z")
	s.sees("topped")
	s.types("fg")
	s.keys("Enter")
	s.sees("made bravo", "snapshots")
	s.keys("q")
	s.sees("topped")
	s.leftClean()
}

// coloured matches what sets a colour other than the terminal's own (ECMA-48, SGR).
var coloured = regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:[34][0-8]|9[0-7]|10[0-7])[;m]`)

// TestTimelinePlain: without colours where the user wants none, Ctrl-C leaves the
// terminal as it was, and one whose cursor can't be moved is told what else there is.
func TestTimelinePlain(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	s.open()
	if shown := s.tmux("capture-pane", "-p", "-e"); !coloured.MatchString(shown) {
		t.Errorf("there are no colours to be left out:\n%q", shown)
	}
	s.keys("C-c")
	s.sees("ready>")
	s.leftClean()
	s.types("clear; NO_COLOR=1 umbra timeline")
	s.keys("Enter")
	s.sees("made charlie", "snapshots")
	if shown := s.tmux("capture-pane", "-p", "-e"); coloured.MatchString(shown) {
		t.Errorf("there are colours:\n%q", shown)
	}
	s.keys("C-c")
	s.sees("ready>")
	s.types("clear; TERM=dumb umbra timeline; echo code=$?")
	s.keys("Enter")
	s.sees("needs a terminal that can move its cursor", "umbra log", "code=2")
}

// locksNothing: whoever looks at the timeline keeps nobody else from anything.
func (s *screen) locksNothing() {
	s.Helper()
	home := filepath.Join(filepath.Dir(s.dir), "umbra")
	files, err := filepath.Glob(filepath.Join(home, "locks", "*"))
	if err != nil || len(files) == 0 {
		s.Fatalf("no locks below %s: %v", home, err)
	}
	for _, name := range append(files, filepath.Join(home, "lock")) {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			s.Fatal(err)
		}
		// a command that was just run in it, or a request, may be about to let go
		if !patience.Until(time.Minute, func() bool {
			return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
		}) {
			s.Errorf("%s is held", name)
		}
		f.Close()
	}
}

// restores takes the newest but one back for real, and that back again.
func (s *screen) restores() {
	s.Helper()
	s.keys("g", "j", "j", "Enter")
	s.sees("restore one to", "change  state.txt", "enter does it")
	s.holds("delta\n")
	s.keys("Enter")
	s.sees("1 changed, 0 created")
	s.holds("charlie\n")
	s.keys("u")
	s.sees("undo of one", "change  state.txt", "enter does it")
	s.holds("charlie\n")
	s.keys("Enter")
	s.sees("1 changed, 0 created")
	s.holds("delta\n")
}

// opens shows a file as it was, in the pager, whose Ctrl-C is its own, and in the
// editor.
func (s *screen) opens() {
	s.Helper()
	s.sees("undo to one") // its row has come, and moves none of the others any more
	s.keys("g", "j", "j")
	s.sees("-delta", "+charlie")
	s.keys("o")
	s.sees("paged")
	s.keys("C-c")
	s.sees("made charlie", "snapshots")
	s.keys("O")
	edited := filepath.Join(filepath.Dir(s.dir), "edited")
	var got []byte
	if !patience.Until(time.Minute, func() bool {
		got, _ = os.ReadFile(edited)
		return string(got) == "charlie\n"
	}) {
		s.Fatalf("the editor was given %q", got)
	}
	s.sees("made charlie", "snapshots")
}

// forks makes a fork of the first snapshot.
func (s *screen) forks() {
	s.Helper()
	s.keys("G", "f")
	s.sees("fork one@start", "is left as it is")
	s.types("other")
	s.keys("Enter")
	s.sees("forked from one@start", "umbra mission resume other")
	s.sees("└ other")
	if m := s.umbra("mission", "ls"); !strings.Contains(m, "other") {
		s.Errorf("the missions are\n%s", m)
	}
	s.keys("g")
}

// manages compares the fork with another, plans its promotion, has it report, gives it
// another name, and puts it into the trash.
func (s *screen) manages() {
	s.Helper()
	s.umbra("fork", "one@start", "--name", "rival", "--no-launch")
	s.keys("Tab", "Tab")
	s.sees("└ rival")
	s.keys("j", "Space", "j", "d")
	s.sees("from their fork points", "alone", "enter shows the lines")
	s.keys("Enter")
	s.sees("paged")
	s.keys("Enter")
	s.sees("enter shows the lines")
	s.keys("Escape")
	s.sees("P promote")
	s.keys("k", "P")
	s.sees("promote other into one", "take over:", "enter does it")
	s.keys("Escape")
	s.sees("P promote")
	s.keys("t")
	s.types("what it found")
	s.keys("Enter")
	s.sees("other reports to one", "what it found")
	s.keys("R")
	s.types("s")
	s.keys("Enter")
	s.sees("other is now others", "└ others")
	s.keys("x")
	s.sees("others would be removed", "[ ] tab", "enter does it")
	s.keys("Enter")
	s.sees("others removed")
	if m := s.umbra("mission", "ls"); strings.Contains(m, "others") {
		s.Errorf("the missions are\n%s", m)
	}
	s.keys("g", "Tab")
}

// merges merges the fork, whose file is another one, settles what that becomes, and ends it.
func (s *screen) merges() {
	s.Helper()
	forks, err := filepath.Glob(filepath.Join(filepath.Dir(s.dir), "forks", "*", "rival"))
	if err != nil || len(forks) != 1 {
		s.Fatalf("workspaces of rival: %v, %v", forks, err)
	}
	if err := os.WriteFile(filepath.Join(forks[0], "state.txt"), []byte("rival\n"), 0o644); err != nil {
		s.Fatal(err)
	}
	s.umbra("snapshot", "rival")
	s.keys("Tab", "Tab", "j", "M")
	s.sees("merge rival into one", "state.txt", "enter begins, then M asks")
	s.keys("Enter")
	s.sees("1 path to settle")
	s.holds("delta\n")
	s.keys("M")
	s.sees("> high     state.txt", "theirs: what rival has")
	s.keys("Enter")
	s.sees("+rival", "paged")
	s.keys("Enter")
	s.sees("theirs: what rival has")
	s.keys("e")
	s.sees("nothing was changed")
	s.keys("t")
	s.sees("Nothing is open any more")
	s.keys("c")
	s.sees("merge into one", "umbra undo takes it back")
	s.keys("Enter")
	s.sees("1 changed, 0 created", "to take it back")
	s.holds("rival\n")
	s.keys("g", "Tab")
}

// holds compares state.txt.
func (s *screen) holds(want string) {
	s.Helper()
	if got, err := os.ReadFile(filepath.Join(s.dir, "state.txt")); err != nil || string(got) != want {
		s.Errorf("state.txt holds %q, %v, want %q", got, err, want)
	}
}

// Without a terminal that can be drawn on, the timeline says what to type.
func TestTimelineNeedsATerminal(t *testing.T) {
	t.Parallel()
	s := newScreen(t)
	cmd := exec.Command("umbra", "timeline")
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "umbra log") {
		t.Errorf("without a terminal: %v, %s", err, out)
	}
}
