package copilot

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

const (
	theirs = "11111111-1111-4111-8111-111111111111"
	ours   = "22222222-2222-4222-8222-222222222222"
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
	return fmt.Sprintf(`{"type":"session.start","data":{"sessionId":%q,"copilotVersion":"1.0.102","context":{"cwd":%q,"gitRoot":%q}},"id":"a"}`+"\n", id, cwd, cwd)
}

func TestStored(t *testing.T) {
	env := itself(t.TempDir())
	path := (Adapter{}).Path(env, "/src/w", theirs)
	write(t, path, header(theirs, "/src/w"))
	write(t, (Adapter{}).Path(env, "", ".session-operation-locks"), header(theirs, "/src/w"))
	if err := os.MkdirAll(filepath.Dir((Adapter{}).Path(env, "", ours)), 0o700); err != nil { // nothing was said
		t.Fatal(err)
	}
	if got := slices.Collect((Adapter{}).Stored(env)); !slices.Equal(got, []string{path}) {
		t.Errorf("stored are %q", got)
	}
	s, err := Adapter{}.Open(path)
	if err != nil || s.ID != theirs || s.Cwd != "/src/w" || (Adapter{}).Client(path) != "1.0.102" {
		t.Errorf("it is %+v of %q, %v", s, (Adapter{}).Client(path), err)
	}
	for name, text := range map[string]string{
		"empty": "", "foreign": `{"type":"user.message","data":{}}` + "\n", "torn": header(theirs, "/w")[:60], "bad id": header("../a", "/w"),
	} {
		write(t, path, text)
		if s, err := (Adapter{}).Open(path); err == nil {
			t.Errorf("%s is %+v", name, s)
		}
	}
	moved := sessions.Environ{Home: env.Home, Vars: map[string]string{varDirectory: "/else"}}
	if got := (Adapter{}).Path(moved, "/src/w", theirs); got != "/else/session-state/"+theirs+"/events.jsonl" {
		t.Errorf("where COPILOT_HOME says, it is %s", got)
	}
}

// TestWrittenAt: copilot --continue goes on with the file that was written last. That is
// never a fork, also of a source that is gone, and always what was restored.
func TestWrittenAt(t *testing.T) {
	env := itself(t.TempDir())
	source := (Adapter{}).Path(env, "/src/w", theirs)
	write(t, source, header(theirs, "/src/w"))
	written := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	if err := os.Chtimes(source, written, written); err != nil {
		t.Fatal(err)
	}
	fork := sessions.Rewrite{OldID: theirs, NewID: ours, OldCwd: "/src/w", NewCwd: "/fork", OldRoot: "/src/w", NewRoot: "/fork"}
	if at := (Adapter{}).WrittenAt(env, fork); !at.Before(written) || at.IsZero() {
		t.Errorf("a fork counts as written at %s, its source at %s", at, written)
	}
	gone := fork
	gone.OldID = "33333333-3333-4333-8333-333333333333"
	if at := (Adapter{}).WrittenAt(env, gone); !at.Before(written) || at.IsZero() {
		t.Errorf("a fork whose source is gone counts as written at %s", at)
	}
	restored := fork
	restored.NewCwd, restored.NewRoot = fork.OldCwd, fork.OldRoot
	if at := (Adapter{}).WrittenAt(env, restored); !at.IsZero() {
		t.Errorf("what was restored counts as written at %s", at)
	}
}

// TestLive: what a killed process has left does not make a session open.
func TestLive(t *testing.T) {
	env := itself(t.TempDir())
	dir := filepath.Dir((Adapter{}).Path(env, "", theirs))
	for _, name := range []string{"inuse.4194305.lock", "inuse.x.lock", "inuse.0.lock", "inuse.-1.lock", fmt.Sprintf("inuse.%d.hold", os.Getpid())} {
		write(t, filepath.Join(dir, name), "")
	}
	other := exec.Command("sleep", "600") // it has the number of one that was killed
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	write(t, filepath.Join(dir, fmt.Sprintf("inuse.%d.lock", other.Process.Pid)), "")
	if pid, ok := (Adapter{}).Live(env, theirs); ok && runtime.GOOS == "linux" {
		t.Errorf("%d has it open", pid)
	}
	write(t, filepath.Join(dir, fmt.Sprintf("inuse.%d.lock", os.Getpid())), "")
	if pid, ok := (Adapter{}).Live(env, theirs); !ok || pid != os.Getpid() {
		t.Errorf("%d has it open: %t", pid, ok)
	}
}

// TestTorn: a line that a crash has cut off is not in a copy, where the client would join
// its next line to it, and the earlier turns are.
func TestTorn(t *testing.T) {
	talk := fixture(t, "talk.jsonl")
	whole, err := Adapter{}.Cut(bytes.NewReader(talk))
	if err != nil {
		t.Fatal(err)
	}
	torn := append(slices.Clone(talk), `{"type":"user.message","data":{"content":"never se`...)
	cut, err := Adapter{}.Cut(bytes.NewReader(torn))
	if err != nil || cut.Length != whole.Length {
		t.Errorf("cut %+v of %+v, %v", cut, whole, err)
	}
	var out bytes.Buffer
	to := sessions.Rewrite{OldID: conversation(t, talk).ID, NewID: ours, OldCwd: "/tmp/dev/w", NewCwd: "/fork", OldRoot: "/tmp/dev/w", NewRoot: "/fork"}
	if err := (Adapter{}).Rewrite(&out, bytes.NewReader(torn), cut.Length, to); err != nil {
		t.Fatal(err)
	}
	if c := conversation(t, out.Bytes()); !bytes.HasSuffix(out.Bytes(), []byte("}\n")) || len(c.Turns) != 3 || c.Bad > 0 || c.Torn || c.ID != ours || c.Cwd != "/fork" {
		t.Errorf("the copy is %+v", c)
	}
}
