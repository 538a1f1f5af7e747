package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestFork forks a mission of three turns at now and at its first turn, and
// lets all three go on with the real client, each in its own workspace and with
// its own history. (TestAdopt forks the other version's.)
func TestFork(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	source := p.newTalk("source")
	source.say("alpha")
	status := p.run(p.repo, "git", "status", "--porcelain").stdout
	staged := p.run(p.repo, "git", "diff", "--cached").stdout
	source.say("bravo")
	source.say("charlie")
	source.history("@3.3 close", "@3 idle", "@3.1 tool", "@3.0 prompt", "@2.3 close", "@2 idle", "@2.1 tool", "@2.0 prompt",
		"@1.3 close", "@1 idle", "@1.1 tool", "@1.0 prompt", "@start manual")

	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	p.umbra("mission", "new", "--clone", "source@1", "--name", "past", "--no-launch")
	p.umbra("fork", "--name", "now", "--no-launch")
	p.untouched(repo)

	past, now := source.forked("past", 1), source.forked("now", 3)
	same(t, "the fork of turn 1", files(t, past.workspace), source.ends[1].files)
	same(t, "the fork of now", files(t, now.workspace), source.ends[3].files)
	if got := p.run(past.workspace, "git", "status", "--porcelain").stdout; got != status {
		t.Errorf("git status in the fork of turn 1 is\n%s\nwant\n%s", got, status)
	}
	for _, fork := range []*talk{past, now} {
		if got := p.run(fork.workspace, "git", "diff", "--cached").stdout; got != staged {
			t.Errorf("%s has staged\n%s\nwant\n%s", fork.mission, got, staged)
		}
		if got := p.run(fork.workspace, "git", "branch", "--show-current").stdout; got != "umbra/"+fork.mission+"\n" {
			t.Errorf("%s is on branch %q", fork.mission, got)
		}
	}

	past.say("delta")
	now.say("echo")
	p.untouched(repo)
	if got := content(t, p.mission("source").SessionPath); got != session {
		t.Error("the source's conversation has changed")
	}
	source.say("foxtrot")
	past.say("golf")
	now.say("hotel")
	for _, k := range []*talk{source, past, now} {
		same(t, "the workspace of "+k.mission, files(t, k.workspace), k.ends[len(k.ends)-1].files)
	}
	p.umbra("fork", "past@2", "--name", "deep", "--no-launch")
	deep := past.forked("deep", 2)
	same(t, "the fork of a fork", files(t, deep.workspace), past.ends[2].files)
	deep.say("india")
	if ids := sessionsOf(p, "source", "past", "now", "deep"); len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
		t.Errorf("the missions' sessions are %s", strings.Join(ids, " "))
	}
}

func sessionsOf(p *person, names ...string) (ids []string) {
	for _, name := range names {
		ids = append(ids, p.mission(name).SessionID)
	}
	return ids
}
