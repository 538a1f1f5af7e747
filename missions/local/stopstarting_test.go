package local

import (
	"context"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestStopAsTheAgentStarts: an agent whose start is not reported yet is stopped as soon
// as it is.
func TestStopAsTheAgentStarts(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	_ = k.agent.Process.Kill()
	k.end()
	launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: k.id, KeeperPID: os.Getpid(), Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		_, err := k.local.Stop(context.Background(), missions.StopRequest{Caller: k.keeper(), Missions: []string{k.id}})
		stopped <- err
	}()
	k.begin(launch)
	done := k.keeps()
	if err := <-stopped; err != nil {
		t.Error(err)
		_ = k.agent.Process.Kill() // nobody else ends it
	}
	<-done
	if m := k.state(); missions.HasAgent(m.Lifecycle) || m.Live.HasKeeper() {
		t.Errorf("the mission is %s, %+v", missions.StateOf(m.Lifecycle), m.Live)
	}
	k.healthy()
}
