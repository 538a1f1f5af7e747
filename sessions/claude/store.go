package claude

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const transcriptExt = ".jsonl"

// Root is $CLAUDE_CONFIG_DIR, else ~/.claude.
func (Adapter) Root(env sessions.Environ) string {
	if dir := env.Vars[varConfigDir]; dir != "" {
		return filepath.Clean(dir)
	}
	return filepath.Join(env.Home, ".claude")
}

// projectDir is the directory of cwd's transcripts. CLAUDE_CODE_PROJECT_DIR_NAME
// counts only together with CLAUDE_CONFIG_DIR, and not with every version (2.1.197
// ignores it, 2.1.329 does not): it is believed once such a directory is there.
func projectDir(env sessions.Environ, cwd string) string {
	projects := filepath.Join(Adapter{}.Root(env), "projects")
	if over := env.Vars[varProjectDir]; env.Vars[varConfigDir] != "" && isDirName(over) {
		if info, err := os.Stat(filepath.Join(projects, over)); err == nil && info.IsDir() {
			return filepath.Join(projects, over)
		}
	}
	return filepath.Join(projects, slug(cwd))
}

// isDirName reports whether Claude Code takes s for a project directory's name.
func isDirName(s string) bool {
	return len(s) > 0 && len(s) <= 64 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// maxSlug is the length above which 2.1 shortens a directory's name and adds a
// hash. 2.0 does not shorten: with such a path it keeps no session.
const maxSlug = 200

// slug is the directory name of a working directory: every UTF-16 code unit
// that is no ASCII letter or digit becomes a dash, and a long name ends in the
// base-36 Java hash of the path. Not invertible.
func slug(cwd string) string {
	name := sessions.DashedName(cwd)
	if len(name) <= maxSlug {
		return name
	}
	var hash int32
	for _, u := range utf16.Encode([]rune(cwd)) {
		hash = hash*31 + int32(u)
	}
	abs := int64(hash)
	if abs < 0 {
		abs = -abs
	}
	return name[:maxSlug] + "-" + strconv.FormatInt(abs, 36)
}

// NewID is the random UUID.
func (Adapter) NewID(random string, _ time.Time) string { return random }

// Path is where Claude Code running in cwd keeps the session with that id.
func (a Adapter) Path(env sessions.Environ, cwd, id string) string {
	return filepath.Join(projectDir(env, cwd), id+transcriptExt)
}

// Open reads a session's identity. Its id is the file's name: that is what
// Claude Code goes by. Its cwd is the first that its directory is named for,
// since an agent may change directory or be resumed from another; else the first
// there is. ErrNoSession also if the file's name is no session's.
func (Adapter) Open(path string) (sessions.Session, error) {
	id, ok := strings.CutSuffix(filepath.Base(path), transcriptExt)
	if !ok || !sessions.IsUUID(id) {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{ID: id, Path: path, Modified: info.ModTime(), Size: info.Size()}
	s.Cwd, err = homeOf(f, filepath.Base(filepath.Dir(path)))
	return s, err
}

// Stored are the transcripts of all directories. Those of subagents are below one of
// their session's, or are called otherwise.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	return func(yield func(string) bool) {
		projects := filepath.Join(Adapter{}.Root(env), "projects")
		dirs, _ := os.ReadDir(projects)
		for _, dir := range dirs {
			files, _ := os.ReadDir(filepath.Join(projects, dir.Name()))
			for _, f := range files {
				id, is := strings.CutSuffix(f.Name(), transcriptExt)
				if is && sessions.IsUUID(id) && f.Type().IsRegular() && !yield(filepath.Join(projects, dir.Name(), f.Name())) {
					return
				}
			}
		}
	}
}

// defaultKept is how long Claude Code keeps a transcript where no setting says otherwise.
const defaultKept = 30

// KeptFor is cleanupPeriodDays of the user's settings. Claude Code sweeps nothing where
// these can't be read or name no whole number of days.
func (a Adapter) KeptFor(env sessions.Environ, readFile func(string) ([]byte, error)) time.Duration {
	days := defaultKept
	text, err := readFile(filepath.Join(a.Root(env), userSettings))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return 0
	default:
		settings := struct {
			Days *int `json:"cleanupPeriodDays"`
		}{Days: &days}
		if json.Unmarshal(text, &settings) != nil || days < 1 {
			return 0
		}
	}
	const most = 100 * 365 // "for ever", which would not fit into a duration
	return time.Duration(min(days, most)) * 24 * time.Hour
}

// headSize is how far a transcript is searched for the directory it is named
// for, once it has named another.
const headSize = 1 << 20

// homeOf finds the working directory that dir is the encoded name of.
func homeOf(r io.Reader, dir string) (string, error) {
	first, match := "", ""
	split := jsonlines.Splitter{Line: func(b []byte, start int64) error {
		l, ok := parseLine(b)
		if !ok {
			return nil
		}
		cwd := jsontext.Text(l.cwd)
		if first == "" {
			first = cwd
		}
		if cwd != "" && slug(cwd) == dir {
			match = cwd
			return errFound
		}
		if first != "" && start > headSize {
			return errFound
		}
		return nil
	}}
	if err := split.Drain(r); err != nil && !errors.Is(err, errFound) {
		return "", err
	}
	if match != "" {
		return match, nil
	}
	return first, nil
}

var errFound = errors.New("found")

// firstLineOf parses the first object line of a file.
func firstLineOf(path string) (line, bool) {
	f, _, err := sessions.OpenFile(path)
	if err != nil {
		return line{}, false
	}
	defer f.Close()
	b, _ := bufio.NewReader(f).ReadBytes('\n')
	return parseLine(b)
}
