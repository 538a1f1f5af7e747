package sessions

import "testing"

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ result, mark, want string }{
		{`"Exit code 3\nFAIL"`, `"Exit code `, "3"},
		{`0`, "", "0"},
		{`"nothing"`, `"Exit code `, ""},
		{`"Exit code `, `"Exit code `, ""},
		{`null`, "", ""},
	} {
		if got := ExitCode([]byte(c.result), c.mark); got != c.want {
			t.Errorf("%s: %q, want %q", c.result, got, c.want)
		}
	}
}
