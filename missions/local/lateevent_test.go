package local

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/doctor"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestLateEvents: hooks outlive their agent, and what one of them says after the
// keeper has told the agent's end revives nobody. One of another process does.
func TestLateEvents(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	before, err := k.local.MissionByID(k.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-k.ended
	if next := k.end(); next.Do != missions.DoExit {
		t.Fatalf("at the end: %+v", next)
	}
	say := func(pid int, event, fields string) missions.Mission {
		t.Helper()
		k.sendFrom(pid, event, fields)
		return k.only()
	}
	for event, fields := range map[string]string{
		"SessionStart":     `,"source":"resume"`,
		"UserPromptSubmit": `,"prompt":"third","prompt_id":"p3"`,
		"PreToolUse":       `,"tool_name":"Bash","tool_use_id":"t9","tool_input":{"command":"true"}`,
		"Notification":     `,"notification_type":"permission_prompt","message":"may it?"`,
		"Stop":             "",
		"SessionEnd":       `,"reason":"other"`,
	} {
		if m := say(k.agent.Process.Pid, event, fields); m.State != missions.StateClosed || m.PID != 0 || m.Turn != 2 {
			t.Errorf("a late %s makes it %s of turn %d, pid %d", event, m.State, m.Turn, m.PID)
		}
	}
	k.healthy()

	// Doctor has read the mission before its agent ended, and its keeper, and looks
	// at it now.
	before.Live.Keeper = nil
	d := &doctor.Examination{Examiner: k.local.Examiner, Chunks: map[gitstore.ID]int64{}, Inherited: map[doctor.Inheritance]bool{}}
	if err := d.CheckMission(context.Background(), before); err != nil || len(d.Result.Problems) != 0 {
		t.Errorf("doctor finds %+v, %v", d.Result.Problems, err)
	}

	if m := say(os.Getppid(), "SessionStart", `,"source":"resume"`); m.State != missions.StateIdle || m.PID != os.Getppid() {
		t.Errorf("resumed by hand it is %s, pid %d", m.State, m.PID)
	}
}

// TestOrphanedHooks: a hook whose agent was killed before the hook looked for it
// names no process. It revives nobody, whether a keeper has told the agent's end or
// died with it; a session that is resumed by hand is heard.
func TestOrphanedHooks(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*keptAgent){
		"its end was told": func(k *keptAgent) { k.end() },
		"its start was not, its end was": func(k *keptAgent) {
			k.change(func(m *projects.Mission) { m.Live.Agent, m.Live.KeeperChild = nil, nil })
			k.end()
		},
		"its keeper died too": func(k *keptAgent) {
			keeper := exec.Command("true")
			if err := keeper.Start(); err != nil {
				k.Fatal(err)
			}
			gone := lock.Process(keeper.Process.Pid, "")
			if err := keeper.Wait(); err != nil {
				k.Fatal(err)
			}
			k.change(func(m *projects.Mission) { m.Live.Keeper = &gone })
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			if err := k.agent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-k.ended
			end(k)
			if m := k.only(); m.State != missions.StateClosed {
				t.Fatalf("after its end it is %s", m.State)
			}
			for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop"} {
				k.hook(event, map[string]any{"source": "resume", "prompt": "third", "prompt_id": "p3"})
				if m := k.only(); m.State != missions.StateClosed || m.Turn != 2 {
					t.Errorf("an orphaned %s makes it %s of turn %d", event, m.State, m.Turn)
				}
			}
			k.healthy()
			k.mission = ""
			k.hook("SessionStart", map[string]any{"source": "resume"})
			if m := k.only(); m.State != missions.StateIdle {
				t.Errorf("resumed by hand it is %s", m.State)
			}
		})
	}
}

// TestLateStart: a keeper may tell of the start of its agent after the agent has
// been heard, or twice. A turn that has begun since goes on, and only such a one.
func TestLateStart(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	again := func() missions.Launch {
		t.Helper()
		if err := k.agent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-k.ended
		launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: k.id, KeeperPID: os.Getpid(), Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		return launch
	}
	launch := again()
	k.hook("SessionStart", map[string]any{"source": "resume"})
	k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	k.begin(launch)
	if m := k.only(); m.State != missions.StateRunning || m.Turn != 3 {
		t.Errorf("after its prompt the start makes it %s of turn %d", m.State, m.Turn)
	}
	k.started()
	k.hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "t9", "tool_input": map[string]any{"command": "true"}})
	if m := k.only(); m.State != missions.StateRunning || m.Turn != 3 {
		t.Errorf("told twice the start makes it %s of turn %d", m.State, m.Turn)
	}
	k.begin(again())
	if m := k.only(); m.State != missions.StateIdle || m.Turn != 3 {
		t.Errorf("after a turn that was cut off the start makes it %s of turn %d", m.State, m.Turn)
	}
}

// TestStartAfterItsEnd: a keeper lets go of the report of a start that nobody answers,
// and its report of the end may overtake it. The mission stays closed, and can be
// resumed.
func TestStartAfterItsEnd(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	if err := k.agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if next := k.end(); next.Do != missions.DoExit {
		t.Fatalf("%+v", next)
	}
	k.started()
	if m := k.state(); missions.HasAgent(m.Lifecycle) || m.Live.HasKeeper() {
		t.Errorf("after its end the start makes it %s: %+v", missions.StateOf(m.Lifecycle), m.Live)
	}
	again, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: k.id, KeeperPID: os.Getpid(), Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	k.begin(again)
	if m := k.state(); !missions.HasAgent(m.Lifecycle) || !m.Live.HasKeeper() {
		t.Errorf("launched again it is %s", missions.StateOf(m.Lifecycle))
	}
}

// TestPIDUsedAgain: the process that an agent's hooks name may have the pid of the one
// that ended before. It is heard, and is the mission's agent.
func TestPIDUsedAgain(t *testing.T) {
	t.Parallel()
	for name, former := range map[string]func(m *projects.Mission, was *lock.Owner){
		"of an agent whose end was told": func(m *projects.Mission, was *lock.Owner) { m.Live.EndedAgent = was },
		"of one that was killed":         func(m *projects.Mission, was *lock.Owner) { m.Live.Agent = was },
	} {
		t.Run(name, func(t *testing.T) {
			w := startWorking(t)
			w.takeTurn("go", "a.txt", "one\n")
			m, err := w.local.MissionByID(w.only().ID)
			if err != nil {
				t.Fatal(err)
			}
			was := lock.Process(os.Getpid(), "")
			was.Start++
			err = w.local.WithWorkspaceLock(context.Background(), m, func(m *projects.Mission) error {
				former(m, &was)
				w.local.SaveLiveState(m)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			w.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "p2"})
			if m := w.only(); m.State != missions.StateRunning || m.Turn != 2 || m.PID != os.Getpid() {
				t.Errorf("the mission is %s in turn %d, of process %d", m.State, m.Turn, m.PID)
			}
		})
	}
}
