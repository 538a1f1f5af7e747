package claude

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// sideMode is what Claude Code gives its own files.
const sideMode = 0o600

// PlaceSides maps side files to the copy's place. Subagents' transcripts are
// rewritten like the session; paths in big tool results, tasks and todos too.
//
// The file history keeps its names, which are hashes of the old paths: all
// versions look a copy up by the name that the transcript records, and give
// copies of the new paths other names, so none clash.
//
// A flat subagent file of 2.0 is found by its own id alone, so a copy in the
// same directory would need another: there the source's file serves both.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	var files []sessions.File
	for _, name := range sides {
		if !sessions.IsSideName(name) || isPrivate(path.Base(name)) {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		target := a.sidePath(env, name, to)
		if target == "" {
			continue
		}
		files = append(files, sessions.File{Path: target, Mode: sideMode, Write: func(w io.Writer) error {
			return writeSide(w, name, open, to)
		}})
	}
	return files, nil
}

// sidePath is where the copy's side file goes; "" for one that stays shared.
func (a Adapter) sidePath(env sessions.Environ, name string, to sessions.Rewrite) string {
	root, dir := a.Root(env), a.projectDir(env, to.NewCwd)
	rest := name[strings.IndexByte(name, '/')+1:]
	switch {
	case strings.HasPrefix(name, placeHistory):
		return filepath.Join(root, "file-history", to.NewID, rest)
	case strings.HasPrefix(name, placeTasks):
		return filepath.Join(root, "tasks", to.NewID, rest)
	case strings.HasPrefix(name, placeTodos):
		if rest == "self.json" {
			rest = to.NewID + ".json"
		}
		return filepath.Join(root, "todos", to.NewID+"-agent-"+path.Base(rest))
	case strings.HasPrefix(name, placeAgents):
		if a.projectDir(env, to.OldCwd) == dir {
			return ""
		}
		return filepath.Join(dir, path.Base(rest))
	}
	return filepath.Join(dir, to.NewID, filepath.FromSlash(name))
}

// writeSide writes one side file's content for the copy.
func writeSide(w io.Writer, name string, open func(string) (io.ReadCloser, error), to sessions.Rewrite) error {
	r, err := open(name)
	if err != nil {
		return fmt.Errorf("read side file %s: %w", name, err)
	}
	defer r.Close()
	switch {
	case strings.HasPrefix(name, placeHistory):
		_, err = io.Copy(w, r)
	case path.Ext(name) == transcriptExt:
		err = rewriteLines(w, r, to)
	default:
		var b []byte
		if b, err = io.ReadAll(r); err == nil {
			_, err = w.Write(rewriteText(b, to, path.Ext(name) != ".json"))
		}
	}
	if err != nil {
		return fmt.Errorf("place side file %s: %w", name, err)
	}
	return nil
}
