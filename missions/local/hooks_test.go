package local

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/hooks"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// TestHooksSwitchedOff says that no hook runs where the settings forbid it.
func TestHooksSwitchedOff(t *testing.T) {
	t.Parallel()
	for setting, off := range map[string]bool{`{"disableAllHooks": true}`: true, `{"disableAllHooks": false}`: false, `{}`: false} {
		b := newBench(t)
		b.local.Adapters = projects.Agents()
		b.put(filepath.Join(b.user, ".claude", "settings.json"), setting)
		caller := b.caller()
		caller.Binary = "/usr/bin/umbra"
		r := missions.HooksRequest{Caller: caller, Name: "claude"}
		for _, ask := range []func(context.Context, missions.HooksRequest) (missions.HooksResult, error){b.local.InstallHooks, b.local.HooksStatus} {
			got, err := ask(context.Background(), r)
			said := strings.Contains(strings.Join(got.Problems, "\n"), "switches all hooks off")
			if err != nil || !got.Installed || said != off {
				t.Errorf("%s: %+v %v", setting, got, err)
			}
		}
	}
}

// TestHooksLeaveNoDirectory: directories that were made for hooks go with them, and those that
// were there before stay, also where nothing is in them: of each agent, in each place.
func TestHooksLeaveNoDirectory(t *testing.T) {
	t.Parallel()
	for _, a := range projects.Agents() {
		if _, installs := a.(sessions.Installing); !installs {
			continue
		}
		for _, r := range []missions.HooksRequest{{Name: a.Name()}, {Name: a.Name(), Project: true}} {
			for _, before := range []string{"nothing", "empty directories", "another file"} {
				t.Run(fmt.Sprintf("%s, project %t, %s", r.Name, r.Project, before), func(t *testing.T) {
					t.Parallel()
					checkHooksLeaveNoDirectory(t, r, before)
				})
			}
		}
	}
}

func checkHooksLeaveNoDirectory(t *testing.T, r missions.HooksRequest, before string) {
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	r.Caller = b.caller()
	r.Caller.Binary = "/usr/bin/umbra"
	do := func(do func(context.Context, missions.HooksRequest) (missions.HooksResult, error)) missions.HooksResult {
		t.Helper()
		got, err := do(context.Background(), r)
		if err != nil || !got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	if before != "nothing" {
		file := do(b.local.InstallHooks).File
		do(b.local.UninstallHooks)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if before == "another file" {
			b.put(filepath.Join(filepath.Dir(file), "mine"), "mine")
		}
	}
	was := userPaths(t, b)
	do(b.local.InstallHooks)
	if _, err := b.local.InstallHooks(context.Background(), r); err != nil { // again: then they are there already
		t.Fatal(err)
	}
	do(b.local.UninstallHooks)
	if is := userPaths(t, b); !slices.Equal(is, was) {
		t.Errorf("there was %q, and now is %q", was, is)
	}
}

// userPaths lists what is in the user's directory, but for Umbra's home.
func userPaths(t *testing.T, b *testBench) (paths []string) {
	err := filepath.WalkDir(b.user, func(path string, _ fs.DirEntry, err error) error {
		if path == b.home {
			return fs.SkipDir
		}
		paths = append(paths, strings.TrimPrefix(path, b.user))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// meddler is an agent that writes into its settings while hooks are installed, as
// one does whose user answers a question with “always”.
type meddler struct {
	claude.Adapter
	write func()
}

func (m meddler) InstallHooks(settings []byte, command string) ([]byte, error) {
	m.write()
	return m.Adapter.InstallHooks(settings, command)
}

func (m meddler) UninstallHooks(settings []byte) ([]byte, bool, error) {
	m.write()
	return m.Adapter.UninstallHooks(settings)
}

// TestHooksBesideAgent: what an agent writes while hooks are put in and taken out is
// kept.
func TestHooksBesideAgent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.json")
	says := func(text string) func() {
		return sync.OnceFunc(func() {
			before, err := userfile.Read(file)
			if err == nil && before != nil {
				text = strings.Replace(string(before), "{", text, 1)
			} else {
				text += "}"
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	at := hooks.HookPlace{Installing: meddler{write: says(`{"model": "opus"`)}, File: file}
	if changed, err := at.AddHooks("/usr/bin/umbra"); !changed || err != nil {
		t.Fatal(changed, err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "opus") || !strings.Contains(string(text), "umbra hook claude") {
		t.Fatalf("%s, %v", text, err)
	}
	at.Installing = meddler{write: says(`{"verbose": true,`)}
	if changed, err := at.RemoveHooks(); !changed || err != nil {
		t.Fatal(changed, err)
	}
	text, err = os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "opus") || !strings.Contains(string(text), "verbose") || strings.Contains(string(text), "umbra") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestHooksBehindLink: a link to settings that were not there yet stays, and nothing
// of Umbra's is left behind it.
func TestHooksBehindLink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	target, link := filepath.Join(t.TempDir(), "settings.json"), filepath.Join(b.user, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	r := missions.HooksRequest{Caller: b.caller(), Name: "claude"}
	r.Caller.Binary = "/usr/bin/umbra"
	for _, tt := range []struct {
		do    func(context.Context, missions.HooksRequest) (missions.HooksResult, error)
		there bool
	}{{b.local.InstallHooks, true}, {b.local.UninstallHooks, false}} {
		if got, err := tt.do(context.Background(), r); err != nil || !got.Changed || got.Installed != tt.there {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, err := os.Stat(target); (err == nil) != tt.there {
			t.Errorf("what the link leads to: %v, want it there: %t", err, tt.there)
		}
		if to, err := os.Readlink(link); to != target || err != nil {
			t.Errorf("the link leads to %q: %v", to, err)
		}
	}
}
