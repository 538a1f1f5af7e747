package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestSearchSubagentsByIndex: where the index rules out what a subagent said, nothing of its
// file is read, not even the size.
func TestSearchSubagentsByIndex(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.delegate("a1f", c.line("user", "s1", "", `"look for quokkas"`), c.line("assistant", "s2", "s1", `[{"type":"text","text":"No quokka."}]`))
	c.takeTurn("begin", "a.txt", "one\n")
	m := c.named("login")
	if err := c.local.IndexWhenChanged(t.Context(), c.project()); err != nil {
		t.Fatal(err)
	}
	c.wantFound("quokka", "login@1 answers: No quokka.", "login@1 prompts: look for quokkas")

	id := strings.TrimSpace(c.git("hash-object", c.subagentFile("a1f")))
	if err := os.Remove(c.subagentFile("a1f")); err != nil {
		t.Fatal(err)
	}
	c.loseObject(m, id)
	unread := func() (told bool) {
		ctx := missions.WithNotify(context.Background(), func(n missions.Notice) { told = told || strings.Contains(n.Text, "can't be searched whole") })
		if _, err := c.local.Search(ctx, missions.SearchRequest{Caller: c.caller(), Query: "numbats"}); err != nil {
			t.Fatal(err)
		}
		return told
	}
	if unread() {
		t.Error("with the index the file is asked for")
	}
	if err := os.RemoveAll(filepath.Join(c.project().Dir, "search")); err != nil {
		t.Fatal(err)
	}
	if !unread() {
		t.Error("without the index the file is not missed")
	}
}
