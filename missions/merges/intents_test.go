package merges

import (
	"fmt"
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

// TestMergerPrompt: however much conflicts, the prompt fits into an argument, says what it leaves
// out and where that is; and what it has room for is there.
func TestMergerPrompt(t *testing.T) {
	t.Parallel()
	small := asking{
		into: "one", sides: []askedSide{{"one", []string{"later", "first"}}, {"fa", []string{"mend f"}}}, paths: []string{"f", "a b"},
		patches: []askedPatch{{"one", "f", "+1"}, {"fa", "f", "+2\n+3"}}, check: "make test", output: "no good",
	}
	text := small.prompt()
	for _, want := range []string{
		"[umbra merge into one]\n", "one was asked:\n| first\n| later\n", "fa was asked:\n| mend f\n", "the command\n| make test\n", "at its end:\n| no good\n",
		"\nf\n", "one has changed in f:\n| +1\n", "fa has changed in f:\n| +2\n| +3\n", "\n[end of umbra merge]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if strings.Contains(text, "--show") || strings.Contains(text, "--status") {
		t.Errorf("it leaves out something: %q", text)
	}

	lines := strings.Repeat("\n", 1<<17) + "x" // each line has a mark of its own
	huge := asking{into: "one", check: lines, output: lines}
	for i := range 40 {
		huge.sides = append(huge.sides, askedSide{fmt.Sprint("side", i), []string{lines, lines}})
	}
	for i := range 1000 {
		huge.paths = append(huge.paths, fmt.Sprint(strings.Repeat("d/", 2000), i))
		huge.patches = append(huge.patches, askedPatch{"fa", huge.paths[i], lines})
	}
	text = huge.prompt()
	if len(text) > 128<<10-1 {
		t.Errorf("the prompt has %d bytes", len(text))
	}
	for _, want := range []string{"umbra merge --into one --show PATH", "more: umbra merge --status --json --into one lists them", "side39 was asked:\n", "[end of umbra merge]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the prompt of much", want)
		}
	}
	one := asking{into: "one", patches: []askedPatch{{"fa", "f", strings.Repeat("+x\n", 9000)}}, paths: []string{"f"}}
	if text := one.prompt(); !strings.Contains(text, "| +x\n| +x\n") || !strings.Contains(text, "--show PATH") {
		t.Errorf("of one long difference: %q", text)
	}
}
