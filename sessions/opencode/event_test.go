package opencode

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestFilesOfACall: what a tool is about to write is known by its own input, each file
// of a patch too; a shell's command tells nothing.
func TestFilesOfACall(t *testing.T) {
	for name, tt := range map[string]struct {
		tool   string
		input  map[string]any
		files  []string
		target string
	}{
		"write":    {"write", map[string]any{"filePath": "/w/a"}, []string{"/w/a"}, "/w/a"},
		"a patch":  {"apply_patch", map[string]any{"patchText": "*** Begin Patch\n*** Update File: a\n*** Move to: /old/b\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch"}, []string{"a", "/old/b", "c"}, "a"},
		"a shell":  {"bash", map[string]any{"command": "ls"}, nil, "ls"},
		"a read":   {"read", map[string]any{"filePath": "/w/a"}, nil, "/w/a"},
		"question": {"question", map[string]any{"questions": []any{map[string]any{"question": "Which way?"}}}, nil, "Which way?"},
	} {
		payload, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "ses_1", "cwd": "/w", "tool_name": tt.tool, "tool_use_id": "c1", "tool_input": tt.input})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Adapter{}.Event(sessions.Environ{}, "", payload)
		if err != nil || !slices.Equal(e.Files, tt.files) || e.Tool.Target != tt.target {
			t.Errorf("%s: it writes %q and acts on %q (%v), want %q, %q", name, e.Files, e.Tool.Target, err, tt.files, tt.target)
		}
	}
}
