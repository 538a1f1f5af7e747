package call

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// meter is a progress on a screen of a test, with a clock of its own.
type meter struct {
	*progress
	screen bytes.Buffer
	clock  time.Time
	wide   int
}

func newMeter(terminal bool) *meter {
	m := &meter{clock: time.Unix(1e9, 0), wide: 120}
	m.progress = &progress{
		w: &m.screen, terminal: terminal, now: func() time.Time { return m.clock }, width: func() int { return m.wide },
	}
	return m
}

// after lets time pass and gives what a notice then draws.
func (m *meter) after(d time.Duration, n missions.Notice) string {
	m.clock = m.clock.Add(d)
	m.screen.Reset()
	m.notice(n)
	return strings.TrimPrefix(m.screen.String(), "\r\x1b[K")
}

func reading(files, bytes int64) missions.Notice {
	return missions.Notice{
		Text: "reading /home/me/project", Done: files, Total: 100_000, Unit: "files",
		Bytes: bytes << 20, TotalBytes: 800 << 20,
	}
}

func TestProgressOfReading(t *testing.T) {
	t.Parallel()
	m := newMeter(true)
	if got := m.after(0, reading(0, 0)) + m.after(900*time.Millisecond, reading(10_000, 90)); got != "" {
		t.Errorf("drawn within a second: %q", got)
	}
	want := "reading /home/me/project: 50000 of 100000 files, 200.0 MiB of 800.0 MiB, 100.0 MiB/s [#####               ]"
	if got := m.after(1100*time.Millisecond, reading(50_000, 200)); got != want {
		t.Errorf("drawn %q, want %q", got, want)
	}
	if got := m.after(10*time.Millisecond, reading(51_000, 201)); got != "" {
		t.Errorf("drawn again at once: %q", got)
	}
	m.wide = 80
	want = "reading /home/me/p…: 60000 of 100000 files, 400.0 MiB of 800.0 MiB, 132.9 MiB/s"
	if got := m.after(time.Second, reading(60_000, 400)); got != want {
		t.Errorf("on a narrow terminal %q, want %q", got, want)
	}
	m.wide = 20
	if got := m.after(time.Second, reading(60_000, 400)); print.Columns(got) > 19 {
		t.Errorf("%q does not fit", got)
	}
	m.wide = 120
	m.after(0, missions.Notice{Text: "looking through /w", Done: 1, Unit: "files"})
	if got, want := m.after(2*time.Second, missions.Notice{Text: "looking through /w", Done: 5000, Unit: "files"}), "looking through /w: 5000 files"; got != want {
		t.Errorf("without a total %q, want %q", got, want)
	}
	m.after(0, missions.Notice{Text: "copying", Done: 1 << 20, Total: 4 << 20, Unit: "bytes"})
	want = "copying: 3.0 MiB of 4.0 MiB, 1.0 MiB/s [###############     ]"
	if got := m.after(2*time.Second, missions.Notice{Text: "copying", Done: 3 << 20, Total: 4 << 20, Unit: "bytes"}); got != want {
		t.Errorf("of bytes %q, want %q", got, want)
	}
	m.screen.Reset()
	if m.end(); m.screen.String() != "\r\x1b[K" {
		t.Errorf("at the end %q", m.screen.String())
	}
}

func TestProgressOffATerminal(t *testing.T) {
	t.Parallel()
	m := newMeter(false)
	if got := m.after(0, reading(1, 1)) + m.after(time.Minute, reading(50_000, 200)); got != "" {
		t.Errorf("drawn %q", got)
	}
	if got := m.after(0, missions.Notice{Text: "waiting for the turn to end"}); got != "waiting for the turn to end\n" {
		t.Errorf("a line is %q", got)
	}
}
