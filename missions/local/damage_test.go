package local

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// again is the bench in another process: nothing of the first one's memory.
func (b *testBench) again() *testBench {
	b.Helper()
	home, err := home.Open(b.home)
	if err != nil {
		b.Fatal(err)
	}
	local, err := New(Options{Home: home, Config: b.local.Config, Adapters: b.local.Adapters, Clock: b.local.Clock})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { local.Close() })
	return &testBench{T: b.T, local: local, user: b.user, home: b.home, dir: b.dir}
}

func (b *testBench) put(path, content string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.Fatal(err)
	}
}

// cat reads a file of a moment.
func (b *testBench) cat(moment, path string) string {
	b.Helper()
	p, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: moment, Path: path})
	if err != nil {
		b.Fatalf("%s of %s: %v", path, moment, err)
	}
	return string(p)
}

// fails checks an operation's kind of error, and that it says what to do.
func (b *testBench) fails(what string, err error, kind missions.Kind) {
	b.Helper()
	if err == nil {
		b.Errorf("%s: no error, want %s", what, kind)
		return
	}
	if e := missions.AsError(err); e.Kind != kind || e.Message == "" {
		b.Errorf("%s: %s: %v, want %s", what, e.Kind, err, kind)
	}
}

// mended lets doctor mend, and expects it to have said so and to be content.
func (b *testBench) mended(what string) {
	b.Helper()
	before, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(before.Problems) == 0 {
		b.Errorf("%s: doctor saw nothing: %+v %v", what, before, err)
	}
	for _, p := range before.Problems {
		if strings.Contains(p.Message, "\n") || p.Message == "" {
			b.Errorf("%s: not one line: %+v", what, p)
		}
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true})
	if err != nil || len(d.Fixed) == 0 {
		b.Errorf("%s: nothing was mended: %+v %v", what, d, err)
	}
	b.healthy()
}

// TestLostHints finds the project again by what its missions' records say.
func TestLostHints(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"deleted": "", "torn": `{"format":1,"id":"`, "of another": `{"format":1,"id":"x","name":"y"}`} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.git("init", "-q")
			b.write("sub/a.txt", "one\n")
			m := b.mission("work")
			file := filepath.Join(filepath.Dir(m.ShadowRepo), projects.LocationsFile)
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if content == "" {
				os.Remove(file)
			} else {
				b.put(file, content)
			}
			b = b.again()
			b.write("sub/a.txt", "two\n")
			b.snapshot("without hints")
			if got := b.cat("work", "sub/a.txt"); got != "two\n" {
				t.Errorf("the newest snapshot holds %q", got)
			}
			projects, err := b.local.Projects(context.Background(), missions.ProjectsRequest{Caller: b.caller()})
			if err != nil || len(projects) != 1 || projects[0].Path != b.dir || projects[0].Missions != 1 {
				t.Errorf("projects: %+v %v", projects, err)
			}
			b.mission("second") // writes the hints back
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, whole) {
				t.Errorf("hints are now %s %v, were %s", now, err, whole)
			}
			b.healthy()
		})
	}
}

// TestRecordsRefBehind is what SIGKILL between the two refs leaves behind, met by
// a process that had the project open and by one that opens it.
func TestRecordsRefBehind(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(file, before string) error{
		"behind":  func(file, before string) error { return os.WriteFile(file, []byte(before), 0o600) },
		"empty":   func(file, _ string) error { return os.WriteFile(file, nil, 0o600) },
		"garbage": func(file, _ string) error { return os.WriteFile(file, []byte("ref: x\x00"), 0o600) },
		"missing": func(file, _ string) error { return os.Remove(file) },
	} {
		for _, opened := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t)
				b.write("a.txt", "one\n")
				m := b.mission("work")
				file := filepath.Join(m.ShadowRepo, string(gitstore.RecordRef(m.ID)))
				before, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				b.snapshot("second")
				if err := damage(file, string(before)); err != nil {
					t.Fatal(err)
				}
				if !opened {
					b = b.again()
				}
				b.write("a.txt", "two\n")
				b.snapshot("third")
				if _, err := b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Mission: "work", Name: "other"}); err != nil {
					t.Fatal(err)
				}
				if err := damage(file, string(before)); err != nil { // loses the rename, no more
					t.Fatal(err)
				}
				b.snapshot("fourth")
				entries, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller()})
				if err != nil || len(entries) != 4 {
					t.Errorf("log: %+v %v", entries, err)
				}
				if _, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
					t.Error(err)
				}
				b.healthy()
			})
		}
	}
}

// TestDamagedMission is a clear error of that mission alone.
func TestDamagedMission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	bad := b.mission("bad")
	good := b.mission("good")
	if err := os.Truncate(filepath.Join(bad.ShadowRepo, bad.Ref), 0); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	for _, name := range []string{"bad", bad.ID} {
		_, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: name})
		b.fails("show "+name, err, missions.KindDamaged)
		_, err = b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: name + "@start", Path: "a.txt"})
		b.fails("cat "+name, err, missions.KindDamaged)
		_, err = b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: name})
		b.fails("snapshot "+name, err, missions.KindDamaged)
	}
	c := b.caller()
	c.Mission = bad.ID
	_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c})
	b.fails("snapshot of $UMBRA_MISSION", err, missions.KindDamaged)
	if e, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: "good"}); err != nil || e.Mission != good.ID {
		t.Errorf("the other mission: %+v %v", e, err)
	}
	if s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()}); err != nil || len(s.Problems) == 0 || s.Problems[0].Fix == "" {
		t.Errorf("status says nothing: %+v %v", s.Problems, err)
	}
	b.mended("a torn ref")
	if got := b.cat("bad", "a.txt"); got != "one\n" {
		t.Errorf("after mending: %q", got)
	}
}

// TestUnreadableSnapshot: one that is there and cannot be read is never said not to
// be, by its id or the beginning of it.
func TestUnreadableSnapshot(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(string) error{
		"torn":    func(file string) error { return os.WriteFile(file, []byte("torn"), 0o600) },
		"no file": func(file string) error { return os.Mkdir(file, 0o700) },
	} {
		b := newBench(t)
		b.write("a.txt", "one\n")
		m := b.mission("work")
		file := filepath.Join(m.ShadowRepo, "objects", m.Head[:2], m.Head[2:])
		if err := errors.Join(os.Remove(file), spoil(file)); err != nil {
			t.Fatal(err)
		}
		b = b.again()
		for _, id := range []string{m.Head, m.Head[:12]} {
			_, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: id, Path: "a.txt"})
			b.fails(name+", "+id, err, missions.KindDamaged)
		}
	}
}

// TestLostRef mends a mission's ref that is gone or torn, from the records.
func TestLostRef(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(string) error{
		"gone": os.Remove,
		"torn": func(file string) error { return os.Truncate(file, 12) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			m := b.mission("work")
			b.snapshot("second")
			b.write("a.txt", "two\n")
			last := b.snapshot("third")
			if err := damage(filepath.Join(m.ShadowRepo, m.Ref)); err != nil {
				t.Fatal(err)
			}
			b = b.again()
			b.mended("a lost ref")
			if got, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: "work"}); err != nil || got.Head != last.ID {
				t.Errorf("mended to %s, want %s: %v", got.Head, last.ID, err)
			}
		})
	}
}

// TestClosedProjectIsNotNone: a project that can't be opened is never taken for
// one that does not exist, and nothing of it is thrown away (H3).
func TestClosedProjectIsNotNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	at, err := b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	at.Live.Problem = "kept"
	b.local.SaveLiveState(at)
	config := filepath.Join(at.Project.ShadowRepo(), "config")
	b.put(config, "")
	b = b.again()
	_, err = b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	b.fails("mission ls", err, missions.KindDamaged)
	_, err = b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work"})
	b.fails("snapshot", err, missions.KindDamaged)
	_, err = b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Command: []string{"sh"}})
	b.fails("mission new", err, missions.KindDamaged)
	status, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(status.Problems) == 0 {
		t.Errorf("status: %+v %v", status, err)
	}
	var told []string
	ctx := missions.WithNotify(context.Background(), func(n missions.Notice) { told = append(told, n.Text) })
	if _, err := b.local.Missions(ctx, missions.MissionsRequest{Caller: b.caller(), All: true}); err != nil || len(told) != 1 {
		t.Errorf("mission ls --all: told %q, %v", told, err)
	}
	b.mended("a project that can't be opened")
	b = b.again()
	if at, err = b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject); err != nil || at.Live.Problem != "kept" {
		t.Errorf("its live state is gone: %+v %v", at, err)
	}
	at.Live.Problem = ""
	b.local.SaveLiveState(at)
	b.healthy()
}

// TestUnlistedProjects: while it cannot be read which projects there are, nothing
// says that there is no mission, and no second project is made.
func TestUnlistedProjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	dir := b.local.Home.ProjectsDir()
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	b.put(dir, "no directory")
	_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller()})
	b.fails("snapshot", err, missions.KindFailed)
	_, err = b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Command: []string{"sh"}})
	b.fails("mission new", err, missions.KindFailed)
	if err := errors.Join(os.Remove(dir), os.Rename(dir+"-away", dir)); err != nil {
		t.Fatal(err)
	}
	if list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil || len(list) != 1 {
		t.Errorf("missions %+v, %v", list, err)
	}
	b.healthy()
}

// TestConfigLostMeanwhile finds what only the next process would.
func TestConfigLostMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	at, err := b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"empty": "", "of another project": "[umbra]\n\tproject = 00000000-0000-4000-8000-000000000000\n\tformat = 1\n", "rubbish": "\x00[["} {
		b.put(filepath.Join(at.Project.ShadowRepo(), "config"), content)
		b.mended(name)
		b.again().healthy()
	}
}

// TestRestoreOfADamagedSnapshot says that it is damaged, and leaves everything
// as it was.
func TestRestoreOfADamagedSnapshot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.write("b.txt", "one too\n")
	m := b.mission("work")
	b.write("a.txt", "two\n")
	b.write("b.txt", "two too\n")
	b.snapshot("second")
	at, err := b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	blob := strings.TrimSpace(b.git("--git-dir", at.Project.ShadowRepo(), "rev-parse", m.Head+":a.txt"))
	loose := filepath.Join(at.Project.ShadowRepo(), "objects", blob[:2], blob[2:])
	if err := os.Remove(loose); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start"})
	b.fails("restore", err, missions.KindDamaged)
	if e := missions.AsError(err); !strings.Contains(e.Hint, "umbra doctor") {
		t.Errorf("hint %q", e.Hint)
	}
	if b.read("a.txt") != "two\n" || b.read("b.txt") != "two too\n" {
		t.Error("the workspace is not as it was")
	}
	b.restore("work@start", func(r *missions.RestoreRequest) { r.Paths = []string{"b.txt"} })
	if b.read("b.txt") != "one too\n" {
		t.Error("what is intact was not restored")
	}
}

// TestNameOfAnUnreadableMission: a mission that can't be read keeps its name, under
// which it is found again when it can.
func TestNameOfAnUnreadableMission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("bad")
	b.mission("good")
	file := filepath.Join(m.ShadowRepo, "objects", m.Head[:2], m.Head[2:])
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	if _, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	b = b.again()
	if got, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: "bad"}); err != nil || got.ID != m.ID {
		t.Errorf("its name leads to %q, %v", got.ID, err)
	}
}
