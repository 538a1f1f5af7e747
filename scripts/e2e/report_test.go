package e2e

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestReport: what a fork reports is sent to its parent's model with the next prompt,
// once, and stays in its conversation; with a daemon and without one.
func TestReport(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T) *person{
		"claude": func(t *testing.T) *person { return newPerson(t, clients.ClaudeCurrent) },
		"codex":  func(t *testing.T) *person { return newCodex(t, "UMBRA_NO_DAEMON=1") },
		"gemini": func(t *testing.T) *person {
			p := newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent), "UMBRA_NO_DAEMON=1")
			p.umbra("hooks", "install", "gemini")
			return p
		},
		"opencode": func(t *testing.T) *person {
			return newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent), "UMBRA_NO_DAEMON=1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begin(t)
			p.umbra(append([]string{"mission", "new", "--name", "source", "--no-launch", "--"}, p.speaks().headless...)...)
			p.goesOn("source")
			p.umbra("fork", "source", "--name", "twin", "--no-launch")
			p.goesOn("twin")
			p.umbra("fork", "report", "twin")
			p.umbra("fork", "report", "twin", "the cause is \"a < b\" & ü")
			sent := func() string {
				t.Helper()
				return string(p.goesOn("source").Body)
			}
			body := sent()
			for _, text := range []string{"[umbra-update ", "mission twin reports"} {
				if n := strings.Count(body, text); n != 2 {
					t.Errorf("the model was sent %q %d times, not with both reports:\n%s", text, n, body)
				}
			}
			if !strings.Contains(body, "| well") || !strings.Contains(body, "| the cause is ") {
				t.Errorf("the model was sent\n%s", body)
			}
			if list := asked[[]struct{ Text string }](p, "updates", "source"); len(list) > 0 {
				t.Errorf("%q wait still", list)
			}
			if n := strings.Count(sent(), "[umbra-update "); n != 2 {
				t.Errorf("with the prompt after it the model was sent %d updates, not those 2 that were in the conversation", n)
			}
			p.umbra("restore", "source@1", "--force")
			if list := asked[[]struct{ Text string }](p, "updates", "source"); len(list) != 2 {
				t.Errorf("after a restore to before them %q wait", list)
			}
			if n := strings.Count(sent(), "[umbra-update "); n != 2 {
				t.Errorf("after a restore to before them the model was sent %d", n)
			}
		})
	}
}
