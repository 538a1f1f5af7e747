package missions_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/missions"
)

// TestLabel: what made a change comes first, and only where something changed.
func TestLabel(t *testing.T) {
	t.Parallel()
	write, run := missions.ToolUse{Name: "Write", Target: "pay/sum.sh"}, missions.ToolUse{Name: "Bash", Target: "go test ./...", Description: "Run the tests"}
	some := missions.FileCounts{Modified: 1}
	for want, e := range map[string]missions.Entry{
		"Write pay/sum.sh · before Bash: Run the tests":      {Files: some, MadeBy: []missions.ToolUse{write, write}, Triggers: []string{"tool"}, Message: "before " + run.Words()},
		"Bash: Run the tests, Write pay/sum.sh · turn ended": {Files: some, MadeBy: []missions.ToolUse{run, write}, Triggers: []string{"idle"}, Message: "turn ended"},
		"before Write pay/sum.sh":                            {MadeBy: []missions.ToolUse{run}, Triggers: []string{"tool"}, Message: "before " + write.Words()},
		"before the prompt":                                  {Triggers: []string{"prompt"}, Message: missions.MessagePrompt},
		"between turns · before the prompt":                  {Files: some, Triggers: []string{"prompt"}, Message: missions.MessagePrompt},
		"before the prompt of old":                           {Triggers: []string{"prompt"}, Message: "before the prompt of old"},
		"between turns · before the restore":                 {Files: some, State: missions.StateIdle, Triggers: []string{"manual"}, Message: "before the restore"},
		"by hand":                                            {Files: some, State: missions.StateRunning, Triggers: []string{"manual"}, Message: "by hand"},
		"restore to login@1":                                 {Files: some, State: missions.StateIdle, Triggers: []string{"restore"}, Operation: "restore", Message: "restore to login@1"},
		"a 1, a 2, a 3, 2 more · turn ended": {Files: some, Triggers: []string{"idle"}, Message: "turn ended", MadeBy: []missions.ToolUse{
			{Name: "a", Target: "1"}, {Name: "a", Target: "2"}, {Name: "a", Target: "3"}, {Name: "a", Target: "4"}, {Name: "a", Target: "5"}}},
	} {
		e.Parent = "p"
		if got := missions.LabelOf(e).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	first := missions.Entry{Files: some, Triggers: []string{"manual"}, State: missions.StateIdle, Message: "mission login begins"}
	if got := missions.LabelOf(first).String(); got != "mission login begins" {
		t.Errorf("the first snapshot is %q", got)
	}
}

// TestSubject: a commit's first line has turn, prompt and label, whatever their lengths.
func TestSubject(t *testing.T) {
	t.Parallel()
	before := missions.Label{Then: "before Write pay/sum.sh"}
	for want, got := range map[string]string{
		"turn 9: add an audit log · before Write pay/sum.sh":   before.Subject(9, "add an audit log"),
		"turn 9: add ⏎ an audit log · before Write pay/sum.sh": before.Subject(9, "add \n\n an  audit log\n"),
		"turn 9 · before Write pay/sum.sh":                     before.Subject(9, ""),
		"mission login begins":                                 missions.Label{Then: "mission login begins"}.Subject(0, ""),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, prompt := range []string{"", "é", strings.Repeat("éa ", 60)} {
		for _, then := range []string{"turn ended", strings.Repeat("längst ", 40)} {
			label := missions.Label{Made: "Write a", Then: then}
			got := label.Subject(12, prompt)
			if n := utf8.RuneCountInString(got); n > 100 || !strings.HasPrefix(got, "turn 12") || !strings.Contains(got, " · Write a · ") {
				t.Errorf("%d characters: %q", n, got)
			}
			if len(prompt) > 100 && strings.Contains(got, " "+then) && n(got) < 98 {
				t.Errorf("the prompt has less than there is room for: %q", got)
			}
		}
	}
}

// TestPastedPrompts: what an agent writes around a text that was pasted is no word of its user's.
func TestPastedPrompts(t *testing.T) {
	t.Parallel()
	prompt := "<pasted_content id=\"b8c7\">\nrework the parser\nand its tests\n</pasted_content>\n\nplease"
	if got := missions.PromptLine(prompt); got != "rework the parser ⏎ and its tests ⏎ please" {
		t.Errorf("on one line it is %q", got)
	}
	if got := missions.NameFromPrompt(prompt); got != "rework-parser-its-tests" {
		t.Errorf("its mission is %q", got)
	}
	if got, want := (missions.Label{Then: "turn ended"}).Subject(3, prompt), "turn 3: rework the parser ⏎ and its tests ⏎ please · turn ended"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func n(text string) int { return utf8.RuneCountInString(text) }
