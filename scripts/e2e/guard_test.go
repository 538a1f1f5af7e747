package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestForkIsToldAndGuarded: a fork's model is told once where it works, and when
// it writes into its source's workspace all the same, it is told what to write.
func TestForkIsToldAndGuarded(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	p.newTalk("source").say("alpha")
	p.umbra("fork", "--name", "twin", "--no-launch")
	twin := p.mission("twin").Workspace
	before := files(t, p.repo)
	const told = "you are the agent of mission twin now"
	turn := func(prompt string) standin.Request {
		t.Helper()
		p.umbra(append([]string{"mission", "resume", "twin"}, args(prompt)...)...)
		word, _, _ := strings.Cut(prompt, " [[")
		request, ok := p.server.Last(standin.Prompted(word))
		if !ok {
			t.Fatalf("no request with %s", word)
		}
		return request
	}
	request := turn("stray, please [[write path=" + filepath.Join(p.repo, "stray.txt") + " content=lost]] [[say stray done]]")
	lines := strings.Join(standin.Lines(standin.History(request)), "\n")
	if !strings.Contains(string(request.Body), told) || !strings.Contains(string(request.Body), "work in "+twin+", a copy of your own") {
		t.Errorf("the fork's model was not told where it works:\n%s", lines)
	}
	if !strings.Contains(lines, "use "+filepath.Join(twin, "stray.txt")) {
		t.Errorf("the fork's model was sent\n%s", lines)
	}
	same(t, "the source's workspace", files(t, p.repo), before)
	turn("own, please [[write path=" + filepath.Join(twin, "own.txt") + " content=kept]] [[say own done]]")
	if text, err := os.ReadFile(filepath.Join(twin, "own.txt")); err != nil || string(text) != "kept" {
		t.Errorf("own.txt holds %q, %v", text, err)
	}
	// What its hooks said is in the conversation.
	if given := strings.Count(string(turn("later, please [[say later done]]").Body), told); given != 1 {
		t.Errorf("with its third prompt the fork's model was sent it %d times", given)
	}
}
