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
