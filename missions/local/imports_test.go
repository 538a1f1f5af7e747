package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/imports"
)

// sayTurn adds a turn to the session's file, without a hook.
func (c *talker) sayTurn(prompt string) {
	c.Helper()
	c.say(
		c.line("user", prompt+"-1", "", `"`+prompt+`"`),
		c.line("assistant", prompt+"-2", prompt+"-1", `[{"type":"text","text":"done"}]`),
	)
}

func (c *talker) importSessions(r missions.ImportRequest) missions.ImportResult {
	c.Helper()
	r.Caller = c.caller()
	result, err := c.local.Import(context.Background(), r)
	if err != nil {
		c.Fatal(err)
	}
	return result
}

// TestImport keeps a session of an agent's own store, which the agent then deletes.
func TestImport(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.sayTurn("build the page")
	if r := c.importSessions(missions.ImportRequest{Preview: true}); r.Count(missions.ImportNew) != 1 || r.Sessions[0].Prompt != "build the page" {
		t.Fatalf("preview: %+v", r)
	}
	if list, err := c.local.Missions(t.Context(), missions.MissionsRequest{Caller: c.caller(), All: true}); err != nil || len(list) != 0 {
		t.Fatalf("a preview made %+v, %v", list, err)
	}
	if r := c.importSessions(missions.ImportRequest{}); r.Count(missions.ImportNew) != 1 || r.Sessions[0].Mission == "" {
		t.Fatalf("import: %+v", r)
	}
	m := c.only()
	if m.State != missions.StateClosed || m.CloseReason != missions.CloseReasonImported || m.SessionID != c.session || m.LastPrompt.Text != "build the page" {
		t.Errorf("mission: %+v", m)
	}
	if r := c.importSessions(missions.ImportRequest{}); len(r.Sessions) != 0 || r.Kept != 1 {
		t.Errorf("again: %+v", r)
	}
	c.sayTurn("and a test")
	if r := c.importSessions(missions.ImportRequest{}); r.Count(missions.ImportContinued) != 1 {
		t.Errorf("more was said: %+v", r)
	}
	whole, err := os.ReadFile(c.transcript)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := c.recordedSession(); got != string(whole) {
		t.Errorf("recorded %q, said %q", got, whole)
	}
	if err := os.Remove(c.transcript); err != nil {
		t.Fatal(err)
	}
	launch, err := c.local.Launch(t.Context(), missions.LaunchRequest{Caller: c.caller(), Mission: m.Name, Resume: true})
	if err != nil || !strings.Contains(strings.Join(launch.Argv, " "), "--resume "+c.session) {
		t.Fatalf("launch: %+v %v", launch, err)
	}
	if got, err := os.ReadFile(c.transcript); err != nil || string(got) != string(whole) {
		t.Errorf("put back: %q %v", got, err)
	}
	c.healthy()
}

// TestImportLeavesOut says why a session is left out, and passes over what is removed.
func TestImportLeavesOut(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.say(`{"type":"summary","summary":"nothing was said"}`)
	if r := c.importSessions(missions.ImportRequest{}); len(r.Sessions)+r.Kept != 0 {
		t.Errorf("an empty session: %+v", r)
	}
	c.sayTurn("build the page")
	if r := c.importSessions(missions.ImportRequest{Agent: "codex"}); len(r.Sessions) != 0 {
		t.Errorf("of another agent: %+v", r)
	}
	if r := c.importSessions(missions.ImportRequest{Since: "2999-01-01"}); len(r.Sessions) != 0 {
		t.Errorf("of another time: %+v", r)
	}
	if err := os.Rename(c.dir, c.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	caller := c.caller()
	caller.Cwd = c.user
	r, err := c.local.Import(t.Context(), missions.ImportRequest{Caller: caller})
	if err != nil || r.Count(missions.ImportLeftOut) != 1 || !strings.Contains(r.Sessions[0].Reason, c.dir) {
		t.Errorf("its directory is gone: %+v %v", r, err)
	}
	if err := os.Rename(c.dir+"-away", c.dir); err != nil {
		t.Fatal(err)
	}
	c.importSessions(missions.ImportRequest{})
	if _, err := c.local.Remove(t.Context(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{c.only().Name}}); err != nil {
		t.Fatal(err)
	}
	if r := c.importSessions(missions.ImportRequest{}); len(r.Sessions) != 0 || r.Kept != 1 {
		t.Errorf("it is in the trash: %+v", r)
	}
}

// TestImportDaily: what the user has imported once is imported daily by itself, in an idle
// moment: sessions that came later, and those that could not be had before.
func TestImportDaily(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	clock := &clockwork{time.Now()}
	c.local.Clock = clock.time
	c.sayTurn("build the page")
	elsewhere := c.caller()
	elsewhere.Cwd = c.user
	daily := func() *missions.DailyImport {
		t.Helper()
		s, err := c.local.Status(t.Context(), missions.StatusRequest{Caller: elsewhere})
		if err != nil {
			t.Fatal(err)
		}
		return s.DailyImport
	}
	// start is an idle moment, and for which projects a process was started in it.
	start := func() (started []string) {
		t.Helper()
		all, _ := c.local.AllProjects()
		for _, p := range all { // else that is due too
			if err := c.local.IndexWhenChanged(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		isDue := c.local.IsImportDue()
		c.local.StartDaily(func(dir string) error {
			started = append(started, dir)
			return nil
		})
		if isDue != (len(started) == 1) {
			t.Errorf("due %v, started for %v", isDue, started)
		}
		return started
	}
	// next has a day go by and an idle moment come, and returns how many missions there are.
	next := func() int {
		t.Helper()
		clock.now = clock.now.Add(25 * time.Hour)
		for _, dir := range start() {
			if _, err := c.local.HousekeepWhenQuiet(t.Context(), dir, time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		list, err := c.local.Missions(t.Context(), missions.MissionsRequest{Caller: c.caller(), All: true})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := next(); n != 0 || daily() != nil {
		t.Fatalf("before anybody asked: %d missions, %+v", n, daily())
	}
	// another is a session beside the first one, written last at a time.
	another := func(id string, at time.Time) {
		t.Helper()
		o := newTalker(c.testBench)
		o.session = id
		o.transcript = filepath.Join(filepath.Dir(c.transcript), id+".jsonl")
		o.sayTurn("another")
		if err := os.Chtimes(o.transcript, at, at); err != nil {
			t.Fatal(err)
		}
	}
	another("5f0f9e8d-7c6b-4a5f-8e3d-2c1b0a9f8e7d", clock.now.AddDate(0, 0, -40))
	if r := c.importSessions(missions.ImportRequest{Agent: "claude", Since: "7d"}); r.Count(missions.ImportNew) != 1 || !r.Daily {
		t.Errorf("the user's own: %+v", r)
	}
	if c.local.IsImportDue() {
		t.Error("it is due at once")
	}
	another("6f0f9e8d-7c6b-4a5f-8e3d-2c1b0a9f8e7d", clock.now.Add(time.Hour))
	if err := os.Rename(c.dir, c.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if n := next(); n != 1 {
		t.Errorf("%d missions while the directory is away", n)
	}
	if left := daily().LeftOut; len(left) != 1 || !strings.HasPrefix(left[0].Session, "6f0f") || left[0].Reason == "" || left[0].Directory != c.dir {
		t.Errorf("left out: %+v", left)
	}
	r, err := c.local.Import(t.Context(), missions.ImportRequest{Caller: elsewhere, Agent: "claude", Since: "7d"})
	if err != nil || r.Count(missions.ImportLeftOut) != 1 || len(daily().LeftOut) != 0 {
		t.Errorf("after the user was told: %+v of %+v, %v", daily().LeftOut, r, err)
	}
	if n := next(); n != 1 || len(daily().LeftOut) != 0 {
		t.Errorf("told again a day later: %+v", daily().LeftOut)
	}
	if err := os.Rename(c.dir+"-away", c.dir); err != nil {
		t.Fatal(err)
	}
	if n := next(); n != 2 || len(daily().LeftOut) != 0 {
		t.Errorf("%d missions a day later, left out %+v", n, daily().LeftOut)
	}
	if d := daily(); d == nil || !slices.Equal(d.Agents, []string{"claude"}) || d.Imported != 1 || !d.NextAt.Equal(d.LookedAt.Add(imports.Every)) || d.Problem != "" {
		t.Errorf("it says %+v", d)
	}
	clock.now = clock.now.AddDate(0, 0, -20)
	if n := next(); n != 2 {
		t.Errorf("%d missions after the clock was set back", n)
	}
	clock.now = clock.now.Add(25 * time.Hour)
	if first, second := start(), start(); len(first) != 1 || len(second) != 0 {
		t.Errorf("while one is at it: started for %v and %v", first, second)
	}
	if d := daily(); d.Problem != "" {
		t.Errorf("while one is at it: %+v", d)
	}
	clock.now = clock.now.Add(3 * time.Hour)
	if d := daily(); d.Problem != "the last one did not come to its end" || !c.local.IsImportDue() {
		t.Errorf("after one that was killed: %+v", d)
	}
	var apart []string
	c.local.StartHousekeeper = func(dir string) error {
		apart = append(apart, dir)
		return nil
	}
	c.write("a.txt", "more\n")
	if c.snapshot("no daemon"); len(apart) != 1 {
		t.Errorf("without a daemon: started for %v", apart)
	}
	c.put(c.local.Home.ConfigFile(), "import:\n  daily: false\n")
	if next() != 2 || daily() != nil || c.importSessions(missions.ImportRequest{}).Daily {
		t.Errorf("switched off: %+v", daily())
	}
	c.healthy()
}

// TestExpiringSessions are named by status until a mission keeps them.
func TestExpiringSessions(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.sayTurn("build the page")
	expiring := func() []missions.ExpiringSessions {
		t.Helper()
		s, err := c.local.Status(t.Context(), missions.StatusRequest{Caller: c.caller()})
		if err != nil {
			t.Fatal(err)
		}
		return s.Expiring
	}
	if list := expiring(); len(list) != 0 {
		t.Errorf("fresh: %+v", list)
	}
	old := time.Now().AddDate(0, 0, -25)
	if err := os.Chtimes(c.transcript, old, old); err != nil {
		t.Fatal(err)
	}
	if list := expiring(); len(list) != 1 || list[0].Agent != "claude" || list[0].Sessions != 1 || list[0].KeptDays != 30 {
		t.Errorf("old: %+v", list)
	}
	settings := filepath.Join(c.user, ".claude", "settings.json")
	for text, want := range map[string]int{`{"cleanupPeriodDays":99999}`: 0, `{"cleanupPeriodDays":0}`: 0, `{`: 0, `{"model":"x"}`: 1, `{"cleanupPeriodDays":26}`: 1} {
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list := expiring(); len(list) != want {
			t.Errorf("%s: %+v", text, list)
		}
	}
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	c.importSessions(missions.ImportRequest{})
	if list := expiring(); len(list) != 0 {
		t.Errorf("imported: %+v", list)
	}
}
