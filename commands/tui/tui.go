// Package tui is the terminal interface: the missions of a project, their
// snapshots by turn, and what each of them changed and said. It shows what
// missions.Service tells it and asks it to act; update and view are pure, and
// everything slow is a command that answers with a message.
package tui

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

// Options are what the interface needs of the world.
type Options struct {
	Service missions.Service
	Caller  missions.Caller
	Mission string // to begin with; "" is the default one
	In      io.Reader
	Out     io.Writer
	Environ []string
	Color   bool // false: bold, dim and reverse alone
	Palette highlight.Palette
	Stopped error // why nothing can be written, nil if it can
	// Checked is what the check of its contest says of a fork as it is now; nil where none
	// was run.
	Checked func(missions.Mission) *missions.Check
	// About is the last thing that happened in a mission, or what it asks, in a few words.
	About func(missions.Mission) string
	Now   func() time.Time
	Words
	// Open shows a file as it was, in the pager or a copy of it in the editor, on
	// the terminal, which is free for it. The note is for the user.
	Open func(name string, content []byte, edit bool) (note string, err error)

	// Page shows text in the pager, on the terminal, which is free for it.
	Page func(text string) error

	// EndMerge runs umbra merge for the merge that waits into a mission, with flags that end
	// it, and returns what it prints.
	EndMerge func(ctx context.Context, into string, flags ...string) []string

	// EditMerged has the user write what a path of a merge becomes, on the terminal, which is
	// free for it. The path has its texts.
	EditMerged func(missions.MergedPath) ([]byte, error)
	// KeepEdited keeps what the user wrote and the merge did not take, and says where.
	KeepEdited func(path string, content []byte) string

	// later sends a message after a time; tests have no clock.
	later func(time.Duration, tea.Msg) tea.Cmd
	// release runs something while the terminal is released; tests have none.
	release func(tea.ExecCommand, tea.ExecCallback) tea.Cmd
}

// Words are how the command line puts things, so that both say the same. Text
// that they return is clean and may hold colours.
type Words struct {
	// Clean makes foreign text fit to be shown on one line.
	Clean func(string) string
	// Place is a path as people say it, on one line.
	Place func(path string) string
	// Path is a path within a workspace, on one line, quoted where it has odd characters.
	Path func(string) string
	// Count is a number with its noun.
	Count func(n int, noun string) string
	// Short is an id as people read it.
	Short func(id string) string
	// Plan are the lines that say what a restore, an undo or a redo would do, or
	// has done.
	Plan func(did string, r missions.RestoreResult) []string
	// Promoted are the lines that say what a promotion would do, or has done.
	Promoted func(missions.PromoteResult) []string
	// Differences are the changed lines of forks, path by path.
	Differences func([]missions.ComparedFork) []string
	// Merged are the lines that say what a merge would do, or has done.
	Merged func(missions.MergeResult) []string
	// MergeAnswers are what an open path of a merge may become.
	MergeAnswers func(missions.MergeResult, missions.MergedPath) []MergeAnswer
	// MergeTexts are what each side has changed at a path, and what is proposed.
	MergeTexts func(missions.MergedPath) []string
	// MergeProposal says who proposes what a path becomes, and why.
	MergeProposal func(missions.MergeProposal) string
	// Forked are the lines that say what a fork made.
	Forked func(missions.ForkResult) []string
	// Removed are the lines that say what went with missions, or would go.
	Removed func(r missions.RemoveResult, what string) []string
	// Reported are the lines that say what a fork reports to its parent's agent.
	Reported func(missions.ReportResult) []string
}

// Run shows the interface until the user leaves it or the context ends; the
// error is then the context's. The terminal is as it was before. An agent that is to
// be launched on it is returned, else nil.
func Run(ctx context.Context, o Options) (*Launch, error) {
	o.release = tea.Exec
	o.later = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	var program *tea.Program
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what is still being asked for nobody waits for
	notified := missions.WithNotify(ctx, func(n missions.Notice) { program.Send(noticed(n)) })
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(),
	}
	if !o.Color {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	program = tea.NewProgram(newModel(notified, o), options...)
	last, err := program.Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return nil, ctx.Err()
	}
	if m, ok := last.(model); ok {
		return m.leaving, err
	}
	return nil, err
}
