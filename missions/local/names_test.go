package local

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

func TestBeginning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "longe…"},
		{"aé", 2, "a…"},
		{"é", 1, "…"},
		{"\x80\x80\x80", 2, "…"},
		{"", 0, ""},
	} {
		if got := missions.TruncateText(c.text, c.most); got != c.want {
			t.Errorf("beginning(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// TestHugePrompt is repeated in no record but its turn's own.
func TestHugePrompt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	prompt := strings.Repeat("Ü", 1<<18)
	c.hook("UserPromptSubmit", map[string]any{"prompt": prompt})
	list, err := b.local.Missions(t.Context(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 || list[0].LastPrompt == nil {
		t.Fatalf("%+v %v", list, err)
	}
	if text := list[0].LastPrompt.Text; len(text) > missions.MaxPromptBytes+len("…") || !utf8.ValidString(text) {
		t.Errorf("the mission holds %d bytes of it", len(text))
	}
	shown, err := b.local.Show(t.Context(), missions.ShowRequest{Caller: b.caller()})
	if err != nil || shown.Prompt != prompt {
		t.Errorf("its snapshot holds %d bytes of it, %v", len(shown.Prompt), err)
	}
}
