package qwen

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const (
	fileExt  = ".jsonl"
	chatsDir = "chats"
)

// Root is where the sessions are: in $QWEN_RUNTIME_DIR, else where the user's settings say,
// else where these are.
func (a Adapter) Root(env sessions.Environ) string {
	if dir := env.Vars[varRuntime]; dir != "" {
		return env.Expand(dir)
	}
	root := a.ConfigRoot(env)
	settings, err := os.ReadFile(filepath.Join(root, userSettings))
	if err != nil {
		return root
	}
	dir := jsontext.Text(jsontext.Lookup(jsontext.Lookup(settings, "advanced"), "runtimeOutputDir"))
	if dir = env.Expand(dir); !filepath.IsAbs(dir) { // also one that is relative to wherever it is started
		return root
	}
	return dir
}

// projectDir is where Qwen Code running in cwd keeps its sessions.
func (a Adapter) projectDir(env sessions.Environ, cwd string) string {
	return filepath.Join(a.Root(env), "projects", sessions.DashedName(cwd))
}

// Path is the session's file, which is called by its id.
func (a Adapter) Path(env sessions.Environ, cwd, id string) string {
	return filepath.Join(a.projectDir(env, cwd), chatsDir, id+fileExt)
}

// idOf is the id of the session that has a file; false for any other file.
func idOf(path string) (string, bool) {
	id, ok := strings.CutSuffix(filepath.Base(path), fileExt)
	return id, ok && sessions.IsUUID(id) && filepath.Base(filepath.Dir(path)) == chatsDir
}

// Stored are the files of all directories.
func (a Adapter) Stored(env sessions.Environ) iter.Seq[string] {
	return func(yield func(string) bool) {
		projects := filepath.Join(a.Root(env), "projects")
		dirs, _ := os.ReadDir(projects) // what can't be read holds no session
		for _, dir := range dirs {
			chats := filepath.Join(projects, dir.Name(), chatsDir)
			files, _ := os.ReadDir(chats)
			for _, f := range files {
				path := filepath.Join(chats, f.Name())
				if _, is := idOf(path); is && f.Type().IsRegular() && !yield(path) {
					return
				}
			}
		}
	}
}

// Open reads a session's identity: the client goes by the file's name, and by the working
// directory of its first line. ErrNoSession also for a file that has none.
func (Adapter) Open(path string) (sessions.Session, error) {
	id, ok := idOf(path)
	if !ok {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	}
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return sessions.Session{}, err
	}
	defer f.Close()
	s := sessions.Session{ID: id, Path: path, Modified: info.ModTime(), Size: info.Size()}
	split := jsonlines.Splitter{Line: func(b []byte, _ int64) error {
		if l, ok := parseLine(b); ok && l.cwd != "" {
			s.Cwd = l.cwd
			return errFound
		}
		return nil
	}}
	if err := split.Drain(f); err == nil {
		return sessions.Session{}, fmt.Errorf("open session %s: %w", path, sessions.ErrNoSession)
	} else if !errors.Is(err, errFound) {
		return sessions.Session{}, err
	}
	return s, nil
}

var errFound = errors.New("found")
