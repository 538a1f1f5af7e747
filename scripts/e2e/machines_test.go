package e2e

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestTwoHomes: a mission that one person has pushed goes on with another, who has another
// home and another path: the real client sends all that was said, with the paths of the
// new place. Both push, and each reads what the other did, over ssh where that can be.
func TestTwoHomes(t *testing.T) {
	t.Parallel()
	client := clients.Claude(t, clients.ClaudeCurrent)
	p := newPersonWith(t, client, "UMBRA_NO_DAEMON=1")
	q := newPersonAt(t, client, "elsewhere/app", "UMBRA_NO_DAEMON=1")
	remote := filepath.Join(t.TempDir(), "team.git")
	p.run(p.home, "git", "init", "-q", "--bare", remote)
	url := overSSH(t, remote, p, q)
	source := p.newTalk("source")
	source.say("alpha")
	source.say("bravo")
	p.umbra("remote", "add", "team", url)
	p.umbra("push")

	q.umbra("remote", "add", "office", url)
	q.umbra("fetch")
	q.umbra("fork", "office/source", "--no-launch")
	q.umbra("fork", "office/source@1", "--name", "past", "--no-launch")
	now, past := source.forkedBy(q, "source", 2), source.forkedBy(q, "past", 1)
	same(t, "the fork of now", files(t, now.workspace), withoutIgnored(source.ends[2].files))
	same(t, "the fork of turn 1", files(t, past.workspace), withoutIgnored(source.ends[1].files))
	now.say("charlie")
	past.say("delta")
	source.say("echo")

	q.umbra("push")
	p.umbra("push")
	p.umbra("fetch")
	q.umbra("fetch")
	if got := p.umbra("cat", "team/source", "charlie.txt"); got != "charlie in source\n" {
		t.Errorf("what was done elsewhere is %q", got)
	}
	if got := q.umbra("cat", "office/source", "echo.txt"); got != "echo in source\n" {
		t.Errorf("what was done there since is %q", got)
	}
	if out := p.run(remote, "git", "fsck", "--full", "--strict"); out.code != 0 {
		t.Errorf("fsck of the remote: %s", out)
	}
}

// withoutIgnored are the files that snapshots hold, and so all that goes to another home.
func withoutIgnored(all map[string]string) map[string]string {
	all = maps.Clone(all)
	delete(all, "debug.log")
	delete(all, "out/build.bin")
	return all
}
