package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestPromote brings a fork home: the parent's agent goes on with the fork's history in
// the parent's workspace. An undo leaves the parent as if there had been no fork.
func TestPromote(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	parent := p.newTalk("parent")
	parent.say("alpha")
	p.umbra("fork", "parent", "--name", "other", "--no-launch")
	other := parent.forked("other", 1)
	other.say("bravo")
	if err := os.WriteFile(filepath.Join(p.repo, "mine.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git, before, session := p.gitFiles(), files(t, p.repo), p.mission("parent").SessionID

	p.umbra("promote", "other", "--keep")
	merged := files(t, other.workspace)
	merged["mine.txt"] = before["mine.txt"]
	same(t, "the workspace of the parent", files(t, p.repo), merged)
	same(t, "the user's .git", p.gitFiles(), git)
	home := other.promoted(parent)
	p.umbra("undo", "parent")
	same(t, "the workspace after undo", files(t, p.repo), before)
	if now := p.mission("parent").SessionID; now != session {
		t.Errorf("undo left session %s, it was %s", now, session)
	}
	p.umbra("redo", "parent")
	same(t, "the workspace after redo", files(t, p.repo), merged)
	home.say("charlie")
	other.say("delta")
}

// promoted is the talk of the parent once this fork's was promoted.
func (k *talk) promoted(parent *talk) *talk {
	home := &talk{p: k.p, mission: parent.mission, workspace: parent.workspace, ends: append([]moment(nil), k.ends...)}
	for _, line := range k.lines {
		home.lines = append(home.lines, strings.ReplaceAll(line, k.workspace, parent.workspace))
	}
	return home
}
