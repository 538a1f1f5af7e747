package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestLand takes the work of a fork of the real client to a branch that can be asked to be
// pulled, a commit for each turn, as docs/landing.md says; then the fork may go.
func TestLand(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	git := func(args ...string) string {
		t.Helper()
		out := p.run(p.repo, append([]string{"git"}, args...)...)
		if out.code != 0 {
			t.Fatalf("%s", out)
		}
		return out.stdout
	}
	p.umbra("mission", "new", "--name", "login", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	p.talk("login").say("alpha")
	p.umbra("fork", "login", "--name", "topic", "--no-launch")
	workspace := p.mission("topic").Workspace
	p.turn("topic", "bravo", `bravo, please [[write path=page.txt content="page\n"]] [[say bravo done]]`)
	git("config", "user.name", "Ada")
	git("config", "user.email", "ada@example.com")
	base := strings.TrimSpace(git("rev-parse", "HEAD"))
	before := git("status", "--porcelain") + git("rev-parse", "HEAD")

	if said := p.umbra("land", "topic", "--preview", "--as", "turns"); !strings.Contains(said, "would make 2 commits") || !strings.Contains(said, "page.txt") {
		t.Errorf("the plan is\n%s", said)
	}
	p.umbra("land", "topic", "--as", "turns", "--branch", "login-page")
	log := git("log", "-p", "--format=%s%n%b", base+"..login-page")
	for _, want := range []string{"bravo, please", "alpha, please", "+page", "+alpha in login", "Umbra-Mission: topic ", "Umbra-Turn: 1", "Umbra-Turn: 2"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in what has landed:\n%s", want, log)
		}
	}
	if strings.Index(log, "+page") > strings.Index(log, "+alpha in login") {
		t.Errorf("the turns are in another order:\n%s", log)
	}
	if after := git("status", "--porcelain") + git("rev-parse", "HEAD"); after != before {
		t.Errorf("the user's own checkout has changed: %s, before it was %s", after, before)
	}

	remote := filepath.Join(p.home, "remote.git")
	git("init", "--quiet", "--bare", remote)
	git("push", "--quiet", remote, "login-page")
	if at := git("--git-dir="+remote, "rev-parse", "login-page"); at != git("rev-parse", "login-page") {
		t.Errorf("the remote is at %s", at)
	}
	if said := p.umbra("land", "topic", "--branch", "login-page"); !strings.Contains(said, "nothing to land") {
		t.Errorf("landed twice: %s", said)
	}
	p.umbra("mission", "rm", "--landed", "--workspace")
	if out := p.run(p.home, "test", "-e", workspace); out.code == 0 {
		t.Errorf("the workspace of the fork is still there: %s", workspace)
	}
	if said := p.umbra("mission", "ls"); strings.Contains(said, "topic") || !strings.Contains(said, "login") {
		t.Errorf("the missions are\n%s", said)
	}
}
