package commands

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/reference"
)

// eachVerb calls fn with every command that is shown.
func eachVerb(fn func(at []string, v *call.Verb)) {
	var walk func(under []string, verbs []*call.Verb)
	walk = func(under []string, verbs []*call.Verb) {
		for _, v := range verbs {
			at := append(under[:len(under):len(under)], v.Name)
			if v.Run != nil && !v.Hidden {
				fn(at, v)
			}
			if !v.Hidden {
				walk(at, v.Verbs)
			}
		}
	}
	walk(nil, allVerbs())
}

// TestLessons: every command has examples, and names commands that there are.
func TestLessons(t *testing.T) {
	t.Parallel()
	eachVerb(func(at []string, v *call.Verb) {
		path := strings.Join(at, " ")
		l := reference.LessonOf(at)
		if len(l.Examples) == 0 {
			t.Errorf("umbra %s has no example: see lessons", path)
		}
		if len(l.Related()) == 0 {
			t.Errorf("umbra %s names no related command", path)
		}
	})
	for _, l := range reference.Lessons() {
		if !reference.Has(allVerbs(), strings.Fields(l.Path)) {
			t.Errorf("there is no umbra %s", l.Path)
		}
		for _, name := range l.Related() {
			if !reference.Has(allVerbs(), strings.Fields(name)) {
				t.Errorf("umbra %s names umbra %s, which is no command", l.Path, name)
			}
		}
	}
}

// TestExamples runs the examples of every command's help in order, where
// Claude Code is the scripted agent.
func TestExamples(t *testing.T) {
	t.Parallel()
	p := newTypist(t)
	p.program("systemctl", "exit 0")
	for _, l := range reference.Lessons() {
		for _, example := range l.Examples {
			p.example(l.Path, example)
		}
		if l.Path == "project move" {
			p.sh("mv ~/code/shop ~/code/app && umbra project move ~/code/shop ~/code/app")
		}
	}
	p.sh("umbra doctor")
}

// example types an example of a command's help, as one does: at a terminal what
// wants one, and what stays until it is stopped is stopped.
func (p *typist) example(path, line string) {
	p.t.Helper()
	switch path {
	case "timeline":
		p.sh(`printf q | TERM=xterm script -qec "` + line + `" /dev/null`)
	case "daemon run":
		p.sh("umbra daemon stop\n" + line + ` &
until umbra daemon status | grep -q "^running: pid $!,"; do kill -0 $!; sleep 0.05; done
umbra daemon stop
wait $!`)
	case "watch":
		p.sh(line + ` >../watched &
until grep -q login ../watched; do kill -0 $!; sleep 0.05; done
kill -INT $!
wait $!`)
	case "fork enter", "fork exit": // TestSideFork has an agent that is there
		p.sh("! " + line)
	default:
		p.sh(line)
	}
}

// TestManPages: what reads manual pages finds nothing wrong with any of them.
func TestManPages(t *testing.T) {
	t.Parallel()
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Fatalf("%v: scripts/check installs it", err)
	}
	pages := reference.ManPages(allVerbs())
	if len(pages) < 30 {
		t.Fatalf("only %d pages", len(pages))
	}
	for _, page := range pages {
		lint := exec.Command(mandoc, "-T", "lint", "-W", "warning")
		lint.Stdin = strings.NewReader(page.Text)
		out, err := lint.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "missing date") { // there is none: the page is of the build
				t.Errorf("%s: %s", page.Name, line)
			}
		}
		if err != nil && len(out) == 0 {
			t.Errorf("%s: %v", page.Name, err)
		}
		text := exec.Command(mandoc, "-T", "utf8")
		text.Stdin = strings.NewReader(page.Text)
		said, err := text.Output()
		for at := 0; at >= 0; at = slices.Index(said, '\b') { // a letter printed over itself is bold
			if at > 0 {
				said = slices.Delete(said, at-1, at+1)
			}
		}
		if err != nil || !strings.Contains(string(said), "NAME\n       "+page.Name+" - ") {
			t.Errorf("%s is shown as (%v):\n%s", page.Name, err, said)
		}
	}
}
