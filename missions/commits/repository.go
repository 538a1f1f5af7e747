package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
)

// repository is the user's, in which the user's own git is run: with the user's settings,
// filters, hooks and keys.
type repository struct {
	ctx     context.Context
	user    *usergit.Repository
	prefix  string   // of the workspace below the top level, with a slash; "" if it is that
	environ []string // of the user, without what names a repository
	extra   []string // variables for all calls: the git directory of a branch that is not checked out
	stdin   io.Reader
	stderr  io.Writer // where hooks and signing programs print
}

// locating are the variables that name a repository, or a part of it.
var locating = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_PREFIX", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS",
}

// openRepository finds the repository of a workspace, and says why nothing can land there.
func openRepository(ctx context.Context, m missions.Mission, o Options) (*repository, error) {
	user, err := usergit.Discover(m.Workspace)
	if err == nil && user.TopLevel == "" {
		return nil, missions.Errorf(missions.KindConflict, "umbra land in a clone of it", "%s is in a bare repository: no branch is checked out there", m.Workspace)
	}
	if errors.Is(err, usergit.ErrNoRepository) {
		return nil, missions.Errorf(missions.KindConflict, "git init, there", "%s is in no Git repository: there is no branch to land on", m.Workspace)
	}
	if err == nil {
		err = user.Unread
	}
	if err != nil {
		return nil, missions.Errorf(missions.KindConflict, "git status, there", "the repository of %s can't be read: %w", m.Workspace, err)
	}
	workspace, err := filepath.EvalSymlinks(m.Workspace)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(user.TopLevel, workspace)
	if err != nil {
		return nil, err
	}
	r := &repository{ctx: ctx, user: user, environ: withoutVariables(o.Environ, locating), stdin: o.Stdin, stderr: o.Stderr}
	if below != "." {
		r.prefix = filepath.ToSlash(below) + "/"
	}
	operations, err := user.Operations()
	if unsupported := (*usergit.UnsupportedError)(nil); err != nil && !errors.As(err, &unsupported) {
		return nil, err
	}
	if len(operations) > 0 {
		end := fmt.Sprintf("git %[1]s --continue or git %[1]s --abort", operations[0])
		if operations[0] == usergit.Bisect {
			end = "git bisect reset"
		}
		return nil, missions.Errorf(missions.KindConflict, "end it first: "+end, "a %s is in progress in %s", operations[0], user.TopLevel)
	}
	return r, nil
}

// withoutVariables leaves some variables out.
func withoutVariables(environ, names []string) (kept []string) {
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		named := false
		for _, n := range names {
			named = named || n == name
		}
		if !named {
			kept = append(kept, kv)
		}
	}
	return kept
}

// run is one call of git.
type run struct {
	args  []string
	env   []string
	dir   string // "" is the top level
	input io.Reader
	shown bool // what it prints is shown to the user: hooks, and who asks for a key
}

// gitError is git's refusal.
type gitError struct {
	args   []string
	code   int
	stderr string
	err    error
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s", e.args[0], e.Reason()) }

// Reason is what git said, or the hook that it ran.
func (e *gitError) Reason() string {
	if text := strings.TrimSpace(e.stderr); text != "" {
		return text
	}
	return e.err.Error()
}

func (e *gitError) Unwrap() error { return e.err }

// exitCode is git's exit code, -1 if it has none.
func exitCode(err error) int {
	if failed, ok := errors.AsType[*gitError](err); ok {
		return failed.code
	}
	return -1
}

// lastWait is how long git has to end once it is interrupted.
const lastWait = 10 * time.Second

// git runs the user's git, and gives what it prints.
func (r *repository) git(c run) ([]byte, error) {
	cmd := exec.CommandContext(r.ctx, "git", c.args...)
	cmd.Dir, cmd.Stdin = c.dir, c.input
	if cmd.Dir == "" {
		cmd.Dir = r.user.TopLevel
	}
	cmd.Env = append(append(append([]string{}, r.environ...), r.extra...), c.env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if c.shown {
		if cmd.Stdin == nil {
			cmd.Stdin = r.stdin
		}
		cmd.Stderr = io.MultiWriter(&said, r.stderr)
		cmd.Stdout = cmd.Stderr
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // git removes its locks then
	cmd.WaitDelay = lastWait
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && r.ctx.Err() == nil: // a hook has left something running
		return out.Bytes(), nil
	case r.ctx.Err() != nil:
		return nil, r.ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, missions.Errorf(missions.KindFailed, "install git 2.38 or newer", "the git program is not installed")
	case errors.As(err, &exit):
		return out.Bytes(), &gitError{args: c.args, code: exit.ExitCode(), stderr: said.String(), err: err}
	}
	return nil, fmt.Errorf("git %s: %w", c.args[0], err)
}

// line runs git and gives the one line that it prints.
func (r *repository) line(args ...string) (string, error) {
	out, err := r.git(run{args: args})
	return strings.TrimSpace(string(out)), err
}

// detached is the same repository for what must be done even if the user interrupts.
func (r *repository) detached() *repository {
	same := *r
	same.ctx = context.WithoutCancel(r.ctx)
	return &same
}

// entries lists what an index holds: path -> file.
func (r *repository) entries(index string) (map[string]file, error) {
	out, err := r.git(run{args: []string{"ls-files", "-s", "-z"}, env: []string{"GIT_INDEX_FILE=" + index}})
	if err != nil {
		return nil, err
	}
	all := map[string]file{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		about, path, ok := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); ok && len(fields) == 3 {
			all[path] = file{mode: fields[0], blob: fields[1]}
		}
	}
	return all, nil
}
