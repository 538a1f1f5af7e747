package local

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/editors"
)

// TestChangedPlugin neither overwrites nor removes a plugin's file that its user
// has changed.
func TestChangedPlugin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	caller := b.caller()
	caller.Binary = "/opt/umbra"
	if err := os.Mkdir(filepath.Join(caller.Env["HOME"], ".vscode"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range editors.Names() {
		r := missions.HooksRequest{Caller: caller, Name: name}
		other := r
		other.Caller.Binary = "/opt/other/umbra"
		if _, err := b.local.InstallHooks(ctx, other); err != nil {
			t.Fatal(err)
		}
		if got, err := b.local.HooksStatus(ctx, r); err != nil || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "calls another one") {
			t.Errorf("%s of another umbra: %+v %v", name, got, err)
		}
		if got, err := b.local.InstallHooks(ctx, r); err != nil || !got.Installed || len(got.Problems) > 0 {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		plugins, _, err := editors.Find(name, editors.User{Home: caller.Env["HOME"], Exists: func(string) bool { return false }}, caller.Binary)
		if err != nil {
			t.Fatal(err)
		}
		plugin := plugins[0]
		file := plugin.Files[len(plugin.Files)-1]
		mine := bytes.Replace(file.Content, []byte("\n"), []byte("\n\n"), 1)
		if err := os.WriteFile(file.Path, mine, 0o644); err != nil {
			t.Fatal(err)
		}
		for what, do := range map[string]func(context.Context, missions.HooksRequest) (missions.HooksResult, error){"install": b.local.InstallHooks, "uninstall": b.local.UninstallHooks} {
			if _, err := do(ctx, r); err == nil || missions.AsError(err).Kind != missions.KindConflict || !strings.Contains(missions.AsError(err).Message, file.Path+" was changed") {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
		for _, f := range plugin.Files {
			want := f.Content
			if f.Path == file.Path {
				want = mine
			}
			if is, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(is, want) {
				t.Errorf("%s: %s is another one (%v)", name, f.Path, err)
			}
		}
		state, err := b.local.HooksStatus(ctx, r)
		if says := func(p string) bool { return strings.Contains(p, "was changed") }; err != nil || !state.Installed || !slices.ContainsFunc(state.Problems, says) {
			t.Errorf("%s: %+v %v", name, state, err)
		}
		if err := os.WriteFile(file.Path, file.Content, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := b.local.UninstallHooks(ctx, r); err != nil || got.Installed || !got.Changed {
			t.Errorf("%s as it was: %+v %v", name, got, err)
		}
		if _, err := os.Stat(plugin.Dir); !os.IsNotExist(err) {
			t.Errorf("%s: %s stays: %v", name, plugin.Dir, err)
		}
	}
}
