package local

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHolders: which snapshots hold a path is found in every mission of the project, in
// the trash and under a pin too, and whether the next one will hold it.
func TestHolders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("key/secret.txt", "hunter2\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("two")
	holders := func(path string) missions.Holders {
		t.Helper()
		h, err := b.local.Forget(context.Background(), missions.ForgetRequest{Caller: b.caller(), Mission: "work", Path: path})
		kind := missions.KindConflict
		if h.Snapshots == 0 {
			kind = missions.KindNotFound
		}
		b.fails("to forget "+path, err, kind)
		return h
	}
	if h := holders("key/secret.txt"); h.Snapshots != 2 || !h.Captured || len(h.Missions) != 1 || h.Missions[0].Name != "work" || h.Missions[0].Oldest == h.Missions[0].Newest || h.Path != "key/secret.txt" {
		t.Errorf("%+v", h)
	}
	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0]
	b.remove("key/secret.txt")
	b.snapshot("gone")
	if h := holders("key"); h.Snapshots != 2 || !h.Captured {
		t.Errorf("with a fork: %+v", h)
	}
	if _, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{fork.Name}, Force: true}); err != nil {
		t.Fatal(err)
	}
	if h := holders("key/secret.txt"); h.Snapshots != 2 || h.Captured {
		t.Errorf("once it is gone: %+v", h)
	}
	if h := holders("none"); h.Snapshots != 0 || h.Captured || len(h.Missions) != 0 {
		t.Errorf("of nothing: %+v", h)
	}
	_, err = b.local.Forget(context.Background(), missions.ForgetRequest{Caller: b.caller(), Path: "../x"})
	b.fails("a path outside", err, missions.KindUsage)
	b.healthy()
}
