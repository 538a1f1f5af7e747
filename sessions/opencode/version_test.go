package opencode

import (
	"os"
	"path/filepath"
	"testing"
)

// TestClient: which version began a session.
func TestClient(t *testing.T) {
	a, dir := Adapter{}, t.TempDir()
	_, newest := a.Tried()
	for content, want := range map[string]string{
		string(fixture(t, "talk.jsonl")):                                              newest,
		`{"type":"session","session":"ses_1","value":{"version":"9.8.7"}}` + "\n{}\n": "9.8.7",
		`{"type":"session","session":"ses_1","value":{"version":"9.8.7"}}`:            "",
		`{"type":"part","session":"ses_1","value":{"version":"9.8.7"}}` + "\n":        "",
		"version\n": "", "": "",
	} {
		file := filepath.Join(dir, "s.jsonl")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := a.Client(file); got != want {
			t.Errorf("%.80s is of version %q, want %q", content, got, want)
		}
	}
	if got := a.Client(filepath.Join(dir, "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}
