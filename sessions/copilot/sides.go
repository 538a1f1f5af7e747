package copilot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// workspaceFile says where a session works: it is this file that decides in which directory
// tools run once the session is resumed.
const workspaceFile = "workspace.yaml"

// snapshotsDir has what /rewind puts back, by absolute paths, which are written twice: a
// copy of it would have /rewind in a fork write into its source.
const snapshotsDir = "rewind-file-snapshots"

// isOwn reports whether a file of a session's directory is of that session alone: locks,
// databases, and what the main file is.
func isOwn(name string) bool {
	for _, prefix := range []string{".", "inuse.", fileName, "session.db"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return path.Ext(name) == ".lock"
}

// Sides lists what a session has in its directory: where it works, its plan, summaries of
// what was compacted, and files that the agent keeps for itself.
func (a Adapter) Sides(env sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	dir := filepath.Dir(s.Path)
	var sides []sessions.Side
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && e.Name() == snapshotsDir:
			return fs.SkipDir
		case !e.Type().IsRegular() || isOwn(e.Name()):
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		name, relErr := filepath.Rel(dir, file)
		if err = errors.Join(err, relErr); err == nil {
			sides = append(sides, sessions.Side{Name: filepath.ToSlash(name), Path: file, Size: info.Size(), Mode: info.Mode().Perm()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list side files: %w", err)
	}
	slices.SortFunc(sides, func(x, y sessions.Side) int { return cmp.Compare(x.Name, y.Name) })
	return sides, nil
}

// PlaceSides puts them into the copy's directory.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	var files []sessions.File
	for _, name := range sides {
		if !sessions.IsSideName(name) || isOwn(path.Base(name)) || strings.HasPrefix(name, snapshotsDir+"/") {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		if name != workspaceFile {
			files = append(files, a.placed(env, name, to, name, func(w io.Writer) error { return copySide(w, name, open, to) }))
		}
	}
	given := ""
	if slices.Contains(sides, workspaceFile) {
		given = workspaceFile
	}
	return append(files, a.placed(env, workspaceFile, to, given, func(w io.Writer) error { return writeWorkspace(w, given, open, to) })), nil
}

func (a Adapter) placed(env sessions.Environ, name string, to sessions.Rewrite, side string, write func(io.Writer) error) sessions.File {
	return sessions.File{Path: filepath.Join(a.sessionDir(env, to.NewID), filepath.FromSlash(name)), Mode: 0o600, Side: side, Write: write}
}

// copySide copies a file; in Markdown, the agent's own notes, the paths are the copy's.
func copySide(w io.Writer, name string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) error {
	r, err := open(name)
	if err != nil {
		return fmt.Errorf("read side file %s: %w", name, err)
	}
	defer r.Close()
	if path.Ext(name) != ".md" {
		_, err = io.Copy(w, r)
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read side file %s: %w", name, err)
	}
	moved := jsonlines.RewritePaths(string(text), to)
	if to.OldID != "" {
		moved = strings.ReplaceAll(moved, to.OldID, to.NewID)
	}
	_, err = io.WriteString(w, moved)
	return err
}

// keptKeys are the lines of workspace.yaml that a copy has too. What else is in it Copilot
// finds out by itself (Git), or it is the source's alone (its copy in the cloud).
var keptKeys = []string{"name", "user_named", "summary_count", "created_at"}

// writeWorkspace says that the copy works in its own workspace.
func writeWorkspace(w io.Writer, given string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "id: %s\ncwd: %s\n", to.NewID, jsontext.Quote(to.NewCwd)) // YAML reads JSON's strings
	if given != "" {
		r, err := open(given)
		if err != nil {
			return fmt.Errorf("read side file %s: %w", given, err)
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read side file %s: %w", given, err)
		}
		kept := false
		for line := range bytes.Lines(text) {
			if key, _, ok := bytes.Cut(line, []byte(":")); line[0] != ' ' && line[0] != '\n' {
				kept = ok && slices.Contains(keptKeys, string(key))
			}
			if kept {
				out.Write(line)
			}
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}
