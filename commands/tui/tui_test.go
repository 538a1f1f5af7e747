package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

// A session is the model with everything that it asks for answered at once.
type session struct {
	*testing.T
	model model
	copy  string
	quit  bool
}

func begin(t *testing.T, s *service, width, height int) *session {
	t.Helper()
	x := &session{T: t}
	x.model = newModel(context.Background(), Options{
		Service: s, Now: func() time.Time { return start.Add(time.Hour) },
		Words: words, Palette: highlight.Sixteen,
		later: func(_ time.Duration, msg tea.Msg) tea.Cmd {
			if msg == (tick{}) {
				return nil
			}
			return func() tea.Msg { return msg }
		},
		release: func(c tea.ExecCommand, then tea.ExecCallback) tea.Cmd {
			return func() tea.Msg { return then(c.Run()) }
		},
		Open: func(name string, content []byte, edit bool) (string, error) {
			s.opened = fmt.Sprint(name, " ", edit, " ", string(content))
			return map[bool]string{true: "a copy is kept"}[edit], nil
		},
	})
	x.model.o.Checked = func(m missions.Mission) *missions.Check { return s.checks[m.ID] }
	x.model.o.About = func(m missions.Mission) string { return "asks: " + m.PendingPermissions[0].Tool }
	x.model.o.Page = func(text string) error {
		s.opened = "page " + text
		return nil
	}
	x.model.o.EndMerge = endMerge
	x.model.o.EditMerged = func(missions.MergedPath) ([]byte, error) { return []byte("edited"), nil }
	x.model.o.KeepEdited = func(path string, content []byte) string { return "kept " + path + " " + string(content) }
	x.send(tea.WindowSizeMsg{Width: width, Height: height})
	x.follow(x.model.Init())
	return x
}

func (x *session) send(msg tea.Msg) {
	next, cmd := x.model.Update(msg)
	x.model = next.(model)
	x.follow(cmd)
}

func (x *session) follow(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			x.follow(c)
		}
	case tea.QuitMsg:
		x.quit = true
	case nil:
	default:
		if v := reflect.ValueOf(msg); v.Kind() == reflect.String {
			x.copy = v.String() // to the clipboard: a type of the library's own
			return
		}
		x.send(msg)
	}
}

// keys types keys by their names; a name with a blank is text.
func (x *session) keys(names ...string) *session {
	x.Helper()
	codes := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: tea.KeySpace, Text: " "},
		"backspace": {Code: tea.KeyBackspace}, "pgdown": {Code: tea.KeyPgDown}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
		"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl},
		"ctrl+y": {Code: 'y', Mod: tea.ModCtrl}, "ctrl+n": {Code: 'n', Mod: tea.ModCtrl},
	}
	for _, name := range names {
		if k, ok := codes[name]; ok {
			x.send(tea.KeyPressMsg(k))
			continue
		}
		for _, r := range name {
			x.send(tea.KeyPressMsg(tea.Key{Code: r, Text: string(r)}))
		}
	}
	return x
}

// plain is the screen without its styles.
func (x *session) plain() string { return ansi.Strip(x.model.screen()) }

func (x *session) sees(want ...string) *session {
	x.Helper()
	for _, w := range want {
		if !strings.Contains(x.plain(), w) {
			x.Errorf("%q is not on the screen:\n%s", w, x.plain())
		}
	}
	return x
}

func (x *session) misses(not string) *session {
	x.Helper()
	if strings.Contains(x.plain(), not) {
		x.Errorf("%q is on the screen:\n%s", not, x.plain())
	}
	return x
}

// under is the id of the snapshot that the cursor is on.
func (x *session) under() string {
	e, _ := x.model.list.entryAt()
	return e.ID
}

// Each screen is as the file in testdata says, and exactly as large as the
// terminal; UMBRA_UPDATE_GOLDEN=1 writes the files anew.
func TestScreens(t *testing.T) {
	for name, c := range map[string]struct {
		width, height int
		keys          []string
	}{
		"wide":         {160, 24, []string{"j"}},
		"medium":       {80, 24, []string{"j", "j"}},
		"narrow":       {50, 20, nil},
		"narrowdetail": {50, 20, []string{"j", "tab"}},
		"tall":         {60, 44, []string{"j", "c"}},
		"missions":     {80, 24, []string{"tab", "tab"}},
		"folded":       {80, 24, []string{"Z", "j"}},
		"filtered":     {80, 24, []string{"/", "number 2", "enter"}},
		"marked":       {80, 24, []string{"j", "space", "j", "j", "space"}},
		"help":         {80, 24, []string{"?"}},
		"input":        {80, 24, []string{"/", "wish"}},
		"tiny":         {12, 4, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := begin(t, world(4), c.width, c.height).keys(c.keys...)
			lines := strings.Split(x.model.screen(), "\n")
			if len(lines) != c.height {
				t.Errorf("%d lines on a terminal of %d", len(lines), c.height)
			}
			for _, l := range lines {
				if w := ansi.StringWidth(l); w != c.width {
					t.Errorf("%d columns on a terminal of %d: %q", w, c.width, ansi.Strip(l))
				}
			}
			golden(t, name, strings.ReplaceAll(x.model.screen(), "\x1b", "␛")+"\n")
			if strings.Contains(x.plain(), "\x1b") {
				t.Error("a control character of a file or a message reaches the terminal")
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if os.Getenv("UMBRA_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
}

func TestMove(t *testing.T) {
	s := world(40)
	demo := s.logs["demo"]
	x := begin(t, s, 80, 24)
	if x.under() != demo[0].ID || !x.model.list.rows[0].key.turn {
		t.Fatalf("it begins at %s", x.under())
	}
	x.keys("j", "j")
	if x.under() != demo[1].ID {
		t.Errorf("two down is %s", x.under())
	}
	x.keys("]")
	if r, _ := x.model.list.rowAt(); !r.key.turn || r.turn.n != 39 {
		t.Errorf("the next turn is %+v", r)
	}
	x.keys("[", "G")
	if x.under() != demo[len(demo)-1].ID {
		t.Errorf("the end is %s", x.under())
	}
	x.sees("mission begins")
	x.keys("g", "pgdown")
	if x.model.list.cursor != 20 {
		t.Errorf("a page is %d rows", x.model.list.cursor)
	}
	x.keys("y")
	if x.copy != x.under() {
		t.Errorf("copied %q", x.copy)
	}
	if x.keys("q"); !x.quit {
		t.Error("q does not leave")
	}
}

// A snapshot that comes while the agent works is shown, and the cursor stays
// on what it was on, unless that was the newest.
func TestLive(t *testing.T) {
	s := world(4)
	x := begin(t, s, 160, 24).keys("j", "j")
	on := x.under()
	grow := func(id, message string) {
		e := s.logs["demo"][0]
		e.ID, e.Message, e.Pins, e.MadeBy = id, message, nil, nil
		s.logs["demo"] = append([]missions.Entry{e}, s.logs["demo"]...)
		s.list[1].Head = id
		x.send(tick{})
	}
	grow("new1", "fresh from the agent")
	x.sees("fresh from the agent")
	if x.under() != on {
		t.Errorf("the cursor went from %s to %s", on, x.under())
	}
	x.keys("g")
	grow("new2", "fresher")
	if x.under() != "new2" {
		t.Errorf("at the newest the cursor is on %s", x.under())
	}
	asked := len(s.calls)
	x.send(tick{})
	if len(s.calls) != asked {
		t.Errorf("nothing was new, and it asked %q", s.calls[asked:])
	}
}

// A long history is read page by page, each snapshot once, and details only of
// what the cursor rests on.
func TestPages(t *testing.T) {
	s := world(1500)
	x := begin(t, s, 80, 24)
	if got := x.model.list.history.entries; len(got) != len(s.logs["demo"]) || !x.model.list.history.done {
		t.Fatalf("%d of %d snapshots, done %v", len(got), len(s.logs["demo"]), x.model.list.history.done)
	}
	for i, e := range x.model.list.history.entries {
		if e.ID != s.logs["demo"][i].ID {
			t.Fatalf("snapshot %d is %s", i, e.ID)
		}
	}
	shows := slices.DeleteFunc(slices.Clone(s.calls), func(c string) bool { return strings.HasPrefix(c, "log") })
	if len(shows) > 2 {
		t.Errorf("it asked for details it does not show: %q", shows)
	}
	x.keys("G")
	if last := s.calls[len(s.calls)-1]; last != "show "+x.under()+" true" {
		t.Errorf("of a snapshot with a thousand files it asked %q", last)
	}
	x.sees("too many files")
}

// What comes late is for another place, and is not shown.
func TestLateAnswers(t *testing.T) {
	x := begin(t, world(4), 80, 24)
	n := len(x.model.list.history.entries)
	x.send(loaded{mission: "gone", entries: story("gone", 1)})
	x.send(loaded{mission: "demo", after: "not the last", entries: story("gone", 1)})
	x.send(loaded{mission: "gone", err: errors.New("of another mission")})
	x.send(detail{key: detailKey{kind: "show", from: "elsewhere"}, patch: highlight.Patch("+of another\n")})
	if len(x.model.list.history.entries) != n {
		t.Errorf("%d snapshots became %d", n, len(x.model.list.history.entries))
	}
	x.misses("of another")
}

func TestFoldAndFilter(t *testing.T) {
	s := world(4)
	x := begin(t, s, 80, 24).keys("j", "j", "z")
	x.sees("▸ turn 4", "▾ turn 3", "3 snapshots")
	if r, _ := x.model.list.rowAt(); !r.key.turn || r.turn.n != 4 {
		t.Errorf("after folding the cursor is on %+v", r)
	}
	x.keys("z").sees("▾ turn 4")
	x.keys("Z").misses("▾")
	x.keys("Z").misses("▸")
	x.keys("/", "state:idle GOOD", "enter").sees("turn 4", "[good]")
	x.misses("turn 3")
	x.keys("/", "ctrl+u", "nothing like it", "backspace", "enter").sees("nothing matches")
	x.keys("j", "space", "d", "enter") // nothing is there to act on
	x.keys("esc").sees("turn 3")
	x.keys("/", "state:asleep", "enter").sees(`no state "asleep"`, "running", "closed", "turn 3")
	x.keys("/", "path:greet.sh", "enter")
	if last := s.calls[len(s.calls)-2]; last != "log demo 200 greet.sh" || len(x.model.list.history.entries) != 1 {
		t.Errorf("a path was asked for by %q and gave %d", last, len(x.model.list.history.entries))
	}
	x.keys("/", "x", "esc").sees("path:greet.sh")
}

// A page is asked for from the newest snapshot on, by the name that the path has there:
// what is newer decides of what is older whether it was taken back.
func TestPageAfter(t *testing.T) {
	s := world(4)
	m := begin(t, s, 80, 24).keys("/", "path:greet.sh", "enter").model
	m.list.history.entries = slices.Clone(s.logs["demo"][:4])
	m.list.history.entries[1].RenamedFrom = "hello.sh"
	after := m.list.history.entries[3].ID
	page, _ := m.askPage(after, 10)().(loaded)
	if want := "log demo 10 greet.sh" + after; s.calls[len(s.calls)-1] != want || page.path != "greet.sh" || page.after != after {
		t.Errorf("the page after %s is asked for by %q, want %q; it is %+v", after, s.calls[len(s.calls)-1], want, page)
	}
}

func TestCompare(t *testing.T) {
	s := world(4)
	demo := s.logs["demo"]
	x := begin(t, s, 80, 24).keys("j", "space", "G", "space")
	if want := "diff " + demo[len(demo)-1].ID + " " + demo[0].ID + " 0"; s.calls[len(s.calls)-1] != want {
		t.Errorf("two marks ask %q, want %q", s.calls[len(s.calls)-1], want)
	}
	x.sees("+between")
	x.keys("esc").misses("+between")
	x.keys("g", "j", "d").sees("+between", "→ now")
	if want := "diff " + demo[0].ID + "  0"; s.calls[len(s.calls)-1] != want {
		t.Errorf("d asks %q, want %q", s.calls[len(s.calls)-1], want)
	}
	x.keys("j", "space", "G", "d")
	if len(x.model.list.marks) != 2 {
		t.Errorf("d with a mark leaves %d marks", len(x.model.list.marks))
	}
	x.keys("space", "space").keys("esc", "g")
	if want := "diff demo  4"; !slices.Contains(s.calls, want) {
		t.Errorf("a turn asks none of %q for %q", s.calls, want)
	}
}

func TestMissions(t *testing.T) {
	x := begin(t, world(4), 160, 30)
	x.sees("└ french", "→ french")
	x.keys("tab", "tab", "j").sees("french  idle  turn 1")
	if x.model.at().ID != "other" {
		t.Errorf("down from demo is %s", x.model.at().ID)
	}
	if x.keys("enter"); x.model.focus != inRows {
		t.Error("enter does not go to the snapshots")
	}
	x.send(listed{err: missions.Errorf(missions.KindNoDaemon, "umbra doctor", "no answer")})
	x.sees("no answer (umbra doctor)")
	x.send(listed{missions: world(4).list[1:]})
	if x.model.at().ID != "demo" {
		t.Errorf("a mission that has gone is still shown: %s", x.model.at().ID)
	}
	x.send(listed{})
	x.sees("no missions here yet")
}

func TestErrorsAreShown(t *testing.T) {
	s := world(4)
	s.err = missions.Errorf(missions.KindDamaged, "umbra doctor", "a record is lost")
	x := begin(t, s, 80, 24)
	x.sees("a record is lost (umbra doctor)")
	x.keys("j").misses("a record is lost")
	x.sees("not read further")
	s.err = nil
	x.keys("ctrl+r").misses("not read further")
	x = begin(t, s, 80, 24)
	s.err = missions.Errorf(missions.KindDamaged, "umbra doctor", "a blob is lost")
	x.keys("j").sees("a blob is lost", "umbra doctor")
}

func TestPin(t *testing.T) {
	x := begin(t, world(4), 160, 24).keys("j", "j", "p", "best", "enter")
	x.sees("[best]", "best is d000000000")
	x.keys("p", "taken", "enter").sees("taken is taken (another name)")
	x.misses("[taken]")
	x.keys("p", "never", "esc").misses("[never]")
	x.keys("/", "no such thing", "enter", "p").misses("a name")
}

// Any size of a terminal is drawn, exactly.
func TestSizes(t *testing.T) {
	x := begin(t, world(4), 80, 24)
	for _, overlay := range []string{"", "?", "/", "u", "f", "enter"} {
		for w := 10; w < 180; w += 7 {
			for h := 4 + w%9; h < 60; h += 9 { // each height with some of the widths
				x.send(tea.WindowSizeMsg{Width: w, Height: h})
				x.keys("tab", overlay)
				lines := strings.Split(x.model.screen(), "\n")
				if len(lines) != h {
					t.Fatalf("%dx%d: %d lines", w, h, len(lines))
				}
				for _, l := range lines {
					if got := ansi.StringWidth(l); got != w {
						t.Fatalf("%dx%d: %d columns: %q", w, h, got, ansi.Strip(l))
					}
				}
				x.keys("esc")
			}
		}
	}
}

// The keys that are used most are named on a terminal of 80 columns, and no key is
// named in part.
func TestKeysNamed(t *testing.T) {
	x := begin(t, world(1), 80, 24)
	x.sees("? help", "q quit", "/ filter", "enter restore", "f fork", "c conversation", "d diff", "u undo")
	for width := 1; width < 130; width++ {
		if got := hints(width, "? help", "/ filter"); got != "" && got != "? help" && got != "? help  / filter" || len(got) > width {
			t.Errorf("in %d columns: %q", width, got)
		}
	}
}

// TestStopped: a home in which nothing can be written is looked at, and that is said
// first.
func TestStopped(t *testing.T) {
	x := begin(t, world(2), 120, 30)
	o := x.model.o
	o.Stopped = missions.Errorf(missions.KindFailed, "mount it", "nothing can be written: read-only file system")
	x.model = newModel(context.Background(), o)
	x.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	x.follow(x.model.Init())
	x.sees("nothing can be written: read-only file system (mount it)", "wish number 2")
	x.keys("j").misses("nothing can be written")
}
