package local

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// heldNames takes a project's naming lock, as another process would.
func (b *testBench) heldNames(project string) *lock.Lock {
	b.Helper()
	held, err := lock.Try(b.local.Home.Path("locks", "names-"+project), lock.Exclusive, lock.Self("another"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = held.Release() })
	return held
}

func (b *testBench) names() string {
	b.Helper()
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	return strings.Join(names, " ")
}

// TestHookWaitsForNoName adopts a session, and takes its snapshots, while
// somebody else gives names: it gets a better one when it can.
func TestHookWaitsForNoName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "a\n")
	first := b.mission("first")
	held := b.heldNames(first.ProjectID)
	c := newTalker(b)
	got := c.hook("UserPromptSubmit", map[string]any{"prompt": "fix the login page"})
	if got.Snapshot == "" {
		t.Errorf("%+v", got)
	}
	if want := "first claude-" + got.Mission[:8]; b.names() != want {
		t.Errorf("names %q, want %q", b.names(), want)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	c.hook("PreToolUse", map[string]any{"tool_name": "Read", "tool_use_id": "t1"})
	if b.names() != "first fix-login-page" {
		t.Errorf("names %q", b.names())
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{})
	if err != nil || len(d.Problems) > 0 {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
}

// TestNameTakenMeanwhile makes a mission whose name another one gets while its
// files are read.
func TestNameTakenMeanwhile(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		b := newBench(t)
		b.local.Adapters = projects.Agents() // one takes the prompt that names it
		b.write("a.txt", "a\n")
		project := b.mission("first").ProjectID
		held := b.heldNames(project)
		made := make(chan error, 1)
		go func() {
			r := missions.NewMissionRequest{Caller: b.caller(), Prompt: "login", Command: []string{"claude"}}
			if named {
				r.Name = "login"
			}
			_, err := b.local.NewMission(context.Background(), r)
			made <- err
		}()
		m, err := b.local.FindMission(context.Background(), b.caller(), "first", addresses.InProject)
		if err != nil {
			t.Fatal(err)
		}
		// It holds its workspace while it waits for its name.
		for deadline := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(time.Millisecond) {
			tree, err := lock.TryTree(b.local.Home.Dir, m.Binding.Workspace, lock.Self("another"))
			if err != nil {
				break
			}
			if err := tree.Release(); err != nil || time.Now().After(deadline) {
				t.Fatalf("it does not begin: %v", err)
			}
		}
		if err := b.local.RenameMission(context.Background(), m, "login"); err != nil {
			t.Fatal(err)
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		err = <-made
		if named && missions.AsError(err).Kind != missions.KindConflict || !named && err != nil {
			t.Errorf("named %t: %v", named, err)
		}
		if want := map[bool]string{true: "login", false: "login login-2"}[named]; b.names() != want {
			t.Errorf("names %q, want %q", b.names(), want)
		}
		if out, err := exec.Command("git", "-C", m.Project.ShadowRepo(), "fsck", "--full").CombinedOutput(); err != nil {
			t.Errorf("git fsck: %v\n%s", err, out)
		}
	}
}

// TestPinWaitsForNames gives a pin no name that is being given to a mission: who has
// no time to wait for that gets none.
func TestPinWaitsForNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "a\n")
	held := b.heldNames(b.mission("first").ProjectID)
	at, err := b.local.FindMoment(context.Background(), b.caller(), "", addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	over, end := context.WithDeadline(context.Background(), time.Now())
	defer end()
	if _, err := b.local.PinSnapshot(over, at.Project, at.Mission, at.Snapshot, "good"); missions.AsError(err).Kind != missions.KindBusy {
		t.Errorf("pinned meanwhile: %v", err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Name: "good"}); err != nil {
		t.Error(err)
	}
}
