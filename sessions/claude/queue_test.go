package claude

import (
	"fmt"
	"slices"
	"testing"
)

// TestQueued: prompts wait from when they were sent until Claude Code takes them up,
// gives them back to be edited, or has ended and goes on without them.
func TestQueued(t *testing.T) {
	operation := func(what, prompt string) string {
		if prompt == "" {
			return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":"2026-11-23T23:22:55.769Z"}`, what)
		}
		return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"timestamp":"2026-11-23T23:22:55.769Z","content":%q}`, what, prompt)
	}
	two, three := operation("enqueue", "two"), operation("enqueue", "three\nlines")
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"none", []string{cutPrompt, cutUse}, nil},
		{"sent", []string{cutPrompt, cutUse, two, three}, []string{"two", "three\nlines"}},
		{"taken into the turn", []string{cutPrompt, cutUse, two, three, operation("remove", "three\nlines"), cutResult}, []string{"two"}},
		{"taken up by 2.0", []string{cutPrompt, two, three, cutAnswer, operation("remove", ""), cutPrompt2}, []string{"three\nlines"}},
		{"a turn of its own", []string{cutPrompt, two, three, cutAnswer, operation("dequeue", ""), cutPrompt2}, []string{"three\nlines"}},
		{"edited", []string{cutPrompt, two, three, operation("popAll", "two")}, []string{"three\nlines"}},
		{"edited in 2.0", []string{cutPrompt, two, three, operation("popAll", "")}, nil},
		{"a turn after its end", []string{cutPrompt, operation("enqueue", "lost"), cutPrompt2}, nil},
		{"headless after its end", []string{cutPrompt, operation("enqueue", "lost"), two, operation("dequeue", ""), cutPrompt2}, nil},
		{"a command's turn after its end", []string{cutPrompt, operation("enqueue", "lost"), cutCommand, cutExpand}, nil},
		{"a report", []string{cutPrompt, operation("enqueue", "<task-notification>done</task-notification>"), two}, []string{"two"}},
		{"none to take", []string{operation("dequeue", ""), operation("popAll", ""), operation("remove", "x"), two}, []string{"two"}},
		{"the same twice", []string{cutPrompt, two, three, two, cutAnswer, operation("dequeue", ""), cutPrompt2}, []string{"three\nlines", "two"}},
	} {
		var got []string
		for _, text := range read(t, []byte(transcript(c.lines...))).Queued {
			if got = append(got, text.Text); text.At.IsZero() || text.Role != "user" {
				t.Errorf("%s: %+v", c.name, text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q waits, want %q", c.name, got, c.want)
		}
	}
}
