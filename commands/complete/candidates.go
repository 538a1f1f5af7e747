package complete

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/history"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/reference"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// How many snapshots a completion offers where none is begun, and looks at where
// one is.
const (
	offeredMoments = 20
	soughtMoments  = 300
)

// addWanted adds what a word of a synopsis stands for.
func addWanted(c *call.Call, f *found, t typed, word string) {
	switch word {
	case "MISSION":
		if t.verb.Begins != nil {
			f.addGitVerbs()
		}
		addMissions(c, f)
	case "FORK":
		addForks(c, f)
	case "MOMENT", "FROM", "TO", "MISSION|MOMENT":
		addMoments(c, f, t.word)
	case "PIN":
		addPins(c, f)
	case "PATH":
		addPaths(c, f, t)
	case "DIR", "OLD", "NEW":
		f.how = append(f.how, "dirs")
	case "COMMAND":
		if t.verb.Name == "man" && t.flag == nil {
			f.addPages(t.all, t.args)
			return
		}
		f.how = append(f.how, "files")
	case "FILE":
		f.how = append(f.how, "files")
	case "AGENT":
		if t.flag == nil && t.path[0] == "hook" {
			f.addHooks()
			f.add("generic", "")
			return
		}
		f.addAgents()
	case "REMOTE":
		addRemotes(c, f)
	case "NAME":
		if t.flag == nil && t.path[0] == "hooks" {
			f.addHooks()
		}
		if t.flag == nil && t.path[0] == "remote" && t.verb.Name == "rm" {
			addRemotes(c, f)
		}
	case "STATE", "STATE,…":
		for _, s := range wording.AllStates() {
			f.add(t.word[:strings.LastIndexByte(t.word, ',')+1]+string(s), "")
		}
	case "PLACE,…":
		for _, place := range missions.SearchPlaces {
			f.add(t.word[:strings.LastIndexByte(t.word, ',')+1]+string(place), "")
		}
	case "KEY":
		for _, k := range settings.Keys() {
			f.add(k.Name, k.Help)
		}
	case "ARGS":
		if t.after == 0 {
			f.addGitVerbs()
		}
	default:
		if strings.Contains(word, "|") {
			for w := range strings.SplitSeq(word, "|") {
				if strings.ToUpper(w) != w {
					f.add(w, "")
				}
			}
		}
	}
}

func (f *found) addGitVerbs() {
	for _, v := range history.ReadingVerbs {
		f.add(v, "")
	}
}

func (f *found) addHooks() {
	for _, name := range events.HookNames() {
		f.add(name, "")
	}
}

func (f *found) addAgents() {
	for _, a := range projects.Agents() {
		f.add(a.Name(), "")
	}
}

// addPages adds what may follow the words of a command in the name of its manual
// page.
func (f *found) addPages(verbs []*call.Verb, words []string) {
	for _, w := range words {
		v := call.Find(verbs, w)
		if v == nil {
			return
		}
		verbs = v.Verbs
	}
	for _, v := range verbs {
		if !v.Hidden {
			f.add(v.Name, v.Short)
		}
	}
	if len(words) == 0 {
		f.add("concepts", reference.ConceptsAbout)
	}
}

func addMissions(c *call.Call, f *found) {
	addMissionsThat(c, f, missions.MissionsRequest{}, func(missions.Mission) bool { return true })
}

func addForks(c *call.Call, f *found) {
	addMissionsThat(c, f, missions.MissionsRequest{}, func(m missions.Mission) bool { return m.Parent != nil })
}

// addMissionsThat adds the missions that are what is wanted.
func addMissionsThat(c *call.Call, f *found, of missions.MissionsRequest, wanted func(missions.Mission) bool) {
	svc, caller, ok := serviceFor(c)
	if !ok {
		return
	}
	of.Caller = caller
	list, err := svc.Missions(c.Context, of)
	if err != nil {
		return
	}
	for i := len(list) - 1; i >= 0; i-- { // the newest first
		m := list[i]
		if !wanted(m) {
			continue
		}
		text := fmt.Sprintf("%s, turn %d", m.State, m.Turn)
		if words := wording.About(m); words != "" {
			text += ": " + words
		}
		f.add(m.Name, text)
	}
}

func addRemotes(c *call.Call, f *found) {
	svc, caller, ok := serviceFor(c)
	if !ok {
		return
	}
	list, _ := svc.Remotes(c.Context, missions.RemoteRequest{Caller: caller})
	for _, r := range list {
		f.add(r.Name, r.URL)
	}
}

func addPins(c *call.Call, f *found) {
	svc, caller, ok := serviceFor(c)
	if !ok {
		return
	}
	pins, err := svc.Pins(c.Context, missions.PinsRequest{Caller: caller})
	if err != nil {
		return
	}
	for _, p := range pins {
		f.add(p.Name, p.Address+" "+p.Message)
	}
}

// addMoments adds addresses where one is begun, else the newest ones, pins,
// missions, and snapshots whose id begins so.
func addMoments(c *call.Call, f *found, word string) {
	if mission, _, ok := strings.Cut(word, "@"); ok {
		addAddresses(c, f, mission, soughtMoments)
		return
	}
	if word == "" {
		addAddresses(c, f, "", offeredMoments)
	}
	addPins(c, f)
	before := len(f.list)
	addMissionsThat(c, f, missions.MissionsRequest{Fetched: true}, func(missions.Mission) bool { return true })
	if word != "" && strings.Trim(word, "0123456789abcdef") == "" {
		addIDs(c, f, word)
	}
	var meant []string
	for _, m := range f.list[before:] {
		if strings.HasPrefix(m.value, word) {
			meant = append(meant, m.value)
		}
	}
	if word != "" && len(meant) == 1 { // one mission: its snapshots, too
		addAddresses(c, f, meant[0], offeredMoments)
	}
}

// addAddresses adds a mission's snapshots; "" is the default mission, whose
// addresses may begin with the @.
func addAddresses(c *call.Call, f *found, mission string, most int) {
	for _, e := range entries(c, mission, most) {
		address := e.Address
		if mission == "" && most == soughtMoments {
			address = strings.TrimPrefix(address, e.MissionName)
		}
		f.add(address, momentText(c, e))
	}
}

func addIDs(c *call.Call, f *found, word string) {
	for _, e := range entries(c, "", soughtMoments) {
		id := e.ID[:max(len(print.Short(e.ID)), min(len(word), len(e.ID)))]
		f.add(id, e.Address+" "+momentText(c, e))
	}
}

func entries(c *call.Call, mission string, most int) []missions.Entry {
	svc, caller, ok := serviceFor(c)
	if !ok {
		return nil
	}
	list, err := svc.Log(c.Context, missions.LogRequest{Caller: caller, Mission: mission, Limit: most})
	if err != nil {
		return nil
	}
	return list
}

func momentText(c *call.Call, e missions.Entry) string {
	pins := ""
	for _, name := range e.Pins {
		pins += "[" + name + "] "
	}
	return print.Age(c.Now().Sub(e.At)) + " " + pins + e.Words()
}

// addPaths adds the paths in a snapshot where the command line names one, else
// the shell's own files.
func addPaths(c *call.Call, f *found, t typed) {
	if t.verb == nil || len(t.args) == 0 || !strings.HasPrefix(t.verb.Args, "MOMENT") {
		f.how = append(f.how, "files")
		return
	}
	f.how = append(f.how, "paths")
	svc, caller, ok := serviceFor(c)
	if !ok {
		return
	}
	r, err := svc.Resolve(c.Context, missions.ResolveRequest{Caller: caller, Moment: t.args[0]})
	if err != nil || r.Snapshot == "" {
		return
	}
	below, err := filepath.EvalSymlinks(caller.Cwd)
	if err != nil {
		return
	}
	below, err = filepath.Rel(r.Mission.Workspace, below)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		below = "." // not in the workspace: paths are as the snapshot has them
	}
	typed, _ := filepath.Split(t.word)
	for _, e := range treeEntries(c, r, filepath.ToSlash(filepath.Join(below, typed))) {
		f.add(typed+e, "")
	}
}

// treeEntries lists a directory of a snapshot; directories end in a slash.
func treeEntries(c *call.Call, r missions.ResolveResult, dir string) []string {
	program, err := missions.LookPath("git", "", c.Getenv("PATH"))
	if err != nil {
		return nil
	}
	tree := r.Snapshot + ":"
	if dir != "." {
		tree += dir
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(c.Context, program, "--git-dir="+r.ShadowRepo, "ls-tree", "-z", tree)
	cmd.Env, cmd.Stdout = history.GitEnv(c), &out
	if c.Run(cmd) != nil {
		return nil
	}
	var names []string
	for line := range strings.SplitSeq(out.String(), "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		if strings.Contains(about, " tree ") {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}
