package missions

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHooksSwitchedOff says that no hook runs where the settings forbid it.
func TestHooksSwitchedOff(t *testing.T) {
	for setting, off := range map[string]bool{`{"disableAllHooks": true}`: true, `{"disableAllHooks": false}`: false, `{}`: false} {
		b := newBench(t)
		b.local.adapters = Agents()
		b.put(filepath.Join(os.Getenv("HOME"), ".claude", "settings.json"), setting)
		caller := b.caller()
		caller.Binary = "/usr/bin/umbra"
		r := HooksRequest{Caller: caller, Name: "claude"}
		for _, ask := range []func(context.Context, HooksRequest) (HooksResult, error){b.local.InstallHooks, b.local.HooksStatus} {
			got, err := ask(context.Background(), r)
			said := strings.Contains(strings.Join(got.Problems, "\n"), "switches all hooks off")
			if err != nil || !got.Installed || said != off {
				t.Errorf("%s: %+v %v", setting, got, err)
			}
		}
	}
}

// TestHooksLeaveNoDirectory: directories that were made for a file of hooks go with
// it, unless something else is in them; the agent's own stay.
func TestHooksLeaveNoDirectory(t *testing.T) {
	b := newBench(t)
	b.local.adapters = Agents()
	caller := b.caller()
	caller.Binary = "/usr/bin/umbra"
	round := func(r HooksRequest) {
		t.Helper()
		r.Caller = caller
		for _, do := range []func(context.Context, HooksRequest) (HooksResult, error){b.local.InstallHooks, b.local.UninstallHooks} {
			if got, err := do(context.Background(), r); err != nil || !got.Changed {
				t.Fatalf("%+v: %+v, %v", r, got, err)
			}
		}
	}
	there := func(path string, want bool) {
		t.Helper()
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
	round(HooksRequest{Name: "opencode", Project: true})
	there(filepath.Join(b.dir, ".opencode"), false)
	mine := filepath.Join(b.dir, ".opencode", "mine.json")
	b.put(mine, "{}")
	round(HooksRequest{Name: "opencode", Project: true})
	there(mine, true)
	there(filepath.Join(b.dir, ".opencode", "plugin"), false)
	round(HooksRequest{Name: "claude"})
	there(filepath.Join(os.Getenv("HOME"), ".claude"), true)
	round(HooksRequest{Name: "claude", Project: true})
	there(filepath.Join(b.dir, ".claude"), false)
	there(b.dir, true)
}
