package contests

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/print"
)

// TestLiveTable draws how forks stand in the place of what it has drawn before, and leaves
// nothing on the terminal. A low terminal has as many of them as fit. Off a terminal nothing
// is drawn.
func TestLiveTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now, height := time.Unix(1000, 0), 4
	table := &liveTable{terminal: &out, printer: print.To(&out), height: func() int { return height }, now: func() time.Time { return now }}
	if table.watch() != nil {
		t.Error("it is drawn where there is no terminal")
	}
	table.printer.Terminal = true
	draw := table.watch()
	list := []forks.Standing{
		{Mission: "one", Begun: now.Add(-90 * time.Second)},
		{Mission: "two", Said: "waits for its turn: 1 mission is live"},
		{Mission: "three", Ended: true, Checks: true, Said: "has answered"},
	}
	draw(list)
	if got, want := out.String(), "one    works   1m30s\ntwo    waits          waits for its turn: 1 mission is live\nthree  checks         has answered\n"; got != want {
		t.Errorf("drawn is\n%s\nwant\n%s", got, want)
	}
	out.Reset()
	draw(list)
	if got := out.String(); !strings.HasPrefix(got, "\x1b[3A\x1b[Jone ") {
		t.Errorf("drawn again is %q", got)
	}
	out.Reset()
	height = 3
	draw(list)
	if got, want := out.String(), "\x1b[3A\x1b[Jone  works  1m30s\n… and 2 more\n"; got != want {
		t.Errorf("drawn on a low terminal is %q, want %q", got, want)
	}
	out.Reset()
	table.erase()
	table.erase()
	if got := out.String(); got != "\x1b[2A\x1b[J" {
		t.Errorf("erased by %q", got)
	}
}
