package daemon

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// growingNotes is an idle agent beside notes of which the last line may wait to be kept.
type growingNotes struct {
	*bench
	server *Server
	id     string // its mission
	text   string
	ahead  atomic.Int64 // of the daemon's clock, which stands still
}

func newGrowingNotes(t *testing.T) *growingNotes {
	n := &growingNotes{bench: newBench(t), text: "first\n"}
	began := time.Now()
	n.server = n.start(func(o *Options) { o.Clock = func() time.Time { return began.Add(time.Duration(n.ahead.Load())) } })
	c := n.connect()
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop"} {
		r, err := n.hook(c, event, nil)
		must(t, err)
		n.id = r.Mission
	}
	n.until("watched", func() bool { return n.watched(n.server) })
	n.write("notes", n.text)
	n.until("the notes are kept", n.kept)
	for waits := false; !waits; {
		n.ahead.Add(int64(time.Second))
		n.grow()
		n.until("their growth is kept, or waits", func() bool {
			_, waits = n.server.local.GrowthWait(n.work)
			return waits || n.kept()
		})
	}
	if n.kept() {
		t.Error("nothing waits: the test shows nothing")
	}
	return n
}

func (n *growingNotes) grow() {
	n.text += strings.Repeat("more\n", 10)
	n.write("notes", n.text)
}

// kept reports whether the newest snapshot holds the notes as they are.
func (n *growingNotes) kept() bool {
	got, err := n.server.Service().Cat(n.ctx(), missions.CatRequest{Caller: n.caller(), Moment: n.id, Path: "notes"})
	return err == nil && string(got) == n.text
}

// TestGrowthIsKeptInSilence: growth that may wait is kept when its time has come, although
// nobody writes again and no rest is heard of.
func TestGrowthIsKeptInSilence(t *testing.T) {
	n := newGrowingNotes(t)
	n.ahead.Add(int64(time.Minute))
	n.until("the growth is kept", n.kept)
	if _, waits := n.server.local.GrowthWait(n.work); waits {
		t.Error("what is kept waits still")
	}
	n.ahead.Add(int64(time.Second))
	n.grow()
	n.until("the growth after that waits, or is kept", func() bool {
		_, waits := n.server.local.GrowthWait(n.work)
		return waits || n.kept()
	})
	if n.kept() {
		t.Error("the next growth does not wait, as if something else had changed")
	}
}

// TestGrowthIsKeptAtTheEnd: growth that waits is kept before the process stops that knows
// when it is due.
func TestGrowthIsKeptAtTheEnd(t *testing.T) {
	n := newGrowingNotes(t)
	must(t, n.server.Close())
	n.server = n.start()
	if !n.kept() {
		t.Error("growth that waited is in no snapshot when the daemon has stopped")
	}
}
