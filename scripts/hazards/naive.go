package hazards

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Naive is a shadow repository as others kept it: a Git directory outside the
// workspace, driven by git's porcelain with the workspace as its work tree.
type Naive struct {
	t         testing.TB
	Dir, Work string
}

// NewNaive makes one for the workspace.
func NewNaive(t testing.TB, work string) *Naive {
	t.Helper()
	n := &Naive{t: t, Dir: t.TempDir(), Work: work}
	n.Git("init", "-q")
	n.Git("config", "user.name", "N")
	n.Git("config", "user.email", "n@n")
	return n
}

// Try runs git in the workspace on the shadow repository.
func (n *Naive) Try(args ...string) (string, error) {
	return Git(n.Work, append([]string{"--git-dir", n.Dir, "--work-tree", n.Work}, args...)...)
}

// Git is Try where a failure is none of the hazard.
func (n *Naive) Git(args ...string) string {
	n.t.Helper()
	out, err := n.Try(args...)
	if err != nil {
		n.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// Save takes a snapshot with git add and git commit, and returns its id.
func (n *Naive) Save() string {
	n.t.Helper()
	n.Git("add", "-A")
	n.Git("commit", "-q", "--allow-empty", "-m", "snapshot")
	return n.Git("rev-parse", "HEAD")
}

// Restore puts a snapshot back as others did: reset --hard and clean -fd.
func (n *Naive) Restore(id string) {
	n.t.Helper()
	n.Git("reset", "-q", "--hard", id)
	n.Git("clean", "-qfd")
}

// Git runs git in dir with no configuration but dir's own. What it printed
// comes back without the space around it, also where it failed.
func Git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
