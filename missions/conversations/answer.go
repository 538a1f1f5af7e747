package conversations

import (
	"io"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

// TurnTailBytes is read of a session first, and more only where the turn
// began before it: what is read follows the turn, not the conversation.
const TurnTailBytes = 256 << 10

// NewestTurn is the newest turn of a session file of that size, and what the file
// shows of it; an empty one if there is none.
func NewestTurn(a sessions.Adapter, path string, size int64) (sessions.State, sessions.Turn, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return sessions.StateEmpty, sessions.Turn{}, err
	}
	defer f.Close()
	for tail := int64(TurnTailBytes); ; tail *= 8 {
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
