package qwen

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestRoot: sessions are found wherever its user has them be.
func TestRoot(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "moved/settings.json"), `{"advanced":{"runtimeOutputDir":"~/run"}}`)
	write(t, filepath.Join(home, "relative/settings.json"), `{"advanced":{"runtimeOutputDir":"run"}}`)
	for want, vars := range map[string]map[string]string{
		".qwen": nil, "elsewhere": {varHome: "~/elsewhere"}, "run": {varHome: "~/moved"}, "relative": {varHome: "~/relative"},
		"first": {varHome: "~/moved", varRuntime: "~/first"},
	} {
		if got := (Adapter{}).Root(sessions.Environ{Home: home, Vars: vars}); got != filepath.Join(home, want) {
			t.Errorf("with %v it is %s, want %s", vars, got, want)
		}
	}
}

func TestStored(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	path := (Adapter{}).Path(env, "/w", oldID)
	write(t, path, said("a", "", prompt("hi")))
	chats := filepath.Dir(path)
	for name, text := range map[string]string{oldID + ".runtime.json": "{}", "notes.jsonl": "{}\n", newID + ".jsonl": "\n{\"torn"} {
		write(t, filepath.Join(chats, name), text)
		if s, err := (Adapter{}).Open(filepath.Join(chats, name)); err == nil {
			t.Errorf("%s is %+v", name, s)
		}
	}
	if got := slices.Sorted((Adapter{}).Stored(env)); !slices.Equal(got, []string{path, filepath.Join(chats, newID+".jsonl")}) {
		t.Errorf("stored are %q", got)
	}
	if v := (Adapter{}).Client(path); v != "0.24.4" {
		t.Errorf("its client is %q", v)
	}
}
