package merges

import (
	"strings"
	"testing"
)

// TestQuotePrompts: of prompts that are too long together the newest are kept, in the order in
// which they were typed, and one that is too long alone leaves room for another.
func TestQuotePrompts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90)
	for _, c := range []struct {
		newest []string
		want   string
	}{
		{[]string{"second", "first"}, "| first\n| second\n"},
		{[]string{"third", "second " + long, "first"}, "| first\n| second " + long[:43] + "\n| (cut)\n| third\n"},
		{[]string{long, long, "first"}, "| (older prompts are left out)\n| " + long[:50] + "\n| (cut)\n"},
	} {
		if got := quotePrompts(c.newest, 100); got != c.want {
			t.Errorf("quoted %q, want %q", got, c.want)
		}
	}
}
