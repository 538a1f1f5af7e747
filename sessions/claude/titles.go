package claude

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// startsWithin is how long the file counts as newer than what other agents write there:
// 1.0 looks once it has started, and may ask its user before.
const startsWithin = time.Hour

// staysTogether has a session that 1.0 resumes stay in its file. Which version it is,
// the session says that it has written last; where the user's command leaves open which
// is resumed, the newest does.
func (l *launch) staysTogether() {
	file := l.o.Transcript
	switch {
	case l.o.Resume:
	case l.cmd.SessionID != "":
		file = l.a.Path(l.o.Env, l.o.Dir, l.cmd.SessionID) // the user's command resumes it, or there is none
	case l.args.Has("--resume", "--continue"):
		file = newestIn(l.a.projectDir(l.o.Env, l.o.Dir))
	}
	if !strings.HasPrefix(l.a.Client(file), "1.") {
		return
	}
	l.cmd.Files = append(l.cmd.Files, sessions.File{
		Path: filepath.Join(filepath.Dir(file), titled), Mode: 0o600, ModTime: l.o.Now.Add(startsWithin),
		Else: "Claude Code 1.0 may go on in another file than that of its session, and forget what is said there",
		Write: func(w io.Writer) error {
			_, err := io.WriteString(w, title)
			return err
		},
	})
}

// newestIn is the session file of a project that was written last, "" if there is none.
func newestIn(dir string) (file string) {
	entries, _ := os.ReadDir(dir)
	var newest time.Time
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), transcriptExt)
		info, err := e.Info()
		if ok && sessions.IsUUID(id) && err == nil && info.ModTime().After(newest) {
			file, newest = filepath.Join(dir, e.Name()), info.ModTime()
		}
	}
	return file
}

// Leftovers implements sessions.Companion.
func (a Adapter) Leftovers(env sessions.Environ) (list []sessions.Extra) {
	projects := filepath.Join(a.Root(env), "projects")
	entries, _ := os.ReadDir(projects)
	for _, e := range entries {
		file := filepath.Join(projects, e.Name(), titled)
		if _, err := os.Lstat(file); err == nil {
			list = append(list, sessions.Extra{Path: file, Own: func(content []byte) bool { return string(content) == title }})
		}
	}
	return list
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
