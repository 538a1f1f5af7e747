package gitstore

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestRefsAreReplaced: no write of a ref, or of packed-refs, touches the file that
// was there. So there is no instant at which a kill leaves a part of it: whoever had
// it open goes on reading the old value. A kill hits such an instant too seldom for
// TestKilledWriters to miss it each time.
func TestRefsAreReplaced(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := commits(t, s, 2)
	agent, head, pin, left := AgentRef(testMission), HeadRef("work"), PinRef("p"), PinRef("left")
	for _, name := range []RefName{agent, pin, left} {
		noErr(t, s.UpdateRef(ctx, name, ID{}, c[0], Durable))
	}
	noErr(t, s.SetSymbolic(ctx, head, "", agent, Durable))
	_ = must[[]byte](t)(s.Git(ctx, "pack-refs", "--all"))
	noErr(t, s.UpdateRef(ctx, agent, c[0], c[1], Durable)) // loose again
	untouched := func(file string, write func() error) bool {
		t.Helper()
		was, err := os.Open(filepath.Join(s.Dir(), file))
		noErr(t, err)
		defer was.Close()
		before := must[[]byte](t)(io.ReadAll(was))
		noErr(t, write())
		if now := must[[]byte](t)(os.ReadFile(was.Name())); string(now) == string(before) {
			t.Fatalf("%s was not written", file)
		}
		after := make([]byte, len(before)+1)
		n, err := was.ReadAt(after, 0)
		return err == io.EOF && string(after[:n]) == string(before)
	}
	hazards.Shown(t, hazards.H31, !untouched("config", func() error {
		return os.WriteFile(filepath.Join(s.Dir(), "config"), []byte("[core]\n\tbare = true\n# written in place\n"), 0o600)
	}), "a plain write changes the file that others are reading")
	for file, write := range map[string]func() error{
		string(agent): func() error { return s.UpdateRef(ctx, agent, c[1], c[0], Derived) },
		string(head):  func() error { return s.SetSymbolic(ctx, head, agent, TrashAgentRef(testMission), Durable) },
		"packed-refs": func() error { return s.DeleteRef(ctx, pin, c[0]) },
	} {
		if !untouched(file, write) {
			t.Errorf("%s was written in place", file)
		}
	}
	hazards.Held(t, hazards.H31, "no write of a ref or of packed-refs touches the file that was there")
}
