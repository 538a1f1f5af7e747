package call

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// paging is a call on a terminal with a pager.
func paging(t *testing.T, pager string, stdout *bytes.Buffer) *Call {
	t.Helper()
	environ := []string{"PATH=" + os.Getenv("PATH"), "UMBRA_PAGER=" + pager}
	d := newDesk()
	c := &Call{Env: Env{
		Streams: Streams{Stdin: os.Stdin, Stdout: stdout, Stderr: stdout, IsTerminal: func(any) bool { return true }, Width: func() int { return 80 }, Height: func() int { return 24 }},
		Notify:  d.notify, Unnotify: d.unnotify, Now: time.Now,
		Environ: func() []string { return environ }, Getenv: func(string) string { return "" }, Run: func(cmd *exec.Cmd) error { return cmd.Run() },
	}}
	c.Begin()
	c.Out = c.Globals.Printer(c.Env, stdout)
	t.Cleanup(c.ReleaseSignals)
	return c
}

// TestPagedInParts: the pager shows the first part before the rest is made, and without a
// pager, and where it can't be run, both are printed.
func TestPagedInParts(t *testing.T) {
	t.Parallel()
	shown := filepath.Join(t.TempDir(), "shown")
	first := func(p *print.Printer) { p.Line("first") }
	rest := func(_ context.Context, p *print.Printer) error { p.Line("rest"); return nil }
	var out bytes.Buffer
	err := paging(t, `read x; echo "$x" >'`+shown+`'; cat >>'`+shown+`'`, &out).PagedInParts("log", first, func(ctx context.Context, p *print.Printer) error {
		if !patience.Until(time.Minute, func() bool {
			content, _ := os.ReadFile(shown)
			return string(content) == "first\n"
		}) {
			t.Error("the rest was waited for")
		}
		return rest(ctx, p)
	})
	if content, _ := os.ReadFile(shown); err != nil || string(content) != "first\nrest\n" || out.Len() > 0 {
		t.Errorf("the pager has %q, %v", content, err)
	}
	for _, pager := range []string{"cat", "", "exit 127", "read x; exit 127"} {
		out.Reset()
		if err := paging(t, pager, &out).PagedInParts("log", first, rest); err != nil || out.String() != "first\nrest\n" {
			t.Errorf("with %q: %q, %v", pager, out.String(), err)
		}
	}
	lost := errors.New("lost")
	for _, pager := range []string{"cat", "cat >/dev/null"} {
		if err := paging(t, pager, &out).PagedInParts("log", first, func(context.Context, *print.Printer) error { return lost }); !errors.Is(err, lost) {
			t.Errorf("with %q, an error of the rest was lost: %v", pager, err)
		}
	}
	left := func(ctx context.Context, _ *print.Printer) error { <-ctx.Done(); return ctx.Err() }
	if err := paging(t, "read x", &out).PagedInParts("log", first, left); err != nil {
		t.Errorf("left before the rest was there: %v", err)
	}
}
