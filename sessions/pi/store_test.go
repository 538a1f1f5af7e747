package pi

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func header(id, cwd string) string {
	return `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-11-28T10:00:00.000Z","cwd":"` + cwd + `"}` + "\n"
}

// TestPath: a session is found by its id in its own directory alone, wherever its user keeps
// sessions: one of another directory would have pi work there.
func TestPath(t *testing.T) {
	const id = "01a22376-bf4b-74ec-92a6-e57b6fa81185" // of 2026-11-28T18:41:54.507Z
	for name, c := range map[string]struct {
		vars     map[string]string
		settings string
		dir      string // below the home
	}{
		"as usual":       {nil, "", ".pi/agent/sessions/--src-w--"},
		"moved":          {map[string]string{varDirectory: "~/elsewhere"}, "", "elsewhere/sessions/--src-w--"},
		"all in one":     {map[string]string{varSessions: "~/all"}, "", "all"},
		"so by settings": {nil, `{"sessionDir":"~/kept"}`, "kept"},
	} {
		t.Run(name, func(t *testing.T) {
			env := sessions.Environ{Home: t.TempDir(), Vars: c.vars}
			if c.settings != "" {
				write(t, filepath.Join(env.Home, ".pi/agent/settings.json"), c.settings)
			}
			dir := filepath.Join(env.Home, c.dir)
			if got, want := (Adapter{}).Path(env, "/src/w", id), filepath.Join(dir, "2026-11-28T18-41-54-507Z_"+id+".jsonl"); got != want {
				t.Errorf("a new one is %s, want %s", got, want)
			}
			write(t, filepath.Join(dir, "1_"+id+".jsonl"), header(id, "/other"))
			write(t, filepath.Join(dir, "2_x_"+id+".jsonl"), header("x_"+id, "/src/w"))
			write(t, filepath.Join(dir, "3_"+id+".jsonl"), header(id, "/src/w"))
			if got, want := (Adapter{}).Path(env, "/src/w", id), filepath.Join(dir, "3_"+id+".jsonl"); got != want {
				t.Errorf("it is %s, want %s", got, want)
			}
			if n := len(slices.Collect((Adapter{}).Stored(env))); n != 3 {
				t.Errorf("%d are stored", n)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "foreign": `{"type":"message","id":"a"}` + "\n", "torn": header("a", "/w")[:40], "bad id": header("../a", "/w")} {
		path := filepath.Join(dir, name)
		write(t, path, text)
		if s, err := (Adapter{}).Open(path); err == nil {
			t.Errorf("%s is %+v", name, s)
		}
	}
	for id, want := range map[string]bool{"a": true, "a.b_c-d": true, "": false, "-a": false, "a-": false, "a/b": false, "a b": false} {
		if isID(id) != want {
			t.Errorf("%q is an id: %t", id, !want)
		}
	}
}

// TestForkStealsNoContinue: pi --continue takes the newest session of the directory it is
// started in, and a fork's is in no other's; nor does a session have files beside its own
// that a copy could bring along.
func TestForkStealsNoContinue(t *testing.T) {
	env := sessions.Environ{Home: "/h"}
	const id, other = "01a22376-bf4b-74ec-92a6-e57b6fa81185", "01a22376-bf4b-74ec-92a6-e57b6fa81186"
	source, copied := (Adapter{}).Path(env, "/w/é", id), (Adapter{}).Path(env, "/w/forks/é", other)
	if filepath.Dir(source) == filepath.Dir(copied) || filepath.Dir(source) != "/h/.pi/agent/sessions/--w-é--" {
		t.Errorf("the source is %s, the fork %s", source, copied)
	}
	if _, sided := any(Adapter{}).(sessions.Sided); sided {
		t.Error("sessions have side files: which of them belong to a cut?")
	}
}
