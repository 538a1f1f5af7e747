package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// The lines that Umbra writes into a hook: two behind the first line, before a script can
// exit, and a third into a file that it has made.
const (
	hookNote     = "# The next line is Umbra's; umbra hooks uninstall git takes both out.\n"
	hookMadeNote = "# Umbra made this file.\n"
	hookShebang  = "#!/bin/sh\n"
)

// hookLine reports a hook to Umbra. It writes nothing, reads nothing, and never fails,
// whatever the shell's options. It is silent in the middle of a rebase, whose end
// post-rewrite reports, and when files are checked out but HEAD does not move.
func hookLine(binary, hook string) string {
	unless := `[ -d "${GIT_DIR:-.git}/rebase-merge" ] || `
	switch hook {
	case "post-rewrite":
		unless = ""
	case "post-checkout":
		unless += `[ "${3-}" = 0 ] || `
	}
	return unless + home.ShellQuote(binary) + " hook git " + hook + " </dev/null >/dev/null 2>&1 || :\n"
}

// gitIntegration is the hooks of a repository, in the directory where Git looks for them.
type gitIntegration struct {
	repo    *usergit.Repository
	dir     string
	binary  string // as the hooks name it
	shared  bool   // they stand among the files that the work tree tracks
	request missions.HooksRequest
}

// findGitIntegration finds the hooks of the caller's repository, which all its work trees
// share.
func (in *Installer) findGitIntegration(ctx context.Context, r missions.HooksRequest) (*gitIntegration, error) {
	g, err := projects.InspectDirectory(r.Caller.Cwd)
	if err != nil {
		return nil, err
	}
	if g.Repo == nil {
		return nil, missions.Errorf(missions.KindUsage, "cd into the repository, then umbra hooks install git", "%s is in no work tree of Git's, and its hooks are a repository's", g.Dir)
	}
	env := []string{"HOME=" + r.Caller.Env["HOME"], "PATH=" + r.Caller.Env["PATH"]}
	for _, name := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
		if value := r.Caller.Env[name]; value != "" {
			env = append(env, name+"="+value)
		}
	}
	dir, err := g.Repo.HooksDir(ctx, env)
	if err != nil {
		return nil, missions.Errorf(missions.KindFailed, "git config --show-origin core.hooksPath", "find the hooks of %s: %w", g.Top, err)
	}
	f := &gitIntegration{repo: g.Repo, dir: dir, binary: r.Caller.Binary, request: r}
	f.shared = home.IsWithin(g.Top, projects.ResolveLinks(dir)) && !home.IsWithin(g.Repo.CommonDir, projects.ResolveLinks(dir)) && !ignoresAllFiles(dir)
	if f.shared {
		f.binary = "umbra" // another's is elsewhere
	}
	return f, nil
}

// ignoresAllFiles reports whether a directory ignores all files in it, as hook managers
// set up theirs.
func ignoresAllFiles(dir string) bool {
	p, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(p)) {
		if strings.TrimSpace(line) == "*" {
			return true
		}
	}
	return false
}

// install writes all hooks or none: it looks for obstacles first.
func (f *gitIntegration) install() (changed bool, err error) {
	if f.shared && !f.request.Shared {
		return false, missions.Errorf(missions.KindConflict, "umbra hooks install git --project --shared puts them there all the same",
			"core.hooksPath is %s, in the work tree: hooks there may be everybody's", f.dir)
	}
	if info, err := os.Stat(f.dir); err == nil && !info.IsDir() {
		return false, missions.Errorf(missions.KindConflict, "git config --show-origin core.hooksPath says where", "hooks are switched off here: core.hooksPath is %s, which is no directory", f.dir)
	}
	var changes []hookFile
	for _, name := range home.GitHookNames() {
		h, err := f.read(name)
		if err != nil {
			return false, err
		}
		after, err := withHook(h.content, hookLine(f.binary, name))
		if err != nil {
			return false, missions.Errorf(missions.KindConflict, "put this line into it by hand: "+strings.TrimSuffix(hookLine(f.binary, name), "\n"), "%s: %w", h.path, err)
		}
		if !bytes.Equal(h.content, after) {
			changes = append(changes, h)
		}
	}
	for _, h := range changes {
		wrote, err := userfile.Change(h.path, h.mode, func(now []byte) ([]byte, error) {
			return withHook(now, hookLine(f.binary, h.name))
		})
		if err != nil {
			return changed, err
		}
		changed = changed || wrote
	}
	return changed, nil
}

// uninstall restores each hook to the byte. It removes hooks that others rely on only if
// the request says so.
func (f *gitIntegration) uninstall() (changed bool, err error) {
	var changes []string
	for _, name := range home.GitHookNames() {
		path := filepath.Join(f.dir, name)
		hook, err := readHook(path)
		if err != nil {
			return false, err
		}
		if left, _ := withoutHook(hook); !bytes.Equal(hook, left) {
			changes = append(changes, path)
		}
	}
	if f.shared && !f.request.Shared && len(changes) > 0 {
		return false, missions.Errorf(missions.KindConflict, "umbra hooks uninstall git --project --shared takes them out all the same",
			"core.hooksPath is %s, in the work tree: hooks there may be everybody's", f.dir)
	}
	for _, path := range changes {
		took, err := userfile.Change(path, hookMode, func(hook []byte) ([]byte, error) {
			left, _ := withoutHook(hook) // nil of one that Umbra made
			return left, nil
		})
		if err != nil {
			return changed, fmt.Errorf("take the hook out of %s: %w", path, err)
		}
		changed = changed || took
	}
	if changed && home.IsWithin(f.repo.CommonDir, f.dir) {
		removeEmptyDir(f.dir)
	}
	return changed, nil
}

// readHook reads a hook, nil if there is none. core.hooksPath may name a file, such as
// /dev/null, so that no hook runs.
func readHook(path string) ([]byte, error) {
	p, err := userfile.Read(path)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return p, err
}

// hookMode is the mode of a new hook.
const hookMode = 0o755

// hookFile is a hook as it is on disk.
type hookFile struct {
	name, path string
	mode       fs.FileMode
	content    []byte // nil: there is none
}

// read reads a hook, to add Umbra's line.
func (f *gitIntegration) read(name string) (hookFile, error) {
	h := hookFile{name: name, path: filepath.Join(f.dir, name), mode: hookMode}
	info, err := os.Lstat(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, missions.Errorf(missions.KindFailed, "", "look at %s: %w", h.path, userfile.Reason(err))
	}
	byHand := "put this line into it by hand: " + strings.TrimSuffix(hookLine(f.binary, name), "\n")
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(h.path)
		return h, missions.Errorf(missions.KindConflict, byHand, "%s is a link to %s, which may be somebody else's", h.path, target)
	case !info.Mode().IsRegular():
		return h, missions.Errorf(missions.KindConflict, "move it away", "%s is no file", h.path)
	case info.Mode()&0o111 == 0:
		return h, missions.Errorf(missions.KindConflict, "chmod +x "+h.path+" if it is to run, or move it away", "%s may not be executed, so Git does not run it", h.path)
	}
	h.mode = info.Mode().Perm()
	h.content, err = userfile.Read(h.path)
	return h, err
}

// withHook puts Umbra's line into a hook, instead of that of another umbra; a nil hook is a
// new one. The error says why it can't.
func withHook(hook []byte, line string) ([]byte, error) {
	hook, made := withoutHook(hook)
	if made || hook == nil {
		return []byte(hookShebang + hookMadeNote + hookNote + line), nil
	}
	first, rest := cutLine(hook)
	switch {
	case !bytes.HasPrefix(first, []byte("#!")):
		first, rest = nil, hook // Git has the shell run it
		if bytes.IndexByte(hook, 0) >= 0 {
			return nil, errors.New("it is a program, not a script")
		}
	case !bytes.HasSuffix(first, []byte("\n")):
		return nil, errors.New("its first line does not end")
	case !isShellScript(string(first)):
		return nil, fmt.Errorf("it is no shell script, but one for %s", strings.TrimSpace(string(first[2:])))
	}
	return bytes.Join([][]byte{first, []byte(hookNote + line), rest}, nil), nil
}

// withoutHook takes Umbra's lines out of a hook; made says that Umbra made the hook and
// nothing is left of it.
func withoutHook(hook []byte) (left []byte, made bool) {
	before, after, found := bytes.Cut(hook, []byte(hookNote))
	if !found {
		return hook, false
	}
	line, rest := cutLine(after)
	if !bytes.Contains(line, []byte(" hook git ")) {
		rest = after // its user took Umbra's line out, and left the note
	}
	if own, ok := bytes.CutSuffix(before, []byte(hookMadeNote)); ok {
		if string(own) == hookShebang && len(rest) == 0 {
			return nil, true
		}
		before = own
	}
	return bytes.Join([][]byte{before, rest}, nil), false
}

// cutLine splits after the first line, with its end.
func cutLine(p []byte) (line, rest []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return p[:i+1], p[i+1:]
	}
	return p, nil
}

// isShellScript reports whether the first line of a script names a shell that understands
// Umbra's line.
func isShellScript(first string) bool {
	fields := strings.Fields(strings.TrimPrefix(first, "#!"))
	if len(fields) > 1 && filepath.Base(fields[0]) == "env" {
		fields = fields[1:]
		if fields[0] == "-S" && len(fields) > 1 {
			fields = fields[1:]
		}
	}
	if len(fields) == 0 || strings.Contains(first, "\r") {
		return false
	}
	switch filepath.Base(fields[0]) {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "busybox":
		return true
	}
	return false
}

// state says which hooks are there, and what is wrong with them.
func (f *gitIntegration) state(r *missions.HooksResult) error {
	r.File, r.Shared = f.dir, f.shared
	var odd []string
	for _, name := range home.GitHookNames() {
		content, err := readHook(filepath.Join(f.dir, name))
		if err != nil {
			return err
		}
		_, after, found := bytes.Cut(content, []byte(hookNote))
		if !found {
			r.Missing = append(r.Missing, name)
			continue
		}
		r.Installed = true
		if line, _ := cutLine(after); string(line) != hookLine(f.binary, name) {
			odd = append(odd, name)
		} else {
			r.Command = home.ShellQuote(f.binary) + " hook git"
		}
	}
	mends := ": umbra hooks install git mends it"
	if f.shared {
		mends = ": umbra hooks install git --project --shared mends it"
	}
	if r.Installed && len(r.Missing) > 0 {
		r.Problems = append(r.Problems, "some hooks are missing"+mends)
	}
	if len(odd) > 0 {
		r.Problems = append(r.Problems, strings.Join(odd, ", ")+": of another umbra, or changed"+mends)
	}
	if r.Installed && f.shared {
		r.Extras = append(r.Extras, "they are in the work tree, where they may be everybody's: umbra hooks uninstall git --project --shared takes them out")
	}
	if r.Installed && !home.IsWithin(f.repo.CommonDir, projects.ResolveLinks(f.dir)) {
		r.Extras = append(r.Extras, "they are where core.hooksPath says: in every repository that names this directory")
	}
	return nil
}
