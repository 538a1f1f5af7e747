package missions

import (
	"context"
	"os"
	"os/exec"
	"testing"
)

// TestLaunchIsForOneKeeper: a mission is its keeper's from the launch on, and
// not only when the agent has begun.
func TestLaunchIsForOneKeeper(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}
	defer end()
	launch := func(keeper int) error {
		_, err := b.local.Launch(context.Background(), LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true, KeeperID: keeper})
		return err
	}
	if err := launch(other.Process.Pid); err != nil {
		t.Fatal(err)
	}
	b.fails("a second keeper", launch(os.Getpid()), KindBusy)
	if err := launch(other.Process.Pid); err != nil {
		t.Errorf("the same keeper again, whose first answer was lost: %v", err)
	}
	end()
	if err := launch(os.Getpid()); err != nil {
		t.Errorf("after the keeper died: %v", err)
	}
	b.healthy()
}
