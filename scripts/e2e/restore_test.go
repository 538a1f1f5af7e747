package e2e

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestRestore takes files and conversation back to the first turn, undoes and
// redoes that, and talks on from each.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	k := p.newTalk("m")
	k.say("alpha")
	k.say("bravo")
	git := p.gitFiles()
	original := p.mission("m")

	back := k.at(1)
	p.umbra("restore", "m@1")
	same(t, "the workspace restored to turn 1", files(t, p.repo), k.ends[1].files)
	p.umbra("undo")
	same(t, "the workspace after undo", files(t, p.repo), k.ends[2].files)
	if m := p.mission("m"); m.SessionID != original.SessionID {
		t.Errorf("undo left session %s, it was %s", m.SessionID, original.SessionID)
	}
	same(t, "the user's .git", p.gitFiles(), git)
	k.say("charlie")

	p.umbra("restore", "m@1")
	same(t, "the workspace restored to turn 1 again", files(t, p.repo), k.ends[1].files)
	kept := content(t, original.SessionPath)
	back.say("delta")
	if content(t, original.SessionPath) != kept {
		t.Error("the conversation before the restore has changed")
	}
	p.refused(12, "--force", "undo")
	same(t, "the workspace after a refused undo", files(t, p.repo), back.ends[2].files)
	forced := files(t, p.repo)
	if out := p.run(p.repo, "umbra", "undo", "--force"); out.code != 3 || !strings.Contains(out.stdout, "state.txt") {
		t.Fatalf("undo across a turn that changed state.txt too: %s", out)
	}
	for _, word := range []string{"bravo", "charlie"} {
		forced[word+".txt"] = k.ends[3].files[word+".txt"]
	}
	same(t, "the workspace after a forced undo", files(t, p.repo), forced)
	p.umbra("redo")
	same(t, "the workspace after undo and redo", files(t, p.repo), back.ends[2].files)

	p.umbra("restore", "m@3", "--files-only")
	same(t, "the files of turn 3", files(t, p.repo), k.ends[3].files)
	p.umbra("restore", "m@4", "--conversation-only")
	same(t, "the files after a restore of the conversation", files(t, p.repo), k.ends[3].files)
}

// at is the talk as that turn ended, to be gone on from.
func (k *talk) at(turn int) *talk {
	past := *k
	past.ends = append([]moment(nil), k.ends[:turn+1]...)
	past.lines = append([]string(nil), k.lines[:k.ends[turn].lines]...)
	return &past
}

// gitFiles is the fingerprint of the repository's .git alone.
func (p *person) gitFiles() map[string]string {
	p.Helper()
	found := p.fingerprint()
	for name := range found {
		if !strings.HasPrefix(name, "repo/.git/") {
			delete(found, name)
		}
	}
	return found
}
