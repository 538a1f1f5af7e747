package sessions

import "testing"

func TestStripEscapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain [1m text":                       "plain [1m text",
		"\x1b[1mbold\x1b[0m":                   "bold",
		"\x1b[38;2;1;2;3mred\u009b0m":          "red",
		"\x1b[?25l\x1b[2Kgone\x1b[1 q":         "gone",
		"\x1b]8;;https://x\x1b\\link\x1b]0;\a": "link",
		"\x1b(Bascii\x1b7\x1bM":                "ascii",
		"a\x1b]0;no end\nthe rest":             "a\x1b]0;no end\nthe rest",
		"a\x1b[3é":                             "a\x1b[3é",
		"\x1b":                                 "\x1b",
	} {
		if got := StripEscapes(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
