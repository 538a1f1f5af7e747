package claude

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// sideMode is what Claude Code gives its own files, and historyMode what a file of a
// workspace mostly has: its copy in the file history has the same, and /rewind gives
// it back with that.
const (
	sideMode    = 0o600
	historyMode = 0o644
)

// beforeAll is the time of a copy in the file history. All versions take a file of a
// workspace for the same as its copy where it is older than that, as long as mode and
// size are the same, and compare their content else: after a restore, and in a fork,
// files may be as old as they like. The cleaning goes by the directory's time.
var beforeAll = time.Unix(0, 0)

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
		target := sidePath(a, env, name, to)
		if target == "" {
			continue
		}
		file := sessions.File{Path: target, Mode: sideMode, Write: func(w io.Writer) error {
			return writeSide(w, name, open, to)
		}}
		if rest, ok := strings.CutPrefix(name, placeHistory); ok {
			file.Mode, file.Side, file.ModTime = modeInHistory(filepath.Join(a.Root(env), "file-history", to.OldID, filepath.FromSlash(rest))), name, beforeAll
		}
		files = append(files, file)
	}
	return files, nil
}

// modeInHistory is the mode of a copy in the file history: a snapshot keeps no more of
// it than whether it is executable, so that of the source's own while that is there.
func modeInHistory(file string) fs.FileMode {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return historyMode
	}
	return info.Mode().Perm()
}

// sidePath is where the copy's side file goes; "" for one that stays shared.
func sidePath(a Adapter, env sessions.Environ, name string, to sessions.Rewrite) string {
	root, dir := a.Root(env), projectDir(env, to.NewCwd)
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
		if projectDir(env, to.OldCwd) == dir {
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
			_, err = w.Write(rewriteText(leaveWorktree(b, name, to), to, path.Ext(name) != ".json"))
		}
	}
	if err != nil {
		return fmt.Errorf("place side file %s: %w", name, err)
	}
	return nil
}

// agentSettings is the end of the name of what 2.1 notes of a subagent, to go on with it.
const agentSettings = ".meta.json"

// worktreeMembers say that a subagent works in a worktree: in one of its own, or in that
// of the agent that began it.
var worktreeMembers = []string{"worktreePath", "worktreeBranch", "inheritedWorktreePath", "spawnedWithWorktree"}

// leaveWorktree takes the worktree that a subagent worked in out of what is noted of it,
// where the copy is for another workspace: it would go on in the source's worktree.
func leaveWorktree(settings []byte, name string, to sessions.Rewrite) []byte {
	has := func(key string) bool { return jsontext.Lookup(settings, key) != nil }
	if !strings.HasSuffix(name, agentSettings) || to.OldRoot == to.NewRoot || !slices.ContainsFunc(worktreeMembers, has) {
		return settings
	}
	for _, key := range slices.Concat(worktreeMembers, []string{"cwd"}) {
		if less, err := jsontext.SetMember(settings, key, nil); err == nil {
			settings = less
		}
	}
	return settings
}
