package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/hooks"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// hooksBench is a mission's bench in which hooks are installed, and overwritten.
type hooksBench struct {
	*testBench
	file string
	now  time.Time
	made missions.HooksRequest
}

func newHooksBench(t *testing.T, r missions.HooksRequest, file string) *hooksBench {
	t.Helper()
	b := &hooksBench{testBench: newBench(t), now: time.Now().Add(time.Minute)}
	b.local.Adapters = projects.Agents()
	b.local.Clock = func() time.Time { return b.now }
	b.made, b.file = r, strings.NewReplacer("HOME", b.user, "WORK", b.dir).Replace(file)
	b.made.Caller = b.caller()
	b.made.Caller.Binary = filepath.Join(t.TempDir(), "umbra")
	b.put(b.made.Caller.Binary, "")
	b.install()
	return b
}

func (b *hooksBench) install() {
	b.Helper()
	if r, err := b.local.InstallHooks(context.Background(), b.made); err != nil || !r.Installed || r.File != b.file {
		b.Fatalf("installed: %+v, %v", r, err)
	}
}

func (b *hooksBench) uninstall() {
	b.Helper()
	if _, err := b.local.UninstallHooks(context.Background(), b.made); err != nil {
		b.Fatal(err)
	}
}

// overwritten is what the settings are after another program has written them.
func (b *hooksBench) overwritten(text string) {
	b.Helper()
	b.put(b.file, text)
}

func (b *hooksBench) there(when string, want bool) {
	b.Helper()
	text, err := os.ReadFile(b.file)
	if got := err == nil && strings.Contains(string(text), "hook "+b.made.Name); got != want {
		b.Errorf("%s: hooks there: %t, in\n%s", when, got, text)
	}
}

// says holds what status and doctor say of hooks against what they should: the
// command to type, "" for nothing.
func (b *hooksBench) says(when, fix string) {
	b.Helper()
	s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	for who, problems := range map[string][]missions.Problem{"status": s.Problems, "doctor": d.Problems} {
		got := ""
		for _, p := range problems {
			if strings.Contains(p.Message, "hooks of "+b.made.Name+" are gone from "+b.file) {
				got = p.Fix
			}
		}
		if got != fix {
			b.Errorf("%s: %s says to type %q, want %q: %+v", when, who, got, fix, problems)
		}
	}
}

func (b *hooksBench) fix() {
	b.Helper()
	if _, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
		b.Fatal(err)
	}
}

func (b *hooksBench) keep() {
	b.Helper()
	if err := b.local.KeepHooks(context.Background()); err != nil {
		b.Fatal(err)
	}
}

const (
	byDoctor = "umbra doctor --fix"
	byClaude = "umbra hooks install claude; or uninstall, to have it so"
	anew     = "{\"model\": \"opus\"}\n"
)

// TestHooksOverwritten: hooks that another program has taken out of the user's settings
// are missed, and put back once, by whoever is first: after that their user means it,
// until they are installed again.
func TestHooksOverwritten(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(*hooksBench){"doctor": (*hooksBench).fix, "the daemon": (*hooksBench).keep} {
		t.Run(name, func(t *testing.T) {
			b := newHooksBench(t, missions.HooksRequest{Name: "claude"}, "HOME/.claude/settings.json")
			b.says("installed", "")
			for range 2 {
				b.overwritten(anew)
				b.says("overwritten", byDoctor)
				if r, err := b.local.HooksStatus(context.Background(), b.made); err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], byDoctor) {
					t.Errorf("hooks status: %+v, %v", r, err)
				}
				mend(b)
				b.there("put back", true)
				b.says("put back", "")
				if text, err := os.ReadFile(b.file); err != nil || !strings.Contains(string(text), `"model": "opus"`) {
					t.Errorf("what the other program wrote is gone: %s, %v", text, err)
				}
				b.overwritten(anew)
				b.fix()
				b.keep()
				b.there("overwritten again", false)
				b.says("overwritten again", byClaude)
				b.install()
				b.says("installed again", "")
			}
			b.overwritten(anew)
			b.uninstall()
			b.says("uninstalled", "")
			mend(b)
			b.there("uninstalled", false)
			b.healthy()
		})
	}
}

// TestHooksThatStayAway: Umbra puts no hooks back where their user has said that none
// are to run, into a project's files, for an umbra that is gone, or while another
// program may still be writing.
func TestHooksThatStayAway(t *testing.T) {
	t.Parallel()
	user, file := missions.HooksRequest{Name: "claude"}, "HOME/.claude/settings.json"
	for name, c := range map[string]struct {
		request   missions.HooksRequest
		file, fix string
		lose      func(*hooksBench)
	}{
		"switched off": {user, file, byClaude, func(b *hooksBench) { b.overwritten(`{"disableAllHooks": true}`) }},
		"a project's": {missions.HooksRequest{Name: "claude", Project: true}, "WORK/.claude/settings.local.json", "umbra hooks install claude --project, in its project; or uninstall, to have it so",
			func(b *hooksBench) { b.overwritten(anew) }},
		"a team's": {missions.HooksRequest{Name: "claude", Project: true, Shared: true}, "WORK/.claude/settings.json", "umbra hooks install claude --project --shared, in its project; or uninstall, to have it so",
			func(b *hooksBench) { b.overwritten(anew) }},
		"an umbra that is gone": {user, file, byClaude, func(b *hooksBench) {
			b.gone(b.made.Caller.Binary)
			b.overwritten(anew)
		}},
		"half written":       {user, file, "", func(b *hooksBench) { b.overwritten(`{"model": "op`) }},
		"with their agent":   {user, file, "", func(b *hooksBench) { b.gone(filepath.Dir(b.file)) }},
		"memory that is bad": {user, file, "", func(b *hooksBench) { b.overwritten(anew); b.put(filepath.Join(b.home, home.HooksFile), "{") }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHooksBench(t, c.request, c.file)
			c.lose(b)
			b.says(name, c.fix)
			_ = b.local.KeepHooks(context.Background())
			b.fix()
			b.there(name, false)
		})
	}
	b := newHooksBench(t, user, file)
	b.overwritten(anew)
	b.now = time.Now()
	b.keep()
	b.there("just written", false)
	b.now = time.Now().Add(hooks.RewritePatience)
	b.keep()
	b.there("written some time ago", true)
}

// TestHooksOfEachAgent: those of every agent are missed and put back.
func TestHooksOfEachAgent(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"codex": "HOME/.codex/hooks.json", "gemini": "HOME/.gemini/settings.json", "opencode": "HOME/.config/opencode/plugin/umbra.js",
	} {
		t.Run(name, func(t *testing.T) {
			b := newHooksBench(t, missions.HooksRequest{Name: name}, file)
			b.gone(b.file)
			b.says("gone", byDoctor)
			b.keep()
			b.there("put back", true)
			b.says("put back", "")
		})
	}
}

func (b *hooksBench) gone(path string) {
	b.Helper()
	if err := os.RemoveAll(path); err != nil {
		b.Fatal(err)
	}
}

// TestUninstallThatCanNotBeNoted is refused: hooks that were taken out would be put back.
func TestUninstallThatCanNotBeNoted(t *testing.T) {
	t.Parallel()
	b := newHooksBench(t, missions.HooksRequest{Name: "claude"}, "HOME/.claude/settings.json")
	locked := b.local.Home.Path("locks", "hooks")
	if err := errorsOf(os.Remove(locked), os.Mkdir(locked, 0o700)); err != nil {
		t.Fatal(err)
	}
	if r, err := b.local.UninstallHooks(context.Background(), b.made); err == nil {
		t.Errorf("uninstalled: %+v", r)
	}
	b.there("where it can't be noted", true)
	if err := os.Remove(locked); err != nil {
		t.Fatal(err)
	}
	b.uninstall()
	b.there("uninstalled", false)
	b.keep()
	b.there("uninstalled, and looked at by the daemon", false)
}
