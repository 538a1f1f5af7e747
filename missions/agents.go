package missions

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
	"github.com/umbra-vcs/umbra/sessions/codex"
	"github.com/umbra-vcs/umbra/sessions/gemini"
	"github.com/umbra-vcs/umbra/sessions/opencode"
)

// Agents are the agents whose conversations Umbra knows. A new one is a package
// and a line here.
func Agents() []sessions.Adapter {
	return []sessions.Adapter{claude.Adapter{}, codex.Adapter{}, gemini.Adapter{}, opencode.Adapter{}}
}
