package agents

import (
	"os"
	"strconv"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Automation is a command that a mission's change of state starts. A shell runs it,
// apart from everything else.
type Automation struct {
	On      string            `json:"on"`
	Mission string            `json:"mission"`
	Name    string            `json:"name"`
	Command string            `json:"command"`
	Dir     string            `json:"dir"`
	Env     map[string]string `json:"env"` // beside what the process that runs it has
	Limit   time.Duration     `json:"limit"`
	Log     string            `json:"log"` // the file that its output goes to
}

// automationCommands are the commands that are configured for a moment.
func automationCommands(c settings.Automations, on string) []string {
	switch on {
	case missions.OnReady:
		return c.Ready
	case missions.OnIdle:
		return c.Idle
	case missions.OnError:
		return c.Error
	case missions.OnClose:
		return c.Close
	}
	return nil
}

// StartAutomations starts the commands for a change of a mission's state. The change is
// noted already, so no command runs twice, whichever process dies. Only the end of the
// Service waits for them, and only until they have started. The caller holds the
// workspace.
func (l *Launcher) StartAutomations(m *projects.Mission, on string) {
	config := l.CurrentConfig().Automations
	if len(automationCommands(config, on)) == 0 || l.StartAutomation == nil || m.Live.ProvisionalSnapshot != "" {
		return
	}
	all := l.automations(m, on, config)
	if !l.StartWorker() {
		return
	}
	go func() {
		defer l.Workers.Done()
		for _, a := range all {
			if err := l.StartAutomation(a); err != nil {
				l.Logger.Warn("start an automation", "on", on, "mission", a.Mission, "command", a.Command, "error", err)
			}
		}
	}()
}

// automations are the commands, with what they are told of the mission.
func (l *Launcher) automations(m *projects.Mission, on string, config settings.Automations) []Automation {
	v := l.presence.MissionView(m)
	dir := v.Cwd
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = l.Home.Dir
	}
	env := map[string]string{
		"UMBRA_EVENT": on, "UMBRA_HOME": l.Home.Dir, "UMBRA_MISSION": v.ID, "UMBRA_MISSION_NAME": v.Name,
		"UMBRA_AGENT": v.Agent, "UMBRA_STATE": string(v.State), "UMBRA_TURN": strconv.Itoa(v.Turn),
		"UMBRA_WORKSPACE": v.Workspace, "UMBRA_PROJECT": v.Project, "UMBRA_SNAPSHOT": v.Head,
	}
	if v.LastPrompt != nil {
		env["UMBRA_PROMPT"] = v.LastPrompt.Text
	}
	if v.LastError != "" && on == missions.OnError {
		env["UMBRA_ERROR"] = v.LastError
	}
	if v.ExitCode != nil && on == missions.OnClose {
		env["UMBRA_EXIT_CODE"] = strconv.Itoa(*v.ExitCode)
	}
	var all []Automation
	for _, c := range automationCommands(config, on) {
		all = append(all, Automation{
			On: on, Mission: v.ID, Name: v.Name, Command: c, Dir: dir, Env: env,
			Limit: time.Duration(config.TimeLimit), Log: AutomationsLog(l.Home),
		})
	}
	return all
}

// AutomationsLog holds what automations have printed, and how they ended.
func AutomationsLog(h home.Home) string { return h.Path("automations.log") }
