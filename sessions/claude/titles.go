package claude

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// When it starts, 1.0 asks the model for titles of the sessions of its project, newest
// first, and writes them into the file of a session that it only begins, whose id it
// has made up. One that it is to resume it reads meanwhile: if a title comes before
// that is done, which takes as long as MCP servers and hooks for SessionStart do, it
// goes on in the file with the title, though in the resumed session by what each line
// says. `claude --resume` reads the file of that name alone, so that what was said
// there is lost to 1.0, with hooks or without.

// titled is the name of the file that keeps 1.0 from it: where the newest file of a
// project begins with a title, it takes all as titled. No version takes a name that is
// no UUID for a session.
const titled = "umbra" + transcriptExt

const title = `{"type":"summary","summary":"umbra: keeps Claude Code 1.0 from going on in another file","leafUuid":""}` + "\n"

// staysTogether has a session that 1.0 resumes stay in its file. Which version it is,
// the session says that it has written last.
func (l *launch) staysTogether() {
	file := l.o.Transcript
	if !l.o.Resume {
		file = l.a.Path(l.o.Env, l.o.Dir, l.cmd.SessionID) // the user's command resumes it, or there is none
	}
	if !strings.HasPrefix(l.a.Client(file), "1.") {
		return
	}
	l.cmd.Files = append(l.cmd.Files, sessions.File{Path: filepath.Join(filepath.Dir(file), titled), Mode: 0o600, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, title)
		return err
	}})
}

// mostStray is how much of a file is looked at: a line of it has some 80 bytes.
const mostStray = 64 << 10

// isStray reports whether a session that is said to be resumed is none: it has no
// file, or one with titles of sessions and nothing else. 1.0 says that of the id that
// it has made up, and goes on in the session that it was to resume. 2.1 means the
// session, be its file where another directory's are, as of another worktree; its newer
// versions tell how long the conversation is.
func isStray(path string, told bool) bool {
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return !told && path != "" && errors.Is(err, sessions.ErrNoSession) && !isElsewhere(path)
	}
	defer f.Close()
	if info.Size() == 0 || info.Size() > mostStray {
		return false
	}
	spoken := errors.New("a line of a conversation")
	split := jsonlines.Splitter{Line: func(b []byte, _ int64) error {
		if l, ok := parseLine(b); !ok || l.kind != "summary" {
			return spoken
		}
		return nil
	}}
	return split.Drain(f) == nil
}

// isElsewhere reports whether another project has a session file of that name.
func isElsewhere(path string) bool {
	projects := filepath.Dir(filepath.Dir(path))
	entries, err := os.ReadDir(projects)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, err := os.Lstat(filepath.Join(projects, e.Name(), filepath.Base(path)))
		return err == nil
	})
}
