package missions

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// answerPatience is how long the end of a turn waits for its answer; a hook
	// has two seconds, and most of them belong to the capture.
	answerPatience = 800 * time.Millisecond
	// wordlessPatience is that of an end without last words, which may have none.
	wordlessPatience = 250 * time.Millisecond
	// answerPoll is between looks where nobody tells of changes, and answerLook
	// where somebody does: of that a change may be missed.
	answerPoll = 5 * time.Millisecond
	answerLook = 100 * time.Millisecond
	// answerTail is read of a session first, and more only where the turn
	// began before it: what is read follows the turn, not the conversation.
	answerTail = 256 << 10
)

// awaitAnswer waits until the session's file holds the turn that ends, with its
// answer: agents report the end of a turn, and write its last line a moment later
// or at the same time, and of a short turn the prompt with it. Without it the
// snapshot of the turn's end would be of a conversation without that turn. Where
// the agent does not tell which turn ends, a file that shows none under way is not
// waited for, and where it tells no last words (Claude Code before 2.1, which mostly
// writes first) one that shows the turn under way is waited for a moment. It returns
// what the file shows of that turn, and empty where it was not asked or shows nothing.
func (l *Local) awaitAnswer(ctx context.Context, m *loaded, a sessions.Adapter, e sessions.Event) (shown ending) {
	shown = ending{state: sessions.StateEmpty}
	if e.Kind != sessions.KindStop || e.Transcript == "" || e.Agent != "" {
		return shown
	}
	seen := int64(-1)
	there := func() bool {
		info, err := os.Stat(e.Transcript)
		if err != nil || info.Size() == seen {
			return false
		}
		seen = info.Size()
		state, turn, _ := newestTurn(a, e.Transcript, seen) // what can't be read shows nothing
		if l.runs(m, turn, info.ModTime()) {
			shown = ending{state, turn.Refusal}
		}
		return state != sessions.StateRunning && ends(turn, e) && !l.overBefore(m, turn, e)
	}
	most := answerPatience
	if e.Message == "" {
		most = wordlessPatience
	}
	if there() || e.Message == "" && shown.state != sessions.StateRunning {
		return shown
	}
	patience, cancel := context.WithTimeout(ctx, most)
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
			return shown
		}
	}
	return shown
}

// ending is what a session's file shows of how a turn came to its end.
type ending struct {
	state   sessions.State
	refusal string // as sessions.Turn has it
}

// failed is the turn's end in the words of the agent's API, as far as they are told.
func (e ending) failed() Event {
	return TurnFailed{Message: cmp.Or(sessions.BriefRefusal(e.refusal), "the agent's API refused")}
}

// endedAs is what the end of a turn means that its agent reports, where the session's
// file shows how it came: Gemini CLI reports one that its API refused, or that its user
// stopped, as it does any other.
func endedAs(reported Event, shown ending) Event {
	end, ended := reported.(TurnEnded)
	switch {
	case !ended || end.Background:
	case shown.state == sessions.StateError:
		return shown.failed()
	case shown.state == sessions.StateInterrupted:
		return TurnStopped{}
	}
	return reported
}

// ends reports whether a turn that is over is the one whose end an event reports:
// by the id of its prompt or, as that of a prompt which was typed ahead may be
// another, by its last words.
func ends(turn sessions.Turn, e sessions.Event) bool {
	switch {
	case e.PromptID == "":
		return true
	case turn.ID == e.PromptID:
		return true
	case len(turn.Texts) == 0:
		return false
	}
	last := turn.Texts[len(turn.Texts)-1]
	return strings.HasSuffix(strings.TrimSpace(e.Message), strings.TrimSpace(last.Text))
}

// overBefore reports whether a turn was over before the last prompt was heard: it may
// have ended in the same words, and have the same id where the session was resumed since.
func (l *Local) overBefore(m *loaded, turn sessions.Turn, e sessions.Event) bool {
	return e.PromptID != "" && turn.ID != "" && m.LastPrompt != nil && !l.sincePrompt(m, turn.End)
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

// newestTurn is the newest turn of a session file of that size, and what the file
// shows of it; an empty one if there is none.
func newestTurn(a sessions.Adapter, path string, size int64) (sessions.State, sessions.Turn, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return sessions.StateEmpty, sessions.Turn{}, err
	}
	defer f.Close()
	for tail := int64(answerTail); ; tail *= 8 {
		from := max(0, size-tail)
		follower := a.Follow()
		p, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
		if err != nil {
			return sessions.StateEmpty, sessions.Turn{}, err
		}
		follower.Feed(p) // a line cut at its start counts as bad
		c := follower.Conversation()
		if n := len(c.Turns); n > 0 {
			return c.State, c.Turns[n-1], nil
		}
		if from == 0 {
			return c.State, sessions.Turn{}, nil
		}
	}
}
