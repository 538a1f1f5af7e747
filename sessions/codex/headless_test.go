package codex

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

func TestHeadless(t *testing.T) {
	sessionstest.TestHeadless(t, Adapter{}, sessionstest.HeadlessCommands{
		ID: idA,
		Resumed: map[string]string{
			"codex": "codex|exec|--skip-git-repo-check|resume|ID|--|-v is wrong",
			"codex|-a|never|-s|read-only|-i|a.png|go":    "codex|-a|never|-s|read-only|exec|--skip-git-repo-check|resume|ID|--|-v is wrong",
			"codex|exec|--json|--skip-git-repo-check|go": "codex|exec|--json|--skip-git-repo-check|resume|ID|--|-v is wrong",
			"codex|resume|--last|-a|never":               "codex|-a|never|exec|--skip-git-repo-check|resume|ID|--|-v is wrong",
		},
		Modelled: map[string]string{
			"codex":                "codex|--model|new",
			"codex|exec|-m|old|go": "codex|--model|new|exec|--|go",
			"codex|login":          "codex|login",
		},
	})
}
