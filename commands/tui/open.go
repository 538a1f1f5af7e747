package tui

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// opened is a file as it was, or why it can't be had.
type opened struct {
	name    string
	content []byte
	edit    bool
	err     error
}

// closed is the end of the program that showed it.
type closed struct {
	note string
	err  error
}

// openFile shows the file that the pointer is on as it was: in the pager, or a
// copy in the editor. Where no file is meant, the keys go to where one is chosen.
func (m *model) openFile(edit bool) tea.Cmd {
	if !m.details.current() {
		m.say("this is being read still")
		return nil
	}
	f, ok := m.details.chosenFile(m.focus == inDetails)
	if !ok {
		m.focus = inDetails
		m.layDetails()
		m.say("choose a file, then o opens it as it was")
		return nil
	}
	moment, path := m.details.now.sideOf(f)
	if moment == "" {
		return nil
	}
	ctx, o := m.ctx, m.o
	r := missions.CatRequest{Caller: o.Caller, Moment: moment, Path: path}
	r.Caller.Cwd = m.at().Workspace // which the path is relative to
	return func() tea.Msg {
		content, err := o.Service.Cat(ctx, r)
		return opened{path, content, edit, err}
	}
}

// sideOf is where a file is to be had as it was: after what is shown, or before
// it if it is gone then, or there is no after but the workspace itself.
func (d detail) sideOf(f missions.FileChange) (moment, path string) {
	if f.Type != "deleted" && d.after != "" {
		return d.after, f.Path
	}
	if f.OldPath != "" {
		return d.before, f.OldPath
	}
	return d.before, f.Path
}

// take hands the terminal to the program that shows the file.
func (msg opened) take(m *model) tea.Cmd {
	if msg.err != nil {
		m.fail(msg.err)
		return nil
	}
	var note string
	open := m.o.Open
	show := func() (err error) {
		note, err = open(msg.name, msg.content, msg.edit)
		return err
	}
	return m.o.release(aside(show), func(err error) tea.Msg { return closed{note, err} })
}

// take tells the user of it.
func (msg closed) take(m *model) {
	switch {
	case msg.err != nil:
		m.fail(msg.err)
	case msg.note != "":
		m.say(m.o.Clean(msg.note))
	}
}

// aside is run while the terminal is released. What it runs has the streams
// already.
type aside func() error

// Run implements tea.ExecCommand.
func (a aside) Run() error { return a() }

// SetStdin implements tea.ExecCommand.
func (aside) SetStdin(io.Reader) {}

// SetStdout implements tea.ExecCommand.
func (aside) SetStdout(io.Writer) {}

// SetStderr implements tea.ExecCommand.
func (aside) SetStderr(io.Writer) {}
