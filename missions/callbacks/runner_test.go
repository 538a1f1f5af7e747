package callbacks

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// script writes a program.
func script(t *testing.T, body string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// runner has a program run for as long as it wants.
func runner() Runner {
	r := NewRunner()
	r.After = func(time.Duration) <-chan time.Time { return nil }
	r.Environ = func() []string { return append(os.Environ(), "TOKEN=sesame") }
	return r
}

func copied(r Runner, p Programs, text string) (string, error) {
	var out bytes.Buffer
	err := r.Copy(context.Background(), &out, strings.NewReader(text), p, Description{Agent: "parrot", Length: int64(len(text)), NewSession: "n1"})
	return out.String(), err
}

// TestCopy: each program has the conversation and its description, the second one what the
// first has made; neither has the environment of this process.
func TestCopy(t *testing.T) {
	t.Parallel()
	cut := script(t, `echo "$1 $(sed -n 's/.*"length": \([0-9]*\).*/\1/p' description.json) ${TOKEN-none}"; head -n 1`)
	rewrite := script(t, `cat; echo "$1 $2 $(sed -n 's/.*"length": \([0-9]*\).*/\1/p' description.json)"; ls; grep -c n1 description.json`)
	rewrite = append(rewrite, "word")
	for name, tt := range map[string]struct {
		programs Programs
		want     string
	}{
		"cut":     {Programs{Cut: cut}, "cut 8 none\none\n"},
		"rewrite": {Programs{Rewrite: rewrite}, "one\ntwo\nword rewrite 8\ndescription.json\n1\n"},
		"both":    {Programs{Cut: cut, Rewrite: rewrite}, "cut 8 none\none\nword rewrite 15\ndescription.json\n1\n"},
	} {
		if got, err := copied(runner(), tt.programs, "one\ntwo\n"); err != nil || got != tt.want {
			t.Errorf("%s: %q %v, want %q", name, got, err, tt.want)
		}
	}
}

// TestCopyFails: what goes wrong in a program is said in a line.
func TestCopyFails(t *testing.T) {
	t.Parallel()
	over := make(chan time.Time)
	close(over)
	hangs := runner()
	hangs.After = func(time.Duration) <-chan time.Time { return over }
	short := runner()
	short.MoreBytes = 100
	for name, tt := range map[string]struct {
		r       Runner
		program []string
		want    string
	}{
		"fails":             {runner(), script(t, "echo 'no such format' >&2; echo more >&2; exit 3"), "failed: no such format"},
		"fails silently":    {runner(), script(t, "cat; exit 3"), "failed: exit status 3"},
		"is killed":         {runner(), script(t, "kill -9 $$"), "failed: signal: killed"},
		"tells a secret":    {runner(), script(t, "echo token=ghp_0123456789abcdefghijABCDEFGHIJ012345 >&2; exit 1"), "failed: "},
		"hangs":             {hangs, script(t, "mkfifo fifo; cat fifo"), "had not ended after 30s"},
		"hangs with others": {hangs, script(t, "mkfifo fifo; cat fifo & cat fifo"), "had not ended after 30s"},
		"too much":          {short, script(t, "cat /dev/zero"), "gave more than 108 bytes"},
		"nothing":           {runner(), script(t, "cat >/dev/null"), "gave nothing"},
		"gone":              {runner(), []string{filepath.Join(t.TempDir(), "none")}, "can't be started: no such file or directory"},
	} {
		for key, programs := range map[string]Programs{"tools.cut": {Cut: tt.program, Rewrite: script(t, "cat")}, "tools.rewrite": {Cut: script(t, "cat"), Rewrite: tt.program}} {
			_, err := copied(tt.r, programs, "one\ntwo\n")
			if err == nil || !strings.Contains(err.Error(), "("+key+") "+tt.want) || strings.Contains(err.Error(), "ghp_0") || missions.AsError(err).Hint == "" {
				if name == "hangs" || name == "hangs with others" {
					if err != nil && strings.Contains(err.Error(), "had not ended") { // whichever is first
						continue
					}
				}
				t.Errorf("%s, %s: %v", name, key, err)
			}
		}
	}
}

// TestCopyInterrupted: who is asked to end ends the program.
func TestCopyInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	began := writer(func([]byte) { cancel() })
	err := runner().Copy(ctx, began, strings.NewReader("x"), Programs{Cut: script(t, "echo begun; mkfifo fifo; cat fifo")}, Description{Length: 1})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// TestFor: the configuration names programs by their tool and path.
func TestFor(t *testing.T) {
	t.Parallel()
	r := runner()
	r.Environ = func() []string { return []string{"HOME=/home/ada"} }
	c := settings.Tools{Cut: []string{"other /bin/other", "parrot ~/bin/cut  -x"}}
	p := r.For(c, "parrot")
	if strings.Join(p.Cut, "|") != "/home/ada/bin/cut|-x" || p.Rewrite != nil {
		t.Errorf("%q", p)
	}
	if !r.For(c, "toucan").None() {
		t.Error("a tool without programs has some")
	}
}
