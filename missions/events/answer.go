package events

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// answerPatience is how long the end of a turn waits for its answer; a hook
// has two seconds, and most of them belong to the capture.
const answerPatience = 800 * time.Millisecond

// wordlessPatience is that of an end without last words, which may have none.
const wordlessPatience = 250 * time.Millisecond

// answerPollInterval is between looks if nobody reports changes, and watchedAnswerInterval
// if a watcher does, which may miss one.
const answerPollInterval = 5 * time.Millisecond

const watchedAnswerInterval = 100 * time.Millisecond

// awaitAnswer waits until the session's file holds the turn that ends, with its answer.
// Agents write the last line of a turn at the time of its end, or a moment later, and of a
// short turn the prompt too: a snapshot that did not wait would lack the turn. An end without
// last words (Claude Code before 2.1, which mostly writes first) is waited for only a moment,
// and only while the file shows the turn under way. One that trails is waited for longer, and
// until the turn has said something since the prompt. It returns what the file shows of the
// turn's end, and empty if it shows nothing.
func (r *report) awaitAnswer(ctx context.Context, m *projects.Mission) (shown turnEnding) {
	e := r.event
	shown = turnEnding{state: sessions.StateEmpty}
	if e.Kind != sessions.KindStop || e.Transcript == "" || e.Agent != "" {
		return shown
	}
	_, trails := r.adapter.(sessions.Trailing)
	seen := int64(-1)
	there := func() bool {
		info, err := os.Stat(e.Transcript)
		if err != nil || info.Size() == seen {
			return false
		}
		seen = info.Size()
		state, turn, _ := conversations.NewestTurn(r.adapter, e.Transcript, seen) // what can't be read shows nothing
		if r.presence.IsOfRunningTurn(m, turn, info.ModTime()) {
			shown = turnEnding{state, turn.Refusal}
		}
		if trails && (state == sessions.StateEmpty || m.LastPrompt != nil && !r.IsSincePrompt(m, turn.End)) {
			return false
		}
		return state != sessions.StateRunning && matchesEndedTurn(turn, e) && !r.endedBeforePrompt(m, turn)
	}
	most := answerPatience
	if late, ok := r.adapter.(sessions.LateWriting); ok {
		most = late.AnswerPatience()
	}
	wordless := e.Message == "" && !trails
	if wordless {
		most = wordlessPatience
	}
	if there() || wordless && shown.state != sessions.StateRunning {
		return shown
	}
	patience, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	changed, look, stop := r.watchFile(e.Transcript)
	defer stop()
	for !there() {
		select {
		case <-changed:
		case <-time.After(look):
		case <-patience.Done():
			if ctx.Err() == nil && !there() { // a machine under load may not have looked since
				r.Logger.Warn("the turn's answer was not in the session file", "session", e.SessionID)
			}
			return shown
		}
	}
	return shown
}

// turnEnding is what a session's file shows of how a turn came to its end.
type turnEnding struct {
	state   sessions.State
	refusal string // as sessions.Turn has it
}

// failedEvent is the turn's end in the words of the agent's API, as far as they are told.
func (e turnEnding) failedEvent() missions.Event {
	return missions.TurnFailed{Message: cmp.Or(projects.RedactText(sessions.BriefRefusal(e.refusal)), "the agent's API refused")}
}

// correctTurnEnd is what the end of a turn means that its agent reports, where the session's
// file shows how it came: Gemini CLI reports one that its API refused, or that its user
// stopped, as it does any other.
func correctTurnEnd(reported missions.Event, shown turnEnding) missions.Event {
	end, ended := reported.(missions.TurnEnded)
	switch {
	case !ended || end.Background:
	case shown.state == sessions.StateError:
		return shown.failedEvent()
	case shown.state == sessions.StateInterrupted:
		return missions.TurnStopped{}
	}
	return reported
}

// matchesEndedTurn reports whether a turn that is over is the one whose end an event reports:
// by the id of its prompt or, as that of a prompt which was typed ahead may be
// another, by its last words.
func matchesEndedTurn(turn sessions.Turn, e sessions.Event) bool {
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

// endedBeforePrompt reports whether a turn was over before the last prompt was heard: it may
// have ended in the same words, and have the same id where the session was resumed since.
func (r *report) endedBeforePrompt(m *projects.Mission, turn sessions.Turn) bool {
	return r.event.PromptID != "" && turn.ID != "" && m.LastPrompt != nil && !r.IsSincePrompt(m, turn.End)
}

// watchFile tells of changes of a file, as far as it can, and how often to look
// whatever is told.
func (l *Listener) watchFile(path string) (changed <-chan struct{}, look time.Duration, stop func()) {
	told := make(chan struct{}, 1)
	if l.Watching != nil {
		stop = l.Watching.Follow(path, func() {
			select {
			case told <- struct{}{}:
			default:
			}
		})
	}
	if stop == nil {
		return told, answerPollInterval, func() {}
	}
	return told, watchedAnswerInterval, stop
}
