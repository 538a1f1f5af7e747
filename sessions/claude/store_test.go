package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestSlug(t *testing.T) {
	long := "/" + strings.Repeat("a", 199)
	for in, want := range map[string]string{
		"/home/dev/w2":           "-home-dev-w2",
		"/Home/Dev":              "-Home-Dev",
		"/a.b_c d+e":             "-a-b-c-d-e",
		"/ä/x":                   "---x",
		"/u\u0308":               "-u-",
		"/🙂":                     "---",
		long:                     "-" + long[1:],
		long + "a":               "-" + long[1:] + "-" + javaHash36(long+"a"),
		"/" + long + "/日本/🙂/end": ("-" + "-" + long[1:])[:200] + "-" + javaHash36("/"+long+"/日本/🙂/end"),
	} {
		if got := slug(in); got != want {
			t.Errorf("slug(%s) = %s, want %s", in, got, want)
		}
	}
}

// javaHash36 computes String.hashCode in big steps, unlike slug.
func javaHash36(s string) string {
	var h uint64
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			h = h*31 + uint64(0xd800+r>>10)
			r = 0xdc00 + r&0x3ff
		}
		h = h*31 + uint64(r)
	}
	n := int64(int32(uint32(h)))
	if n < 0 {
		n = -n
	}
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	out := ""
	for ; n > 0; n /= 36 {
		out = string(digits[n%36]) + out
	}
	return out
}

func TestRootAndPath(t *testing.T) {
	env := func(vars ...string) sessions.Environ {
		e := sessions.Environ{Home: "/home/u", Vars: map[string]string{}}
		for _, v := range vars {
			k, v, _ := strings.Cut(v, "=")
			e.Vars[k] = v
		}
		return e
	}
	cfg := t.TempDir()
	mkfile(t, filepath.Join(cfg, "projects", "mine", "x"), "")
	for _, c := range []struct {
		env  sessions.Environ
		want string
	}{
		{env(), "/home/u/.claude/projects/-w-x/" + idA + ".jsonl"},
		{env("CLAUDE_CONFIG_DIR=/cfg"), "/cfg/projects/-w-x/" + idA + ".jsonl"},
		{env("CLAUDE_CODE_PROJECT_DIR_NAME=mine"), "/home/u/.claude/projects/-w-x/" + idA + ".jsonl"},
		{env("CLAUDE_CONFIG_DIR="+cfg, "CLAUDE_CODE_PROJECT_DIR_NAME=mine"), cfg + "/projects/mine/" + idA + ".jsonl"},
		{env("CLAUDE_CONFIG_DIR=/cfg", "CLAUDE_CODE_PROJECT_DIR_NAME=mine"), "/cfg/projects/-w-x/" + idA + ".jsonl"},
		{env("CLAUDE_CONFIG_DIR=/cfg", "CLAUDE_CODE_PROJECT_DIR_NAME=../up"), "/cfg/projects/-w-x/" + idA + ".jsonl"},
		{env("CLAUDE_CONFIG_DIR=/cfg", "CLAUDE_CODE_PROJECT_DIR_NAME="+strings.Repeat("a", 65)), "/cfg/projects/-w-x/" + idA + ".jsonl"},
	} {
		if got := (Adapter{}).Path(c.env, "/w.x", idA); got != c.want {
			t.Errorf("Path with %v is %s, want %s", c.env.Vars, got, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	a := Adapter{}
	line := func(cwd string) string {
		return `{"type":"user","cwd":"` + cwd + `","message":{"content":"hi"}}` + "\n"
	}
	old, moved := a.Path(env, "/w/x", idA), a.Path(env, "/w/x", idB)
	mkfile(t, old, `{"type":"queue-operation","sessionId":"`+idA+`"}`+"\n"+line("/w/x"))
	mkfile(t, moved, line("/tmp/elsewhere")+line("/w/x"))
	mkfile(t, filepath.Join(filepath.Dir(old), "agent-a1b0316.jsonl"), line("/w/x")) // 2.0's subagents
	if s, err := a.Open(moved); err != nil || s.ID != idB || s.Cwd != "/w/x" || s.Path != moved {
		t.Errorf("opened %+v, %v", s, err)
	}
	s, err := a.Open(old)
	if err != nil || s.ID != idA || s.Cwd != "/w/x" || s.Size == 0 || s.Modified.IsZero() {
		t.Errorf("opened %+v, %v", s, err)
	}
	for _, p := range []string{a.Path(env, "/w/x", "44444444-4444-4444-8444-444444444444"), filepath.Join(filepath.Dir(old), "agent-a1b0316.jsonl"), filepath.Dir(old)} {
		if _, err := a.Open(p); !errors.Is(err, sessions.ErrNoSession) {
			t.Errorf("Open(%s): %v", p, err)
		}
	}
}

const idC = "77777777-7777-4777-8777-777777777777"

func names(sides []sessions.Side) []string {
	var out []string
	for _, s := range sides {
		out = append(out, s.Name)
	}
	return out
}

func TestSides(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	a := Adapter{}
	path := a.Path(env, "/w", idA)
	dir, root := filepath.Dir(path), a.Root(env)
	mkfile(t, path, `{"type":"user","cwd":"/w","sessionId":"`+idA+`","timestamp":"2020-01-01T00:00:00Z"}`+"\n")
	own := map[string]string{
		filepath.Join(dir, idA, "subagents", "agent-1.jsonl"):                   "subagents/agent-1.jsonl",
		filepath.Join(dir, idA, "subagents", "agent-1.meta.json"):               "subagents/agent-1.meta.json",
		filepath.Join(dir, idA, "tool-results", "b3.txt"):                       "tool-results/b3.txt",
		filepath.Join(dir, idA, "custom-title.json"):                            "custom-title.json",
		filepath.Join(root, "file-history", idA, "8ff3db57e983fa90@v1"):         "file-history/8ff3db57e983fa90@v1",
		filepath.Join(root, "tasks", idA, "1.json"):                             "tasks/1.json",
		filepath.Join(root, "todos", idA+"-agent-"+idA+".json"):                 "todos/self.json",
		filepath.Join(root, "todos", idA+"-agent-22222222-2222-4222-8222.json"): "todos/22222222-2222-4222-8222.json",
		filepath.Join(dir, "agent-a1b0316.jsonl"):                               "agents/agent-a1b0316.jsonl",
	}
	var want []string
	for p, name := range own {
		mkfile(t, p, `{"sessionId":"`+idA+`"}`+"\n")
		want = append(want, name)
	}
	for _, p := range []string{
		filepath.Join(dir, "agent-b000000.jsonl"), filepath.Join(dir, idC, "tool-results", "x.txt"), filepath.Join(dir, "memory", "MEMORY.md"),
		filepath.Join(root, "sessions", "7.json"), filepath.Join(root, "sessions", "7.ff.key"), filepath.Join(dir, idA, "peer.key"),
		filepath.Join(root, "tasks", idA, "1.lock"), filepath.Join(root, "todos", idC+"-agent-"+idC+".json"), filepath.Join(env.Home, ".claude.json"),
		filepath.Join(root, "file-history", idC, "8ff3db57e983fa90@v1"), filepath.Join(dir, idA, "tasks", "9.json"),
	} {
		mkfile(t, p, `{"sessionId":"`+idC+`"}`+"\n")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, idA, "link")); err != nil {
		t.Fatal(err)
	}
	s, err := a.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sides, err := a.Sides(env, s)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if got := names(sides); !slices.Equal(got, want) {
		t.Errorf("sides %q\nwant  %q", got, want)
	}
	for _, side := range sides {
		if own[side.Path] != side.Name || side.Size == 0 || side.Mode != 0o600 {
			t.Errorf("side %+v", side)
		}
	}
	checkPlaced(t, env, sides)
}

// checkPlaced places the sides in another directory and finds them again there,
// under the same names.
func checkPlaced(t *testing.T, env sessions.Environ, sides []sessions.Side) {
	t.Helper()
	a := Adapter{}
	open := func(name string) (io.ReadCloser, error) {
		for _, s := range sides {
			if s.Name == name {
				return os.Open(s.Path)
			}
		}
		return nil, fmt.Errorf("no side %s", name)
	}
	files, err := a.PlaceSides(env, names(sides), open, fork("/w", "/n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		mode := fs.FileMode(0o600)
		if at := slices.IndexFunc(sides, func(s sessions.Side) bool { return s.Name == f.Side }); at >= 0 {
			mode = sides[at].Mode
		}
		if _, err := os.Lstat(f.Path); err == nil || f.Mode != mode || (f.Side != "") != strings.Contains(f.Path, "/file-history/") {
			t.Errorf("%s is there already, or its mode is %o", f.Path, f.Mode)
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		mkfile(t, f.Path, b.String())
	}
	path := a.Path(env, "/n", idB)
	if err := os.WriteFile(path, []byte(`{"type":"user","cwd":"/n"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := a.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.Sides(env, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names(sides) {
		if !slices.Contains(names(again), name) {
			t.Errorf("%s was not placed: %q", name, names(again))
		}
	}
	for _, s := range again {
		if b, _ := os.ReadFile(s.Path); strings.HasSuffix(s.Name, ".jsonl") && !bytes.Contains(b, []byte(idB)) {
			t.Errorf("%s still names the old session: %s", s.Name, b)
		}
	}
	files, err = a.PlaceSides(env, []string{"agents/agent-a1b0316.jsonl"}, open, fork("/w", "/w"))
	if err != nil || len(files) != 0 {
		t.Errorf("2.0's subagent would be placed over its source: %v, %v", files, err)
	}
}

// TestPlaceHistory: a copy in the file history has its workspace file's mode, with
// which /rewind gives it back; where the source's is gone, what most files have.
func TestPlaceHistory(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	name := filepath.Join(Adapter{}.Root(env), "file-history", fork("/w", "/n").OldID, "8ff3db57e983fa90@v1")
	for _, mode := range []fs.FileMode{0, 0o755, 0o600} {
		want := fs.FileMode(0o644)
		if mode != 0 {
			want = mode
			mkfile(t, name, "x")
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		files, err := Adapter{}.PlaceSides(env, []string{"file-history/8ff3db57e983fa90@v1"}, nil, fork("/w", "/n"))
		if err != nil || len(files) != 1 || files[0].Mode != want || files[0].Side == "" {
			t.Errorf("one of mode %o is placed as %+v, %v", mode, files, err)
		}
	}
}

func TestPlaceSidesForeignNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../../x", "a//b", "x\x00", "subagents/x.key"} {
		if _, err := (Adapter{}).PlaceSides(sessions.Environ{Home: "/h"}, []string{name}, nil, fork("/w", "/n")); err == nil {
			t.Errorf("%q was taken for a side file", name)
		}
	}
}

// TestPlaceSubagentsWorktree: a subagent that worked in a worktree, its own or that of the
// agent that began it, goes on in the fork's workspace; what else is noted of it stays.
func TestPlaceSubagentsWorktree(t *testing.T) {
	const worktree = `"/w/.claude/worktrees/agent-1"`
	for noted, left := range map[string]string{
		`"worktreePath":` + worktree + `,"worktreeBranch":"b","spawnedWithWorktree":true,"cwd":` + worktree: "",
		`"inheritedWorktreePath":` + worktree + `,"cwd":` + worktree:                                        "",
		`"inheritedWorktreePath":` + worktree:                                                               "",
		`"cwd":"/w/sub"`:                                                                                    `,"cwd":"/n/sub"`,
	} {
		noted = `{"agentType":"general-purpose","description":"in /w",` + noted + `}`
		for to, want := range map[string]string{"/n": `{"agentType":"general-purpose","description":"in /n"` + left + `}`, "/w": noted} {
			open := func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(noted)), nil }
			files, err := Adapter{}.PlaceSides(sessions.Environ{Home: "/h"}, []string{"subagents/agent-1.meta.json"}, open, fork("/w", to))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v %v", files, err)
			}
			var out bytes.Buffer
			var got, wanted any
			if err := errors.Join(files[0].Write(&out), json.Unmarshal(out.Bytes(), &got), json.Unmarshal([]byte(want), &wanted)); err != nil || !reflect.DeepEqual(got, wanted) {
				t.Errorf("for %s: %s, %v", to, out.String(), err)
			}
		}
	}
}

// TestPlaceSidesReal forks the real subagent transcript and big tool result.
func TestPlaceSidesReal(t *testing.T) {
	dir := "testdata/2.1.329/tools-subagent-compact/" + idA
	open := func(name string) (io.ReadCloser, error) {
		if name == "tool-results/plain.txt" {
			return io.NopCloser(strings.NewReader("in /home/dev/w2/x")), nil
		}
		return os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	}
	sides := []string{"subagents/agent-a6cac3ad311154d37.jsonl", "subagents/agent-a6cac3ad311154d37.meta.json", "tool-results/b3up5u558.txt", "tool-results/plain.txt"}
	files, err := Adapter{}.PlaceSides(sessions.Environ{Home: "/h"}, sides, open, fork("/home/dev/w2", "/srv/n"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if f.Path != "/h/.claude/projects/-srv-n/"+idB+"/"+sides[i] {
			t.Errorf("placed at %s", f.Path)
		}
		out = append(out, b.String())
	}
	if strings.Contains(out[0], "/home/dev/w2\"") || strings.Contains(out[0], `"sessionId":"`+idA) || !strings.Contains(out[0], `"sessionId":"`+idB) {
		t.Error("the subagent's transcript still names the old place or session")
	}
	same, err := os.ReadFile(filepath.Join(dir, sides[1]))
	if err != nil || string(same) != out[1] {
		t.Errorf("the subagent's metadata changed: %v", err)
	}
	if out[3] != "in /srv/n/x" {
		t.Errorf("tool result %q", out[3])
	}
}

func TestLive(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	dir := filepath.Join(env.Home, ".claude", "sessions")
	entry := func(pid int, id, start string) string {
		return fmt.Sprintf(`{"pid":%d,"sessionId":"%s","procStart":"%s","status":"idle"}`, pid, id, start)
	}
	child := exec.Command("sleep", "6000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			_ = child.Process.Kill()
			_ = child.Wait()
			ended = true
		}
	}
	defer end()
	if _, ok := (Adapter{}).Live(env, idA); ok {
		t.Error("live without a registry")
	}
	mkfile(t, filepath.Join(dir, "1.json"), `{"pid":`)
	mkfile(t, filepath.Join(dir, "2.json"), string(fixture(t, "2.1.329/live-session-registry.json")))
	mkfile(t, filepath.Join(dir, "3.json"), entry(child.Process.Pid, idA, ""))
	mkfile(t, filepath.Join(dir, "4.json"), entry(child.Process.Pid, idB, "1"))
	if pid, ok := (Adapter{}).Live(env, idA); !ok || pid != child.Process.Pid {
		t.Errorf("live: %d, %t", pid, ok)
	}
	if pid, ok := (Adapter{}).Live(env, idB); ok && runtime.GOOS == "linux" {
		t.Errorf("process %d, which began at another time, counts as live", pid)
	}
	end()
	if pid, ok := (Adapter{}).Live(env, idA); ok {
		t.Errorf("the dead process %d counts as live", pid)
	}
}
