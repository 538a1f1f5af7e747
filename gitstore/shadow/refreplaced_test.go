package shadow_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// TestRefsAreReplaced: no write of a ref, or of packed-refs, touches the file that
// was there. So there is no instant at which a kill leaves a part of it: whoever had
// it open goes on reading the old value. A kill hits such an instant too seldom for
// TestKilledWriters to miss it each time.
func TestRefsAreReplaced(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	c := storetest.Commits(t, s, 2)
	agent, head, pin, left := gitstore.AgentRef(storetest.Mission), gitstore.HeadRef("work"), gitstore.PinRef("p"), gitstore.PinRef("left")
	for _, name := range []gitstore.RefName{agent, pin, left} {
		storetest.NoErr(t, s.UpdateRef(ctx, name, gitstore.ID{}, c[0], gitstore.Durable))
	}
	storetest.NoErr(t, s.SetSymbolic(ctx, head, "", agent, gitstore.Durable))
	_ = storetest.Must[[]byte](t)(s.Git(ctx, "pack-refs", "--all"))
	storetest.NoErr(t, s.UpdateRef(ctx, agent, c[0], c[1], gitstore.Durable)) // loose again
	untouched := func(file string, write func() error) bool {
		t.Helper()
		was, err := os.Open(filepath.Join(s.Dir(), file))
		storetest.NoErr(t, err)
		defer was.Close()
		before := storetest.Must[[]byte](t)(io.ReadAll(was))
		storetest.NoErr(t, write())
		if now := storetest.Must[[]byte](t)(os.ReadFile(was.Name())); string(now) == string(before) {
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
		string(agent): func() error { return s.UpdateRef(ctx, agent, c[1], c[0], gitstore.Derived) },
		string(head): func() error {
			return s.SetSymbolic(ctx, head, agent, gitstore.TrashAgentRef(storetest.Mission), gitstore.Durable)
		},
		"packed-refs": func() error { return s.DeleteRef(ctx, pin, c[0]) },
	} {
		if !untouched(file, write) {
			t.Errorf("%s was written in place", file)
		}
	}
	hazards.Held(t, hazards.H31, "no write of a ref or of packed-refs touches the file that was there")
}
