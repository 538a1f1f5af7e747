package capture

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
)

// TestLoginByContent: a key that has no name of a secret is left out for its content, and
// stays so; but not what the snapshot before held, or the user says is none.
func TestLoginByContent(t *testing.T) {
	t.Parallel()
	const key = `{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}`
	l := newLab(t, Settings{Secrets: []string{"*.pem", "!ours-*.json"}})
	want := map[string]string{"a.txt": "a", "became.json": "{}", "ours-1.json": key}
	for name, content := range want {
		l.write(name, content)
	}
	l.write("prod-1a2b.json", key)
	check := func(r *Result) {
		t.Helper()
		l.wantFiles(r, want)
		if len(r.Skipped) != 1 || r.Skipped[0].Path != "prod-1a2b.json" || r.Skipped[0].Reason != documents.ReasonSecret {
			t.Errorf("left out: %+v", r.Skipped)
		}
	}
	check(l.walk())
	l.write("became.json", key)
	want["became.json"] = key
	for range 2 {
		check(l.walk())
	}
	l.write("prod-1a2b.json", "{}")
	want["prod-1a2b.json"] = "{}"
	l.wantFiles(l.paths("prod-1a2b.json"), want)
}
