package generic

import (
	"errors"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// What stands in the words by which a tool says how it is started again.
const (
	wordTranscript = "{transcript}" // the file that it is to go on from
	wordSession    = "{session}"    // the session's id
)

// Resumable reports whether these words start a tool on a conversation that was
// put somewhere.
func (Adapter) Resumable(how []string) bool {
	return len(how) > 0 && slices.ContainsFunc(how, func(word string) bool { return strings.Contains(word, wordTranscript) })
}

// errNoCommand is of a tool that was started by hand.
var errNoCommand = errors.New("its hook has not said how it is started; give the command: umbra mission resume NAME -- COMMAND")

// Launch is the tool's own command, or, where there is a conversation to go on
// from, the one by which the tool has said that it is resumed.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	if o.Resume && !o.Fresh && a.Resumable(o.Resumption.How) {
		words := strings.NewReplacer(wordTranscript, o.Resumption.Transcript, wordSession, o.SessionID)
		argv := make([]string, len(o.Resumption.How))
		for i, word := range o.Resumption.How {
			argv[i] = words.Replace(word)
		}
		return sessions.Command{Argv: argv, SessionID: o.SessionID}, nil
	}
	if len(o.Command) == 0 || slices.Equal(o.Command, []string{Name}) {
		return sessions.Command{}, errNoCommand
	}
	return sessions.Command{Argv: slices.Clone(o.Command)}, nil
}
