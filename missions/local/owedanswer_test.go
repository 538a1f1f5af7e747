package local

import (
	"os/exec"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// backgroundFork is a fork whose agent answers one prompt without a terminal, and has
// answered it.
type backgroundFork struct {
	*family
	launch        missions.Launch
	keeper, agent *exec.Cmd
}

func newBackgroundFork(t *testing.T) *backgroundFork {
	t.Helper()
	b := &backgroundFork{family: newFamily(t)}
	process := func() *exec.Cmd {
		cmd := exec.Command("sleep", "6000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.kill(cmd) })
		return cmd
	}
	b.keeper, b.agent = process(), process()
	var err error
	b.launch, err = b.local.Launch(t.Context(), missions.LaunchRequest{
		Caller: b.caller(), Mission: "try", KeeperPID: b.keeper.Process.Pid, Resume: true, Headless: true, Prompt: "try a map", Command: []string{"claude"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.keeps(missions.KeepRequest{AgentPID: b.agent.Process.Pid})
	return b
}

func (b *backgroundFork) kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// keeps is what the keeper tells.
func (b *backgroundFork) keeps(r missions.KeepRequest) {
	b.Helper()
	r.Caller, r.Mission, r.Launch, r.KeeperPID = b.caller(), b.launch.Mission.ID, b.launch.ID, b.keeper.Process.Pid
	if _, err := b.local.Keep(b.Context(), r); err != nil {
		b.Fatal(err)
	}
}

// isFound has the daemon find that the agent is gone.
func (b *backgroundFork) isFound() {
	b.Helper()
	if err := b.local.CloseLostMissions(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// TestAnswerOfKilledKeeper: what the agent of a background fork has answered is told to its
// parent's agent once, whenever its keeper is killed; what it has not answered is not.
func TestAnswerOfKilledKeeper(t *testing.T) {
	t.Parallel()
	ends := func(code int) func(*backgroundFork) {
		return func(b *backgroundFork) {
			b.fork.answers("try a map", "a map is faster")
			b.kill(b.agent)
			b.keeps(missions.KeepRequest{Ended: true, ExitCode: code})
			b.kill(b.keeper)
		}
	}
	for name, test := range map[string]struct {
		what func(*backgroundFork)
		told int
	}{
		"killed in the turn": {func(b *backgroundFork) {
			b.kill(b.keeper)
			b.fork.answers("try a map", "a map is faster")
		}, 1},
		"killed after the turn, and the agent says that it ends": {func(b *backgroundFork) {
			b.fork.answers("try a map", "a map is faster")
			b.kill(b.keeper)
			b.fork.hook("SessionEnd", map[string]any{"reason": "other"})
			b.kill(b.agent)
		}, 1},
		"killed when the agent has said that it ends": {func(b *backgroundFork) {
			b.fork.answers("try a map", "a map is faster")
			b.fork.hook("SessionEnd", map[string]any{"reason": "other"})
			b.kill(b.agent)
			b.kill(b.keeper)
		}, 1},
		"killed after the turn, and the agent ends without a word": {func(b *backgroundFork) {
			b.fork.answers("try a map", "a map is faster")
			b.kill(b.keeper)
			b.kill(b.agent)
		}, 1},
		"killed when it has told the end": {ends(0), 1},
		"the agent has failed":            {ends(1), 0},
		"both killed in the turn": {func(b *backgroundFork) {
			b.fork.hook("UserPromptSubmit", map[string]any{"prompt": "try a map", "prompt_id": "00000100-0000-4000-8000-000000000009"})
			b.kill(b.keeper)
			b.kill(b.agent)
		}, 0},
		"both killed before the prompt was taken": {func(b *backgroundFork) {
			b.kill(b.keeper)
			b.kill(b.agent)
		}, 0},
		"ended before the prompt was taken": {func(b *backgroundFork) {
			b.kill(b.agent)
			b.keeps(missions.KeepRequest{Ended: true})
			b.kill(b.keeper)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBackgroundFork(t)
			test.what(b)
			b.isFound()
			b.dies()
			b.isFound()
			b.waits(test.told)
			if list := b.updates(false); test.told > 0 && len(list) > 0 && (list[0].ID != b.launch.ID || list[0].Text != "a map is faster") {
				t.Errorf("it is told %+v", list[0])
			}
			b.healthy()
		})
	}
}
