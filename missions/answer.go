package missions

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// answerPatience is how long the end of a turn waits for its answer; a hook
	// has two seconds, and most of them belong to the capture.
	answerPatience = 800 * time.Millisecond
	// answerPoll is between looks where nobody tells of changes, and answerLook
	// where somebody does: of that a change may be missed.
	answerPoll = 5 * time.Millisecond
	answerLook = 100 * time.Millisecond
	// answerTail is read of a session first, and more only where the turn
	// began before it: what is read follows the turn, not the conversation.
	answerTail = 256 << 10
)

// awaitAnswer waits until the session's file holds the answer that ended the
// turn: agents report the end of a turn, and write its last line a moment later
// or at the same time. Without it the snapshot of the turn's end would be of a
// conversation without its answer. A file that shows no turn under way is not
// waited for, whatever the event says.
func (l *Local) awaitAnswer(ctx context.Context, a sessions.Adapter, e sessions.Event) {
	if e.Kind != sessions.KindStop || e.Message == "" || e.Transcript == "" || e.Agent != "" {
		return
	}
	seen := int64(-1)
	there := func() bool {
		info, err := os.Stat(e.Transcript)
		if err != nil || info.Size() == seen {
			return false
		}
		seen = info.Size()
		return newestState(a, e.Transcript, seen) != sessions.StateRunning
	}
	if there() {
		return
	}
	patience, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	changed, look, stop := l.changesOf(e.Transcript)
	defer stop()
	for !there() {
		select {
		case <-changed:
		case <-time.After(look):
		case <-patience.Done():
			if ctx.Err() == nil && !there() { // a machine under load may not have looked since
				l.log.Warn("the turn's answer was not in the session file", "session", e.SessionID)
			}
			return
		}
	}
}

// changesOf tells of changes of a file, as far as it can, and how often to look
// whatever is told.
func (l *Local) changesOf(path string) (changed <-chan struct{}, look time.Duration, stop func()) {
	told := make(chan struct{}, 1)
	if l.watching != nil {
		stop = l.watching.Follow(path, func() {
			select {
			case told <- struct{}{}:
			default:
			}
		})
	}
	if stop == nil {
		return told, answerPoll, func() {}
	}
	return told, answerLook, stop
}

// newestState is what the newest turn of a session file of that size shows.
func newestState(a sessions.Adapter, path string, size int64) sessions.State {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return sessions.StateEmpty
	}
	defer f.Close()
	for tail := int64(answerTail); ; tail *= 8 {
		from := max(0, size-tail)
		follower := a.Follow()
		p, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
		if err != nil {
			return sessions.StateEmpty
		}
		follower.Feed(p) // a line cut at its start counts as bad
		if c := follower.Conversation(); len(c.Turns) > 0 || from == 0 {
			return c.State
		}
	}
}
