package hooks

import (
	"errors"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestFields: what is of another type than it should be is missing, and costs
// nothing else.
func TestFields(t *testing.T) {
	f, err := Read([]byte(" {\"a\":\"x\",\"\\u0062\":\"é\\n\",\"n\":7,\"m\":-7,\"h\":1.5,\"yes\":true,\"in\":{\"a\":\"y\"},\"a\":\"last\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Text("a") != "last" || f.Text("b") != "é\n" || f.Text("n") != "" || f.Text("none") != "" {
		t.Errorf("texts %q, %q, %q", f.Text("a"), f.Text("b"), f.Text("n"))
	}
	if f.Count("n") != 7 || f.Count("m") != 0 || f.Count("h") != 0 || f.Count("a") != 0 || !f.Is("yes") || f.Is("a") {
		t.Errorf("numbers %d, %d, %d", f.Count("n"), f.Count("m"), f.Count("h"))
	}
	if f.Within("in").Text("a") != "y" || f.Within("a") != nil || f.Within("none").Text("a") != "" {
		t.Errorf("within: %v", f.Within("in"))
	}
	for _, in := range []string{"", " ", "7", "[]", "{", `{"a":1} x`, `{"a":}`} {
		if _, err := Read([]byte(in)); !errors.Is(err, sessions.ErrBadPayload) {
			t.Errorf("%q is read: %v", in, err)
		}
	}
}
