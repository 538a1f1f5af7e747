package pi

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const (
	fileExt     = ".jsonl"
	stampLayout = "2006-01-02T15-04-05.000Z"
)

// allSessions is the directory that its user has chosen for the sessions of all
// directories, "" if there is none.
func (a Adapter) allSessions(env sessions.Environ) string {
	if dir := env.Vars[varSessions]; dir != "" {
		return env.Expand(dir)
	}
	settings, err := os.ReadFile(filepath.Join(a.Root(env), "settings.json"))
	if err != nil {
		return ""
	}
	if dir := jsontext.Text(jsontext.Lookup(settings, "sessionDir")); dir != "" {
		return env.Expand(dir)
	}
	return ""
}

// sessionDir is where pi running in cwd keeps its sessions.
func (a Adapter) sessionDir(env sessions.Environ, cwd string) string {
	if all := a.allSessions(env); all != "" {
		return all
	}
	return filepath.Join(a.Root(env), "sessions", dirName(cwd))
}

// dirName is pi's for a directory: without its first slash, and with dashes.
func dirName(cwd string) string {
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(cwd, "/")) + "--"
}

// Path is the file of a session of that directory: pi goes by the id in its first line. A
// new one is called as pi would call it.
func (a Adapter) Path(env sessions.Environ, cwd, id string) string {
	dir := a.sessionDir(env, cwd)
	for _, name := range files(dir) {
		if !strings.HasSuffix(name, "_"+id+fileExt) && name != id+fileExt {
			continue
		}
		if s, err := (Adapter{}).Open(filepath.Join(dir, name)); err == nil && s.ID == id && s.Cwd == cwd {
			return s.Path
		}
	}
	return filepath.Join(dir, nameOf(id))
}

// nameOf is how the file of a session is called that Umbra writes.
func nameOf(id string) string {
	at, told := sessions.TimeOf(id)
	if !told {
		return id + fileExt
	}
	return strings.ReplaceAll(at.Format(stampLayout), ".", "-") + "_" + id + fileExt
}

// files are the names of a directory's session files.
func files(dir string) []string {
	entries, _ := os.ReadDir(dir) // what can't be read holds no session
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fileExt) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Stored are the files of all directories.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	var dirs []string
	if all := a.allSessions(env); all != "" {
		dirs = append(dirs, all)
	}
	base := filepath.Join(a.Root(env), "sessions")
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(base, e.Name()))
		}
	}
	return func(yield func(string) bool) {
		for _, dir := range dirs {
			for _, name := range files(dir) {
				if !yield(filepath.Join(dir, name)) {
					return
				}
			}
		}
	}
}

// mostHeader is how long a session's first line may be.
const mostHeader = 64 << 10

// Open reads a session's identity from its first line. ErrNoSession also for a file that
// begins with anything else: pi takes none such.
func (Adapter) Open(path string) (sessions.Session, error) {
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{Path: path, Modified: info.ModTime(), Size: info.Size()}
	first, err := bufio.NewReader(io.LimitReader(f, mostHeader)).ReadBytes('\n')
	l, ok := parseLine(first)
	if err != nil || !ok || l.kind != typeSession || !isID(l.id) {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	s.ID, s.Cwd = l.id, l.cwd
	return s, nil
}

// isID reports whether s can be the id of a session (assertValidSessionId of pi's
// session-manager).
func isID(s string) bool {
	if s == "" || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// instant is a time in milliseconds.
func instant(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
