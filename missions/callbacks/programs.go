// Package callbacks runs the programs of the user's that copy the conversations of a tool
// which Umbra does not know: one cuts a conversation where its tool can go on from, one
// gives it another session and workspace. The user's configuration alone says which they
// are. The package knows no mission, and what a program gives counts only if it ended well.
package callbacks

import (
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions/settings"
)

// What a program is asked to do.
const (
	cutting   = "cut"
	rewriting = "rewrite"
)

// Programs are the command lines of the programs for one tool; nil where there is none.
type Programs struct{ Cut, Rewrite []string }

// None reports whether there is no program: then a conversation is copied as it is.
func (p Programs) None() bool { return p.Cut == nil && p.Rewrite == nil }

// For are the programs that the user has configured for a tool.
func (r Runner) For(c settings.Tools, tool string) Programs {
	home := ""
	for _, variable := range r.Environ() {
		if value, ok := strings.CutPrefix(variable, "HOME="); ok {
			home = value
		}
	}
	return Programs{Cut: find(c.Cut, tool, home), Rewrite: find(c.Rewrite, tool, home)}
}

func find(lines []string, tool, home string) []string {
	for _, line := range lines {
		name, command, err := settings.ParseToolProgram(line)
		if err != nil || name != tool {
			continue
		}
		if rest, ok := strings.CutPrefix(command[0], "~/"); ok {
			command[0] = filepath.Join(home, rest)
		}
		return command
	}
	return nil
}

// Description is what a program is told, as description.json in its directory.
type Description struct {
	Call         string `json:"call"`   // cut or rewrite
	Agent        string `json:"agent"`  // the tool
	Length       int64  `json:"length"` // of the conversation on stdin, in bytes
	Turn         int    `json:"turn"`   // of the moment
	OldSession   string `json:"old_session"`
	NewSession   string `json:"new_session"`
	OldWorkspace string `json:"old_workspace"`
	NewWorkspace string `json:"new_workspace"`
	OldCwd       string `json:"old_cwd"`
	NewCwd       string `json:"new_cwd"`
}
