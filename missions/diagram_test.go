package missions

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The diagram stands in docs/design.md between these lines.
const (
	designPage   = "../docs/design.md"
	diagramBegin = "<!-- generated from missions.Transition: UMBRA_UPDATE_DOCS=1 go test ./missions -run TestDiagram -->\n"
	diagramEnd   = "<!-- end of what is generated -->\n"
)

// TestDiagram holds the state diagram of the documentation against Transition.
func TestDiagram(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(designPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), diagramBegin)
	_, after, ok2 := strings.Cut(rest, diagramEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the diagram", designPage)
	}
	want := before + diagramBegin + diagram() + diagramEnd + after
	if want == string(page) {
		return
	}
	if os.Getenv("UMBRA_UPDATE_DOCS") == "" {
		t.Fatalf("%s shows another lifecycle than Transition; UMBRA_UPDATE_DOCS=1 go test ./missions -run TestDiagram writes:\n%s", designPage, diagram())
	}
	if err := os.WriteFile(designPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// diagram draws what Transition does with every event in every state. Events
// that change nothing and take no snapshot are left out.
func diagram() string {
	ask := PermissionAsked{Permission{Tool: "Bash"}}
	lives := []Lifecycle{
		Initializing{1}, Idle{1}, Running{Turn: 1, PromptID: "p1"},
		Running{Turn: 1, PromptID: "p1", Pending: []Permission{{Tool: "Bash"}}},
		Failed{Turn: 1}, Closed{Turn: 1, Reason: CloseReasonExit},
	}
	events := []struct {
		name  string
		event Event
	}{
		{"session begins", SessionBegan{}}, {"launch (hooks)", AgentLaunched{HasHooks: true}}, {"launch (no hooks)", AgentLaunched{}},
		{"prompt", PromptSubmitted{ID: "p2"}}, {"tool that writes", ToolStarting{Writes: true}}, {"tool that reads", ToolStarting{}},
		{"tool ended", ToolFinished{}}, {"permission asked", ask}, {"permission answered", PermissionAnswered{}},
		{"turn ended", TurnEnded{}}, {"turn ended, background work", TurnEnded{Background: true}},
		{"turn failed", TurnFailed{}}, {"turn stopped", TurnStopped{}}, {"goes on", TurnContinued{}}, {"files changed", FilesChanged{}}, {"quiet", BecameQuiet{}}, {"quiet, at work", PausedWhileWorking{}}, {"editor or Git tells", HintReceived{}},
		{"session ended", SessionEnded{}}, {"process ended", AgentExited{}}, {"stopped", AgentStopped{}}, {"process gone", AgentVanished{}}, {"terminal passed on", TerminalPassed{CloseReasonParked}},
	}
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> initializing\n")
	for _, l := range lives {
		var arrows []string // in the order of the events
		labels := map[string][]string{}
		for _, e := range events {
			next, effects := Transition(l, e.event)
			var triggers []string
			for _, effect := range effects {
				if take, ok := effect.(TakeSnapshot); ok {
					triggers = append(triggers, string(take.Trigger))
				}
			}
			if StateOf(next) == StateOf(l) && len(triggers) == 0 {
				continue
			}
			arrow := fmt.Sprintf("%s --> %s", StateOf(l), StateOf(next))
			if !slices.Contains(arrows, arrow) {
				arrows = append(arrows, arrow)
			}
			label := e.name
			if len(triggers) > 0 {
				label += " ● " + strings.Join(triggers, " ")
			}
			labels[arrow] = append(labels[arrow], label)
		}
		for _, arrow := range arrows {
			fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(labels[arrow], "<br/>"))
		}
	}
	b.WriteString("```\n")
	return b.String()
}
