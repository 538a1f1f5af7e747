package gemini

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// A side file's portable name starts with the kind of place it comes from.
const (
	placeAgents  = "agents/"  // chats/<id>: what subagents said
	placeOutputs = "outputs/" // tool-outputs/session-<id>: results too long for the conversation
	placeOwn     = "own/"     // <id>: plans, tasks and the like
)

// places are the directories of a session's side files, below that of its
// project.
func places(project, id string) map[string]string {
	return map[string]string{
		placeAgents:  filepath.Join(project, "chats", id),
		placeOutputs: filepath.Join(project, "tool-outputs", filePrefix+id),
		placeOwn:     filepath.Join(project, id),
	}
}

// Sides lists what subagents said, results of tools that were too long for the
// conversation, and the session's plans and tasks.
func (a Adapter) Sides(_ sessions.Environ, s sessions.Session) ([]sessions.Side, error) {
	if !isName(s.ID) {
		return nil, nil
	}
	var sides []sessions.Side
	for prefix, dir := range places(filepath.Dir(filepath.Dir(s.Path)), s.ID) {
		more, err := sessions.SidesBelow(dir, prefix)
		if err != nil {
			return nil, fmt.Errorf("list side files: %w", err)
		}
		sides = append(sides, more...)
	}
	slices.SortFunc(sides, func(x, y sessions.Side) int { return cmp.Compare(x.Name, y.Name) })
	return sides, nil
}

// Subagent implements sessions.Delegating.
func (Adapter) Subagent(side string) (id string, ok bool) {
	name, below := strings.CutPrefix(side, placeAgents)
	id, is := strings.CutSuffix(name, fileExt)
	return id, below && is
}

// isName reports whether an id can be a directory's name that is nobody else's.
func isName(id string) bool {
	switch id {
	case "", ".", "..", "chats", "logs", "tool-outputs", "checkpoints", "memory":
		return false
	}
	return !strings.ContainsAny(id, "/\\\x00")
}

// sideMode is what the client gives its own files.
const sideMode = 0o600

// PlaceSides maps side files to the copy's place. The directory that the copy is
// in is marked as that of the copy's working directory, if it is not: the client
// then finds it, and gives its name to no other directory.
func (a Adapter) PlaceSides(env sessions.Environ, sides []string, open func(name string) (io.ReadCloser, error), to sessions.Rewrite) ([]sessions.File, error) {
	project := a.projectDir(env, to.NewCwd)
	var files []sessions.File
	if owner, _ := ownerOf(project); owner != to.NewCwd {
		files = append(files, sessions.File{Path: filepath.Join(project, ownerFile), Mode: 0o644, Write: func(w io.Writer) error {
			_, err := io.WriteString(w, to.NewCwd)
			return err
		}})
	}
	for _, name := range sides {
		place, rest, _ := strings.Cut(name, "/")
		dir := places(project, to.NewID)[place+"/"]
		if dir == "" || !sessions.IsSideName(rest) {
			return nil, fmt.Errorf("place side file %q: not a name of a side file", name)
		}
		files = append(files, sessions.File{Path: filepath.Join(dir, filepath.FromSlash(rest)), Mode: sideMode, Write: func(w io.Writer) error {
			return writeSide(w, name, open, to)
		}})
	}
	return files, nil
}

// writeSide writes one side file's content for the copy.
func writeSide(w io.Writer, name string, open func(string) (io.ReadCloser, error), to sessions.Rewrite) error {
	r, err := open(name)
	if err != nil {
		return fmt.Errorf("read side file %s: %w", name, err)
	}
	defer r.Close()
	if strings.HasPrefix(name, placeAgents) {
		err = rewriteLines(w, r, to)
	} else {
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
